// Indices in x[{...}].
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "ir/core/error.h"

namespace kiln {

/// start:stop:step of an axis, as in NumPy: negative positions count from the end, {} is open,
/// positions beyond the axis are clamped, a negative step goes backwards.
struct Slice {
  std::optional<int64_t> start, stop;
  int64_t step = 1;

  constexpr Slice(std::optional<int64_t> start = {}, std::optional<int64_t> stop = {},
                  int64_t step = 1)
      : start(start), stop(stop), step(step) {}
};

/// The whole axis.
inline constexpr Slice All{};

struct NewAxisTag {};
/// A new axis of extent 1.
inline constexpr NewAxisTag NewAxis{};

struct EllipsisTag {};
/// As many whole axes as are needed.
inline constexpr EllipsisTag Ellipsis{};

/// One entry of x[{...}]: a position (which drops the axis), a Slice, NewAxis or Ellipsis.
class Index {
 public:
  enum class Kind : uint8_t { Position, Range, NewAxis, Ellipsis };

  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Index(T position, SourceLocation at = SourceLocation::current())
      : kind_(Kind::Position), position_(static_cast<int64_t>(position)), at_(at) {}
  Index(const Slice& slice, SourceLocation at = SourceLocation::current())
      : kind_(Kind::Range), slice_(slice), at_(at) {}
  Index(NewAxisTag, SourceLocation at = SourceLocation::current())
      : kind_(Kind::NewAxis), at_(at) {}
  Index(EllipsisTag, SourceLocation at = SourceLocation::current())
      : kind_(Kind::Ellipsis), at_(at) {}

  Kind kind() const { return kind_; }
  int64_t position() const { return position_; }
  const Slice& slice() const { return slice_; }
  const SourceLocation& at() const { return at_; }

 private:
  Kind kind_;
  int64_t position_ = 0;
  Slice slice_;
  SourceLocation at_;
};

}  // namespace kiln
