// Random kernels as machine code against the interpreter, bit for bit. FUZZ_KERNELS sets how
// many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "jit/jit.h"
#include "tests/kernel_harness.h"

namespace kiln {
namespace {

using ir::IndexAtom;
using ir::Kernel;
using ir::Linear;
using ir::NumRole;
using ir::Op;
using ir::Schedule;
using ir::Stride;
using ir::Value;
using testing::Array;
using testing::Launch;

constexpr DType dtypes[] = {DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64};

class KernelMaker {
 public:
  explicit KernelMaker(uint32_t seed) : gen_(seed) {}

  Launch make() {
    variables();
    leaves();
    const int stages = k_.schedule == Schedule::Pointwise ? 0 : below(3);
    for (int s = 0; s < stages; ++s) {
      operations(2 + below(6));
      reducing_stage();
    }
    operations(4 + below(12));
    storing_stage();
    Launch launch{k_, nums_, arrays_};
    ir::verify(launch.kernel);
    return launch;
  }

 private:
  int below(int n) { return static_cast<int>(gen_() % static_cast<uint32_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  DType random_dtype() { return dtypes[below(5)]; }

  int32_t num(NumRole role, int64_t value, DType t = DType::I64) {
    k_.nums.push_back({role, t});
    nums_.push_back(value);
    return static_cast<int32_t>(nums_.size()) - 1;
  }
  int64_t extent(int32_t v) const {
    return nums_[static_cast<size_t>(k_.extents[static_cast<size_t>(v)])];
  }
  /// The variable that lanes run along.
  int32_t lane_var() const { return k_.schedule == Schedule::Rows ? k_.rank() - 1 : k_.outer - 1; }

  void variables() {
    k_.schedule = static_cast<Schedule>(below(3));  // all but Split
    k_.outer = 1 + below(3);
    k_.inner = k_.schedule == Schedule::Pointwise ? 0 : 1 + below(2);
    for (int32_t v = 0; v < k_.rank(); ++v) {
      const bool lane = v == lane_var();
      const int64_t n = lane ? 1 + below(chance(5) ? 5000 : 70) : 1 + below(chance(10) ? 70 : 5);
      k_.extents.push_back(num(NumRole::Extent, n));
      k_.atoms.push_back({IndexAtom::Kind::Var, v});
    }
    if (k_.schedule != Schedule::Rows)
      k_.tile = num(NumRole::Tile, 1 + below(chance(50) ? 40 : 6000));
  }

  struct Range {
    int64_t low, high;
  };
  Range atom_range(int32_t a) {
    const IndexAtom& atom = k_.atoms[static_cast<size_t>(a)];
    if (atom.kind == IndexAtom::Kind::Var) return {0, extent(atom.var) - 1};
    const int64_t d = nums_[static_cast<size_t>(atom.divisor)];
    const int64_t high = linear_range(atom.linear).high;
    return {0, atom.kind == IndexAtom::Kind::Div ? high / d : std::min(high, d - 1)};
  }
  Range linear_range(int32_t id) {
    const Linear& l = k_.linears[static_cast<size_t>(id)];
    Range r{0, 0};
    if (l.offset >= 0) r.low = r.high = nums_[static_cast<size_t>(l.offset)];
    for (const ir::IndexTerm& t : l.terms) {
      const int64_t c = t.stride.kind == Stride::Kind::Arg
                            ? nums_[static_cast<size_t>(t.stride.num)]
                            : (t.stride.kind == Stride::Kind::One ? 1 : -1);
      const Range a = atom_range(t.atom);
      r.low += std::min(c * a.low, c * a.high);
      r.high += std::max(c * a.low, c * a.high);
    }
    return r;
  }

  Stride random_stride(bool positive) {
    if (chance(60)) return {Stride::Kind::One, -1};
    if (chance(30) && !positive) return {Stride::Kind::MinusOne, -1};
    const int64_t c = positive ? 1 + below(4) : below(8) - 3;
    return {Stride::Kind::Arg, num(NumRole::Stride, c)};
  }
  /// A linear form whose smallest value is 0.
  int32_t random_linear(bool positive, bool no_inner = false) {
    Linear l;
    for (int32_t a = 0; a < static_cast<int32_t>(k_.atoms.size()); ++a) {
      if (no_inner && a >= k_.outer) break;
      if (chance(a == lane_var() ? 70 : 35)) l.terms.push_back({a, random_stride(positive)});
    }
    k_.linears.push_back(l);
    const int32_t id = static_cast<int32_t>(k_.linears.size()) - 1;
    const int64_t low = linear_range(id).low;
    if (low != 0) {
      const int32_t offset = num(NumRole::Offset, -low);
      k_.linears.back().offset = offset;
    }
    return id;
  }

  void leaves() {
    for (int i = below(3); i > 0; --i) {
      const int32_t linear = random_linear(true);
      const int32_t divisor = num(NumRole::Bound, 1 + below(9));
      k_.atoms.push_back(
          {chance(50) ? IndexAtom::Kind::Div : IndexAtom::Kind::Mod, 0, linear, divisor});
    }
    for (int i = 3 + below(4); i > 0; --i) load();
    for (DType t : dtypes) {
      Value v;
      v.kind = Value::Kind::Const;
      v.dtype = t;
      v.bits =
          dispatch(t, [&](auto zero) { return Bits::of(static_cast<decltype(zero)>(below(3))); });
      k_.values.push_back(v);
    }
    Value index;
    index.kind = Value::Kind::Index;
    index.dtype = DType::I64;
    index.linear = random_linear(false);
    k_.values.push_back(index);
    Value scalar;
    scalar.kind = Value::Kind::Scalar;
    scalar.dtype = DType::F32;
    const float x = static_cast<float>(below(100)) / 7;
    scalar.num = num(NumRole::Scalar, static_cast<int64_t>(Bits::of(x).raw), DType::F32);
    k_.values.push_back(scalar);
  }

  void load() {
    Value v;
    v.kind = Value::Kind::Load;
    v.dtype = random_dtype();
    v.linear = random_linear(false);
    if (chance(30)) v.guard = pick(DType::Bool);
    const int64_t size = linear_range(v.linear).high + 1;
    v.ptr = pointer(testing::random_array(v.dtype, size, gen_()), false);
    k_.values.push_back(v);
  }
  int32_t pointer(Array a, bool output) {
    k_.ptrs.push_back({a.dtype, output});
    arrays_.push_back(std::move(a));
    return static_cast<int32_t>(arrays_.size()) - 1;
  }

  /// A value of dtype `t` that is available now, or -1.
  int32_t pick(DType t) {
    std::vector<int32_t> all;
    for (size_t i = 0; i < k_.values.size(); ++i)
      if (k_.values[i].dtype == t) all.push_back(static_cast<int32_t>(i));
    return all.empty() ? -1 : all[static_cast<size_t>(below(static_cast<int>(all.size())))];
  }

  void operations(int count) {
    for (int i = 0; i < count; ++i) {
      if (chance(10)) load();
      Value v;
      v.kind = Value::Kind::Op;
      v.op = static_cast<Op>(below(ir::num_ops));
      const DType t = random_dtype();
      if (!ir::is_elementwise(v.op) || !ir::accepts(v.op, t) || ir::compute_dtype(v.op, t) != t)
        continue;
      const int arity = ir::info(v.op).arity;
      for (int in = 0; in < arity; ++in)
        v.inputs.push_back(pick(v.op == Op::Where && in == 0 ? DType::Bool : t));
      v.dtype = v.op == Op::Cast ? random_dtype() : ir::result_dtype(v.op, t);
      k_.values.push_back(v);
    }
  }

  void reducing_stage() {
    constexpr Op ops[] = {Op::Sum, Op::Prod, Op::Amax, Op::Amin, Op::Argmax, Op::Argmin};
    ir::Stage stage;
    std::vector<Value> results;
    for (int i = 1 + below(2); i > 0; --i) {
      const Op op = ops[below(6)];
      const DType t = random_dtype();
      if (ir::info(op).result == ir::Result::Sum && sum_dtype(t) != t) continue;
      ir::Reduce r{op, t, pick(t), ir::Reduce::Tree::Full, -1};
      if (k_.schedule == Schedule::Columns) r.scratch = num(NumRole::ScratchOffset, 0);
      Value acc;
      acc.kind = Value::Kind::Acc;
      acc.dtype = op == Op::Argmax || op == Op::Argmin ? DType::I64 : t;
      acc.slot = static_cast<int32_t>(k_.reduces.size());
      stage.reduces.push_back(acc.slot);
      k_.reduces.push_back(r);
      results.push_back(acc);
    }
    if (chance(60)) {
      const int32_t value = static_cast<int32_t>(k_.values.size()) - 1;
      Value scratch;
      scratch.kind = Value::Kind::Scratch;
      scratch.dtype = k_.values.back().dtype;
      scratch.slot = static_cast<int32_t>(k_.scratch.size());
      k_.scratch.push_back({scratch.dtype, num(NumRole::ScratchOffset, 0)});
      stage.fills.push_back({scratch.slot, value});
      results.push_back(scratch);
    }
    if (stage.reduces.empty() && stage.fills.empty()) return;
    k_.stages.push_back(stage);
    for (const Value& v : results) k_.values.push_back(v);
  }

  /// Stores a few values densely, each to an array of its own.
  void storing_stage() {
    ir::Stage stage;
    Linear dense;
    int64_t size = 1;
    std::vector<int32_t> order;
    for (int32_t v = 0; v < k_.rank(); ++v)
      if (v != lane_var()) order.push_back(v);
    order.push_back(lane_var());
    for (size_t i = order.size(); i-- > 0;) {
      const bool last = i + 1 == order.size();
      dense.terms.push_back(
          {order[i], last ? Stride{} : Stride{Stride::Kind::Arg, num(NumRole::Stride, size)}});
      size *= extent(order[i]);
    }
    k_.linears.push_back(dense);
    const int32_t linear = static_cast<int32_t>(k_.linears.size()) - 1;
    const int32_t n = static_cast<int32_t>(k_.values.size());
    for (int i = 0; i < 3; ++i) {
      const int32_t value = i == 0 ? n - 1 : below(n);
      const DType t = k_.values[static_cast<size_t>(value)].dtype;
      stage.stores.push_back({pointer(testing::zeros(t, size), true), linear, value});
    }
    k_.stages.push_back(stage);
  }

  std::mt19937 gen_;
  Kernel k_;
  std::vector<int64_t> nums_;
  std::vector<Array> arrays_;
};

TEST(JitFuzz, RandomKernelsMatchTheInterpreter) {
  const char* wanted = std::getenv("FUZZ_KERNELS");
  const int count = wanted ? std::atoi(wanted) : 150;
  for (int seed = 0; seed < count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Launch launch = KernelMaker(static_cast<uint32_t>(seed)).make();
    const auto expected =
        testing::run(launch, [&](auto... args) { ir::interpret(launch.kernel, args...); });
    for (CpuLevel level : {CpuLevel::Native, CpuLevel::Avx2, CpuLevel::Baseline}) {
      if (!jit::runs_here(level)) continue;
      if (level == CpuLevel::Baseline && seed % 8 != 0) continue;  // slow to compile
      const auto got = testing::run(launch, jit::compile(launch.kernel, level)->fn);
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(testing::difference(got[i], expected[i]), "")
            << "buffer " << i << ", level " << static_cast<int>(level) << "\n"
            << ir::print(launch.kernel);
    }
  }
}

}  // namespace
}  // namespace kiln
