// A plan made concrete: machine code, buffer slots and launch arguments, without any IR. What a
// plan hit runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <variant>
#include <vector>

#include "ir/core/dtype.h"
#include "ir/core/shape.h"
#include "ir/core/small_vector.h"
#include "runtime/buffer.h"

namespace kiln::runtime {

/// Kernel ABI: runs parallel iterations [begin, end); begin is a multiple of the step's grain.
/// ptrs: buffer addresses with offsets applied. nums: i64 extents, strides, bits of scalars, tile
/// sizes. scratch: this task's own, 64-byte aligned, uninitialised. Returns 0, or a status that
/// run() raises as KernelFailure. Called in the default floating-point mode.
using KernelFn = int32_t (*)(void* const* ptrs, const int64_t* nums, std::byte* scratch,
                             int64_t begin, int64_t end);

/// factor * params[param], the parameter read as i64.
struct ParamRef {
  int32_t param;
  int64_t factor;
};

/// base + the sum of the terms: affine in the integer parameters of the call.
struct Affine {
  int64_t base = 0;
  SmallVector<ParamRef, 2> terms;
};

struct PtrArg {
  int32_t slot = 0;
  Affine offset_bytes;
};

/// Sets nums[num] before the launch: to the raw 64 bits of params[param] if param >= 0, otherwise
/// to `value`.
struct NumPatch {
  int32_t num = 0;
  int32_t param = -1;
  Affine value;
};

struct KernelStep {
  KernelFn fn = nullptr;  // null: `interpret` runs instead, with the same arguments
  std::function<int32_t(void* const*, const int64_t*, std::byte*, int64_t, int64_t)> interpret;
  std::shared_ptr<const void> code;  // keeps fn's machine code alive, where it can be unloaded
  std::vector<PtrArg> ptrs;
  std::vector<int64_t> nums;
  std::vector<NumPatch> patches;
  int64_t iterations = 1;     // 0 launches nothing
  int64_t grain = 1;          // iterations of one task at least; <= grain run on the caller
  int64_t scratch_bytes = 0;  // per task
  int64_t bytes_read = 0;     // distinct bytes, for the statistics
  int64_t bytes_written = 0;
};

/// A strided view of a slot, for external kernels. Strides in elements.
struct ViewArg {
  int32_t slot = 0;
  Affine offset_bytes;
  DType dtype = DType::F32;
  Dims shape;
  Dims strides;
};

enum class External : uint8_t { Matmul };

/// A call of a library kernel. Matmul: out = inputs[0] x inputs[1], see matmul.h.
struct ExternalStep {
  External kind = External::Matmul;
  ViewArg out;
  std::vector<ViewArg> inputs;
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
};

struct Step {
  std::variant<KernelStep, ExternalStep> work;
  /// Earlier steps that must be complete: those it reads from, and those that use memory which it
  /// overwrites (arena reuse, donation).
  std::vector<int32_t> depends;
};

struct Slot {
  enum class Kind : uint8_t { Input, Output, Temp };
  Kind kind = Kind::Temp;
  int64_t bytes = 0;
  int64_t arena_offset = 0;  // Temp: in the program's arena; a multiple of 64
  int32_t donor = -1;        // Output: the Input slot whose buffer becomes this output, or -1
};

/// Slots are in the order inputs, outputs, temps. Steps are in an order that respects `depends`.
struct Program {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  int32_t num_inputs = 0;
  int32_t num_outputs = 0;
  int64_t arena_bytes = 0;

  /// Consecutive steps [waves[i], waves[i+1]) that are independent of each other. Set by
  /// finish_program().
  std::vector<int32_t> waves;
};

/// A kernel returned a status other than 0. Outputs of the run are undefined.
class KernelFailure : public std::runtime_error {
 public:
  KernelFailure(int32_t step, int32_t status);
  int32_t step() const { return step_; }
  int32_t status() const { return status_; }

 private:
  int32_t step_;
  int32_t status_;
};

/// Checks the invariants above (InternalError if one is broken) and sets `waves`. Call once before
/// the first run.
void finish_program(Program& program);

/// Runs the program on num_inputs input buffers and the raw 64-bit parameters. Null entries of
/// `outputs` (num_outputs of them) are allocated, or take their donor's buffer; others are written
/// in place and must be large enough. A program may run on many threads at once. Throws
/// OutOfMemory before anything ran, or KernelFailure.
void run(const Program& program, std::span<const BufferRef> inputs,
         std::span<const uint64_t> params, std::span<BufferRef> outputs);

}  // namespace kiln::runtime
