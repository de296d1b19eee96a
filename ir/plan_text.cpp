// Text of a plan, to and from. Kernels appear whole, sizes as expressions of the plan's pool.
#include <set>

#include "ir/core/error.h"
#include "ir/kernel_names.h"
#include "ir/plan.h"
#include "ir/text.h"

namespace kiln::ir {
namespace {

constexpr std::string_view slot_names[] = {"input", "output", "temp"};
static_assert(std::size(slot_names) == static_cast<size_t>(Slot::Kind::Temp) + 1);

class Printer {
 public:
  explicit Printer(const Plan& plan) : p_(plan) {}

  std::string run() {
    out_ = "plan inputs " + std::to_string(p_.num_inputs) + " outputs " +
           std::to_string(p_.num_outputs) + " params " + std::to_string(p_.num_params) + " {\n";
    atoms();
    for (size_t i = 0; i < p_.slots.size(); ++i) {
      const Slot& s = p_.slots[i];
      out_ += "  slot b" + std::to_string(i) + " " +
              std::string(slot_names[static_cast<size_t>(s.kind)]) + " " +
              std::string(name(s.dtype)) + " [" + expr(s.numel) + "]";
      if (s.node >= 0) out_ += " of %" + std::to_string(s.node);
      out_ += "\n";
    }
    for (const Kernel& kernel : p_.kernels) out_ += print(kernel);
    for (const PlanStep& s : p_.steps) step(s);
    slots("outputs", p_.output_slots);
    slots("wanted", p_.wanted_slots);
    return std::move(out_) + "}\n";
  }

 private:
  /// The atoms in the pool's order, which decides how expressions print.
  void atoms() {
    std::set<AtomId> used;
    for (const Slot& s : p_.slots) collect(s.numel, used);
    for (const PlanStep& s : p_.steps) {
      for (const PtrBind& p : s.ptrs) collect(p.offset, used);
      for (const NumBind& n : s.nums) collect(n.value, used);
      for (const Touch& t : s.touches) collect(t.elements, used);
      for (const ViewBind& v : s.views) {
        collect(v.offset, used);
        for (const Expr& e : v.shape) collect(e, used);
        for (const Expr& e : v.strides) collect(e, used);
      }
    }
    bool first = true;
    for (AtomId id : used) {
      out_ += (first ? "  atoms " : ", ") + atom(p_.pool->atom(id));
      first = false;
    }
    if (!first) out_ += "\n";
  }
  std::string atom(const ExprPool::Atom& a) const {
    switch (a.kind) {
      case ExprPool::Kind::Symbol: return "s" + std::to_string(a.index);
      case ExprPool::Kind::Param: return "p" + std::to_string(a.index);
      case ExprPool::Kind::Var: return "i" + std::to_string(a.index);
      case ExprPool::Kind::Div: return "((" + expr(a.a) + ")/(" + expr(a.b) + "))";
      case ExprPool::Kind::Mod: return "((" + expr(a.a) + ")%(" + expr(a.b) + "))";
    }
    return {};
  }
  void collect(const Expr& e, std::set<AtomId>& used) const {
    for (const Monomial& m : e.terms())
      for (AtomId id : m.atoms) {
        used.insert(id);
        collect(p_.pool->atom(id).a, used);
        collect(p_.pool->atom(id).b, used);
      }
  }

  std::string expr(const Expr& e) const { return p_.pool->print(e); }
  static std::string slot(int32_t id) { return id < 0 ? "none" : "b" + std::to_string(id); }
  std::string list(const std::vector<Expr>& exprs) const {
    std::string out = "[";
    for (size_t i = 0; i < exprs.size(); ++i) out += (i ? ", " : "") + expr(exprs[i]);
    return out + "]";
  }

  void step(const PlanStep& s) {
    const bool kernel = s.kind == PlanStep::Kind::Kernel;
    out_ += kernel ? "  step k" + std::to_string(s.kernel) : "  step " + std::string(name(s.op));
    out_ += " cost " + std::to_string(s.cost) + " {\n";
    for (const PtrBind& p : s.ptrs)
      out_ += "    ptr " + slot(p.slot) + "[" + expr(p.offset) + "]\n";
    for (const NumBind& n : s.nums) {
      if (n.launch) {
        out_ += "    num launch\n";
      } else if (n.param >= 0) {
        out_ += "    num @" + std::to_string(n.param) + "\n";
      } else {
        out_ += "    num " + expr(n.value) + "\n";
      }
    }
    for (const ViewBind& v : s.views)
      out_ += "    view " + slot(v.slot) + "[" + expr(v.offset) + "] shape " + list(v.shape) +
              " strides " + list(v.strides) + "\n";
    for (const Touch& t : s.touches)
      out_ += std::string(t.write ? "    writes " : "    reads ") + slot(t.slot) + "[" +
              expr(t.elements) + "]\n";
    for (size_t i = 0; i < s.nodes.size(); ++i)
      out_ += (i ? ", %" : "    nodes %") + std::to_string(s.nodes[i]);
    out_ += s.nodes.empty() ? "  }\n" : "\n  }\n";
  }

  void slots(const char* word, const std::vector<int32_t>& ids) {
    if (ids.empty()) return;
    out_ += "  " + std::string(word);
    for (size_t i = 0; i < ids.size(); ++i) out_ += (i ? ", " : " ") + slot(ids[i]);
    out_ += "\n";
  }

  const Plan& p_;
  std::string out_;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text, "plan") {
    p_.pool = std::make_shared<ExprPool>();
  }

  Plan run() {
    in_.expect("plan");
    p_.num_inputs = count("inputs");
    p_.num_outputs = count("outputs");
    p_.num_params = count("params");
    in_.expect("{");
    if (in_.accept("atoms")) {
      do expr(",");
      while (in_.accept(","));
    }
    while (in_.accept("slot")) slot();
    while (in_.peek("kernel")) p_.kernels.push_back(parse_kernel(in_.block()));
    while (in_.accept("step")) step();
    slots("outputs", p_.output_slots);
    slots("wanted", p_.wanted_slots);
    in_.expect("}");
    if (!in_.at_end()) in_.fail("expected the end");
    return std::move(p_);
  }

 private:
  int32_t count(std::string_view word) {
    in_.expect(word);
    return static_cast<int32_t>(in_.integer());
  }
  Expr expr(std::string_view stops) {
    const std::string_view text = in_.until(stops);
    try {
      return p_.pool->parse(text);
    } catch (const InternalError& e) {
      in_.fail(e.what());
    }
  }
  Expr bracketed() {
    in_.expect("[");
    Expr e = expr("]");
    in_.expect("]");
    return e;
  }
  std::vector<Expr> list(std::string_view word) {
    std::vector<Expr> out;
    in_.expect(word);
    in_.expect("[");
    while (!in_.accept("]")) {
      if (!out.empty()) in_.expect(",");
      out.push_back(expr(",]"));
    }
    return out;
  }

  void slot() {
    in_.expect_reference("b", p_.slots.size());
    const int kind = find_name(slot_names, in_.word());
    if (kind < 0) in_.fail("unknown kind of slot");
    Slot s{static_cast<Slot::Kind>(kind), in_.dtype(), bracketed(), -1};
    if (in_.accept("of")) s.node = in_.reference("%");
    p_.slots.push_back(std::move(s));
  }

  void step() {
    PlanStep s;
    if (in_.peek_reference("k")) {
      s.kernel = in_.reference("k");
    } else {
      const auto op = parse_op(in_.word());
      if (!op) in_.fail("unknown op");
      s.kind = PlanStep::Kind::External;
      s.op = *op;
    }
    s.cost = count("cost");
    in_.expect("{");
    while (!in_.accept("}")) item(s);
    p_.steps.push_back(std::move(s));
  }

  void item(PlanStep& s) {
    if (in_.accept("ptr")) {
      const int32_t slot = in_.reference("b");
      s.ptrs.push_back({slot, bracketed()});
    } else if (in_.accept("num")) {
      NumBind n;
      if (in_.accept("launch")) {
        n.launch = true;
      } else if (in_.peek("@")) {
        n.param = in_.reference("@");
      } else {
        n.value = expr("");
      }
      s.nums.push_back(std::move(n));
    } else if (in_.accept("view")) {
      const int32_t slot = in_.reference("b");
      Expr offset = bracketed();
      auto shape = list("shape");
      s.views.push_back({slot, std::move(offset), std::move(shape), list("strides")});
    } else if (in_.accept("nodes")) {
      do s.nodes.push_back(in_.reference("%"));
      while (in_.accept(","));
    } else {
      const bool write = in_.accept("writes");
      if (!write) in_.expect("reads");
      const int32_t slot = in_.reference("b");
      s.touches.push_back({slot, bracketed(), write});
    }
  }

  void slots(std::string_view word, std::vector<int32_t>& ids) {
    if (!in_.accept(word)) return;
    do ids.push_back(in_.accept("none") ? -1 : in_.reference("b"));
    while (in_.accept(","));
  }

  Scanner in_;
  Plan p_;
};

}  // namespace

std::string print(const Plan& plan) { return Printer(plan).run(); }

Plan parse_plan(std::string_view text) { return Parser(text).run(); }

}  // namespace kiln::ir
