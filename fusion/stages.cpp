#include "fusion/stages.h"

#include <algorithm>

#include "fusion/cost.h"

namespace kiln::fusion {

using ir::Kernel;
using ir::Stage;
using ir::Value;

namespace {

class StageMaker {
 public:
  StageMaker(KernelBuilder& builder, int64_t inner_elements)
      : b_(builder), k_(builder.kernel), inner_elements_(inner_elements) {}

  void run() {
    if (k_.schedule == ir::Schedule::Pointwise) {
      Stage all;
      all.stores = b_.stores;
      k_.stages.push_back(std::move(all));
      return;
    }
    analyse();
    int32_t last = 0;
    for (const ir::Reduce& r : k_.reduces) {
      reduce_level_.push_back(level(r.value));  // before `value` becomes a rewritten one
      last = std::max(last, reduce_level_.back());
    }
    for (const ir::Store& s : b_.stores) last = std::max(last, level(s.value));
    stage_of_level_.assign(static_cast<size_t>(last) + 1, -1);
    for (int32_t l = 0; l <= last; ++l) make_level(l);
  }

 private:
  struct Facts {
    int32_t level = 0;      // number of reductions that must have ended
    bool inner = false;     // varies along the inner loops
    int32_t price = 0;      // of computing it again, loads aside
    int32_t first = -1;     // level whose loop computed it first
    int32_t in_first = -1;  // the value that stands for it in that loop
    int32_t scratch = -1;   // slot
  };

  bool linear_inner(int32_t linear) const {
    for (const ir::IndexTerm& t : k_.linears[static_cast<size_t>(linear)].terms)
      if (atom_inner(t.atom)) return true;
    return false;
  }
  bool atom_inner(int32_t id) const {
    const ir::IndexAtom& a = k_.atoms[static_cast<size_t>(id)];
    return a.kind == ir::IndexAtom::Kind::Var ? a.var >= k_.outer : linear_inner(a.linear);
  }

  void analyse() {
    for (const Value& v : k_.values) {
      Facts f;
      if (v.kind == Value::Kind::Load || v.kind == Value::Kind::Index)
        f.inner = linear_inner(v.linear);
      if (v.kind == Value::Kind::Acc)
        f.level =
            facts_[static_cast<size_t>(k_.reduces[static_cast<size_t>(v.slot)].value)].level + 1;
      f.price = v.kind == Value::Kind::Op ? cost(v.op) : 0;
      auto need = [&](int32_t id) {
        const Facts& from = facts_[static_cast<size_t>(id)];
        f.level = std::max(f.level, from.level);
        f.inner |= from.inner;
        if (from.inner) f.price = std::min(f.price + from.price, 1 << 20);
      };
      for (int32_t in : v.inputs) need(in);
      if (v.guard >= 0) need(v.guard);
      facts_.push_back(f);
    }
  }
  int32_t level(int32_t value) const { return facts_[static_cast<size_t>(value)].level; }

  void make_level(int32_t l) {
    Stage once, loop;
    once.loop = false;
    rewritten_.assign(facts_.size(), -1);
    for (size_t i = 0; i < k_.reduces.size(); ++i)
      if (reduce_level_[i] == l) {
        k_.reduces[i].value = rewrite(k_.reduces[i].value, l);
        loop.reduces.push_back(static_cast<int32_t>(i));
      }
    for (const ir::Store& s : b_.stores) {
      if (level(s.value) != l) continue;
      const bool inner = facts_[static_cast<size_t>(s.value)].inner || linear_inner(s.linear);
      if (inner) {
        loop.stores.push_back({s.ptr, s.linear, rewrite(s.value, l)});
      } else {
        once.stores.push_back(s);
      }
    }
    if (!once.stores.empty()) k_.stages.push_back(std::move(once));
    if (loop.reduces.empty() && loop.stores.empty()) return;
    stage_of_level_[static_cast<size_t>(l)] = static_cast<int32_t>(k_.stages.size());
    k_.stages.push_back(std::move(loop));
    place_fills();
  }

  /// The value that stands for `id` in the loop of level l.
  int32_t rewrite(int32_t id, int32_t l) {
    if (static_cast<size_t>(id) >= rewritten_.size()) return id;  // made by rewriting
    if (!facts_[static_cast<size_t>(id)].inner) return id;
    int32_t& done = rewritten_[static_cast<size_t>(id)];
    if (done >= 0) return done;
    if (from_scratch(id, l)) return done = read_scratch(id);
    Value v = k_.values[static_cast<size_t>(id)];
    bool changed = false;
    for (int32_t& in : v.inputs) {
      const int32_t now = rewrite(in, l);
      changed |= now != in;
      in = now;
    }
    if (v.guard >= 0) {
      const int32_t now = rewrite(v.guard, l);
      changed |= now != v.guard;
      v.guard = now;
    }
    const int32_t result = changed ? b_.add_value(std::move(v)) : id;
    Facts& f = facts_[static_cast<size_t>(id)];
    if (f.first < 0) {
      f.first = l;
      f.in_first = result;
    }
    return rewritten_[static_cast<size_t>(id)] = result;
  }

  bool from_scratch(int32_t id, int32_t l) {
    Facts& f = facts_[static_cast<size_t>(id)];
    if (f.scratch >= 0) return true;
    if (f.first < 0 || f.first == l || f.price < scratch_threshold) return false;
    const int64_t bytes =
        inner_elements_ * static_cast<int64_t>(size_of(k_.values[static_cast<size_t>(id)].dtype));
    if (scratch_bytes_ + bytes > scratch_limit) return false;
    scratch_bytes_ += bytes;
    f.scratch = b_.scratch_slot(k_.values[static_cast<size_t>(id)].dtype);
    pending_.push_back({f.first, {f.scratch, f.in_first}});
    return true;
  }

  int32_t read_scratch(int32_t id) {
    Value v;
    v.kind = Value::Kind::Scratch;
    v.dtype = k_.values[static_cast<size_t>(id)].dtype;
    v.slot = facts_[static_cast<size_t>(id)].scratch;
    return b_.add_value(std::move(v));
  }

  void place_fills() {
    for (const auto& [l, fill] : pending_)
      k_.stages[static_cast<size_t>(stage_of_level_[static_cast<size_t>(l)])].fills.push_back(fill);
    pending_.clear();
  }

  KernelBuilder& b_;
  Kernel& k_;
  int64_t inner_elements_;
  int64_t scratch_bytes_ = 0;
  std::vector<Facts> facts_;
  std::vector<int32_t> reduce_level_;
  std::vector<int32_t> rewritten_;
  std::vector<int32_t> stage_of_level_;
  std::vector<std::pair<int32_t, ir::Fill>> pending_;
};

}  // namespace

void make_stages(KernelBuilder& builder, int64_t inner_elements) {
  StageMaker(builder, inner_elements).run();
}

}  // namespace kiln::fusion
