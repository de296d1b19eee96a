// The one definition of class R: in which order a reduction combines its elements.
//
// The order depends on the logical shape and the reduced axes alone. Axes of extent 1 are dropped
// first. If the last axis of the operand is reduced, each run along it ("row": the last axis
// together with the reduced axes directly before it, as one run of n elements) is combined in
// lanes: element j goes to lane j % reduce_lanes; a lane takes its elements of one block of
// reduce_block elements in order; at the end of a block the lanes are combined in halves (lane l
// with lane l + 16, then l + 8, ... l + 1), and the results of the blocks pairwise, as below. If
// the last axis is kept, a row is one element. The rows, in row-major order over the remaining
// reduced axes, are combined in order inside chunks of reduce_chunk rows; the chunks pairwise.
//
// Pairwise is a binary counter: result k is pushed; while k has a trailing one bit, the two topmost
// entries are combined (older first). At the end the stack is folded from the newest entry down.
//
// Lanes that received no element take no part in a combination.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace kiln {

inline constexpr int64_t reduce_lanes = 32;
inline constexpr int64_t reduce_block = 4096;  // elements; a multiple of reduce_lanes
inline constexpr int64_t reduce_chunk = 64;    // rows
/// A split reduction gives each task this many blocks: an aligned, complete subtree.
inline constexpr int64_t reduce_split_blocks = 16;

/// Combines values pushed in order by the binary counter above. Combine: T(T older, T newer).
template <class T, class Combine>
class Pairwise {
 public:
  explicit Pairwise(Combine combine) : combine_(combine) {}
  void push(T value) {
    for (uint64_t k = count_++; k & 1; k >>= 1) {
      value = combine_(stack_.back(), value);
      stack_.pop_back();
    }
    stack_.push_back(value);
  }
  bool empty() const { return stack_.empty(); }
  T finish() {
    T value = stack_.back();
    for (size_t i = stack_.size() - 1; i-- > 0;) value = combine_(stack_[i], value);
    return value;
  }

 private:
  Combine combine_;
  uint64_t count_ = 0;
  std::vector<T> stack_;
};

/// Combines get(0..n-1) of one row, n >= 1.
template <class T, class Get, class Combine>
T tree_reduce_row(int64_t n, Get get, Combine combine) {
  Pairwise<T, Combine> blocks(combine);
  for (int64_t begin = 0; begin < n; begin += reduce_block) {
    const int64_t len = n - begin < reduce_block ? n - begin : reduce_block;
    std::optional<T> lane[reduce_lanes];
    for (int64_t j = 0; j < len; ++j) {
      std::optional<T>& l = lane[j % reduce_lanes];
      l = l ? combine(*l, get(begin + j)) : get(begin + j);
    }
    for (int64_t half = reduce_lanes / 2; half > 0; half /= 2)
      for (int64_t l = 0; l < half; ++l)
        if (lane[l + half]) lane[l] = combine(*lane[l], *lane[l + half]);
    blocks.push(*lane[0]);
  }
  return blocks.finish();
}

/// Combines get(row, j) over `rows` rows of `n` elements each, both >= 1. n is 1 where the last
/// axis is kept.
template <class T, class Get, class Combine>
T tree_reduce(int64_t rows, int64_t n, Get get, Combine combine) {
  Pairwise<T, Combine> chunks(combine);
  for (int64_t begin = 0; begin < rows; begin += reduce_chunk) {
    const int64_t end = begin + reduce_chunk < rows ? begin + reduce_chunk : rows;
    std::optional<T> acc;
    for (int64_t r = begin; r < end; ++r) {
      T v = tree_reduce_row<T>(n, [&](int64_t j) { return get(r, j); }, combine);
      acc = acc ? combine(*acc, v) : v;
    }
    chunks.push(*acc);
  }
  return chunks.finish();
}

}  // namespace kiln
