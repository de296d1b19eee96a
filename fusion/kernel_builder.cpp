#include "fusion/kernel_builder.h"

#include "fusion/cost.h"
#include "ir/core/error.h"

namespace kiln::fusion {

using ir::Expr;
using ir::ExprPool;
using ir::Num;
using ir::NumRole;
using ir::Value;

KernelBuilder::KernelBuilder(ExprPool& pool, ir::Schedule schedule, const std::vector<Loop>& loops)
    : pool_(pool), loops_(loops) {
  kernel.schedule = schedule;
  for (size_t k = 0; k < loops.size(); ++k) {
    const Loop& loop = loops[k];
    (loop.inner ? kernel.inner : kernel.outer)++;
    kernel.extents.push_back(num(NumRole::Extent, {loop.extent, -1, false}));
    kernel.atoms.push_back({ir::IndexAtom::Kind::Var, static_cast<int32_t>(k), 0, -1});
    if (!loop.var.is_zero())
      var_of_[pool.atom(loop.var.terms()[0].atoms[0]).index] = static_cast<int32_t>(k);
  }
  if (schedule == ir::Schedule::Pointwise || schedule == ir::Schedule::Columns)
    kernel.tile = num(NumRole::Tile, {Expr(), -1, true});
}

Num KernelBuilder::num(NumRole role, ir::NumBind bind, DType dtype) {
  kernel.nums.push_back({role, dtype});
  step.nums.push_back(std::move(bind));
  return static_cast<Num>(kernel.nums.size() - 1);
}

int32_t KernelBuilder::ptr(int32_t slot, DType dtype, const Expr& offset, bool output) {
  const std::string key = std::to_string(slot) + (output ? "w" : "r") + pool_.print(offset);
  auto [it, fresh] = ptrs_.try_emplace(key, static_cast<int32_t>(kernel.ptrs.size()));
  if (fresh) {
    kernel.ptrs.push_back({dtype, output});
    step.ptrs.push_back({slot, offset});
  }
  return it->second;
}

bool KernelBuilder::varies(ir::AtomId id) const {
  const ExprPool::Atom& a = pool_.atom(id);
  return a.kind == ExprPool::Kind::Var || pool_.depends_on_any_var(a.a) ||
         pool_.depends_on_any_var(a.b);
}

int32_t KernelBuilder::atom(ir::AtomId id) {
  const ExprPool::Atom a = pool_.atom(id);
  if (a.kind == ExprPool::Kind::Var) {
    auto it = var_of_.find(a.index);
    check_internal(it != var_of_.end(), "lower: an index uses a variable that is no loop");
    return it->second;
  }
  const bool div = a.kind == ExprPool::Kind::Div;
  const std::string key = (div ? "/" : "%") + pool_.print(a.a) + "," + pool_.print(a.b);
  if (auto it = atoms_.find(key); it != atoms_.end()) return it->second;
  check_internal(!pool_.depends_on_any_var(a.b), "lower: a divisor varies");
  const int32_t dividend = linear_with_offset(a.a);
  const Num divisor = num(NumRole::Bound, {a.b, -1, false});
  kernel.atoms.push_back(
      {div ? ir::IndexAtom::Kind::Div : ir::IndexAtom::Kind::Mod, 0, dividend, divisor});
  return atoms_[key] = static_cast<int32_t>(kernel.atoms.size() - 1);
}

int32_t KernelBuilder::linear(const Expr& e, Expr* constant) {
  *constant = Expr();
  std::map<int32_t, Expr> coefficients;  // by kernel atom
  Expr varying;
  for (const ir::Monomial& m : e.terms()) {
    Expr coefficient(m.coefficient);
    int32_t found = -1;
    for (ir::AtomId id : m.atoms) {
      if (varies(id)) {
        check_internal(found < 0, "lower: an index is not linear in its parts");
        found = atom(id);
      } else {
        coefficient = coefficient * pool_.of_atom(id);
      }
    }
    if (found < 0) {
      *constant = *constant + coefficient;
    } else {
      coefficients[found] = coefficients[found] + coefficient;
    }
  }
  varying = e - *constant;
  const std::string key = pool_.print(varying);
  if (auto it = linears_.find(key); it != linears_.end()) return it->second;
  ir::Linear l;
  for (const auto& [id, coefficient] : coefficients) {
    ir::Stride stride;
    if (coefficient == Expr(-1)) {
      stride.kind = ir::Stride::Kind::MinusOne;
    } else if (!(coefficient == Expr(1))) {
      stride.kind = ir::Stride::Kind::Arg;
      stride.num = num(NumRole::Stride, {coefficient, -1, false});
    }
    l.terms.push_back({id, stride});
  }
  kernel.linears.push_back(std::move(l));
  return linears_[key] = static_cast<int32_t>(kernel.linears.size() - 1);
}

int32_t KernelBuilder::linear_with_offset(const Expr& e) {
  const std::string key = "+" + pool_.print(e);
  if (auto it = linears_.find(key); it != linears_.end()) return it->second;
  Expr constant;
  const int32_t plain = linear(e, &constant);
  if (constant.is_zero()) return plain;
  ir::Linear l = kernel.linears[static_cast<size_t>(plain)];
  l.offset = num(NumRole::Offset, {constant, -1, false});
  kernel.linears.push_back(std::move(l));
  return linears_[key] = static_cast<int32_t>(kernel.linears.size() - 1);
}

void KernelBuilder::touch(int32_t slot, const Expr& index, bool write) {
  if (!touched_.emplace(std::to_string(slot) + (write ? "w" : "r") + pool_.print(index), true)
           .second)
    return;
  Expr elements(1);
  for (const Loop& loop : loops_)
    if (!loop.var.is_zero() &&
        pool_.depends_on_var(index, pool_.atom(loop.var.terms()[0].atoms[0]).index))
      elements = elements * loop.extent;
  step.touches.push_back({slot, elements, write});
}

int32_t KernelBuilder::add_value(Value v) {
  auto text = [](int64_t x) { return std::to_string(x) + ","; };
  std::string key = text(static_cast<int>(v.kind)) + text(static_cast<int>(v.op)) +
                    text(static_cast<int>(v.dtype)) + text(v.ptr) + text(v.linear) + text(v.guard) +
                    text(v.slot) + text(v.num) + text(static_cast<int64_t>(v.bits.raw));
  for (int32_t in : v.inputs) key += text(in);
  auto [it, fresh] = values_.try_emplace(key, static_cast<int32_t>(kernel.values.size()));
  if (fresh) kernel.values.push_back(std::move(v));
  return it->second;
}

int32_t KernelBuilder::load(int32_t slot, DType dtype, const Expr& index, int32_t guard) {
  indices.push_back(index);
  Expr offset;
  Value v;
  v.kind = Value::Kind::Load;
  v.dtype = dtype;
  v.linear = linear(index, &offset);
  v.ptr = ptr(slot, dtype, offset, false);
  v.guard = guard;
  touch(slot, index, false);
  return add_value(std::move(v));
}

void KernelBuilder::store(int32_t slot, DType dtype, const Expr& index, int32_t value) {
  indices.push_back(index);
  Expr offset;
  const int32_t l = linear(index, &offset);
  stores.push_back({ptr(slot, dtype, offset, true), l, value});
  touch(slot, index, true);
}

int32_t KernelBuilder::index_value(const Expr& e) {
  indices.push_back(e);
  if (!pool_.depends_on_any_var(e)) return bound(e);
  Value v;
  v.kind = Value::Kind::Index;
  v.dtype = DType::I64;
  v.linear = linear_with_offset(e);
  return add_value(std::move(v));
}

int32_t KernelBuilder::bound(const Expr& e) {
  if (e.is_constant() && (e.constant() == 0 || e.constant() == 1))
    return constant(Bits::of(e.constant()), DType::I64);
  Value v;
  v.kind = Value::Kind::Scalar;
  v.dtype = DType::I64;
  v.num = num(NumRole::Bound, {e, -1, false});
  return add_value(std::move(v));
}

int32_t KernelBuilder::scalar(int32_t param, DType dtype) {
  const std::string key = "param" + std::to_string(param);
  if (auto it = values_.find(key); it != values_.end()) return it->second;
  Value v;
  v.kind = Value::Kind::Scalar;
  v.dtype = dtype;
  v.num = num(NumRole::Scalar, {Expr(), param, false}, dtype);
  kernel.values.push_back(std::move(v));
  return values_[key] = static_cast<int32_t>(kernel.values.size() - 1);
}

int32_t KernelBuilder::constant(Bits bits, DType dtype) {
  Value v;
  v.kind = Value::Kind::Const;
  v.dtype = dtype;
  v.bits = bits;
  return add_value(std::move(v));
}

int32_t KernelBuilder::op(ir::Op op, DType dtype, SmallVector<int32_t, 3> inputs) {
  Value v;
  v.kind = Value::Kind::Op;
  v.op = op;
  v.dtype = dtype;
  v.inputs = std::move(inputs);
  const size_t before = kernel.values.size();
  const int32_t id = add_value(std::move(v));
  if (kernel.values.size() > before) step.cost += cost(op);
  return id;
}

int32_t KernelBuilder::reduce(ir::Op op, DType result, int32_t value, ir::Reduce::Tree tree) {
  ir::Reduce r;
  r.op = op;
  r.dtype = kernel.values[static_cast<size_t>(value)].dtype;
  r.value = value;
  r.tree = tree;
  if (kernel.schedule == ir::Schedule::Columns)
    r.scratch = num(NumRole::ScratchOffset, {Expr(), -1, true});
  kernel.reduces.push_back(r);
  Value v;
  v.kind = Value::Kind::Acc;
  v.dtype = result;
  v.slot = static_cast<int32_t>(kernel.reduces.size() - 1);
  return add_value(std::move(v));
}

void KernelBuilder::remove_dead_values() {
  std::vector<char> live(kernel.values.size());
  for (const ir::Reduce& r : kernel.reduces) live[static_cast<size_t>(r.value)] = 1;
  for (const ir::Stage& stage : kernel.stages) {
    for (const ir::Fill& f : stage.fills) live[static_cast<size_t>(f.value)] = 1;
    for (const ir::Store& s : stage.stores) live[static_cast<size_t>(s.value)] = 1;
  }
  for (size_t i = kernel.values.size(); i-- > 0;) {
    if (!live[i]) continue;
    for (int32_t in : kernel.values[i].inputs) live[static_cast<size_t>(in)] = 1;
    if (kernel.values[i].guard >= 0) live[static_cast<size_t>(kernel.values[i].guard)] = 1;
  }
  std::vector<int32_t> map(kernel.values.size(), -1);
  std::vector<Value> kept;
  for (size_t i = 0; i < kernel.values.size(); ++i) {
    if (!live[i]) continue;
    Value v = kernel.values[i];
    for (int32_t& in : v.inputs) in = map[static_cast<size_t>(in)];
    if (v.guard >= 0) v.guard = map[static_cast<size_t>(v.guard)];
    map[i] = static_cast<int32_t>(kept.size());
    kept.push_back(std::move(v));
  }
  kernel.values = std::move(kept);
  auto renumber = [&](int32_t& id) { id = map[static_cast<size_t>(id)]; };
  for (ir::Reduce& r : kernel.reduces) renumber(r.value);
  for (ir::Stage& stage : kernel.stages) {
    for (ir::Fill& f : stage.fills) renumber(f.value);
    for (ir::Store& s : stage.stores) renumber(s.value);
  }
}

int32_t KernelBuilder::scratch_slot(DType dtype) {
  kernel.scratch.push_back({dtype, num(NumRole::ScratchOffset, {Expr(), -1, true})});
  return static_cast<int32_t>(kernel.scratch.size() - 1);
}

}  // namespace kiln::fusion
