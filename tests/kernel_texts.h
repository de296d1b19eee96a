// Kernels that the code generator's tests share, one per schedule and kind of access.
#pragma once

#include <string>

#include "ir/kernel.h"
#include "ir/op.h"
#include "tests/kernel_harness.h"

namespace kiln::testing {

/// One op on operands of dtype `t`.
inline std::string elementwise_text(ir::Op op, DType t, DType result) {
  const int arity = ir::info(op).arity;
  std::string text = "kernel pointwise {\n  num n0 extent\n  num n1 tile\n";
  const auto operand = [&](int i) { return op == ir::Op::Where && i == 0 ? DType::Bool : t; };
  for (int i = 0; i < arity; ++i)
    text += "  ptr p" + std::to_string(i) + " " + std::string(name(operand(i))) + " in\n";
  text += "  ptr p" + std::to_string(arity) + " " + std::string(name(result)) + " out\n";
  text += "  outer i0 < n0\n  tile n1\n";
  std::string operands;
  for (int i = 0; i < arity; ++i) {
    const std::string n = std::to_string(i);
    text += "  %" + n + " = load " + std::string(name(operand(i))) + " p" + n + "[i0]\n";
    operands += (i ? ", %" : "%") + n;
  }
  const std::string n = std::to_string(arity);
  text += "  %" + n + " = " + std::string(ir::name(op)) + " " + std::string(name(result)) + " " +
          operands + "\n";
  return text + "  stage loop {\n    store p" + n + "[i0] = %" + n + "\n  }\n}\n";
}

/// Every way to reach memory at once: contiguous, reversed, strided, uniform, by division and
/// remainder, guarded; for the loads and for the stores.
inline constexpr const char* access_text = R"(kernel pointwise {
  num n0 extent
  num n1 extent
  num n2 tile
  num n3 stride
  num n4 offset
  num n5 stride
  num n6 stride
  num n7 bound
  num n8 bound
  ptr p0 T in
  ptr p1 T in
  ptr p2 T out
  ptr p3 T out
  ptr p4 T out
  ptr p5 T out
  outer i0 < n0
  outer i1 < n1
  tile n2
  index a2 = (n3*i0 + i1) / n7
  index a3 = (n3*i0 + i1) % n7
  %0 = load T p0[n3*i0 + i1]
  %1 = load T p0[n3*i0 - i1 + n4]
  %2 = load T p1[n5*i0 + n6*i1]
  %3 = load T p0[i0]
  %4 = load T p0[n3*a3 + a2]
  %5 = index i64 i1
  %6 = scalar i64 n8
  %7 = lt bool %5, %6
  %8 = load T p0[n3*i0 + i1] if %7
  %9 = load T p0[n3*i0 - i1 + n4] if %7
  %10 = load T p1[n5*i0 + n6*i1] if %7
  %11 = load T p0[i0] if %7
  %12 = index i64 n3*i0
  %13 = gt bool %12, %6
  %14 = load T p0[n3*i0 + i1] if %13
  %15 = load T p0[i0] if %13
  %16 = load T p0[n3*a3 + a2] if %7
  %17 = minimum T %0, %1
  %18 = maximum T %2, %3
  %19 = minimum T %17, %18
  %20 = maximum T %8, %9
  %21 = maximum T %10, %11
  %22 = minimum T %20, %21
  %23 = maximum T %14, %15
  %24 = minimum T %23, %16
  stage loop {
    store p2[n3*i0 + i1] = %19
    store p3[n3*i0 - i1 + n4] = %22
    store p4[n5*i0 + n6*i1] = %24
    store p5[n3*a3 + a2] = %4
  }
}
)";

/// Philox numbers.
inline constexpr const char* random_text = R"(kernel pointwise {
  num n0 extent
  num n1 tile
  num n2 scalar i64
  num n3 scalar i64
  ptr p0 T out
  outer i0 < n0
  tile n1
  %0 = scalar i64 n2
  %1 = scalar i64 n3
  %2 = index i64 i0
  %3 = OP T %0, %1, %2
  stage loop {
    store p0[i0] = %3
  }
}
)";

/// Reads and writes across rows, as transposes do.
inline constexpr const char* transpose_text = R"(kernel pointwise {
  num n0 extent
  num n1 extent
  num n2 tile
  num n3 stride
  num n4 stride
  ptr p0 T in
  ptr p1 T in
  ptr p2 T out
  ptr p3 T out
  outer i0 < n0
  outer i1 < n1
  tile n2
  %0 = load T p0[n3*i1 + i0]
  %1 = load T p1[n4*i0 + i1]
  %2 = maximum T %0, %1
  stage loop {
    store p2[n4*i0 + i1] = %2
    store p3[n3*i1 + i0] = %1
  }
}
)";

/// One reduction over the last `inner` of two axes.
inline std::string rows_text(const char* op, DType t, DType result, bool two_inner) {
  std::string text = R"(kernel rows {
  num n0 extent
  num n1 extent
  num n2 extent
  num n3 stride
  num n4 stride
  ptr p0 T in
  ptr p1 R out
  outer i0 < n0
  inner i1 < n1
  inner i2 < n2
  %0 = load T p0[n3*i0 + n4*i1 + i2]
  %1 = acc R r0
  reduce r0 = OP T %0
  stage loop {
    reduce r0
  }
  stage once {
    store p1[i0] = %1
  }
}
)";
  if (!two_inner) {
    text = replace(text, "  inner i1 < n1\n  inner i2 < n2\n", "  inner i1 < n2\n");
    text = replace(text, "n4*i1 + i2", "i1");
  }
  text = replace(text, "T", std::string(name(t)));
  text = replace(text, "R", std::string(name(result)));
  return replace(text, "OP", op);
}

/// One reduction over the first of two axes, per outer position.
inline constexpr const char* columns_text = R"(kernel columns {
  num n0 extent
  num n1 extent
  num n2 extent
  num n3 tile
  num n4 stride
  num n5 stride
  num n6 scratch_offset
  num n7 stride
  ptr p0 T in
  ptr p1 R out
  outer i0 < n0
  outer i1 < n1
  inner i2 < n2
  tile n3
  %0 = load T p0[n4*i0 + i1 + n5*i2]
  %1 = acc R r0
  reduce r0 = OP T %0 at n6
  stage loop {
    reduce r0
  }
  stage once {
    store p1[n7*i0 + i1] = %1
  }
}
)";

/// One group of a long sum per iteration.
inline constexpr const char* split_text = R"(kernel split {
  num n0 extent
  num n1 extent
  ptr p0 T in
  ptr p1 T out
  outer i0 < n0
  inner i1 < n1
  %0 = load T p0[i1]
  %1 = acc T r0
  reduce r0 = sum T %0
  stage loop {
    reduce r0
  }
  stage once {
    store p1[i0] = %1
  }
}
)";

inline constexpr const char* softmax_text = R"(kernel rows {
  num n0 extent
  num n1 extent
  num n2 stride
  num n3 scratch_offset
  ptr p0 T in
  ptr p1 T out
  outer i0 < n0
  inner i1 < n1
  %0 = load T p0[n2*i0 + i1]
  %1 = acc T r0
  %2 = sub T %0, %1
  %3 = exp T %2
  %4 = acc T r1
  %5 = scratch T s0
  %6 = div T %5, %4
  reduce r0 = amax T %0
  reduce r1 = sum T %3
  scratch s0 T at n3
  stage loop {
    reduce r0
  }
  stage loop {
    reduce r1
    fill s0 = %3
  }
  stage loop {
    store p1[n2*i0 + i1] = %6
  }
}
)";

/// Softmax along the first axis.
inline std::string softmax_columns_text() {
  std::string text = replace(softmax_text, "kernel rows", "kernel columns");
  text = replace(text, "  num n3 scratch_offset\n",
                 "  num n3 scratch_offset\n  num n4 tile\n  num n5 scratch_offset\n"
                 "  num n6 scratch_offset\n");
  text = replace(text, "  inner i1 < n1\n", "  inner i1 < n1\n  tile n4\n");
  text = replace(text, "[n2*i0 + i1]", "[i0 + n2*i1]");
  text = replace(text, "amax T %0\n", "amax T %0 at n5\n");
  text = replace(text, "sum T %3\n", "sum T %3 at n6\n");
  return text;
}

}  // namespace kiln::testing
