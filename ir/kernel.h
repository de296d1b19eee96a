// Kernel IR: one loop nest that both targets can read. Sizes never appear in it: extents, strides,
// offsets and scalars are numbered 64-bit arguments ("nums"), so that one compiled kernel serves
// all shapes of a stride class. Its printed text is its identity (the kernel key).
//
// A kernel runs `iterations(kernel, nums)` independent parallel iterations. Per iteration the
// stages run in order; each is a loop over the inner variables or, with `loop` false, runs once.
//
//   schedule   parallel iteration is ...                      lanes run along  inner variables
//   Pointwise  (outer vars but the last, tile of the last)    last outer var   none
//   Rows       (outer vars)                                   last inner var   one or more
//   Columns    (outer vars but the last, tile of the last)    last outer var   one or more
//   Split      (outer vars; the last is the group)            the inner var    one
//
// Iterations are numbered in row-major order over what the table names: Rows and Split have the
// product of the outer extents, Pointwise and Columns (product of the outer extents but the last) *
// ceil(last / tile).
//
// Pointwise: stages loop over the elements of the tile; nothing reduces. Rows: the reduced operands
// end in a reduced axis, so their rows run along the last inner variable (lane tree of
// ir/core/reduce_tree.h), the other inner variables are its "rows". Columns: the last axis is kept,
// so every lane reduces its own column, over the inner variables in row-major order as rows of one
// element. Split: like Rows with one inner variable, of which each iteration runs one group: the
// last outer variable g is the index of the group (its extent is the number of groups), the inner
// extent n is that of the whole row, and stages loop over [g * G, min(n, (g + 1) * G)) with G =
// split_group(). Each iteration reduces its group and stores the partial result; a second kernel
// (Rows, tree Pairwise) combines the groups. Argmax and Argmin do not split.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/core/scalar.h"
#include "ir/op.h"

namespace kiln::ir {

enum class Schedule : uint8_t { Pointwise, Rows, Columns, Split };

/// Position of an argument in the nums of a launch; -1 for none.
using Num = int32_t;

/// What a num holds; the printer names it, the launcher fills it by it.
enum class NumRole : uint8_t {
  Extent,         // of a loop variable
  Stride,         // coefficient of an index term, in elements
  Offset,         // constant part of an index
  Bound,          // divisor, limit or other integer of an index computation, used as a value
  Scalar,         // bits of a host scalar of `dtype`
  Tile,           // elements of the last outer variable per iteration (Pointwise, Columns)
  ScratchOffset,  // byte offset of a scratch slot or of a Columns reduction's accumulators
};
struct NumInfo {
  NumRole role;
  DType dtype = DType::I64;  // of a Scalar
};

/// Coefficient of an index term. Classes 1 and -1 are code, the others arguments. (A coefficient of
/// 0 is no term at all.)
struct Stride {
  enum class Kind : uint8_t { One, MinusOne, Arg } kind = Kind::One;
  Num num = -1;
  friend bool operator==(const Stride&, const Stride&) = default;
};

/// An integer that an index is linear in: a loop variable, or floor division or modulo (both by a
/// positive num, of a non-negative linear form).
struct IndexAtom {
  enum class Kind : uint8_t { Var, Div, Mod } kind = Kind::Var;
  int32_t var = 0;     // Var: outer variables first, then inner ones
  int32_t linear = 0;  // Div, Mod: dividend, an entry of Kernel::linears
  Num divisor = -1;    // Div, Mod
};
struct IndexTerm {
  int32_t atom;
  Stride stride;
};
/// sum of stride * atom, plus nums[offset] if there is one.
struct Linear {
  SmallVector<IndexTerm, 4> terms;
  Num offset = -1;
};

/// An expression node. Values are in topological order. Which loop a value belongs to follows from
/// the variables that it depends on: a value that depends on no inner variable is computed once per
/// iteration (Rows, Columns).
struct Value {
  enum class Kind : uint8_t {
    Const,    // `bits`
    Scalar,   // nums[num], of dtype
    Load,     // ptrs[ptr] at `linear`; where a guard is false no access happens and the value is 0
    Index,    // `linear` as i64
    Op,       // elementwise `op` of `inputs`; operands have one dtype (the compute dtype), Cast and
              // Where aside; or Rand, Randn of seed, stream and position, all i64
    Acc,      // result of reduction `slot`, available after its stage
    Scratch,  // element of scratch slot `slot` at the current position; filled in an earlier stage
  };
  Kind kind = Kind::Const;
  Op op = Op::Input;
  DType dtype = DType::F32;
  int32_t ptr = -1;
  int32_t linear = -1;
  int32_t guard = -1;  // a bool value, or -1
  int32_t slot = -1;
  Num num = -1;
  Bits bits;
  SmallVector<int32_t, 3> inputs;
};

/// One reduction: its result dtype is that of the accumulator (`dtype`), except Argmax and Argmin
/// (i64; `dtype` is the operand's).
struct Reduce {
  Op op;
  DType dtype;  // operands are of this dtype
  int32_t value;
  enum class Tree : uint8_t { Full, Pairwise } tree = Tree::Full;
  Num scratch = -1;  // Columns: byte offset of the accumulators
};
struct Store {
  int32_t ptr;
  int32_t linear;
  int32_t value;
};
struct Fill {
  int32_t slot;
  int32_t value;
};
struct Stage {
  bool loop = true;
  std::vector<int32_t> reduces;  // entries of Kernel::reduces
  std::vector<Fill> fills;
  std::vector<Store> stores;
};

struct Ptr {
  DType dtype;
  bool output;
};
/// Row scratch: one element per position of the inner variables (Rows), times the columns of the
/// tile (Columns: position-major, element [position][column]).
struct ScratchSlot {
  DType dtype;
  Num offset;
};

/// A named tiled skeleton with regions that the emitter of each target provides. Reserved: the
/// grammar knows it, no pass creates one yet.
struct Template {
  std::string name;
  std::vector<std::string> regions;
};

struct Kernel {
  Schedule schedule = Schedule::Pointwise;
  int32_t outer = 0;         // number of outer variables
  int32_t inner = 0;         // number of inner variables
  std::vector<Num> extents;  // per variable, outer first
  Num tile = -1;             // Pointwise, Columns
  std::vector<NumInfo> nums;
  std::vector<Ptr> ptrs;
  std::vector<IndexAtom> atoms;  // the first outer + inner are the variables, in order
  std::vector<Linear> linears;
  std::vector<Value> values;
  std::vector<Reduce> reduces;
  std::vector<ScratchSlot> scratch;
  std::vector<Stage> stages;
  std::vector<Template> templates;

  int32_t rank() const { return outer + inner; }
};

/// Elements per group of a Split kernel: reduce_block * reduce_split_blocks.
int64_t split_group();

/// Number of parallel iterations for given nums.
int64_t iterations(const Kernel& kernel, std::span<const int64_t> nums);

/// Sets the ScratchOffset nums and returns the scratch bytes that an iteration needs (each part
/// aligned to 64). Accumulators of a Columns reduction: (pairwise levels + 1) arrays of `tile`
/// elements of the operand dtype, for argmax and argmin followed by as many of i64.
int64_t layout_scratch(const Kernel& kernel, std::span<int64_t> nums);

/// Depth of the pairwise stack that `rows` rows need in a Columns reduction.
int64_t pairwise_levels(int64_t rows);

/// Text form; the same kernel always prints the same, and parse(print(k)) prints the same again.
std::string print(const Kernel& kernel);
/// Reads what print wrote. Raises InternalError naming the line.
Kernel parse_kernel(std::string_view text);
/// Raises InternalError naming the broken rule; `kernel` is otherwise well formed for every
/// backend.
void verify(const Kernel& kernel);

/// Runs iterations [begin, end) with the kernel ABI's arguments, without a compiler: the fallback,
/// and the reference of the code generator.
int32_t interpret(const Kernel& kernel, void* const* ptrs, const int64_t* nums, std::byte* scratch,
                  int64_t begin, int64_t end);

}  // namespace kiln::ir
