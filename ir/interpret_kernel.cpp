// Runs a kernel without a compiler: run by run of lanes, value by value.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "ir/core/reduce_tree.h"
#include "ir/eval.h"
#include "ir/kernel.h"
#include "ir/reduction.h"

namespace kiln::ir {
namespace {

/// Lanes per run; divides a block of the reduction tree.
constexpr int64_t max_run = 512;
static_assert(reduce_block % max_run == 0);

/// An index over the lanes of a run: base + lane * step, or one number per lane.
struct IndexRun {
  int64_t base = 0, step = 0;
  std::vector<int64_t> lanes;  // if not empty, these

  int64_t at(int64_t lane) const {
    return lanes.empty() ? base + lane * step : lanes[static_cast<size_t>(lane)];
  }
};

/// What one stage computes: its values in order, and the indices that they and its stores need.
struct StagePlan {
  std::vector<int32_t> values, atoms;
};

template <class Int>
size_t at(Int i) {
  return static_cast<size_t>(i);
}

class Interpreter {
 public:
  Interpreter(const Kernel& kernel, void* const* ptrs, const int64_t* nums, std::byte* scratch)
      : k_(kernel), ptrs_(ptrs), nums_(nums), scratch_(scratch) {
    vars_.assign(at(k_.rank()), 0);
    atoms_.resize(k_.atoms.size());
    data_.resize(k_.values.size());
    fns_.resize(k_.values.size());
    for (size_t i = 0; i < k_.values.size(); ++i) prepare(i);
    for (const Stage& stage : k_.stages) plans_.push_back(plan(stage));
    for (const Reduce& reduce : k_.reduces) {
      reductions_.push_back(make_reduction(reduce));
      results_.emplace_back();
    }
  }

  void run(int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      place(i);
      for (size_t s = 0; s < k_.stages.size(); ++s) run_stage(k_.stages[s], plans_[s]);
    }
  }

 private:
  int64_t num(Num n) const { return nums_[n]; }
  int64_t extent(int32_t var) const { return num(k_.extents[at(var)]); }
  bool columns() const { return k_.schedule == Schedule::Columns; }
  bool tiled() const { return k_.tile >= 0; }

  /// Gives a value its buffer; constants and scalars are the same in every lane and run.
  void prepare(size_t id) {
    const Value& v = k_.values[id];
    data_[id].resize(max_run);
    if (v.kind == Value::Kind::Const) std::fill_n(data_[id].begin(), max_run, v.bits);
    if (v.kind == Value::Kind::Scalar) {
      Bits bits;
      std::memcpy(&bits.raw, nums_ + v.num, size_of(v.dtype));
      std::fill_n(data_[id].begin(), max_run, bits);
    }
    if (v.kind != Value::Kind::Op) return;
    const DType source = k_.values[at(v.inputs[0])].dtype;
    const DType compute = k_.values[at(v.inputs[v.op == Op::Where ? 1 : 0])].dtype;
    fns_[id] = eval_fn(v.op, compute, v.dtype, source);
  }

  StagePlan plan(const Stage& stage) const {
    std::vector<bool> value(k_.values.size()), atom(k_.atoms.size());
    const auto need_linear = [&](int32_t id) {
      for (const IndexTerm& term : k_.linears[at(id)].terms) atom[at(term.atom)] = true;
    };
    for (int32_t r : stage.reduces) value[at(k_.reduces[at(r)].value)] = true;
    for (const Fill& fill : stage.fills) value[at(fill.value)] = true;
    for (const Store& store : stage.stores) {
      value[at(store.value)] = true;
      need_linear(store.linear);
    }
    for (size_t i = value.size(); i-- > 0;) {
      if (!value[i]) continue;
      const Value& v = k_.values[i];
      for (int32_t in : v.inputs) value[at(in)] = true;
      if (v.guard >= 0) value[at(v.guard)] = true;
      if (v.linear >= 0) need_linear(v.linear);
    }
    for (size_t i = atom.size(); i-- > at(k_.rank());)
      if (atom[i]) need_linear(k_.atoms[i].linear);
    StagePlan plan;
    for (size_t i = 0; i < value.size(); ++i)
      if (value[i]) plan.values.push_back(static_cast<int32_t>(i));
    for (size_t i = 0; i < atom.size(); ++i)
      if (atom[i]) plan.atoms.push_back(static_cast<int32_t>(i));
    return plan;
  }

  /// Sets the outer variables and the range that lanes run over, for iteration `i`.
  void place(int64_t i) {
    int32_t v = k_.outer - 1;
    if (tiled()) {
      const int64_t tile = num(k_.tile), last = extent(v);
      const int64_t tiles = (last + tile - 1) / tile;
      tile_begin_ = i % tiles * tile;
      tile_end_ = std::min(last, tile_begin_ + tile);
      i /= tiles;
      --v;
    }
    for (; v >= 0; --v) {
      vars_[at(v)] = i % extent(v);
      i /= extent(v);
    }
    inner_begin_ = 0;
    inner_end_ = k_.inner ? extent(k_.rank() - 1) : 1;
    if (k_.schedule == Schedule::Split) {
      inner_begin_ = vars_[at(k_.outer - 1)] * split_group();
      inner_end_ = std::min(inner_end_, inner_begin_ + split_group());
    }
  }

  void run_stage(const Stage& stage, const StagePlan& plan) {
    for (int32_t r : stage.reduces)
      reductions_[at(r)]->reset(columns() ? tile_end_ - tile_begin_ : 1);
    position_ = 0;
    if (tiled()) {
      tiled_stage(stage, plan);
    } else if (stage.loop) {
      row_stage(stage, plan);
    } else {
      evaluate(stage, plan, -1, 0, 1);
    }
    for (int32_t r : stage.reduces) finish(r);
  }

  /// Pointwise and Columns: lanes along the tile, for each position of the inner variables.
  void tiled_stage(const Stage& stage, const StagePlan& plan) {
    const int32_t lane = k_.outer - 1;
    const int32_t inner_end = stage.loop ? k_.rank() : k_.outer;
    reset_inner();
    do {
      for (int64_t c = tile_begin_; c < tile_end_; c += max_run)
        evaluate(stage, plan, lane, c, std::min(max_run, tile_end_ - c));
      ++position_;
    } while (advance(k_.outer, inner_end));
  }

  /// Rows and Split: lanes along the last inner variable, for each position of the others.
  void row_stage(const Stage& stage, const StagePlan& plan) {
    const int32_t lane = k_.rank() - 1;
    reset_inner();
    do {
      for (int64_t j = inner_begin_; j < inner_end_; j += max_run) {
        const int64_t n = std::min(max_run, inner_end_ - j);
        evaluate(stage, plan, lane, j, n);
        position_ += n;
      }
      for (int32_t r : stage.reduces) reductions_[at(r)]->end_row();
    } while (advance(k_.outer, lane));
  }

  void reset_inner() { std::fill(vars_.begin() + k_.outer, vars_.end(), 0); }
  /// Next position of variables [begin, end) in row-major order; false after the last.
  bool advance(int32_t begin, int32_t end) {
    for (int32_t v = end - 1; v >= begin; --v) {
      if (++vars_[at(v)] < extent(v)) return true;
      vars_[at(v)] = 0;
    }
    return false;
  }

  /// Computes one run: `n` lanes along variable `lane` (-1: none) from `start` on.
  void evaluate(const Stage& stage, const StagePlan& plan, int32_t lane, int64_t start, int64_t n) {
    start_ = start;
    for (int32_t a : plan.atoms) atom(a, lane, n);
    for (int32_t v : plan.values) value(v, n);
    for (int32_t r : stage.reduces) {
      const Bits* values = data_[at(k_.reduces[at(r)].value)].data();
      if (columns()) {
        reductions_[at(r)]->add_columns(values, n, start - tile_begin_, position_);
      } else {
        reductions_[at(r)]->add_run(values, n, start, position_);
      }
    }
    for (const Fill& fill : stage.fills) {
      const size_t size = size_of(k_.scratch[at(fill.slot)].dtype);
      const Bits* from = data_[at(fill.value)].data();
      std::byte* to = slot_data(fill.slot);
      for (int64_t i = 0; i < n; ++i) std::memcpy(to + at(i) * size, &from[i].raw, size);
    }
    for (const Store& store : stage.stores) write(store, n);
  }

  void atom(int32_t id, int32_t lane, int64_t n) {
    IndexRun& run = atoms_[at(id)];
    run.lanes.clear();
    run.step = 0;
    const IndexAtom& atom = k_.atoms[at(id)];
    if (atom.kind == IndexAtom::Kind::Var) {
      run.base = id == lane ? start_ : vars_[at(id)];
      run.step = id == lane ? 1 : 0;
      return;
    }
    const IndexRun dividend = linear(atom.linear, n);
    const int64_t divisor = num(atom.divisor);
    const bool div = atom.kind == IndexAtom::Kind::Div;
    const auto apply = [&](int64_t x) { return div ? x / divisor : x % divisor; };
    run.base = apply(dividend.at(0));
    if (dividend.lanes.empty() && dividend.step == 0) return;
    run.lanes.resize(at(n));
    for (int64_t i = 0; i < n; ++i) run.lanes[at(i)] = apply(dividend.at(i));
  }

  IndexRun linear(int32_t id, int64_t n) const {
    const Linear& l = k_.linears[at(id)];
    IndexRun run;
    if (l.offset >= 0) run.base = num(l.offset);
    bool by_lane = false;
    for (const IndexTerm& term : l.terms) {
      const IndexRun& atom = atoms_[at(term.atom)];
      by_lane |= !atom.lanes.empty();
      if (!atom.lanes.empty()) continue;
      run.base += coefficient(term) * atom.base;
      run.step += coefficient(term) * atom.step;
    }
    if (!by_lane) return run;
    std::vector<int64_t> lanes(at(n));
    for (int64_t i = 0; i < n; ++i) lanes[at(i)] = run.base + i * run.step;
    for (const IndexTerm& term : l.terms) {
      const IndexRun& atom = atoms_[at(term.atom)];
      if (atom.lanes.empty()) continue;
      const int64_t c = coefficient(term);
      for (int64_t i = 0; i < n; ++i) lanes[at(i)] += c * atom.lanes[at(i)];
    }
    run.lanes = std::move(lanes);
    return run;
  }
  int64_t coefficient(const IndexTerm& term) const {
    if (term.stride.kind == Stride::Kind::Arg) return num(term.stride.num);
    return term.stride.kind == Stride::Kind::One ? 1 : -1;
  }

  void value(int32_t id, int64_t n) {
    const Value& v = k_.values[at(id)];
    Bits* out = data_[at(id)].data();
    switch (v.kind) {
      case Value::Kind::Const:
      case Value::Kind::Scalar: break;
      case Value::Kind::Load: load(v, out, n); break;
      case Value::Kind::Index: {
        const IndexRun run = linear(v.linear, n);
        for (int64_t i = 0; i < n; ++i) out[i] = Bits::of(run.at(i));
        break;
      }
      case Value::Kind::Op: {
        const Bits* in[3] = {};
        for (size_t i = 0; i < v.inputs.size(); ++i) in[i] = data_[at(v.inputs[i])].data();
        fns_[at(id)](out, in, n);
        break;
      }
      case Value::Kind::Acc: {
        const Bits* results = results_[at(v.slot)].data();
        if (columns()) {
          std::copy_n(results + start_ - tile_begin_, n, out);
        } else {
          std::fill_n(out, n, *results);
        }
        break;
      }
      case Value::Kind::Scratch: {
        const size_t size = size_of(v.dtype);
        const std::byte* from = slot_data(v.slot);
        for (int64_t i = 0; i < n; ++i) out[i] = read(from + at(i) * size, size);
        break;
      }
    }
  }

  static Bits read(const std::byte* from, size_t size) {
    Bits bits;
    std::memcpy(&bits.raw, from, size);
    return bits;
  }

  void load(const Value& v, Bits* out, int64_t n) {
    const IndexRun index = linear(v.linear, n);
    const size_t size = size_of(v.dtype);
    const auto* from = static_cast<const std::byte*>(ptrs_[v.ptr]);
    const Bits* guard = v.guard < 0 ? nullptr : data_[at(v.guard)].data();
    for (int64_t i = 0; i < n; ++i)
      out[i] = guard && !guard[i].raw ? Bits{}
                                      : read(from + index.at(i) * static_cast<int64_t>(size), size);
  }

  void write(const Store& store, int64_t n) {
    const IndexRun index = linear(store.linear, n);
    const size_t size = size_of(k_.ptrs[at(store.ptr)].dtype);
    auto* to = static_cast<std::byte*>(ptrs_[store.ptr]);
    const Bits* from = data_[at(store.value)].data();
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(to + index.at(i) * static_cast<int64_t>(size), &from[i].raw, size);
  }

  /// Where the elements of the current run are in a scratch slot.
  std::byte* slot_data(int32_t slot) const {
    const ScratchSlot& s = k_.scratch[at(slot)];
    int64_t element = position_;
    if (columns()) element = position_ * num(k_.tile) + start_ - tile_begin_;
    return scratch_ + num(s.offset) + element * static_cast<int64_t>(size_of(s.dtype));
  }

  /// Keeps a reduction's results, one per column.
  void finish(int32_t r) {
    results_[at(r)].resize(at(columns() ? tile_end_ - tile_begin_ : 1));
    reductions_[at(r)]->finish(results_[at(r)].data());
  }

  const Kernel& k_;
  void* const* ptrs_;
  const int64_t* nums_;
  std::byte* scratch_;
  std::vector<int64_t> vars_;
  int64_t tile_begin_ = 0, tile_end_ = 1, inner_begin_ = 0, inner_end_ = 1;
  int64_t start_ = 0;     // lane variable at the run's first lane
  int64_t position_ = 0;  // row-major over the inner variables, at the run's first lane
  std::vector<IndexRun> atoms_;
  std::vector<std::vector<Bits>> data_;  // per value, the lanes of the current run
  std::vector<EvalFn> fns_;              // per value of kind Op
  std::vector<StagePlan> plans_;
  std::vector<std::unique_ptr<Reduction>> reductions_;
  std::vector<std::vector<Bits>> results_;
};

}  // namespace

int32_t interpret(const Kernel& kernel, void* const* ptrs, const int64_t* nums, std::byte* scratch,
                  int64_t begin, int64_t end) {
  Interpreter(kernel, ptrs, nums, scratch).run(begin, end);
  return 0;
}

}  // namespace kiln::ir
