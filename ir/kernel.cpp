#include "ir/kernel.h"

#include <bit>

#include "ir/core/error.h"
#include "ir/core/reduce_tree.h"

namespace kiln::ir {
namespace {

constexpr int64_t scratch_alignment = 64;

int64_t aligned(int64_t bytes) {
  return (bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
}

int64_t extent(const Kernel& kernel, std::span<const int64_t> nums, int32_t var) {
  return nums[static_cast<size_t>(kernel.extents[static_cast<size_t>(var)])];
}

}  // namespace

int64_t split_group() { return reduce_block * reduce_split_blocks; }

int64_t iterations(const Kernel& kernel, std::span<const int64_t> nums) {
  const bool tiled = kernel.tile >= 0;
  int64_t n = 1;
  for (int32_t v = 0; v < kernel.outer - (tiled ? 1 : 0); ++v) n *= extent(kernel, nums, v);
  if (!tiled) return n;
  const int64_t tile = nums[static_cast<size_t>(kernel.tile)];
  const int64_t last = extent(kernel, nums, kernel.outer - 1);
  return n * ((last + tile - 1) / tile);
}

int64_t pairwise_levels(int64_t rows) {
  // A binary counter of c chunks has at most as many entries as c has bits.
  const int64_t chunks = (rows + reduce_chunk - 1) / reduce_chunk;
  return std::bit_width(static_cast<uint64_t>(chunks));
}

int64_t layout_scratch(const Kernel& kernel, std::span<int64_t> nums) {
  const bool columns = kernel.schedule == Schedule::Columns;
  const int64_t tile = columns ? nums[static_cast<size_t>(kernel.tile)] : 1;
  int64_t positions = 1;
  for (int32_t v = kernel.outer; v < kernel.rank(); ++v) positions *= extent(kernel, nums, v);

  int64_t bytes = 0;
  const auto place = [&](Num num, int64_t size) {
    nums[static_cast<size_t>(num)] = bytes;
    bytes = aligned(bytes + size);
  };
  for (const ScratchSlot& slot : kernel.scratch)
    place(slot.offset, positions * tile * static_cast<int64_t>(size_of(slot.dtype)));
  for (const Reduce& reduce : kernel.reduces) {
    if (reduce.scratch < 0) continue;
    const bool indexed = reduce.op == Op::Argmax || reduce.op == Op::Argmin;
    const int64_t element =
        static_cast<int64_t>(size_of(reduce.dtype) + (indexed ? sizeof(int64_t) : 0));
    place(reduce.scratch, (pairwise_levels(positions) + 1) * tile * element);
  }
  return bytes;
}

}  // namespace kiln::ir
