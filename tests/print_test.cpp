// Printing against the strings of NumPy; print_cases.inc is written by numpy_print_cases.py.
#include <gtest/gtest.h>
#include <kiln/kiln.h>

#include <cmath>
#include <sstream>

namespace kiln {
namespace {

TEST(Print, AsNumPy) {
#define PRINT_CASE(expression, expected) EXPECT_EQ(to_string expression, expected) << #expression;
#include "tests/print_cases.inc"
#undef PRINT_CASE
}

TEST(Print, ViewsPrintWhatTheySee) {
  const Tensor x = arange(12, f32).reshape({3, 4});
  EXPECT_EQ(to_string(x.t()), "[[ 0.  4.  8.]\n [ 1.  5.  9.]\n [ 2.  6. 10.]\n [ 3.  7. 11.]]");
  EXPECT_EQ(to_string(x[{1, Slice({}, {}, -1)}]), "[7. 6. 5. 4.]");
  eval(x);
  EXPECT_EQ(to_string(x[{1, Slice({}, {}, -1)}]), "[7. 6. 5. 4.]");
  EXPECT_EQ(to_string(x[{Slice(0, 1)}].expand({2, 4})), "[[0. 1. 2. 3.]\n [0. 1. 2. 3.]]");
}

TEST(Print, StreamAndError) {
  std::ostringstream out;
  out << Tensor({1, 2}) << ' ' << Tensor({true});
  EXPECT_EQ(out.str(), "[1 2] [ True]");
  EXPECT_THROW((void)to_string(Tensor()), Error);
}

}  // namespace
}  // namespace kiln
