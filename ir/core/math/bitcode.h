// The math of kernels.cpp as LLVM bitcode, for the code generator to link into a kernel's module.
//
// Functions are called kiln_<op>_<dtype>x<lanes>: lanes is 16 or 1; op is exp, log, tanh, sigmoid,
// erf, rsqrt, floor, round, pow, minimum, maximum for f32 and f64; pow also for i32 and i64; rand
// and randn, where dtype is that of the result. All return void and take pointers: the result
// first, then the operands, each to a value of `lanes` lanes with the natural alignment of its
// vector type. Of the seed and the stream of rand and randn (i64) only the first lane is read.
//
// They are alwaysinline and nounwind; the module names no target and no data layout. After
// inlining, SROA turns the stack slots into registers. Every target that has fma needs no library
// call; others call fma and fmaf.
#pragma once

#include <cstddef>

namespace kiln {

extern const unsigned char kiln_math_bitcode[];
extern const size_t kiln_math_bitcode_size;

}  // namespace kiln
