// Text of a kernel. It is the kernel's identity: every field that changes behaviour appears, and
// tables that only share (Kernel::linears) are written where they are used.
#include <array>

#include "ir/kernel.h"
#include "ir/kernel_names.h"
#include "ir/text.h"

namespace kiln::ir {
namespace {

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : k_(kernel) {}

  std::string run() {
    out_ = "kernel " + std::string(schedule_names[static_cast<size_t>(k_.schedule)]) + " {\n";
    arguments();
    variables();
    for (size_t i = 0; i < k_.values.size(); ++i) {
      out_ += "  %" + std::to_string(i) + " = ";
      value(k_.values[i]);
      out_ += '\n';
    }
    reductions();
    for (const Stage& stage : k_.stages) print_stage(stage);
    for (const Template& t : k_.templates) {
      out_ += "  template " + t.name + " {";
      for (const std::string& region : t.regions) out_ += " region " + region;
      out_ += " }\n";
    }
    return std::move(out_) + "}\n";
  }

 private:
  void ref(char prefix, int32_t number) {
    out_ += prefix;
    out_ += std::to_string(number);
  }
  void value_ref(int32_t id) { ref('%', id); }
  void atom_ref(int32_t id) { ref(id < k_.rank() ? 'i' : 'a', id); }
  void dtype(DType t) {
    out_ += ' ';
    out_ += name(t);
  }

  void arguments() {
    for (size_t i = 0; i < k_.nums.size(); ++i) {
      const NumInfo& num = k_.nums[i];
      out_ += "  num n" + std::to_string(i) + ' ';
      out_ += role_names[static_cast<size_t>(num.role)];
      if (num.role == NumRole::Scalar) dtype(num.dtype);
      out_ += '\n';
    }
    for (size_t i = 0; i < k_.ptrs.size(); ++i) {
      out_ += "  ptr p" + std::to_string(i);
      dtype(k_.ptrs[i].dtype);
      out_ += k_.ptrs[i].output ? " out\n" : " in\n";
    }
  }

  void variables() {
    for (int32_t v = 0; v < k_.rank(); ++v) {
      out_ += v < k_.outer ? "  outer i" : "  inner i";
      out_ += std::to_string(v) + " < ";
      ref('n', k_.extents[static_cast<size_t>(v)]);
      out_ += '\n';
    }
    if (k_.tile >= 0) {
      out_ += "  tile ";
      ref('n', k_.tile);
      out_ += '\n';
    }
    for (size_t i = static_cast<size_t>(k_.rank()); i < k_.atoms.size(); ++i) {
      const IndexAtom& atom = k_.atoms[i];
      out_ += "  index a" + std::to_string(i) + " = (";
      linear(atom.linear);
      out_ += atom.kind == IndexAtom::Kind::Div ? ") / " : ") % ";
      ref('n', atom.divisor);
      out_ += '\n';
    }
  }

  void linear(int32_t id) {
    const Linear& l = k_.linears[static_cast<size_t>(id)];
    bool first = true;
    for (const IndexTerm& term : l.terms) {
      const bool minus = term.stride.kind == Stride::Kind::MinusOne;
      out_ += first ? (minus ? "-" : "") : (minus ? " - " : " + ");
      if (term.stride.kind == Stride::Kind::Arg) {
        ref('n', term.stride.num);
        out_ += '*';
      }
      atom_ref(term.atom);
      first = false;
    }
    if (l.offset >= 0) {
      out_ += first ? "" : " + ";
      ref('n', l.offset);
    } else if (first) {
      out_ += '0';
    }
  }
  void access(int32_t ptr, int32_t index) {
    ref('p', ptr);
    out_ += '[';
    linear(index);
    out_ += ']';
  }

  void value(const Value& v) {
    out_ += v.kind == Value::Kind::Op ? name(v.op) : value_names[static_cast<size_t>(v.kind)];
    dtype(v.dtype);
    out_ += ' ';
    switch (v.kind) {
      case Value::Kind::Const: out_ += print_bits(v.bits, v.dtype); break;
      case Value::Kind::Scalar: ref('n', v.num); break;
      case Value::Kind::Load:
        access(v.ptr, v.linear);
        if (v.guard >= 0) {
          out_ += " if ";
          value_ref(v.guard);
        }
        break;
      case Value::Kind::Index: linear(v.linear); break;
      case Value::Kind::Op:
        for (size_t i = 0; i < v.inputs.size(); ++i) {
          out_ += i ? ", " : "";
          value_ref(v.inputs[i]);
        }
        break;
      case Value::Kind::Acc: ref('r', v.slot); break;
      case Value::Kind::Scratch: ref('s', v.slot); break;
    }
  }

  void reductions() {
    for (size_t i = 0; i < k_.reduces.size(); ++i) {
      const Reduce& r = k_.reduces[i];
      out_ += "  reduce r" + std::to_string(i) + " = ";
      out_ += name(r.op);
      dtype(r.dtype);
      out_ += ' ';
      value_ref(r.value);
      out_ += r.tree == Reduce::Tree::Pairwise ? " pairwise" : "";
      if (r.scratch >= 0) {
        out_ += " at ";
        ref('n', r.scratch);
      }
      out_ += '\n';
    }
    for (size_t i = 0; i < k_.scratch.size(); ++i) {
      out_ += "  scratch s" + std::to_string(i);
      dtype(k_.scratch[i].dtype);
      out_ += " at ";
      ref('n', k_.scratch[i].offset);
      out_ += '\n';
    }
  }

  void print_stage(const Stage& stage) {
    out_ += stage.loop ? "  stage loop {\n" : "  stage once {\n";
    for (int32_t r : stage.reduces) {
      out_ += "    reduce ";
      ref('r', r);
      out_ += '\n';
    }
    for (const Fill& fill : stage.fills) {
      out_ += "    fill ";
      ref('s', fill.slot);
      out_ += " = ";
      value_ref(fill.value);
      out_ += '\n';
    }
    for (const Store& store : stage.stores) {
      out_ += "    store ";
      access(store.ptr, store.linear);
      out_ += " = ";
      value_ref(store.value);
      out_ += '\n';
    }
    out_ += "  }\n";
  }

  const Kernel& k_;
  std::string out_;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace kiln::ir
