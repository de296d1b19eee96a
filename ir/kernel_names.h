// Words of the kernel grammar, each list in the order of its enum.
#pragma once

#include <iterator>
#include <string_view>

#include "ir/kernel.h"

namespace kiln::ir {

inline constexpr std::string_view schedule_names[] = {"pointwise", "rows", "columns", "split"};
static_assert(std::size(schedule_names) == static_cast<size_t>(Schedule::Split) + 1);

inline constexpr std::string_view role_names[] = {"extent", "stride", "offset",        "bound",
                                                  "scalar", "tile",   "scratch_offset"};
static_assert(std::size(role_names) == static_cast<size_t>(NumRole::ScratchOffset) + 1);

/// Kind Op prints as the op's own name instead.
inline constexpr std::string_view value_names[] = {"const", "scalar", "load",   "index",
                                                   "op",    "acc",    "scratch"};
static_assert(std::size(value_names) == static_cast<size_t>(Value::Kind::Scratch) + 1);

/// Position of `word` in `names`, or -1.
template <size_t N>
int find_name(const std::string_view (&names)[N], std::string_view word) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == word) return static_cast<int>(i);
  return -1;
}

}  // namespace kiln::ir
