// Everything that an emitter relies on; an emitter checks nothing itself.
#include <vector>

#include "ir/core/error.h"
#include "ir/kernel.h"
#include "ir/kernel_names.h"

namespace kiln::ir {
namespace {

bool is_indexed(Op op) { return op == Op::Argmax || op == Op::Argmin; }
bool is_random(Op op) { return op == Op::Rand || op == Op::Randn; }

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : k_(kernel) {}

  void run() {
    for (const Template& t : k_.templates) require(!t.name.empty(), "a template has a name");
    schedule();
    indices();
    for (size_t i = 0; i < k_.values.size(); ++i) value(static_cast<int32_t>(i));
    tables();
    stages();
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    internal_error("kernel: " + place_ + rule + "\n" + safe_text());
  }
  void require(bool ok, const char* rule) const {
    if (!ok) fail(rule);
  }
  /// The kernel's text, where its ids allow printing.
  std::string safe_text() const { return printable_ ? print(k_) : std::string(); }

  template <class T>
  static bool in(int32_t id, const std::vector<T>& table) {
    return id >= 0 && static_cast<size_t>(id) < table.size();
  }
  void num(Num n, std::initializer_list<NumRole> roles, const char* rule) const {
    require(in(n, k_.nums), "a num is out of range");
    for (NumRole role : roles)
      if (k_.nums[static_cast<size_t>(n)].role == role) return;
    fail(rule);
  }

  void schedule() {
    const Schedule s = k_.schedule;
    const bool tiled = s == Schedule::Pointwise || s == Schedule::Columns;
    require(k_.outer >= 0 && k_.inner >= 0, "numbers of variables are not negative");
    require(k_.rank() <= 64, "a kernel has at most 64 variables");
    require(k_.extents.size() == static_cast<size_t>(k_.rank()), "each variable has one extent");
    for (Num n : k_.extents) num(n, {NumRole::Extent}, "an extent has role extent");
    if (tiled) {
      num(k_.tile, {NumRole::Tile}, "the tile has role tile");
    } else {
      require(k_.tile == -1, "only pointwise and columns kernels have a tile");
    }
    require(s == Schedule::Rows || k_.outer >= 1, "this schedule needs an outer variable");
    if (s == Schedule::Pointwise)
      require(k_.inner == 0, "a pointwise kernel has no inner variable");
    if (s == Schedule::Split) require(k_.inner == 1, "a split kernel has one inner variable");
    if (s == Schedule::Rows || s == Schedule::Columns)
      require(k_.inner >= 1, "rows and columns kernels have an inner variable");
  }

  /// Linears may refer to atoms and atoms to linears: both must be ordered by the atoms.
  void indices() {
    require(k_.atoms.size() >= static_cast<size_t>(k_.rank()), "the first atoms are the variables");
    for (const Linear& l : k_.linears) linear(l);
    atom_vars_.assign(k_.atoms.size(), 0);
    for (size_t i = 0; i < k_.atoms.size(); ++i) {
      const IndexAtom& atom = k_.atoms[i];
      if (i < static_cast<size_t>(k_.rank())) {
        require(atom.kind == IndexAtom::Kind::Var && atom.var == static_cast<int32_t>(i),
                "the first atoms are the variables");
        atom_vars_[i] = uint64_t{1} << i;
        continue;
      }
      require(atom.kind != IndexAtom::Kind::Var, "each variable has one atom");
      require(in(atom.linear, k_.linears), "a linear form is out of range");
      num(atom.divisor, {NumRole::Bound, NumRole::Extent}, "a divisor has role bound or extent");
      for (const IndexTerm& term : k_.linears[static_cast<size_t>(atom.linear)].terms)
        require(static_cast<size_t>(term.atom) < i, "an index depends on earlier ones");
      atom_vars_[i] = vars_of_linear(atom.linear);
    }
    for (const Value& v : k_.values) {
      if (v.kind == Value::Kind::Load || v.kind == Value::Kind::Index)
        require(in(v.linear, k_.linears), "a linear form is out of range");
      if (v.kind == Value::Kind::Load) require(in(v.ptr, k_.ptrs), "a pointer is out of range");
    }
    for (const Stage& stage : k_.stages)
      for (const Store& store : stage.stores) {
        require(in(store.linear, k_.linears), "a linear form is out of range");
        require(in(store.ptr, k_.ptrs), "a pointer is out of range");
      }
    printable_ = true;
  }

  void linear(const Linear& l) const {
    for (const IndexTerm& term : l.terms) {
      require(in(term.atom, k_.atoms), "an index is out of range");
      if (term.stride.kind == Stride::Kind::Arg) {
        num(term.stride.num, {NumRole::Stride}, "a stride has role stride");
      } else {
        require(term.stride.num == -1, "only an argument stride has a num");
      }
    }
    if (l.offset != -1) num(l.offset, {NumRole::Offset}, "an offset has role offset");
  }

  /// Which variables (a bit each) a linear form depends on.
  uint64_t vars_of_linear(int32_t id) const {
    uint64_t set = 0;
    for (const IndexTerm& term : k_.linears[static_cast<size_t>(id)].terms)
      set |= atom_vars_[static_cast<size_t>(term.atom)];
    return set;
  }
  static uint64_t first_vars(int32_t n) { return n ? ~uint64_t{0} >> (64 - n) : 0; }
  uint64_t inner_vars() const { return first_vars(k_.rank()) & ~first_vars(k_.outer); }

  DType dtype_of(int32_t id) const { return k_.values[static_cast<size_t>(id)].dtype; }

  void value(int32_t id) {
    const Value& v = k_.values[static_cast<size_t>(id)];
    place_ = "%" + std::to_string(id) + ": ";
    require(info(v.dtype).available, "no kernel computes in this dtype");
    require(v.inputs.empty() || v.kind == Value::Kind::Op, "only an op has operands");
    require(v.guard == -1 || v.kind == Value::Kind::Load, "only a load has a guard");
    require(v.linear == -1 || v.kind == Value::Kind::Load || v.kind == Value::Kind::Index,
            "only loads and index values have an index");
    for (int32_t in : v.inputs)
      require(in >= 0 && in < id, "operands come before the values that use them");
    switch (v.kind) {
      case Value::Kind::Const: constant(v); break;
      case Value::Kind::Scalar: scalar(v); break;
      case Value::Kind::Load: load(v, id); break;
      case Value::Kind::Index: require(v.dtype == DType::I64, "an index value is i64"); break;
      case Value::Kind::Op: op(v); break;
      case Value::Kind::Acc: acc(v); break;
      case Value::Kind::Scratch: scratch(v); break;
    }
    value_vars_.push_back(vars_of(v));
    place_.clear();
  }

  uint64_t vars_of(const Value& v) const {
    uint64_t set = 0;
    if (v.linear >= 0) set = vars_of_linear(v.linear);
    if (v.kind == Value::Kind::Acc) set = first_vars(k_.outer);
    if (v.kind == Value::Kind::Scratch) set = first_vars(k_.rank());
    for (int32_t in : v.inputs) set |= value_vars_[static_cast<size_t>(in)];
    if (v.guard >= 0) set |= value_vars_[static_cast<size_t>(v.guard)];
    return set;
  }

  void constant(const Value& v) const {
    const size_t bits = 8 * size_of(v.dtype);
    require(bits == 64 || v.bits.raw >> bits == 0, "unused bits of a constant are zero");
    require(!is_bool(v.dtype) || v.bits.raw <= 1, "a bool is 0 or 1");
  }

  void scalar(const Value& v) const {
    require(in(v.num, k_.nums), "a num is out of range");
    const NumInfo& n = k_.nums[static_cast<size_t>(v.num)];
    require(v.dtype == (n.role == NumRole::Scalar ? n.dtype : DType::I64),
            "a scalar has the dtype of its num");
  }

  void load(const Value& v, int32_t id) const {
    const Ptr& p = k_.ptrs[static_cast<size_t>(v.ptr)];
    require(!p.output, "loads are from inputs");
    require(p.dtype == v.dtype, "a load has the dtype of its pointer");
    require(v.guard >= -1 && v.guard < id, "a guard comes before its load");
    require(v.guard < 0 || is_bool(dtype_of(v.guard)), "a guard is bool");
  }

  void op(const Value& v) const {
    require(is_elementwise(v.op) || is_random(v.op), "an op of a kernel is elementwise or random");
    if (is_random(v.op)) {
      require(v.inputs.size() == 3, "a random op has seed, stream and position");
      for (int32_t in : v.inputs)
        require(dtype_of(in) == DType::I64, "operands of a random op are i64");
      for (int i = 0; i < 2; ++i)
        require(value_vars_[static_cast<size_t>(v.inputs[static_cast<size_t>(i)])] == 0,
                "seed and stream depend on no variable");
      require(is_float(v.dtype), "a random op gives a float");
      return;
    }
    require(v.inputs.size() == static_cast<size_t>(info(v.op).arity), "an op has its arity");
    if (v.op == Op::Cast) return;
    if (v.op == Op::Where) require(is_bool(dtype_of(v.inputs[0])), "where chooses by a bool");
    const size_t first = v.op == Op::Where ? 1 : 0;
    const DType compute = dtype_of(v.inputs[first]);
    for (size_t i = first; i < v.inputs.size(); ++i)
      require(dtype_of(v.inputs[i]) == compute, "operands of an op have one dtype");
    require(accepts(v.op, compute), "an op accepts the dtype of its operands");
    require(compute_dtype(v.op, compute) == compute,
            "operands have the dtype that the op computes in");
    require(v.dtype == result_dtype(v.op, compute), "an op gives the dtype of the table");
  }

  void acc(const Value& v) const {
    require(in(v.slot, k_.reduces), "a reduction is out of range");
    const Reduce& r = k_.reduces[static_cast<size_t>(v.slot)];
    require(v.dtype == (is_indexed(r.op) ? DType::I64 : r.dtype),
            "the result of a reduction has its dtype");
  }

  void scratch(const Value& v) const {
    require(in(v.slot, k_.scratch), "a scratch slot is out of range");
    require(v.dtype == k_.scratch[static_cast<size_t>(v.slot)].dtype,
            "an element of scratch has its slot's dtype");
  }

  void tables() const {
    const Schedule s = k_.schedule;
    require(k_.reduces.empty() || s != Schedule::Pointwise, "a pointwise kernel reduces nothing");
    require(k_.scratch.empty() || s == Schedule::Rows || s == Schedule::Columns,
            "only rows and columns kernels have scratch");
    for (const ScratchSlot& slot : k_.scratch) {
      require(info(slot.dtype).available, "no kernel computes in this dtype");
      num(slot.offset, {NumRole::ScratchOffset}, "a scratch offset has role scratch_offset");
    }
    for (const Reduce& r : k_.reduces) {
      require(is_reduction(r.op), "a reduction has a reduction op");
      require(accepts(r.op, r.dtype), "a reduction accepts the dtype of its operand");
      require(in(r.value, k_.values), "a value is out of range");
      require(dtype_of(r.value) == r.dtype, "a reduction has the dtype of its operand");
      if (info(r.op).result == Result::Sum)
        require(sum_dtype(r.dtype) == r.dtype,
                "sums and products take the dtype they accumulate in");
      require((r.scratch != -1) == (s == Schedule::Columns),
              "reductions of columns kernels, and no others, have scratch");
      if (r.scratch != -1)
        num(r.scratch, {NumRole::ScratchOffset}, "a scratch offset has role scratch_offset");
      const bool pairwise = r.tree == Reduce::Tree::Pairwise;
      require(!pairwise || (s == Schedule::Rows && k_.inner == 1),
              "a pairwise reduction is that of a rows kernel with one inner variable");
      require(!is_indexed(r.op) || (!pairwise && s != Schedule::Split),
              "argmax and argmin do not split");
    }
  }

  void stages() {
    std::vector<int32_t> reduced(k_.reduces.size(), -1), filled(k_.scratch.size(), -1);
    for (size_t i = 0; i < k_.stages.size(); ++i) {
      for (int32_t r : k_.stages[i].reduces) {
        require(in(r, k_.reduces), "a reduction is out of range");
        require(reduced[static_cast<size_t>(r)] == -1, "a reduction belongs to one stage");
        reduced[static_cast<size_t>(r)] = static_cast<int32_t>(i);
      }
      for (const Fill& fill : k_.stages[i].fills) {
        require(in(fill.slot, k_.scratch), "a scratch slot is out of range");
        require(filled[static_cast<size_t>(fill.slot)] == -1, "a scratch slot is filled once");
        filled[static_cast<size_t>(fill.slot)] = static_cast<int32_t>(i);
      }
    }
    for (int32_t at : reduced) require(at >= 0, "a reduction belongs to one stage");
    for (int32_t at : filled) require(at >= 0, "a scratch slot is filled once");
    available(reduced, filled);
    for (size_t i = 0; i < k_.stages.size(); ++i) {
      place_ = "stage " + std::to_string(i) + ": ";
      stage(k_.stages[i], static_cast<int32_t>(i));
    }
    place_.clear();
  }

  /// After which stage each value can be computed; -1 for always.
  void available(const std::vector<int32_t>& reduced, const std::vector<int32_t>& filled) {
    after_.assign(k_.values.size(), -1);
    for (size_t i = 0; i < k_.values.size(); ++i) {
      const Value& v = k_.values[i];
      int32_t& after = after_[i];
      if (v.kind == Value::Kind::Acc) after = reduced[static_cast<size_t>(v.slot)];
      if (v.kind == Value::Kind::Scratch) after = filled[static_cast<size_t>(v.slot)];
      for (int32_t in : v.inputs) after = std::max(after, after_[static_cast<size_t>(in)]);
      if (v.guard >= 0) after = std::max(after, after_[static_cast<size_t>(v.guard)]);
    }
  }

  void use(int32_t id, const Stage& stage, int32_t index) const {
    require(in(id, k_.values), "a value is out of range");
    require(after_[static_cast<size_t>(id)] < index,
            "results of reductions and scratch are used in later stages");
    require(stage.loop || (value_vars_[static_cast<size_t>(id)] & inner_vars()) == 0,
            "a stage that runs once depends on no inner variable");
  }

  void stage(const Stage& s, int32_t index) const {
    require(!s.reduces.empty() || !s.fills.empty() || !s.stores.empty(), "a stage does something");
    require(s.loop || k_.schedule != Schedule::Pointwise, "stages of pointwise kernels loop");
    require(s.loop || (s.reduces.empty() && s.fills.empty()), "reductions and fills loop");
    for (int32_t r : s.reduces) use(k_.reduces[static_cast<size_t>(r)].value, s, index);
    for (const Fill& fill : s.fills) {
      use(fill.value, s, index);
      require(dtype_of(fill.value) == k_.scratch[static_cast<size_t>(fill.slot)].dtype,
              "a fill has its slot's dtype");
    }
    for (const Store& store : s.stores) {
      use(store.value, s, index);
      const Ptr& p = k_.ptrs[static_cast<size_t>(store.ptr)];
      require(p.output, "stores are to outputs");
      require(p.dtype == dtype_of(store.value), "a store has the dtype of its pointer");
      const uint64_t inner = vars_of_linear(store.linear) & inner_vars();
      require(inner == (s.loop ? inner_vars() : 0),
              "a store in a loop depends on every inner variable, any other on none");
    }
  }

  const Kernel& k_;
  std::string place_;
  bool printable_ = false;
  std::vector<uint64_t> atom_vars_, value_vars_;
  std::vector<int32_t> after_;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace kiln::ir
