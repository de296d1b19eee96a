// The whole pipeline on one page: trace -> plan key -> graph -> skeleton key -> fusion -> kernels
// -> machine code -> program -> run -> values. Longer than other files because it alone knows
// fusion, jit and runtime.
#include "tracer/evaluate.h"

#include <array>
#include <chrono>
#include <cstring>

#include "fusion/pipeline.h"
#include "jit/jit.h"
#include "runtime/counters.h"
#include "runtime/program.h"
#include "runtime/task_pool.h"
#include "tracer/firing.h"
#include "tracer/lru_cache.h"
#include "tracer/origin.h"
#include "tracer/pin.h"
#include "tracer/trace.h"

namespace kiln::tracer {

using runtime::BufferRef;
using runtime::count;
using runtime::Counter;

// ---- What is cached ----------------------------------------------------------------------------

namespace {

/// What a skeleton key leads to: all but the sizes.
struct Skeleton {
  std::shared_ptr<const Schedule> schedule;
  /// Per kernel of the plan; null: the kernel interpreter runs it.
  std::vector<std::shared_ptr<const jit::CompiledKernel>> code;
};

/// What a plan key leads to: ready to run.
struct ReadyPlan {
  runtime::Program program;
  /// Further parameters, computed from the call's by the pool of the schedule's plan.
  std::vector<ir::Expr> derived;
  std::vector<int64_t> sizes;
  std::vector<int32_t> output_slots, kept_slots;
  std::shared_ptr<const Origin> origin;
};

LruCache<PlanKey, ReadyPlan>& plans() {
  static auto& cache = *new LruCache<PlanKey, ReadyPlan>(4096);
  return cache;
}
LruCache<PlanKey, Skeleton>& skeletons() {
  static auto& cache = *new LruCache<PlanKey, Skeleton>(1024);
  return cache;
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// ---- Graph to kernels to machine code ----------------------------------------------------------

std::shared_ptr<const jit::CompiledKernel> compile_or_fall_back(const ir::Kernel& kernel) {
  try {
    return jit::compile(kernel);
  } catch (const InternalError& e) {
    count(Counter::Fallbacks);
    if (log_enabled(Log::Fallback)) log_line(Log::Fallback, e.what());
    return nullptr;
  }
}

std::vector<std::shared_ptr<const jit::CompiledKernel>> compile(const ir::Plan& plan) {
  std::vector<std::shared_ptr<const jit::CompiledKernel>> code(plan.kernels.size());
  if (!settings().jit || plan.kernels.empty()) return code;
  try {
    std::vector<const ir::Kernel*> kernels;
    for (const ir::Kernel& k : plan.kernels) kernels.push_back(&k);
    code = jit::compile_all(kernels);
  } catch (const InternalError&) {
    for (size_t k = 0; k < code.size(); ++k) code[k] = compile_or_fall_back(plan.kernels[k]);
  }
  return code;
}

std::shared_ptr<const Skeleton> make_skeleton(const ir::Graph& graph,
                                              const fusion::Options& options) {
  fusion::Result result = fusion::run_pipeline(graph, options);
  auto schedule = std::make_shared<Schedule>();
  if (dump_enabled(DumpStage::Fusion)) schedule->picture = fusion::graphviz(result);
  schedule->graph = std::move(result.graph);
  schedule->plan = std::move(result.plan);
  schedule->groups = std::move(result.groups);
  schedule->decisions = std::move(result.decisions);
  auto skeleton = std::make_shared<Skeleton>();
  skeleton->code = compile(schedule->plan);
  skeleton->schedule = std::move(schedule);
  return skeleton;
}

PlanKey make_skeleton_key(const ir::Graph& graph, const fusion::Options& options) {
  PlanKey key;
  for (int64_t w : fusion::skeleton_key(graph, options)) {
    key.words.push_back(static_cast<uint64_t>(w));
    key.hash = (key.hash ^ static_cast<uint64_t>(w)) * 0x9e3779b97f4a7c15u;
    key.hash ^= key.hash >> 29;
  }
  return key;
}

// ---- Bound plan to program ---------------------------------------------------------------------

runtime::Affine to_affine(const ir::Affine& a) {
  runtime::Affine out{a.base, {}};
  for (const ir::AffineTerm& t : a.terms) out.terms.push_back({t.param, t.factor});
  return out;
}

runtime::KernelStep to_kernel_step(const ir::BoundStep& b, const Skeleton& skeleton) {
  runtime::KernelStep s;
  if (const auto& code = skeleton.code[static_cast<size_t>(b.kernel)]) {
    s.fn = code->fn;
    s.code = code;
  } else {
    s.interpret = [schedule = skeleton.schedule, kernel = b.kernel](
                      void* const* ptrs, const int64_t* nums, std::byte* scratch, int64_t begin,
                      int64_t end) {
      return ir::interpret(schedule->plan.kernels[static_cast<size_t>(kernel)], ptrs, nums, scratch,
                           begin, end);
    };
  }
  for (const auto& [slot, offset] : b.ptrs) s.ptrs.push_back({slot, to_affine(offset)});
  s.nums = b.nums;
  for (const ir::BoundStep::Patch& p : b.patches)
    s.patches.push_back({p.num, p.bits_of, to_affine(p.value)});
  s.iterations = b.iterations;
  s.grain = b.grain;
  s.scratch_bytes = b.scratch_bytes;
  s.bytes_read = b.bytes_read;
  s.bytes_written = b.bytes_written;
  return s;
}

runtime::ExternalStep to_external_step(const ir::BoundStep& b) {
  check_internal(b.op == ir::Op::Matmul, "plan: matmul is the only external kernel");
  const auto view = [](const ir::BoundStep::View& v) {
    return runtime::ViewArg{v.slot, to_affine(v.offset_bytes), v.dtype, v.shape, v.strides};
  };
  runtime::ExternalStep s;
  s.out = view(b.views.at(0));
  for (size_t i = 1; i < b.views.size(); ++i) s.inputs.push_back(view(b.views[i]));
  s.bytes_read = b.bytes_read;
  s.bytes_written = b.bytes_written;
  return s;
}

runtime::Program to_program(const ir::BoundPlan& bound, const Skeleton& skeleton) {
  runtime::Program program;
  for (const ir::BoundSlot& s : bound.slots) {
    runtime::Slot slot;
    slot.kind = s.kind == ir::Slot::Kind::Input    ? runtime::Slot::Kind::Input
                : s.kind == ir::Slot::Kind::Output ? runtime::Slot::Kind::Output
                                                   : runtime::Slot::Kind::Temp;
    slot.bytes = s.bytes;
    slot.arena_offset = std::max<int64_t>(s.arena_offset, 0);
    program.slots.push_back(slot);
  }
  for (const ir::BoundStep& b : bound.steps) {
    runtime::Step step;
    if (b.kind == ir::PlanStep::Kind::Kernel) {
      step.work = to_kernel_step(b, skeleton);
    } else {
      step.work = to_external_step(b);
    }
    step.depends = b.depends;
    program.steps.push_back(std::move(step));
  }
  program.num_inputs = skeleton.schedule->plan.num_inputs;
  program.num_outputs = skeleton.schedule->plan.num_outputs;
  program.arena_bytes = bound.arena_bytes;
  runtime::finish_program(program);
  return program;
}

// ---- Trace to plan -----------------------------------------------------------------------------

void dump_stages(const Origin& origin, bool fresh) {
  dump(origin, fresh);
  if (!fresh) return;
  const std::vector<ir::Kernel>& kernels = origin.schedule->plan.kernels;
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (dump_enabled(DumpStage::Llvm)) dump_code(DumpStage::Llvm, k, jit::llvm_text(kernels[k]));
    if (dump_enabled(DumpStage::Asm)) dump_code(DumpStage::Asm, k, jit::asm_text(kernels[k]));
  }
}

std::shared_ptr<const ReadyPlan> make_plan(const Trace& trace, bool fuse) {
  const int64_t start = now_ns();
  const int64_t compiled_before = stats().compile_ns;
  const fusion::Options options{fuse, settings().verify};
  ir::Graph graph = to_graph(trace);
  try {
    if (settings().verify) ir::verify(graph);
    const PlanKey key = make_skeleton_key(graph, options);
    std::shared_ptr<const Skeleton> skeleton = skeletons().find(key);
    const bool fresh = !skeleton;
    count(fresh ? Counter::SkeletonMisses : Counter::SkeletonHits);
    if (fresh) skeleton = skeletons().insert(key, make_skeleton(graph, options));

    auto plan = std::make_shared<ReadyPlan>();
    plan->sizes = ir::collect_sizes(graph).values;
    const ir::BoundPlan bound = ir::bind(skeleton->schedule->plan, plan->sizes);
    plan->derived = bound.derived;
    plan->program = to_program(bound, *skeleton);
    plan->output_slots = bound.output_slots;
    plan->kept_slots = bound.wanted_slots;
    auto origin = std::make_shared<Origin>();
    for (const ir::BoundStep& s : bound.steps)
      origin->steps.push_back(
          {s.kind == ir::PlanStep::Kind::Kernel ? s.kernel : -1, s.bytes_read, s.bytes_written});
    origin->trace = graph;
    origin->schedule = skeleton->schedule;
    if (settings().dump != 0) dump_stages(*origin, fresh);
    plan->origin = std::move(origin);
    const int64_t took = now_ns() - start;
    count(Counter::PlanNs, std::max<int64_t>(0, took - (stats().compile_ns - compiled_before)));
    if (log_enabled(Log::Plan))
      log_line(Log::Plan, std::to_string(graph.nodes.size()) + " nodes, " +
                              std::to_string(bound.steps.size()) + " steps, " +
                              (fresh ? "new" : "skeleton hit") + ", " +
                              std::to_string(took / 1000) + " us");
    return plan;
  } catch (const InternalError& e) {
    const std::string what = e.what(), text = ir::print(graph);
    if (what.find(text) != std::string::npos) throw;
    throw InternalError(what + "\nwhile planning\n" + text);
  }
}

std::shared_ptr<const ReadyPlan> find_plan(const Trace& trace, bool fuse) {
  if (auto plan = plans().find(trace.key())) {
    count(Counter::PlanHits);
    return plan;
  }
  count(Counter::PlanMisses);
  return plans().insert(trace.key(), make_plan(trace, fuse));
}

}  // namespace

// ---- Memory of nodes ---------------------------------------------------------------------------

struct MemoryAccess {
  static Memory wrap(BufferRef b) {
    Memory m;
    m.block_ = b.detach();
    return m;
  }
  static BufferRef unwrap(Memory m) { return BufferRef::adopt(std::exchange(m.block_, nullptr)); }
  static runtime::Buffer* retain(runtime::Buffer* block) {
    BufferRef held = BufferRef::adopt(block), copy = held;
    held.detach();
    return copy.detach();
  }
};

runtime::Buffer* Memory::retain(runtime::Buffer* block) { return MemoryAccess::retain(block); }
void Memory::release(runtime::Buffer* block) { BufferRef::adopt(block); }
std::byte* Memory::data() const { return block_->data(); }
bool Memory::unique() const { return block_->unique(); }

Memory Memory::borrow(void* p, int64_t bytes, std::function<void(void*)> deleter) {
  return MemoryAccess::wrap(runtime::borrow(p, bytes, std::move(deleter)));
}

[[noreturn]] static void out_of_memory(const runtime::OutOfMemory& e, std::string_view op,
                                       const std::string& what, const SourceLocation& at) {
  throw Error(std::string(op) + ": out of memory" + what + ": " + std::to_string(e.requested()) +
                  " bytes wanted, the limit is " + std::to_string(e.limit()) + " bytes",
              at);
}

Memory Memory::allocate(int64_t bytes, std::string_view op, const SourceLocation& at) {
  try {
    return MemoryAccess::wrap(runtime::allocate(bytes));
  } catch (const runtime::OutOfMemory& e) {
    out_of_memory(e, op, "", at);
  }
}

// ---- Plan to values ----------------------------------------------------------------------------

namespace {

/// Where a result lies after a run.
BufferRef result(int32_t slot, std::span<const BufferRef> inputs,
                 std::span<const BufferRef> outputs) {
  const size_t s = static_cast<size_t>(slot);
  return s < inputs.size() ? inputs[s] : outputs[s - inputs.size()];
}

/// A result that is an argument at a fixed address, which later writes change: a copy.
BufferRef copy_of(const BufferRef& b, const Node& n) {
  BufferRef copy = MemoryAccess::unwrap(Memory::allocate(n.bytes(), ir::name(n.op), n.at));
  std::memcpy(copy->data(), b->data(), static_cast<size_t>(n.bytes()));
  return copy;
}

/// Makes a node evaluated; its operands go to `dropped`, for release after the lock.
void publish(Node& n, BufferRef b, const std::shared_ptr<const Origin>& origin,
             std::vector<Node*>& dropped) {
  std::lock_guard lock(n.lock);
  if (n.state() == State::Evaluated) return;  // another thread was faster
  n.memory = MemoryAccess::wrap(std::move(b));
  n.origin = origin;
  take_operands(n, dropped);
  n.set_state(State::Evaluated);
}

/// The call's parameters, with those that the plan derives from them.
std::span<const uint64_t> all_params(const Trace& trace, const ReadyPlan& plan,
                                     std::vector<uint64_t>* storage) {
  if (plan.derived.empty()) return trace.params();
  storage->assign(trace.params().begin(), trace.params().end());
  for (const ir::Expr& e : plan.derived)
    storage->push_back(static_cast<uint64_t>(
        plan.origin->schedule->plan.pool->evaluate(e, plan.sizes, trace.params())));
  return *storage;
}

/// Runs the plan on the trace's arguments and publishes what it stored.
void execute(Trace& trace, const ReadyPlan& plan) {
  std::vector<std::shared_lock<std::shared_mutex>> fixed;  // arguments at fixed addresses
  std::vector<BufferRef> inputs, outputs(static_cast<size_t>(plan.program.num_outputs));
  std::vector<bool> is_fixed;
  for (const int32_t e : trace.leaves()) {
    const size_t before = fixed.size();
    Node& leaf = *trace.entries()[static_cast<size_t>(e)].node;
    inputs.push_back(MemoryAccess::unwrap(read_memory(leaf, fixed)));
    is_fixed.push_back(fixed.size() != before);
  }
  std::vector<uint64_t> params;
  runtime::run(plan.program, inputs, all_params(trace, plan, &params), outputs);

  std::vector<std::pair<Node*, BufferRef>> stored;
  const auto store = [&](int32_t entry, int32_t slot) {
    Node& n = *trace.entries()[static_cast<size_t>(entry)].node;
    BufferRef b = result(slot, inputs, outputs);
    const size_t s = static_cast<size_t>(slot);
    stored.emplace_back(&n, s < is_fixed.size() && is_fixed[s] ? copy_of(b, n) : b);
  };
  for (size_t i = 0; i < trace.outputs().size(); ++i)
    store(trace.outputs()[i], plan.output_slots[i]);
  const int32_t storable = plan.program.num_inputs + plan.program.num_outputs;
  for (size_t i = 0; i < trace.kept().size(); ++i) {
    const int32_t slot = plan.kept_slots[i];
    if (slot >= 0 && slot < storable) {
      store(trace.kept()[i], slot);
    } else {
      const Trace::Entry& e = trace.entries()[static_cast<size_t>(trace.kept()[i])];
      e.node->fired.store(true, std::memory_order_relaxed);
    }
  }
  fixed.clear();

  std::vector<Node*> dropped;
  std::vector<NodeRef> at_fixed_address;
  for (auto& [node, buffer] : stored) {
    publish(*node, std::move(buffer), plan.origin, dropped);
    if (node->extra && node->extra->pin) at_fixed_address.emplace_back(node);
  }
  for (Node* n : dropped) Node::release(n);
  if (at_fixed_address.empty()) return;
  stored.clear();
  trace.clear();  // what only this trace needed need not be moved away
  for (const NodeRef& n : at_fixed_address) settle(*n);
}

/// Shortage leaves all as it was: an Error that names the largest result.
[[noreturn]] void raise_out_of_memory(const Trace& trace, const runtime::OutOfMemory& e) {
  const Node* largest = trace.entries()[static_cast<size_t>(trace.outputs()[0])].node.get();
  for (const int32_t entry : trace.outputs()) {
    const Node* n = trace.entries()[static_cast<size_t>(entry)].node.get();
    if (n->bytes() > largest->bytes()) largest = n;
  }
  out_of_memory(e, ir::name(largest->op),
                " for " + to_string(largest->shape) + " " + std::string(name(largest->dtype)),
                largest->at);
}

}  // namespace

void plan_and_execute(Trace& trace, bool fuse) {
  std::shared_ptr<const ReadyPlan> plan;
  try {
    plan = find_plan(trace, fuse);
    execute(trace, *plan);
  } catch (const runtime::OutOfMemory& e) {
    raise_out_of_memory(trace, e);
  } catch (const std::bad_alloc&) {
    throw Error("evaluate: out of memory while planning",
                trace.entries()[static_cast<size_t>(trace.outputs()[0])].node->at);
  } catch (const runtime::KernelFailure& e) {
    throw InternalError(std::string(e.what()) + "\n" + explain_text(*plan->origin));
  }
}

// ---- Sync points -------------------------------------------------------------------------------

static constexpr std::array<const char*, num_sync_causes> cause_names = {
    "eval", "item", "data", "print", "to_vector", "cut", "copy"};

void note_sync(const Trace& trace, SyncCause cause, const SourceLocation& at) {
  runtime::count_sync(cause);
  if (!log_enabled(Log::Sync)) return;
  log_line(Log::Sync, std::string(cause_names[static_cast<size_t>(cause)]) + ": " +
                          std::to_string(trace.order().size() - trace.leaves().size()) +
                          " nodes, " + std::to_string(trace.leaves().size()) + " inputs, " +
                          std::to_string(trace.outputs().size()) + " outputs at " + to_string(at));
}

void evaluate(std::span<Node* const> wanted, SyncCause cause, const SourceLocation& at) {
  const bool fuse = fusion_enabled();
  ReusedTrace trace;
  trace->collect(wanted, Trace::InFlight::Wait, fuse);
  if (trace->empty()) return;
  note_sync(*trace, cause, at);
  try {
    plan_and_execute(*trace, fuse);
  } catch (const Error&) {
    throw;  // a shortage: the next try may succeed
  } catch (...) {
    mark_failed(trace->output_nodes(), std::current_exception(), nullptr);
    throw;
  }
}

std::string explain(Node* node) {
  const bool fuse = fusion_enabled();
  ReusedTrace trace;
  trace->collect({&node, 1}, Trace::InFlight::Wait, fuse);
  if (!trace->empty()) return explain_text(*find_plan(*trace, fuse)->origin);
  std::shared_ptr<const Origin> origin;
  {
    std::lock_guard lock(node->lock);
    origin = node->origin;
  }
  if (origin) return explain_text(*origin);
  return "given data " + to_string(node->shape) + " " + std::string(name(node->dtype)) + "\n";
}

// ---- The runtime, for files that do not include it ---------------------------------------------

const SyncCause sync_cut = SyncCause::Cut, sync_eval = SyncCause::Eval;

void enqueue(std::function<void()> work) { runtime::enqueue(std::move(work)); }
int num_threads() { return runtime::num_threads(); }
void set_num_threads(int n) { runtime::set_num_threads(n); }
void count_op_recorded() { count(Counter::OpsRecorded); }

void clear_plans() {
  plans().clear();
  skeletons().clear();
}

}  // namespace kiln::tracer
