// Integer algebra for sizes and indices: polynomials over symbols (extents), integer parameters of
// a call, loop variables, floor divisions and remainders, kept in a canonical form in which equal
// means equal by structure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/core/small_vector.h"

namespace kiln::ir {

/// An atom of a polynomial; ids are ordered and shared by all expressions of one ExprPool.
using AtomId = int32_t;

/// coefficient * product of atoms (sorted, repeated for powers).
struct Monomial {
  int64_t coefficient;
  SmallVector<AtomId, 4> atoms;
};

/// A sum of monomials in canonical order, none with coefficient 0. Zero has no terms.
class Expr {
 public:
  Expr() = default;
  Expr(int64_t constant);  // NOLINT: numbers are expressions

  bool is_constant() const {
    return terms_.empty() || (terms_.size() == 1 && terms_[0].atoms.empty());
  }
  bool is_zero() const { return terms_.empty(); }
  /// Requires is_constant().
  int64_t constant() const { return terms_.empty() ? 0 : terms_[0].coefficient; }
  const std::vector<Monomial>& terms() const { return terms_; }

  friend Expr operator+(const Expr& a, const Expr& b);
  friend Expr operator-(const Expr& a, const Expr& b);
  friend Expr operator*(const Expr& a, const Expr& b);
  friend bool operator==(const Expr& a, const Expr& b);

 private:
  friend class ExprPool;
  void add(Monomial m);
  std::vector<Monomial> terms_;
};

/// Interns atoms. Not thread-safe: one pool per plan under construction.
class ExprPool {
 public:
  enum class Kind : uint8_t { Symbol, Param, Var, Div, Mod };
  struct Atom {
    Kind kind;
    int32_t index = 0;  // Symbol, Param, Var
    Expr a, b;          // Div, Mod: dividend (>= 0) and divisor (> 0)
    Expr extent;        // Var: 0 <= var < extent
  };

  Expr symbol(int32_t index);  // an extent, at least 2
  Expr param(int32_t index);   // an integer argument of the call
  /// A loop variable with 0 <= var < extent. One index always has one extent.
  Expr var(int32_t index, const Expr& extent);
  /// A loop variable with an index that no other has; 0 where the extent is 1.
  Expr fresh_var(const Expr& extent);
  /// Floor division and remainder for a >= 0 and b > 0, simplified where the bounds of the
  /// variables allow.
  Expr floordiv(const Expr& a, const Expr& b);
  Expr mod(const Expr& a, const Expr& b);

  /// The atom as an expression.
  Expr of_atom(AtomId id) const;
  const Atom& atom(AtomId id) const { return atoms_[static_cast<size_t>(id)]; }
  size_t size() const { return atoms_.size(); }

  /// Joins quotients with their remainders: c*d*(a/d) + c*(a%d) becomes c*a.
  Expr simplify(Expr e) const;
  /// Whether 0 <= e < bound can be proved from the variables' extents.
  bool in_range(const Expr& e, const Expr& bound) const;
  /// Replaces variables: map(index) gives the new expression of variable `index`.
  Expr substitute(const Expr& e, const std::function<Expr(int32_t)>& map);
  /// Splits e = coefficient * var(index) + rest. Returns false if e is not linear in the variable.
  bool linear_in(const Expr& e, int32_t var, Expr* coefficient, Expr* rest) const;
  bool depends_on_var(const Expr& e, int32_t var) const;
  bool depends_on_any_var(const Expr& e) const;
  bool depends_on_param(const Expr& e) const;

  /// Value of e; the spans give symbols, parameters and variables by index.
  int64_t evaluate(const Expr& e, std::span<const int64_t> symbols,
                   std::span<const uint64_t> params = {}, std::span<const int64_t> vars = {}) const;

  /// "2*s0*i1 + p0 + (i0 + 3)/s1".
  std::string print(const Expr& e) const;
  /// Reads what print wrote; variables must exist already. Raises InternalError.
  Expr parse(std::string_view text);

 private:
  Expr intern(Atom atom);
  /// Splits e into multiples of d and a remainder: e = quotient * d + rest.
  void divide(const Expr& e, const Expr& d, Expr* quotient, Expr* rest) const;
  /// The least (upper: greatest) value that e may take as an expression over symbols; false where a
  /// parameter hides it.
  bool bound(const Expr& e, bool upper, Expr* result) const;
  bool bound_atom(const Atom& atom, Expr* max) const;
  /// Whether e >= 0 for all symbols >= 2, by coefficients. False if e has other atoms.
  bool provably_non_negative(const Expr& e) const;

  int32_t next_var_ = 0;
  std::vector<Atom> atoms_;
  std::map<std::string, AtomId> ids_;
};

}  // namespace kiln::ir
