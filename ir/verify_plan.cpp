// What bind() and the runtime rely on.
#include <vector>

#include "ir/core/error.h"
#include "ir/plan.h"

namespace kiln::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Plan& plan) : p_(plan) {}

  void run() {
    require(p_.pool != nullptr, "a plan has a pool");
    slots();
    for (const Kernel& kernel : p_.kernels) verify(kernel);
    for (size_t i = 0; i < p_.steps.size(); ++i) {
      place_ = "step " + std::to_string(i) + ": ";
      step(p_.steps[i]);
    }
    place_.clear();
    results();
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    internal_error("plan: " + place_ + rule + (p_.pool ? "\n" + print(p_) : ""));
  }
  void require(bool ok, const char* rule) const {
    if (!ok) fail(rule);
  }
  bool is_slot(int32_t id) const { return id >= 0 && static_cast<size_t>(id) < p_.slots.size(); }
  const Slot& slot(int32_t id) const { return p_.slots[static_cast<size_t>(id)]; }

  /// Written, or without elements.
  bool is_ready(int32_t id) const {
    return written_[static_cast<size_t>(id)] || slot(id).numel.is_zero();
  }

  void slots() {
    require(p_.num_inputs >= 0 && p_.num_outputs >= 0 && p_.num_params >= 0,
            "counts are not negative");
    const size_t inputs = static_cast<size_t>(p_.num_inputs);
    const size_t outputs = inputs + static_cast<size_t>(p_.num_outputs);
    require(outputs <= p_.slots.size(), "every input and output has a slot");
    for (size_t i = 0; i < p_.slots.size(); ++i) {
      const Slot& s = p_.slots[i];
      const Slot::Kind kind = i < inputs    ? Slot::Kind::Input
                              : i < outputs ? Slot::Kind::Output
                                            : Slot::Kind::Temp;
      require(s.kind == kind, "slots are inputs, then outputs, then temporaries");
      require(info(s.dtype).available, "no kernel computes in this dtype");
      size(s.numel, false);
    }
    written_.assign(p_.slots.size(), false);
    read_.assign(p_.slots.size(), false);
    for (size_t i = 0; i < inputs; ++i) written_[i] = true;
  }

  /// An expression over symbols and, where `params`, parameters.
  void size(const Expr& e, bool params) const {
    for (const Monomial& m : e.terms())
      for (AtomId id : m.atoms) {
        // Such a plan does not print.
        if (id < 0 || static_cast<size_t>(id) >= p_.pool->size())
          internal_error("plan: an atom is of the pool");
        const ExprPool::Atom& atom = p_.pool->atom(id);
        require(atom.kind != ExprPool::Kind::Var, "a size has no loop variable");
        if (atom.kind == ExprPool::Kind::Param)
          require(params && atom.index < p_.num_params,
                  "an expression uses the parameters that it may");
        if (atom.kind == ExprPool::Kind::Div || atom.kind == ExprPool::Kind::Mod) {
          size(atom.a, params);
          size(atom.b, params);
        }
      }
  }

  void step(const PlanStep& s) {
    require(s.cost >= 1, "a cost is positive");
    for (const Touch& t : s.touches) {
      require(is_slot(t.slot), "a slot is out of range");
      size(t.elements, false);
    }
    std::vector<int32_t> reads, writes;
    if (s.kind == PlanStep::Kind::Kernel) {
      require(s.views.empty(), "only external steps have views");
      kernel(s, reads, writes);
    } else {
      require(s.ptrs.empty() && s.nums.empty(), "only kernel steps have pointers and nums");
      external(s, reads, writes);
    }
    for (int32_t id : reads) require(is_ready(id), "a slot is written before it is read");
    for (int32_t id : reads) read_[static_cast<size_t>(id)] = true;
    for (int32_t id : writes) {
      require(slot(id).kind != Slot::Kind::Input, "an input is not written");
      require(!read_[static_cast<size_t>(id)], "a slot is written before all its reads");
      written_[static_cast<size_t>(id)] = true;
    }
  }

  void kernel(const PlanStep& s, std::vector<int32_t>& reads, std::vector<int32_t>& writes) const {
    require(s.kernel >= 0 && static_cast<size_t>(s.kernel) < p_.kernels.size(),
            "a kernel is out of range");
    const Kernel& k = p_.kernels[static_cast<size_t>(s.kernel)];
    require(s.ptrs.size() == k.ptrs.size(), "every pointer is bound");
    require(s.nums.size() == k.nums.size(), "every num is bound");
    for (size_t i = 0; i < s.ptrs.size(); ++i) {
      require(is_slot(s.ptrs[i].slot), "a slot is out of range");
      require(slot(s.ptrs[i].slot).dtype == k.ptrs[i].dtype, "a pointer has its slot's dtype");
      size(s.ptrs[i].offset, true);
      (k.ptrs[i].output ? writes : reads).push_back(s.ptrs[i].slot);
    }
    for (size_t i = 0; i < s.nums.size(); ++i) num(s.nums[i], k.nums[i].role);
  }

  void num(const NumBind& n, NumRole role) const {
    const bool launch = role == NumRole::Tile || role == NumRole::ScratchOffset;
    require(n.launch == launch, "tiles and scratch offsets, and no others, are set at the launch");
    require(n.param < p_.num_params, "a parameter is out of range");
    require(
        n.param < 0 || role == NumRole::Scalar || role == NumRole::Bound || role == NumRole::Offset,
        "a parameter is a scalar, a bound or an offset");
    // Geometry is the same for all calls of a bound plan.
    size(n.value, role != NumRole::Extent && role != NumRole::Stride);
  }

  void external(const PlanStep& s, std::vector<int32_t>& reads,
                std::vector<int32_t>& writes) const {
    require(category(s.op) == Category::External, "an external step has an external op");
    require(s.views.size() == static_cast<size_t>(info(s.op).arity) + 1,
            "an external step has a result and its operands");
    for (size_t i = 0; i < s.views.size(); ++i) {
      const ViewBind& v = s.views[i];
      require(is_slot(v.slot), "a slot is out of range");
      require(slot(v.slot).dtype == slot(s.views[0].slot).dtype, "views have one dtype");
      require(v.shape.size() == v.strides.size(), "a view has a stride per axis");
      size(v.offset, true);
      for (const Expr& e : v.shape) size(e, false);
      for (const Expr& e : v.strides) size(e, false);
      (i == 0 ? writes : reads).push_back(v.slot);
    }
  }

  void results() const {
    for (int32_t id : p_.output_slots) {
      require(is_slot(id), "a slot is out of range");
      require(slot(id).kind != Slot::Kind::Temp, "an output's slot is no temporary");
      require(is_ready(id), "every output is written");
    }
    for (int32_t id : p_.wanted_slots) {
      require(id == -1 || is_slot(id), "a slot is out of range");
      require(id == -1 || slot(id).kind != Slot::Kind::Temp, "a wanted slot is no temporary");
      require(id == -1 || is_ready(id), "every wanted slot is written");
    }
    for (size_t i = 0; i < p_.slots.size(); ++i)
      require(is_ready(static_cast<int32_t>(i)) || p_.slots[i].kind != Slot::Kind::Output,
              "every output is written");
  }

  const Plan& p_;
  std::string place_;
  std::vector<bool> written_, read_;
};

}  // namespace

void verify(const Plan& plan) { Verifier(plan).run(); }

}  // namespace kiln::ir
