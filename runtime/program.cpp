#include "runtime/program.h"

#include <algorithm>
#include <atomic>
#include <string>

#include "ir/core/error.h"
#include "runtime/counters.h"
#include "runtime/float_mode.h"
#include "runtime/matmul.h"
#include "runtime/scratch.h"
#include "runtime/task_pool.h"

namespace kiln::runtime {
namespace {

/// What a step needs to know of the call.
struct Call {
  std::byte* const* slots;
  std::span<const uint64_t> params;

  int64_t eval(const Affine& a) const {
    int64_t v = a.base;
    for (const ParamRef& t : a.terms)
      v += t.factor * static_cast<int64_t>(params[static_cast<size_t>(t.param)]);
    return v;
  }
  std::byte* address(int32_t slot, const Affine& offset_bytes) const {
    return slots[slot] + eval(offset_bytes);
  }
};

int32_t run_range(const KernelStep& k, void* const* ptrs, const int64_t* nums, int64_t begin,
                  int64_t end) {
  DefaultFloatMode mode;
  std::byte* scratch = thread_scratch(k.scratch_bytes);
  return k.fn ? k.fn(ptrs, nums, scratch, begin, end)
              : k.interpret(ptrs, nums, scratch, begin, end);
}

int32_t run_kernel(const KernelStep& k, const Call& call) {
  if (k.iterations == 0) return 0;
  SmallVector<void*, 16> ptrs;
  for (const PtrArg& p : k.ptrs) ptrs.push_back(call.address(p.slot, p.offset_bytes));
  SmallVector<int64_t, 48> patched;
  const int64_t* nums = k.nums.data();
  if (!k.patches.empty()) {
    patched.assign(k.nums.begin(), k.nums.end());
    for (const NumPatch& p : k.patches)
      patched[static_cast<size_t>(p.num)] =
          p.param >= 0 ? static_cast<int64_t>(call.params[static_cast<size_t>(p.param)])
                       : call.eval(p.value);
    nums = patched.data();
  }
  count(Counter::KernelsLaunched);
  count(Counter::BytesRead, k.bytes_read);
  count(Counter::BytesWritten, k.bytes_written);
  if (k.iterations <= k.grain) return run_range(k, ptrs.data(), nums, 0, k.iterations);
  std::atomic<int32_t> status{0};
  parallel_for(k.iterations, k.grain, [&](int64_t begin, int64_t end) {
    if (status.load(std::memory_order_relaxed) != 0) return;
    if (const int32_t s = run_range(k, ptrs.data(), nums, begin, end); s != 0) {
      int32_t none = 0;
      status.compare_exchange_strong(none, s, std::memory_order_relaxed);
    }
  });
  return status.load(std::memory_order_relaxed);
}

MatView mat_view(const ViewArg& v, const Call& call) {
  return {call.address(v.slot, v.offset_bytes), v.dtype, v.shape, v.strides};
}

void run_external(const ExternalStep& e, const Call& call) {
  count(Counter::ExternalCalls);
  count(Counter::BytesRead, e.bytes_read);
  count(Counter::BytesWritten, e.bytes_written);
  switch (e.kind) {
    case External::Matmul:
      matmul(mat_view(e.out, call), mat_view(e.inputs[0], call), mat_view(e.inputs[1], call));
      break;
  }
}

void run_step(const Program& program, int64_t index, const Call& call) {
  const Step& step = program.steps[static_cast<size_t>(index)];
  if (const auto* k = std::get_if<KernelStep>(&step.work)) {
    if (const int32_t status = run_kernel(*k, call); status != 0)
      throw KernelFailure(static_cast<int32_t>(index), status);
  } else {
    run_external(std::get<ExternalStep>(step.work), call);
  }
}

/// Whether the step is worth a task of its own beside its neighbours.
bool is_large(const Step& step) {
  const auto* k = std::get_if<KernelStep>(&step.work);
  return !k || k->iterations > k->grain;
}

void run_steps(const Program& program, const Call& call) {
  for (size_t w = 0; w + 1 < program.waves.size(); ++w) {
    const int64_t first = program.waves[w];
    const int64_t size = program.waves[w + 1] - first;
    int64_t large = 0;
    for (int64_t i = 0; i < size; ++i)
      large += is_large(program.steps[static_cast<size_t>(first + i)]);
    if (large >= 2) {
      parallel_for(size, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) run_step(program, first + i, call);
      });
    } else {
      for (int64_t i = 0; i < size; ++i) run_step(program, first + i, call);
    }
  }
}

void check_slot(const Program& program, int32_t slot) {
  check_internal(slot >= 0 && static_cast<size_t>(slot) < program.slots.size(),
                 "program: a step uses a slot that does not exist");
}

void check_kernel(const Program& program, const KernelStep& k) {
  check_internal(k.fn || k.interpret, "program: a kernel step has no code");
  check_internal(k.iterations >= 0 && k.grain >= 1 && k.scratch_bytes >= 0,
                 "program: bad iteration count, grain or scratch size");
  for (const PtrArg& p : k.ptrs) check_slot(program, p.slot);
  for (const NumPatch& p : k.patches)
    check_internal(p.num >= 0 && static_cast<size_t>(p.num) < k.nums.size(),
                   "program: a patch is out of range");
}

void check_external(const Program& program, const ExternalStep& e) {
  check_internal(e.inputs.size() == 2, "program: matmul takes two inputs");
  check_slot(program, e.out.slot);
  for (const ViewArg& v : e.inputs) check_slot(program, v.slot);
}

void check_slots(const Program& program) {
  const auto inputs = static_cast<size_t>(program.num_inputs);
  const auto outputs = static_cast<size_t>(program.num_outputs);
  check_internal(inputs + outputs <= program.slots.size(), "program: slots are missing");
  std::vector<char> donated(inputs, 0);
  for (size_t i = 0; i < program.slots.size(); ++i) {
    const Slot& s = program.slots[i];
    const Slot::Kind kind = i < inputs             ? Slot::Kind::Input
                            : i < inputs + outputs ? Slot::Kind::Output
                                                   : Slot::Kind::Temp;
    check_internal(s.kind == kind, "program: slots must be inputs, then outputs, then temps");
    check_internal(s.bytes >= 0, "program: a slot has a negative size");
    check_internal(s.kind != Slot::Kind::Temp ||
                       (s.arena_offset >= 0 && s.arena_offset % buffer_alignment == 0 &&
                        s.arena_offset + s.bytes <= program.arena_bytes),
                   "program: a temp lies outside the arena or is not aligned");
    if (s.donor < 0) continue;
    const auto donor = static_cast<size_t>(s.donor);
    check_internal(s.kind == Slot::Kind::Output && donor < inputs && !donated[donor] &&
                       program.slots[donor].bytes >= s.bytes,
                   "program: a donor must be an input, large enough, of one output");
    donated[donor] = 1;
  }
}

}  // namespace

KernelFailure::KernelFailure(int32_t step, int32_t status)
    : std::runtime_error("kernel of step " + std::to_string(step) + " failed with status " +
                         std::to_string(status)),
      step_(step),
      status_(status) {}

void finish_program(Program& program) {
  check_slots(program);
  program.waves.assign(1, 0);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (const auto* k = std::get_if<KernelStep>(&step.work))
      check_kernel(program, *k);
    else
      check_external(program, std::get<ExternalStep>(step.work));
    const auto index = static_cast<int32_t>(i);
    bool new_wave = false;
    for (const int32_t d : step.depends) {
      check_internal(d >= 0 && d < index, "program: a step depends on a later one");
      new_wave |= d >= program.waves.back();
    }
    if (new_wave) program.waves.push_back(index);
  }
  if (!program.steps.empty()) program.waves.push_back(static_cast<int32_t>(program.steps.size()));
}

void run(const Program& program, std::span<const BufferRef> inputs,
         std::span<const uint64_t> params, std::span<BufferRef> outputs) {
  const auto num_inputs = static_cast<size_t>(program.num_inputs);
  check_internal(
      inputs.size() == num_inputs && outputs.size() == static_cast<size_t>(program.num_outputs),
      "run: wrong number of inputs or outputs");
  SmallVector<std::byte*, 32> slots(program.slots.size());
  for (size_t i = 0; i < inputs.size(); ++i) slots[i] = inputs[i]->data();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Slot& s = program.slots[num_inputs + i];
    if (!outputs[i])
      outputs[i] = s.donor >= 0 ? inputs[static_cast<size_t>(s.donor)] : allocate(s.bytes);
    check_internal(outputs[i]->size() >= s.bytes, "run: an output buffer is too small");
    slots[num_inputs + i] = outputs[i]->data();
  }
  const BufferRef arena = program.arena_bytes > 0 ? allocate(program.arena_bytes) : BufferRef();
  for (size_t i = num_inputs + outputs.size(); i < slots.size(); ++i)
    slots[i] = arena ? arena->data() + program.slots[i].arena_offset : nullptr;
  run_steps(program, Call{slots.data(), params});
}

}  // namespace kiln::runtime
