#include "ir/kernel.h"
#include "ir/kernel_names.h"
#include "ir/text.h"

namespace kiln::ir {
namespace {

bool same(const Linear& a, const Linear& b) {
  if (a.offset != b.offset || a.terms.size() != b.terms.size()) return false;
  for (size_t i = 0; i < a.terms.size(); ++i)
    if (a.terms[i].atom != b.terms[i].atom || !(a.terms[i].stride == b.terms[i].stride))
      return false;
  return true;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text, "kernel") {}

  Kernel run() {
    in_.expect("kernel");
    k_.schedule = static_cast<Schedule>(named(schedule_names, "schedule"));
    in_.expect("{");
    while (!in_.accept("}")) item();
    if (!in_.at_end()) in_.fail("expected the end");
    return std::move(k_);
  }

 private:
  template <size_t N>
  int named(const std::string_view (&names)[N], const char* what) {
    const int i = find_name(names, in_.word());
    if (i < 0) in_.fail(std::string("unknown ") + what);
    return i;
  }

  void item() {
    if (in_.peek("%")) return value();
    if (in_.accept("num")) return num();
    if (in_.accept("ptr")) return ptr();
    if (in_.accept("outer")) return variable(k_.outer);
    if (in_.accept("inner")) return variable(k_.inner);
    if (in_.accept("tile")) return void(k_.tile = in_.reference("n"));
    if (in_.accept("index")) return atom();
    if (in_.accept("reduce")) return reduce();
    if (in_.accept("scratch")) return scratch();
    if (in_.accept("stage")) return stage();
    if (in_.accept("template")) return parse_template();
    in_.fail("expected an item of a kernel");
  }

  void num() {
    in_.expect_reference("n", k_.nums.size());
    NumInfo info{static_cast<NumRole>(named(role_names, "role of a num"))};
    if (info.role == NumRole::Scalar) info.dtype = in_.dtype();
    k_.nums.push_back(info);
  }

  void ptr() {
    in_.expect_reference("p", k_.ptrs.size());
    const DType t = in_.dtype();
    const bool output = in_.accept("out");
    if (!output) in_.expect("in");
    k_.ptrs.push_back({t, output});
  }

  void variable(int32_t& count) {
    if (&count == &k_.outer && k_.inner > 0) in_.fail("outer variables come first");
    if (k_.atoms.size() != k_.extents.size()) in_.fail("variables come before other indices");
    in_.expect_reference("i", k_.extents.size());
    in_.expect("<");
    k_.atoms.push_back({IndexAtom::Kind::Var, static_cast<int32_t>(k_.extents.size())});
    k_.extents.push_back(in_.reference("n"));
    ++count;
  }

  void atom() {
    in_.expect_reference("a", k_.atoms.size());
    in_.expect("=");
    in_.expect("(");
    IndexAtom atom;
    atom.linear = linear();
    in_.expect(")");
    atom.kind = in_.accept("/") ? IndexAtom::Kind::Div : IndexAtom::Kind::Mod;
    if (atom.kind == IndexAtom::Kind::Mod) in_.expect("%");
    atom.divisor = in_.reference("n");
    k_.atoms.push_back(atom);
  }

  /// Reads an index and returns its entry in Kernel::linears; equal ones share an entry.
  int32_t linear() {
    Linear l;
    if (!in_.accept("0")) {
      bool minus = in_.accept("-");
      do {
        if (!term(minus, l)) break;
        minus = in_.peek("-");
      } while (in_.accept("+") || in_.accept("-"));
    }
    for (size_t i = 0; i < k_.linears.size(); ++i)
      if (same(k_.linears[i], l)) return static_cast<int32_t>(i);
    k_.linears.push_back(l);
    return static_cast<int32_t>(k_.linears.size()) - 1;
  }

  /// One term or, last, the offset (then false).
  bool term(bool minus, Linear& l) {
    Stride stride{minus ? Stride::Kind::MinusOne : Stride::Kind::One};
    if (in_.peek_reference("n")) {
      const Num num = in_.reference("n");
      if (minus) in_.fail("expected an index after '-'");
      if (!in_.accept("*")) {
        l.offset = num;
        return false;
      }
      stride = {Stride::Kind::Arg, num};
    }
    const bool var = in_.peek_reference("i");
    const int32_t atom = in_.reference(var ? "i" : "a");
    if (var != (atom < k_.rank())) in_.fail("i names a variable, a another index");
    l.terms.push_back({atom, stride});
    return true;
  }

  void value() {
    in_.expect_reference("%", k_.values.size());
    in_.expect("=");
    Value v;
    const std::string_view what = in_.word();
    const int kind = find_name(value_names, what);
    v.kind = kind < 0 ? Value::Kind::Op : static_cast<Value::Kind>(kind);
    if (v.kind == Value::Kind::Op) {
      const auto op = parse_op(what);
      if (!op) in_.fail("unknown op '" + std::string(what) + "'");
      v.op = *op;
    }
    v.dtype = in_.dtype();
    operands(v);
    k_.values.push_back(v);
  }

  void operands(Value& v) {
    switch (v.kind) {
      case Value::Kind::Const: v.bits = in_.bits(v.dtype); break;
      case Value::Kind::Scalar: v.num = in_.reference("n"); break;
      case Value::Kind::Load:
        v.ptr = access(&v.linear);
        if (in_.accept("if")) v.guard = in_.reference("%");
        break;
      case Value::Kind::Index: v.linear = linear(); break;
      case Value::Kind::Op:
        do v.inputs.push_back(in_.reference("%"));
        while (in_.accept(","));
        break;
      case Value::Kind::Acc: v.slot = in_.reference("r"); break;
      case Value::Kind::Scratch: v.slot = in_.reference("s"); break;
    }
  }

  int32_t access(int32_t* index) {
    const int32_t ptr = in_.reference("p");
    in_.expect("[");
    *index = linear();
    in_.expect("]");
    return ptr;
  }

  void reduce() {
    in_.expect_reference("r", k_.reduces.size());
    in_.expect("=");
    Reduce r;
    const auto op = parse_op(in_.word());
    if (!op) in_.fail("unknown op");
    r.op = *op;
    r.dtype = in_.dtype();
    r.value = in_.reference("%");
    if (in_.accept("pairwise")) r.tree = Reduce::Tree::Pairwise;
    if (in_.accept("at")) r.scratch = in_.reference("n");
    k_.reduces.push_back(r);
  }

  void scratch() {
    in_.expect_reference("s", k_.scratch.size());
    const DType t = in_.dtype();
    in_.expect("at");
    k_.scratch.push_back({t, in_.reference("n")});
  }

  void stage() {
    Stage s;
    s.loop = in_.accept("loop");
    if (!s.loop) in_.expect("once");
    in_.expect("{");
    while (!in_.accept("}")) {
      if (in_.accept("reduce")) {
        s.reduces.push_back(in_.reference("r"));
      } else if (in_.accept("fill")) {
        const int32_t slot = in_.reference("s");
        in_.expect("=");
        s.fills.push_back({slot, in_.reference("%")});
      } else {
        in_.expect("store");
        Store store;
        store.ptr = access(&store.linear);
        in_.expect("=");
        store.value = in_.reference("%");
        s.stores.push_back(store);
      }
    }
    k_.stages.push_back(std::move(s));
  }

  void parse_template() {
    Template t{std::string(in_.word()), {}};
    in_.expect("{");
    while (!in_.accept("}")) {
      in_.expect("region");
      t.regions.emplace_back(in_.word());
    }
    k_.templates.push_back(std::move(t));
  }

  Scanner in_;
  Kernel k_;
};

}  // namespace

Kernel parse_kernel(std::string_view text) { return Parser(text).run(); }

}  // namespace kiln::ir
