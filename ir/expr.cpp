#include "ir/expr.h"

#include <algorithm>

#include "ir/core/error.h"

namespace kiln::ir {

namespace {

bool same_atoms(const Monomial& a, const Monomial& b) { return a.atoms == b.atoms; }

bool before(const Monomial& a, const Monomial& b) {
  return std::lexicographical_compare(a.atoms.begin(), a.atoms.end(), b.atoms.begin(),
                                      b.atoms.end());
}

Monomial product(const Monomial& a, const Monomial& b) {
  Monomial m{a.coefficient * b.coefficient, {}};
  m.atoms.resize(a.atoms.size() + b.atoms.size());
  std::merge(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(), m.atoms.begin());
  return m;
}

/// a = result * b, if b divides a.
bool quotient_of(const Monomial& a, const Monomial& b, Monomial* result) {
  if (a.coefficient % b.coefficient != 0) return false;
  result->coefficient = a.coefficient / b.coefficient;
  result->atoms.clear();
  size_t j = 0;
  for (AtomId id : a.atoms) {
    if (j < b.atoms.size() && b.atoms[j] == id) {
      ++j;
    } else {
      result->atoms.push_back(id);
    }
  }
  return j == b.atoms.size();
}

}  // namespace

Expr::Expr(int64_t constant) {
  if (constant != 0) terms_.push_back({constant, {}});
}

void Expr::add(Monomial m) {
  if (m.coefficient == 0) return;
  auto it = std::lower_bound(terms_.begin(), terms_.end(), m, before);
  if (it != terms_.end() && same_atoms(*it, m)) {
    it->coefficient += m.coefficient;
    if (it->coefficient == 0) terms_.erase(it);
  } else {
    terms_.insert(it, std::move(m));
  }
}

Expr operator+(const Expr& a, const Expr& b) {
  Expr r = a;
  for (const Monomial& m : b.terms_) r.add(m);
  return r;
}

Expr operator*(const Expr& a, const Expr& b) {
  Expr r;
  for (const Monomial& x : a.terms_)
    for (const Monomial& y : b.terms_) r.add(product(x, y));
  return r;
}

Expr operator-(const Expr& a, const Expr& b) { return a + Expr(-1) * b; }

bool operator==(const Expr& a, const Expr& b) {
  return std::equal(a.terms_.begin(), a.terms_.end(), b.terms_.begin(), b.terms_.end(),
                    [](const Monomial& x, const Monomial& y) {
                      return x.coefficient == y.coefficient && same_atoms(x, y);
                    });
}

Expr ExprPool::intern(Atom atom) {
  std::string key;
  switch (atom.kind) {
    case Kind::Symbol: key = "s" + std::to_string(atom.index); break;
    case Kind::Param: key = "p" + std::to_string(atom.index); break;
    case Kind::Var: key = "i" + std::to_string(atom.index); break;
    case Kind::Div: key = "(" + print(atom.a) + ")/(" + print(atom.b) + ")"; break;
    case Kind::Mod: key = "(" + print(atom.a) + ")%(" + print(atom.b) + ")"; break;
  }
  auto [it, fresh] = ids_.try_emplace(key, static_cast<AtomId>(atoms_.size()));
  if (fresh) {
    atoms_.push_back(std::move(atom));
  } else if (atom.kind == Kind::Var) {
    check_internal(this->atom(it->second).extent == atom.extent, "expr: variable with two extents");
  }
  return of_atom(it->second);
}

Expr ExprPool::of_atom(AtomId id) const {
  Expr e;
  e.add({1, {id}});
  return e;
}

Expr ExprPool::symbol(int32_t index) { return intern({Kind::Symbol, index, {}, {}, {}}); }
Expr ExprPool::param(int32_t index) { return intern({Kind::Param, index, {}, {}, {}}); }
Expr ExprPool::var(int32_t index, const Expr& extent) {
  next_var_ = std::max(next_var_, index + 1);
  return intern({Kind::Var, index, {}, {}, extent});
}

Expr ExprPool::fresh_var(const Expr& extent) {
  return extent == Expr(1) ? Expr() : var(next_var_++, extent);
}

void ExprPool::divide(const Expr& e, const Expr& d, Expr* quotient, Expr* rest) const {
  *quotient = Expr();
  *rest = Expr();
  if (d.terms().size() != 1) {
    // A sum divides only its own multiples by a constant.
    if (!e.is_zero() && !d.is_zero()) {
      const int64_t c = e.terms()[0].coefficient / d.terms()[0].coefficient;
      if (e == Expr(c) * d) {
        *quotient = Expr(c);
        return;
      }
    }
    *rest = e;
    return;
  }
  for (const Monomial& m : e.terms()) {
    Monomial q;
    if (quotient_of(m, d.terms()[0], &q)) {
      quotient->add(q);
    } else {
      rest->add(m);
    }
  }
}

Expr ExprPool::floordiv(const Expr& a, const Expr& b) {
  if (b == Expr(1) || a.is_zero()) return a;
  Expr quotient, rest;
  divide(a, b, &quotient, &rest);
  if (in_range(rest, b)) return quotient;
  Expr low;
  if (!bound(rest, false, &low) || !provably_non_negative(low)) {
    quotient = Expr();
    rest = a;
  }
  if (a.is_constant() && b.is_constant()) return Expr(a.constant() / b.constant());
  // (x / c) / b = x / (c * b)
  if (rest.terms().size() == 1 && rest.terms()[0].coefficient == 1 &&
      rest.terms()[0].atoms.size() == 1) {
    const Atom& inner = atom(rest.terms()[0].atoms[0]);
    if (inner.kind == Kind::Div) {
      const Expr x = inner.a, c = inner.b * b;
      return quotient + floordiv(x, c);
    }
  }
  return quotient + intern({Kind::Div, 0, rest, b, {}});
}

Expr ExprPool::mod(const Expr& a, const Expr& b) {
  if (b == Expr(1) || a.is_zero()) return Expr();
  Expr quotient, rest;
  divide(a, b, &quotient, &rest);
  if (in_range(rest, b)) return rest;
  Expr low;
  if (!bound(rest, false, &low) || !provably_non_negative(low)) rest = a;
  if (a.is_constant() && b.is_constant()) return Expr(a.constant() % b.constant());
  return intern({Kind::Mod, 0, rest, b, {}});
}

bool ExprPool::bound_atom(const Atom& a, Expr* max) const {
  switch (a.kind) {
    case Kind::Symbol:
    case Kind::Param: return false;
    case Kind::Var: *max = a.extent - 1; return true;
    case Kind::Mod: *max = a.b - 1; return true;
    case Kind::Div: {
      Expr top, quotient, rest;
      if (!bound(a.a, true, &top)) return false;
      divide(top + 1, a.b, &quotient, &rest);
      // top + 1 = k * b gives top / b = k - 1; otherwise top itself is a bound.
      *max = rest.is_zero() ? quotient - 1 : top;
      return true;
    }
  }
  return false;
}

bool ExprPool::bound(const Expr& e, bool upper, Expr* result) const {
  Expr sum;
  for (const Monomial& m : e.terms()) {
    const bool to_max = (m.coefficient > 0) == upper;
    Expr term(m.coefficient);
    for (AtomId id : m.atoms) {
      const Atom& a = atom(id);
      if (a.kind == Kind::Param) return false;
      Expr factor;
      if (a.kind == Kind::Symbol) {
        factor.add({1, {id}});
      } else if (to_max && !bound_atom(a, &factor)) {
        return false;
      }  // otherwise every other atom can be 0
      term = term * factor;
    }
    sum = sum + term;
  }
  *result = sum;
  return true;
}

bool ExprPool::provably_non_negative(const Expr& e) const {
  // Every symbol is 2 + t with t >= 0; the sum is non-negative if all its coefficients in t are.
  Expr shifted;
  for (const Monomial& m : e.terms()) {
    Expr term(m.coefficient);
    for (AtomId id : m.atoms) {
      if (atom(id).kind != Kind::Symbol) return false;
      Expr t(2);
      t.add({1, {id}});
      term = term * t;
    }
    shifted = shifted + term;
  }
  return std::all_of(shifted.terms().begin(), shifted.terms().end(),
                     [](const Monomial& m) { return m.coefficient > 0; });
}

bool ExprPool::in_range(const Expr& e, const Expr& limit) const {
  Expr low, high;
  return bound(e, false, &low) && provably_non_negative(low) && bound(e, true, &high) &&
         provably_non_negative(limit - 1 - high);
}

Expr ExprPool::simplify(Expr e) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Monomial& m : e.terms()) {
      // m = c * (a % d): look for c * d * (a / d).
      for (size_t k = 0; k < m.atoms.size() && !changed; ++k) {
        const Atom& mod = atom(m.atoms[k]);
        if (mod.kind != Kind::Mod) continue;
        auto it = ids_.find("(" + print(mod.a) + ")/(" + print(mod.b) + ")");
        if (it == ids_.end()) continue;
        Monomial c = m;
        c.atoms.erase(k);
        Expr cofactor, quotient;
        cofactor.add(c);
        quotient.add({1, {it->second}});
        const Expr partner = cofactor * mod.b * quotient;
        const bool present =
            std::all_of(partner.terms().begin(), partner.terms().end(), [&](const Monomial& p) {
              return std::any_of(e.terms().begin(), e.terms().end(), [&](const Monomial& q) {
                return same_atoms(p, q) && p.coefficient == q.coefficient;
              });
            });
        if (!present) continue;
        Expr self;
        self.add(m);
        e = e - partner - self + cofactor * mod.a;
        changed = true;
      }
      if (changed) break;
    }
  }
  return e;
}

Expr ExprPool::substitute(const Expr& e, const std::function<Expr(int32_t)>& map) {
  Expr sum;
  for (const Monomial& m : e.terms()) {
    Expr term(m.coefficient);
    for (AtomId id : m.atoms) {
      const Atom a = atom(id);
      Expr factor;
      switch (a.kind) {
        case Kind::Symbol:
        case Kind::Param: factor.add({1, {id}}); break;
        case Kind::Var: factor = map(a.index); break;
        case Kind::Div: factor = floordiv(substitute(a.a, map), substitute(a.b, map)); break;
        case Kind::Mod: factor = mod(substitute(a.a, map), substitute(a.b, map)); break;
      }
      term = term * factor;
    }
    sum = sum + term;
  }
  return simplify(sum);
}

bool ExprPool::depends_on_var(const Expr& e, int32_t var) const {
  for (const Monomial& m : e.terms())
    for (AtomId id : m.atoms) {
      const Atom& a = atom(id);
      if (a.kind == Kind::Var ? a.index == var
                              : depends_on_var(a.a, var) || depends_on_var(a.b, var))
        return true;
    }
  return false;
}

bool ExprPool::depends_on_any_var(const Expr& e) const {
  for (const Monomial& m : e.terms())
    for (AtomId id : m.atoms) {
      const Atom& a = atom(id);
      if (a.kind == Kind::Var || depends_on_any_var(a.a) || depends_on_any_var(a.b)) return true;
    }
  return false;
}

bool ExprPool::depends_on_param(const Expr& e) const {
  for (const Monomial& m : e.terms())
    for (AtomId id : m.atoms) {
      const Atom& a = atom(id);
      if (a.kind == Kind::Param || depends_on_param(a.a) || depends_on_param(a.b)) return true;
    }
  return false;
}

bool ExprPool::linear_in(const Expr& e, int32_t var, Expr* coefficient, Expr* rest) const {
  *coefficient = Expr();
  *rest = Expr();
  for (const Monomial& m : e.terms()) {
    Monomial without{m.coefficient, {}};
    int count = 0;
    for (AtomId id : m.atoms) {
      const Atom& a = atom(id);
      if (a.kind == Kind::Var && a.index == var) {
        ++count;
      } else if (depends_on_var(a.a, var) || depends_on_var(a.b, var)) {
        return false;
      } else {
        without.atoms.push_back(id);
      }
    }
    if (count > 1) return false;
    (count ? coefficient : rest)->add(without);
  }
  return true;
}

int64_t ExprPool::evaluate(const Expr& e, std::span<const int64_t> symbols,
                           std::span<const uint64_t> params, std::span<const int64_t> vars) const {
  int64_t sum = 0;
  for (const Monomial& m : e.terms()) {
    int64_t term = m.coefficient;
    for (AtomId id : m.atoms) {
      const Atom& a = atom(id);
      const size_t i = static_cast<size_t>(a.index);
      switch (a.kind) {
        case Kind::Symbol: term *= symbols[i]; break;
        case Kind::Param: term *= static_cast<int64_t>(params[i]); break;
        case Kind::Var: term *= vars[i]; break;
        case Kind::Div:
        case Kind::Mod: {
          const int64_t x = evaluate(a.a, symbols, params, vars);
          const int64_t d = evaluate(a.b, symbols, params, vars);
          const int64_t q = x / d - (x % d < 0 ? 1 : 0);
          term *= a.kind == Kind::Div ? q : x - q * d;
          break;
        }
      }
    }
    sum += term;
  }
  return sum;
}

std::string ExprPool::print(const Expr& e) const {
  if (e.is_zero()) return "0";
  std::string text;
  for (const Monomial& m : e.terms()) {
    const bool negative = m.coefficient < 0;
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    const int64_t c = negative ? -m.coefficient : m.coefficient;
    std::string term = c == 1 && !m.atoms.empty() ? "" : std::to_string(c);
    for (AtomId id : m.atoms) {
      const Atom& a = atom(id);
      if (!term.empty()) term += "*";
      switch (a.kind) {
        case Kind::Symbol: term += "s" + std::to_string(a.index); break;
        case Kind::Param: term += "p" + std::to_string(a.index); break;
        case Kind::Var: term += "i" + std::to_string(a.index); break;
        case Kind::Div: term += "((" + print(a.a) + ")/(" + print(a.b) + "))"; break;
        case Kind::Mod: term += "((" + print(a.a) + ")%(" + print(a.b) + "))"; break;
      }
    }
    text += term;
  }
  return text;
}

}  // namespace kiln::ir
