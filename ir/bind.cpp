// Puts sizes into a plan: arguments, launch geometry, memory.
#include <algorithm>
#include <map>

#include "ir/core/error.h"
#include "ir/plan.h"

namespace kiln::ir {

int32_t SizeTable::symbol_of(int64_t extent) const {
  const auto it = std::find(values.begin(), values.end(), extent);
  check_internal(it != values.end(), "sizes: an extent that the graph does not have");
  return static_cast<int32_t>(it - values.begin());
}

SizeTable collect_sizes(const Graph& graph) {
  SizeTable table;
  for (const Node& n : graph.nodes)
    for (int64_t d : n.shape)
      if (d > 1 && std::find(table.values.begin(), table.values.end(), d) == table.values.end())
        table.values.push_back(d);
  return table;
}

namespace {

/// Work of one task, and elements of one Pointwise tile and one Columns tile.
constexpr int64_t task_cost = 100'000;
constexpr int64_t pointwise_tile = 16'384;
constexpr int64_t columns_tile = 512, least_columns_tile = 64;
constexpr int64_t columns_scratch = 256 << 10;
constexpr int64_t enough_tasks = 8;
constexpr int64_t transposed_rows = 64;

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

class Binder {
 public:
  Binder(const Plan& plan, std::span<const int64_t> sizes) : plan_(plan), sizes_(sizes) {}

  BoundPlan run() {
    bound_.output_slots = plan_.output_slots;
    bound_.wanted_slots = plan_.wanted_slots;
    for (const Slot& s : plan_.slots)
      bound_.slots.push_back(
          {s.kind, s.dtype, value(s.numel) * static_cast<int64_t>(size_of(s.dtype)), -1, s.node});
    for (const PlanStep& step : plan_.steps) {
      bound_.steps.push_back(step.kind == PlanStep::Kind::Kernel ? kernel_step(step)
                                                                 : external_step(step));
      count_bytes(step, &bound_.steps.back());
    }
    place_temporaries();
    order_steps();
    return std::move(bound_);
  }

 private:
  int64_t value(const Expr& e) const { return plan_.pool->evaluate(e, sizes_); }

  /// The parameter that holds the value of an atom in this call.
  int32_t param_of(AtomId id) {
    const ExprPool::Atom& a = plan_.pool->atom(id);
    if (a.kind == ExprPool::Kind::Param) return a.index;
    auto [it, fresh] =
        derived_.try_emplace(id, plan_.num_params + static_cast<int32_t>(bound_.derived.size()));
    if (fresh) bound_.derived.push_back(plan_.pool->of_atom(id));
    return it->second;
  }

  Affine affine(const Expr& e, int64_t scale) {
    Affine result;
    for (const Monomial& m : e.terms()) {
      int64_t factor = m.coefficient * scale;
      int32_t param = -1;
      for (AtomId id : m.atoms) {
        if (plan_.pool->depends_on_param(plan_.pool->of_atom(id))) {
          check_internal(param < 0, "bind: a product of two parameters");
          param = param_of(id);
        } else {
          factor *= value(plan_.pool->of_atom(id));
        }
      }
      if (param < 0) {
        result.base += factor;
      } else {
        result.terms.push_back({param, factor});
      }
    }
    return result;
  }

  BoundStep kernel_step(const PlanStep& step) {
    const Kernel& kernel = plan_.kernels[static_cast<size_t>(step.kernel)];
    BoundStep b;
    b.kind = step.kind;
    b.kernel = step.kernel;
    for (size_t i = 0; i < step.ptrs.size(); ++i)
      b.ptrs.emplace_back(
          step.ptrs[i].slot,
          affine(step.ptrs[i].offset, static_cast<int64_t>(size_of(kernel.ptrs[i].dtype))));
    for (size_t i = 0; i < step.nums.size(); ++i) {
      const NumBind& n = step.nums[i];
      b.nums.push_back(0);
      if (n.launch) continue;
      if (n.param >= 0) {
        b.patches.push_back({static_cast<int32_t>(i), n.param, {}});
      } else if (plan_.pool->depends_on_param(n.value)) {
        b.patches.push_back({static_cast<int32_t>(i), -1, affine(n.value, 1)});
      } else {
        b.nums.back() = value(n.value);
      }
    }
    launch_geometry(kernel, step.cost, &b);
    return b;
  }

  void launch_geometry(const Kernel& kernel, int64_t cost, BoundStep* b) const {
    int64_t outer = 1, inner = 1;
    for (int32_t k = 0; k < kernel.rank(); ++k)
      (k < kernel.outer ? outer : inner) *=
          b->nums[static_cast<size_t>(kernel.extents[static_cast<size_t>(k)])];
    int64_t elements = inner;  // of one iteration
    if (kernel.tile >= 0) {
      const int64_t last =
          b->nums[static_cast<size_t>(kernel.extents[static_cast<size_t>(kernel.outer - 1)])];
      int64_t& tile = b->nums[static_cast<size_t>(kernel.tile)];
      tile = kernel.schedule == Schedule::Pointwise
                 ? (strided_lanes(kernel) ? last : std::min(last, pointwise_tile))
                 : columns_tile_for(kernel, last, outer / std::max<int64_t>(last, 1), inner);
      elements = tile * inner;
    }
    if (kernel.schedule == Schedule::Split) elements = split_group();
    b->scratch_bytes = layout_scratch(kernel, b->nums);
    b->iterations = iterations(kernel, b->nums);
    b->grain = std::max<int64_t>(1, task_cost / std::max<int64_t>(1, elements * cost));
    // Neighbouring rows of a transposed access share cache lines: they stay in one task.
    if (kernel.schedule == Schedule::Pointwise && kernel.outer > 1 && strided_lanes(kernel))
      b->grain = std::max(b->grain, std::min(transposed_rows, b->iterations / enough_tasks));
  }

  /// Whether an access steps by more than one element along the lanes.
  static bool strided_lanes(const Kernel& kernel) {
    return std::any_of(kernel.linears.begin(), kernel.linears.end(), [&](const Linear& l) {
      return std::any_of(l.terms.begin(), l.terms.end(), [&](const IndexTerm& t) {
        return t.atom == kernel.outer - 1 && t.stride.kind == Stride::Kind::Arg;
      });
    });
  }

  static int64_t columns_tile_for(const Kernel& kernel, int64_t last, int64_t outer,
                                  int64_t inner) {
    int64_t row_bytes = 0;  // scratch of one column
    for (const ScratchSlot& s : kernel.scratch)
      row_bytes += inner * static_cast<int64_t>(size_of(s.dtype));
    int64_t tile = std::min(columns_tile, round_up(last, 16));
    while (tile > least_columns_tile && outer * ((last + tile - 1) / tile) < enough_tasks)
      tile = round_up(tile / 2, 16);
    while (tile > 16 && tile * row_bytes > columns_scratch) tile = round_up(tile / 2, 16);
    return tile;
  }

  BoundStep external_step(const PlanStep& step) {
    BoundStep b;
    b.kind = step.kind;
    b.op = step.op;
    for (const ViewBind& v : step.views) {
      const DType t = plan_.slots[static_cast<size_t>(v.slot)].dtype;
      BoundStep::View view{v.slot, affine(v.offset, static_cast<int64_t>(size_of(t))), t, {}, {}};
      for (const Expr& e : v.shape) view.shape.push_back(value(e));
      for (const Expr& e : v.strides) view.strides.push_back(value(e));
      b.views.push_back(std::move(view));
    }
    return b;
  }

  /// Distinct elements, once per buffer.
  void count_bytes(const PlanStep& step, BoundStep* b) const {
    std::map<std::pair<int32_t, bool>, int64_t> elements;
    for (const Touch& t : step.touches) elements[{t.slot, t.write}] += value(t.elements);
    for (const auto& [key, count] : elements) {
      const BoundSlot& slot = bound_.slots[static_cast<size_t>(key.first)];
      const int64_t bytes = std::min(count * static_cast<int64_t>(size_of(slot.dtype)), slot.bytes);
      (key.second ? b->bytes_written : b->bytes_read) += bytes;
    }
  }

  struct Life {
    int32_t slot;
    int32_t first = INT32_MAX, last = -1;  // steps
  };

  std::vector<Life> lifetimes() const {
    std::vector<Life> lives(bound_.slots.size());
    for (size_t i = 0; i < lives.size(); ++i) lives[i].slot = static_cast<int32_t>(i);
    for (size_t s = 0; s < plan_.steps.size(); ++s)
      for (const Touch& t : plan_.steps[s].touches) {
        Life& life = lives[static_cast<size_t>(t.slot)];
        life.first = std::min(life.first, static_cast<int32_t>(s));
        life.last = std::max(life.last, static_cast<int32_t>(s));
      }
    return lives;
  }

  /// First fit by offset; a temporary's place is free again after its last use.
  void place_temporaries() {
    std::vector<Life> placed;
    for (const Life& life : lifetimes()) {
      BoundSlot& slot = bound_.slots[static_cast<size_t>(life.slot)];
      if (slot.kind != Slot::Kind::Temp || life.last < 0) continue;
      std::vector<std::pair<int64_t, int64_t>> taken;
      for (const Life& other : placed)
        if (other.first <= life.last && life.first <= other.last) {
          const BoundSlot& o = bound_.slots[static_cast<size_t>(other.slot)];
          taken.emplace_back(o.arena_offset, o.arena_offset + round_up(o.bytes, 64));
        }
      std::sort(taken.begin(), taken.end());
      int64_t at = 0;
      for (const auto& [begin, end] : taken) {
        if (at + slot.bytes <= begin) break;
        at = std::max(at, end);
      }
      slot.arena_offset = at;
      bound_.arena_bytes = std::max(bound_.arena_bytes, at + round_up(slot.bytes, 64));
      placed.push_back(life);
    }
  }

  bool overlap(const BoundSlot& a, const BoundSlot& b) const {
    return a.kind == Slot::Kind::Temp && b.kind == Slot::Kind::Temp &&
           a.arena_offset < b.arena_offset + b.bytes && b.arena_offset < a.arena_offset + a.bytes;
  }

  /// A step waits for those that write what it reads, and for the users of memory that it reuses.
  void order_steps() {
    std::vector<std::vector<int32_t>> users(bound_.slots.size());
    std::vector<int32_t> writer(bound_.slots.size(), -1);
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      std::vector<int32_t>& depends = bound_.steps[s].depends;
      for (const Touch& t : plan_.steps[s].touches) {
        const size_t slot = static_cast<size_t>(t.slot);
        if (!t.write) {
          if (writer[slot] >= 0) depends.push_back(writer[slot]);
          continue;
        }
        for (size_t other = 0; other < users.size(); ++other)
          if (other != slot && !users[other].empty() &&
              overlap(bound_.slots[slot], bound_.slots[other]))
            depends.insert(depends.end(), users[other].begin(), users[other].end());
      }
      for (const Touch& t : plan_.steps[s].touches) {
        users[static_cast<size_t>(t.slot)].push_back(static_cast<int32_t>(s));
        if (t.write) writer[static_cast<size_t>(t.slot)] = static_cast<int32_t>(s);
      }
      std::sort(depends.begin(), depends.end());
      depends.erase(std::unique(depends.begin(), depends.end()), depends.end());
    }
  }

  const Plan& plan_;
  std::span<const int64_t> sizes_;
  BoundPlan bound_;
  std::map<AtomId, int32_t> derived_;
};

}  // namespace

BoundPlan bind(const Plan& plan, std::span<const int64_t> sizes) {
  return Binder(plan, sizes).run();
}

}  // namespace kiln::ir
