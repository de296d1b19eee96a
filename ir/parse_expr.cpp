#include <cctype>

#include "ir/core/error.h"
#include "ir/expr.h"

namespace kiln::ir {

namespace {

/// Recursive descent over "2*s0*i1 - p0 + ((i0 + 3)/(s1))".
class ExprParser {
 public:
  ExprParser(ExprPool& pool, std::string_view text) : pool_(pool), text_(text) {}

  Expr parse_all() {
    Expr e = sum();
    if (skip_space() != '\0') fail();
    return e;
  }

 private:
  Expr sum() {
    Expr total;
    bool negative = accept('-');
    while (true) {
      const Expr term = product();
      total = negative ? total - term : total + term;
      if (accept('+')) {
        negative = false;
      } else if (accept('-')) {
        negative = true;
      } else {
        return total;
      }
    }
  }
  Expr product() {
    Expr value = factor();
    while (accept('*')) value = value * factor();
    return value;
  }
  Expr factor() {
    const char c = skip_space();
    if (std::isdigit(static_cast<unsigned char>(c))) return Expr(number());
    if (c == '(') return quotient();
    ++at_;
    const int32_t index = static_cast<int32_t>(number());
    switch (c) {
      case 's': return pool_.symbol(index);
      case 'p': return pool_.param(index);
      case 'i': return existing_var(index);
      default: fail();
    }
  }
  Expr quotient() {
    expect('(');
    expect('(');
    const Expr a = sum();
    expect(')');
    const bool div = accept('/');
    if (!div) expect('%');
    expect('(');
    const Expr b = sum();
    expect(')');
    expect(')');
    return div ? pool_.floordiv(a, b) : pool_.mod(a, b);
  }
  Expr existing_var(int32_t index) {
    for (size_t id = 0; id < pool_.size(); ++id) {
      const ExprPool::Atom& a = pool_.atom(static_cast<AtomId>(id));
      if (a.kind == ExprPool::Kind::Var && a.index == index) return pool_.var(index, a.extent);
    }
    fail();
  }
  int64_t number() {
    if (!std::isdigit(static_cast<unsigned char>(skip_space()))) fail();
    int64_t n = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])))
      if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, text_[at_++] - '0', &n))
        fail();
    return n;
  }
  char skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (skip_space() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail();
  }
  [[noreturn]] void fail() {
    internal_error("expr: cannot read '" + std::string(text_) + "' at position " +
                   std::to_string(at_));
  }

  ExprPool& pool_;
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Expr ExprPool::parse(std::string_view text) { return ExprParser(*this, text).parse_all(); }

}  // namespace kiln::ir
