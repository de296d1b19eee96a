#include "ir/reduction.h"

#include <optional>
#include <vector>

#include "ir/core/reduce_tree.h"
#include "ir/eval.h"

namespace kiln::ir {
namespace {

/// Rows are combined in order inside a chunk, chunks pairwise.
template <class T, class Combine>
class Rows {
 public:
  explicit Rows(Combine combine) : combine_(combine), chunks_(combine) {}
  void push(T row) {
    chunk_ = chunk_ ? combine_(*chunk_, row) : row;
    if (++count_ % reduce_chunk == 0) close();
  }
  T finish() {
    close();
    return chunks_.finish();
  }

 private:
  void close() {
    if (chunk_) chunks_.push(*chunk_);
    chunk_.reset();
  }
  Combine combine_;
  std::optional<T> chunk_;
  int64_t count_ = 0;
  Pairwise<T, Combine> chunks_;
};

/// T is what combines: elements, or elements with their index.
template <class T, class Combine>
class Tree final : public Reduction {
 public:
  Tree(Combine combine, bool pairwise) : combine_(combine), pairwise_(pairwise), blocks_(combine) {}

  void reset(int64_t columns) override {
    rows_.assign(static_cast<size_t>(columns), Rows<T, Combine>(combine_));
  }

  void add_run(const Bits* values, int64_t n, int64_t j, int64_t index) override {
    if (pairwise_) {
      for (int64_t i = 0; i < n; ++i) blocks_.push(element(values[i], index + i));
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      std::optional<T>& lane = lanes_[(j + i) % reduce_lanes];
      const T value = element(values[i], index + i);
      lane = lane ? combine_(*lane, value) : value;
    }
    if ((j + n) % reduce_block == 0) end_block();
  }

  void end_row() override {
    end_block();
    rows_[0].push(blocks_.finish());
    blocks_ = Pairwise<T, Combine>(combine_);
  }

  void add_columns(const Bits* values, int64_t n, int64_t first, int64_t index) override {
    for (int64_t c = 0; c < n; ++c)
      rows_[static_cast<size_t>(first + c)].push(element(values[c], index));
  }

  void finish(Bits* results) override {
    for (auto& rows : rows_) *results++ = result(rows.finish());
  }

 private:
  static T element(Bits value, int64_t index) {
    if constexpr (std::is_same_v<T, Bits>)
      return (void)index, value;
    else
      return T{value, index};
  }
  static Bits result(const T& value) {
    if constexpr (std::is_same_v<T, Bits>)
      return value;
    else
      return Bits::of(value.index);
  }

  void end_block() {
    if (!lanes_[0]) return;
    for (int64_t half = reduce_lanes / 2; half > 0; half /= 2)
      for (int64_t l = 0; l < half; ++l)
        if (lanes_[l + half]) lanes_[l] = combine_(*lanes_[l], *lanes_[l + half]);
    blocks_.push(*lanes_[0]);
    for (auto& lane : lanes_) lane.reset();
  }

  Combine combine_;
  bool pairwise_;
  std::optional<T> lanes_[reduce_lanes];
  Pairwise<T, Combine> blocks_;
  std::vector<Rows<T, Combine>> rows_;
};

}  // namespace

std::unique_ptr<Reduction> make_reduction(const Reduce& reduce) {
  const bool pairwise = reduce.tree == Reduce::Tree::Pairwise;
  if (reduce.op == Op::Argmax || reduce.op == Op::Argmin)
    return std::make_unique<Tree<ArgPair, ArgCombineFn>>(arg_combine(reduce.op, reduce.dtype),
                                                         pairwise);
  return std::make_unique<Tree<Bits, CombineFn>>(reduce_combine(reduce.op, reduce.dtype), pairwise);
}

}  // namespace kiln::ir
