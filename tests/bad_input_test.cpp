// Every mistake raises kiln::Error with op, shapes and the caller's file and line; nothing else is
// lost, and the next call works.
#include <gtest/gtest.h>
#include <kiln/kiln.h>

#include "runtime/buffer.h"

namespace kiln {
namespace {

/// Runs f, which must raise Error, and returns its message. The message ends in this file and the
/// given line.
template <class F>
std::string error_of(F f, int line) {
  try {
    f();
  } catch (const Error& e) {
    const std::string what = e.what();
    const std::string place = "bad_input_test.cpp:" + std::to_string(line);
    EXPECT_TRUE(what.ends_with(place)) << what << "\nexpected to end in " << place;
    EXPECT_EQ(e.where().line(), static_cast<uint32_t>(line)) << what;
    return what;
  }
  ADD_FAILURE() << "no Error at line " << line;
  return "";
}

/// The expression raises Error here, and its message holds the text.
#define EXPECT_ERROR(expression, text)                                        \
  do {                                                                        \
    const std::string what = error_of([&] { (void)(expression); }, __LINE__); \
    EXPECT_NE(what.find(text), std::string::npos) << what;                    \
  } while (false)

class BadInput : public ::testing::Test {
 protected:
  Tensor x = arange(6, f32).reshape({2, 3});
  Tensor v = arange(4, f32);
  Tensor i = arange(3, i32);

  void TearDown() override {
    // What was there is untouched, and works.
    EXPECT_EQ((x + 1).to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(i.to_vector<int32_t>(), (std::vector<int32_t>{0, 1, 2}));
  }
};

TEST_F(BadInput, Shapes) {
  EXPECT_ERROR(x + v, "add: shapes do not broadcast: [2, 3] f32 and [4] f32");
  EXPECT_ERROR(kiln::where(x > 0, x, v), "where");
  EXPECT_ERROR(x.exp().mul(v), "[2, 3] f32 and [4] f32");
  EXPECT_ERROR(x += v, "[4] f32");
  EXPECT_ERROR(v += v.reshape({4, 1}), "operator+=: cannot broadcast [4, 4] f32 to [4]");
  EXPECT_ERROR((x[{0}] = v), "assign: cannot broadcast [4] f32 to [3]");
  EXPECT_ERROR(x.reshape({4, 2}), "reshape: [2, 3] to [4, 2]: the number of elements differs");
  EXPECT_ERROR(x.reshape({-1, 4}), "reshape: [2, 3] to [-1, 4]");
  EXPECT_ERROR(x.reshape({-1, -1}), "more than one extent is -1");
  EXPECT_ERROR(x.reshape({-2, 3}), "negative extent");
  EXPECT_ERROR(x.expand({3, 3}), "expand: [2, 3] to [3, 3]");
  EXPECT_ERROR(x.expand({3}), "expand: [2, 3] to [3]");
  EXPECT_ERROR(x.expand({-1, 2, 3}), "expand");
  EXPECT_ERROR(cat({x, v}), "cat: shapes [2, 3] and [4]");
  EXPECT_ERROR(cat(std::vector<Tensor>()), "cat: nothing to join");
  EXPECT_ERROR(stack({x, x.t()}), "stack: shapes [2, 3] and [3, 2] differ");
  EXPECT_ERROR(matmul(x, x), "matmul: inner extents differ: [2, 3] f32 and [2, 3] f32");
  EXPECT_ERROR(matmul(x, x.sum()), "matmul: takes no 0-d tensor");
  EXPECT_ERROR(matmul(zeros({2, 2, 3}), zeros({3, 3, 2})), "batch axes do not broadcast");
  EXPECT_ERROR(zeros({-1}), "zeros: negative extent in shape [-1]");
  EXPECT_ERROR(zeros({int64_t{1} << 40, int64_t{1} << 40}), "too many elements");
  EXPECT_ERROR(Tensor(std::vector<float>{1, 2, 3}, {2, 2}), "3 values do not fill shape [2, 2]");
  EXPECT_ERROR(Tensor({{1, 2}, {3}}), "rows of different lengths");
  EXPECT_ERROR(zeros({1 << 30}).unsqueeze(1) + zeros({1 << 30}) + zeros({1 << 20, 1, 1}),
               "too many elements");
}

TEST_F(BadInput, Dtypes) {
  Tensor b = x > 2;
  EXPECT_ERROR(b[{All}] = i, "cannot write [3] i32 to [2, 3] bool");
  EXPECT_ERROR(i += x[0], "operator+=: cannot write [3] f32 to [3] i32");
  EXPECT_ERROR(i /= 2, "cannot write [3] f32 to [3] i32");
  EXPECT_ERROR((i[{0}] = 1.5), "scalar 1.500000 does not fit i32");
  EXPECT_ERROR(i + 3000000000, "add: scalar 3000000000 does not fit i32");
  EXPECT_ERROR(-(x > 0), "neg: does not take bool");
  EXPECT_ERROR((x > 0) - (x > 1), "sub: does not take bool");
  EXPECT_ERROR(x & (x > 0), "operator&: takes bool operands, not f32");
  EXPECT_ERROR(~i, "operator~: takes bool operands, not i32");
  EXPECT_ERROR(where(x, x, x), "the condition must be a bool tensor");
  EXPECT_ERROR(matmul(x > 0, x.t() > 0), "matmul: does not take bool");
  EXPECT_ERROR(x.to(DType::BF16), "dtype bf16 is not available");
  EXPECT_ERROR(zeros({2}, DType::U8), "dtype u8 is not available");
  EXPECT_ERROR(rand({2}, i32), "rand: does not make i32");
  EXPECT_ERROR(arange(4, bool_), "arange: does not make bool");
  EXPECT_ERROR(full({2}, 0.5, i64), "full: scalar 0.500000 does not fit i64");
  EXPECT_ERROR(x.data<double>(), "data: the tensor is f32, not f64");
  EXPECT_ERROR(x.to_vector<double>(), "to_vector: the tensor is f32, not f64");
  EXPECT_ERROR(from_blob(nullptr, {2}, f32), "null pointer");
  alignas(8) char bytes[16] = {};
  EXPECT_ERROR(from_blob(bytes + 2, {2}, f32), "not aligned");
  EXPECT_ERROR(maximum(1, 2), "maximum: takes at least one tensor");
}

TEST_F(BadInput, AxesAndIndices) {
  EXPECT_ERROR(x.sum(2), "sum: axis 2 of a tensor with 2 axes");
  EXPECT_ERROR(x.mean({0, 0}), "mean: repeated axis in [0, 0]");
  EXPECT_ERROR(x.var({0, -2}), "var: repeated axis");
  EXPECT_ERROR(softmax(x, -3), "softmax: axis -3 of a tensor with 2 axes");
  EXPECT_ERROR(x.argmax(5), "argmax: axis 5");
  EXPECT_ERROR(x.permute({0}), "permute: axes [0] for shape [2, 3]");
  EXPECT_ERROR(x.permute({0, 0}), "permute: repeated axis in [0, 0]");
  EXPECT_ERROR(x.transpose(0, 2), "transpose: axis 2");
  EXPECT_ERROR(x.unsqueeze(4), "unsqueeze: axis 4");
  EXPECT_ERROR(x.size(2), "size: axis 2");
  EXPECT_ERROR(x[2], "index: position 2 is outside axis 0 of shape [2, 3]");
  EXPECT_ERROR((x[{1, -4}]), "index: position -4 is outside axis 1 of shape [2, 3]");
  EXPECT_ERROR((x[{0, 0, 0}]), "3 indices for shape [2, 3]");
  EXPECT_ERROR((x[{Ellipsis, Ellipsis}]), "more than one Ellipsis");
  EXPECT_ERROR((x[{Slice(0, 2, 0)}]), "the step is zero");
  EXPECT_ERROR(x.select(1, 3), "position 3 is outside axis 1");
  EXPECT_ERROR(x.slice(2, 0, 1), "slice: axis 2");
  EXPECT_ERROR(x.chunk(0), "needs at least one chunk");
  EXPECT_ERROR(x.sum().flip(0), "flip: axis 0 of a tensor with 0 axes");
  EXPECT_ERROR(arange(0, 5, 0), "the step is zero");
  EXPECT_ERROR(set_num_threads(-1), "-1 threads");
}

TEST_F(BadInput, NoElements) {
  EXPECT_ERROR(zeros({0}).amax(), "amax: nothing to reduce over in [0] f32");
  EXPECT_ERROR(zeros({3, 0}).argmin(1), "argmin: nothing to reduce over in [3, 0] f32");
  EXPECT_ERROR(zeros({0}).item<float>(), "item: the tensor has shape [0]");
}

TEST_F(BadInput, Items) {
  EXPECT_ERROR(x.item<float>(), "item: the tensor has shape [2, 3], not one element");
  EXPECT_ERROR(Tensor(int64_t{1} << 40).item<int32_t>(), "does not fit");
  EXPECT_ERROR(full({}, 1e30).item<int64_t>(), "does not fit");
  EXPECT_ERROR((zeros({1}) / 0).item<int32_t>(), "does not fit");
}

TEST_F(BadInput, UndefinedTensors) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_ERROR(none + x, "add: undefined tensor");
  EXPECT_ERROR(eval(none), "eval: undefined tensor");
  EXPECT_ERROR(none.item<float>(), "item: undefined tensor");
  EXPECT_ERROR(none.reshape({1}), "reshape: undefined tensor");
  EXPECT_ERROR(cat({x, none}), "cat: undefined tensor");
  EXPECT_THROW((void)none.shape(), Error);
}

TEST_F(BadInput, MemoryBeyondTheLimit) {
  eval(x, v, i);
  Tensor small = ones({16});
  const int64_t before = stats().bytes_live;
  const int line = __LINE__ + 1;
  const Tensor large = zeros({1 << 28}) + 1;
  runtime::set_memory_limit(int64_t{256} << 20);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::string what = error_of([&] { eval(large, small); }, line);
    EXPECT_NE(what.find("add: out of memory for [268435456] f32"), std::string::npos) << what;
    EXPECT_NE(what.find("the limit is 268435456"), std::string::npos) << what;
  }
  EXPECT_EQ(stats().bytes_live, before);
  EXPECT_EQ(small.sum().item<float>(), 16);  // untouched, and computed now
  runtime::set_memory_limit(0);
  EXPECT_EQ(large[{-1}].item<float>(), 1);  // a shortage passes
}

TEST_F(BadInput, AFailureInTheMiddleLeavesValuesBefore) {
  Tensor y = x.clone();
  y += 1;
  EXPECT_THROW(y += v, Error);
  EXPECT_THROW((y[{0, Slice(0, 2)}] = v), Error);
  y += 1;
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace kiln
