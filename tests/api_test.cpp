// The public API as a user sees it, through the shared library.
#include <gtest/gtest.h>
#include <kiln/kiln.h>

#include <cmath>

namespace kiln {
namespace {

template <class T>
void expect(const Tensor& t, const Shape& shape, const std::vector<T>& values) {
  EXPECT_EQ(t.dtype(), dtype_of<T>);
  EXPECT_EQ(to_string(t.shape()), to_string(shape));
  if (t.dtype() == dtype_of<T>) {
    EXPECT_EQ(t.to_vector<T>(), values);
  }
}
using F = std::vector<float>;
using D = std::vector<double>;
using I = std::vector<int64_t>;
using I32 = std::vector<int32_t>;
using B = std::vector<bool>;

TEST(Construct, FromHostMemory) {
  expect(Tensor({1.0f, 2.0f}), {2}, F{1, 2});
  expect(Tensor({{1, 2}, {3, 4}}), {2, 2}, I32{1, 2, 3, 4});
  expect(Tensor(std::vector<double>{1, 2, 3, 4}, {2, 2}), {2, 2}, D{1, 2, 3, 4});
  expect(Tensor(std::vector<bool>{true, false}), {2}, B{true, false});
  const int64_t array[] = {5, 6, 7};
  expect(Tensor(std::span(array)), {3}, I{5, 6, 7});
  expect(Tensor(std::vector<float>{3}, {}), {}, F{3});
  expect(Tensor(2.5f), {}, F{2.5f});
  expect(Tensor(std::vector<float>()), {0}, F{});
  const Tensor copy = Tensor({1.0, 2.0}, SourceLocation::current());
  expect(copy, {2}, D{1, 2});
}

TEST(Construct, Creation) {
  expect(zeros({2}), {2}, F{0, 0});
  expect(ones({2, 1}, i32), {2, 1}, I32{1, 1});
  expect(ones({1}, bool_), {1}, B{true});
  expect(full({2}, 1.5), {2}, F{1.5, 1.5});
  expect(full({1}, 3), {1}, I{3});
  expect(full({}, true), {}, B{true});
  expect(full({1}, 3, f64), {1}, D{3});
  expect(full_like(Tensor({{1, 2}}), 9), {1, 2}, I32{9, 9});
  expect(zeros_like(Tensor({true}), f32), {1}, F{0});
  expect(ones_like(Tensor({2.0})), {1}, D{1});
  expect(arange(3), {3}, I{0, 1, 2});
  expect(arange(3, f32), {3}, F{0, 1, 2});
  expect(arange(5, 0, -2), {3}, I{5, 3, 1});
  expect(arange(0.0, 0.5, 0.1), {5}, F{0, 0.1f, 0.2f, static_cast<float>(3 * 0.1), 0.4f});
  expect(arange(2, 2), {0}, I{});
  expect(arange(INT64_MAX - 2, INT64_MAX), {2}, I{INT64_MAX - 2, INT64_MAX - 1});
}

TEST(Construct, Random) {
  manual_seed(1);
  const Tensor a = rand({1000}), b = rand({1000}), n = randn({1000}, f64);
  EXPECT_FALSE((a == b).all());
  EXPECT_TRUE(((a >= 0) & (a < 1)).all());
  EXPECT_NEAR(a.mean().item<float>(), 0.5, 0.05);
  EXPECT_NEAR(n.std().item<double>(), 1, 0.1);
  manual_seed(1);
  EXPECT_TRUE((rand({1000}) == a).all());
}

TEST(Elementwise, PromotionAndWeakNumbers) {
  const Tensor b({true, false}), i({1, 2}), l = arange(2), f({0.5f, 1.5f}), d({0.5, 1.5});
  expect(b + b, {2}, B{true, false});
  expect(b + i, {2}, I32{2, 2});
  expect(i + l, {2}, I{1, 3});
  expect(i * f, {2}, F{0.5, 3});
  expect(f + d, {2}, D{1, 3});
  expect(l + f, {2}, F{0.5, 2.5});
  expect(i + 1, {2}, I32{2, 3});
  expect(1 - i, {2}, I32{0, -1});
  expect(i + 0.5, {2}, F{1.5, 2.5});
  expect(b + 1, {2}, I{2, 1});
  expect(b + 1.5, {2}, F{2.5, 1.5});
  expect(f + 1, {2}, F{1.5, 2.5});
  expect(i + true, {2}, I32{2, 3});
  expect(d * 2.0f, {2}, D{1, 3});
  expect(i / 2, {2}, F{0.5, 1});
  expect(b / 2, {2}, F{0.5, 0});
  expect(sqrt(Tensor({4, 9})), {2}, F{2, 3});
  expect(i == 1, {2}, B{true, false});
  expect(maximum(f, 1), {2}, F{1, 1.5});
  expect(pow(i, 2), {2}, I32{1, 4});
  expect(where(b, 1, 2), {2}, I{1, 2});
  expect(where(b, 1.0, 2), {2}, F{1, 2});
  expect(where(b, i, 0.5), {2}, F{1, 0.5});
  expect(where(i > 1, f, d), {2}, D{0.5, 1.5});
}

TEST(Elementwise, BroadcastMethodsAndOperators) {
  const Tensor x = arange(6, f32).reshape({2, 3}), row({10.0f, 20.0f, 30.0f});
  expect(x + row, {2, 3}, F{10, 21, 32, 13, 24, 35});
  expect(row.unsqueeze(1) + x.t(), {3, 2}, F{10, 13, 21, 24, 32, 35});
  expect(x.add(row).sub(1).mul(x) + 2 * (x[{0}] - 1), {2, 3}, F{-2, 20, 64, 34, 92, 172});
}

TEST(Elementwise, Values) {
  const Tensor x({-1.5f, 0.0f, 2.5f, NAN});
  expect(x.abs()[{Slice(0, 3)}], {3}, F{1.5, 0, 2.5});
  expect((-x)[{Slice(0, 3)}], {3}, F{1.5, -0.0f, -2.5});
  expect(x.floor()[{Slice(0, 3)}], {3}, F{-2, 0, 2});
  expect(x.round()[{Slice(0, 3)}], {3}, F{-2, 0, 2});
  expect(x.relu()[{Slice(0, 3)}], {3}, F{0, 0, 2.5});
  EXPECT_TRUE(std::isnan(x.relu()[{3}].item<float>()));
  expect(x.clamp(-1, 1)[{Slice(0, 3)}], {3}, F{-1, 0, 1});
  expect(x.square()[{Slice(0, 3)}], {3}, F{2.25, 0, 6.25});
  expect(x > 0, {4}, B{false, false, true, false});
  expect((x > 0) | (x != x), {4}, B{false, false, true, true});
  expect(~(x > 0) & true, {4}, B{true, true, false, true});
  expect(x.to(i32), {4}, I32{-1, 0, 2, 0});
  expect(x.to(bool_), {4}, B{true, false, true, true});
  EXPECT_TRUE(x.to(f32).defined());
  EXPECT_NEAR(exp(Tensor(1.0)).item<double>(), M_E, 1e-15);
  EXPECT_NEAR(Tensor(0.5f).erf().item<float>(), std::erf(0.5), 1e-6);
}

TEST(InPlace, OperatorsKeepDtypeAndShape) {
  Tensor x({1, 2, 3});
  x += 1;
  x *= x;
  x -= Tensor({true, false, true});
  expect(x, {3}, I32{3, 9, 15});
  Tensor f = ones({2, 2});
  f /= arange(1, 3);
  expect(f, {2, 2}, F{1, 0.5, 1, 0.5});
  f -= Tensor({0.0, 0.5});
  expect(f, {2, 2}, F{1, 0, 1, 0});
  x[{0}] = arange(7, 8)[{0}];
  expect(x, {3}, I32{7, 9, 15});
  f.copy_(Tensor({7, 8}));
  expect(f, {2, 2}, F{7, 8, 7, 8});
}

TEST(Reductions, AxesAndKeepdim) {
  const Tensor x = arange(24, f32).reshape({2, 3, 4});
  expect(x.sum(), {}, F{276});
  expect(x.sum({0, -1}), {3}, F{60, 92, 124});
  expect(x.sum(1, true), {2, 1, 4}, F{12, 15, 18, 21, 48, 51, 54, 57});
  expect(x.mean({0, 1}), {4}, F{10, 11, 12, 13});
  expect(x.amax(-1), {2, 3}, F{3, 7, 11, 15, 19, 23});
  expect(x.amin({0, 1, 2}, true), {1, 1, 1}, F{0});
  expect(x.argmax(), {}, I{23});
  expect(x.argmin(1, true), {2, 1, 4}, I{0, 0, 0, 0, 0, 0, 0, 0});
  expect(x[{0, 0}].prod(), {}, F{0});
  expect(Tensor({1.0f, 2.0f, 3.0f, 4.0f}).var(), {}, F{5.0f / 3});
  expect(Tensor({1.0f, 3.0f}).var(0, 0), {}, F{1});
  expect(Tensor({1.0f, 3.0f}).std({}, 0, true), {1}, F{1});
  EXPECT_TRUE(std::isnan(Tensor({1.0f}).var().item<float>()));
  expect(Tensor({1, 2}).sum(), {}, I{3});
  expect(Tensor({true, true}).sum(), {}, I{2});
  expect(Tensor({1, 2}).mean(), {}, F{1.5});
  expect(Tensor({1, 0}).all(), {}, B{false});
  expect(Tensor({{1, 0}, {0, 0}}).any(1), {2}, B{true, false});
  expect(zeros({0}).all(), {}, B{true});
  expect(zeros({2, 0}).any(1, true), {2, 1}, B{false, false});
  expect(zeros({2, 0}).sum(1), {2}, F{0, 0});
  expect(zeros({0}).prod(), {}, F{1});
  EXPECT_TRUE(std::isnan(zeros({0}).mean().item<float>()));
  expect(softmax(Tensor({0, 0}), 0), {2}, F{0.5, 0.5});
  expect(softmax(Tensor({{1000.0f, 1000.0f}, {-1000.0f, -1000.0f}}), -1), {2, 2},
         F{0.5, 0.5, 0.5, 0.5});
}

TEST(Views, ShapesAndValues) {
  const Tensor x = arange(6).reshape({2, 3});
  expect(x.t(), {3, 2}, I{0, 3, 1, 4, 2, 5});
  expect(x.permute({1, 0}), {3, 2}, I{0, 3, 1, 4, 2, 5});
  expect(x.unsqueeze(-1), {2, 3, 1}, I{0, 1, 2, 3, 4, 5});
  expect(x.unsqueeze(1).squeeze(), {2, 3}, I{0, 1, 2, 3, 4, 5});
  expect(x.unsqueeze(1).squeeze(1), {2, 3}, I{0, 1, 2, 3, 4, 5});
  expect(x.squeeze(0), {2, 3}, I{0, 1, 2, 3, 4, 5});
  expect(x.reshape({3, -1}), {3, 2}, I{0, 1, 2, 3, 4, 5});
  expect(x.flatten(), {6}, I{0, 1, 2, 3, 4, 5});
  expect(x.flip({0, 1}), {2, 3}, I{5, 4, 3, 2, 1, 0});
  expect(x.flip({}), {2, 3}, I{5, 4, 3, 2, 1, 0});
  expect(x[{0}].expand({2, -1}), {2, 3}, I{0, 1, 2, 0, 1, 2});
  expect(x.sum().expand({2}), {2}, I{15, 15});
  expect(zeros({0, 3}).reshape({3, 0}), {3, 0}, F{});
  EXPECT_EQ(x.size(-1), 3);
  EXPECT_EQ(x.dim(), 2);
  EXPECT_EQ(x.numel(), 6);
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_FALSE(x.t().is_contiguous());
  EXPECT_TRUE(x.t().contiguous().is_contiguous());
}

TEST(Views, IndexingAsNumPy) {
  const Tensor x = arange(24).reshape({2, 3, 4});
  expect(x[1][2][3], {}, I{23});
  expect(x[{1, -1, -1}], {}, I{23});
  expect(x[{All, 0, Slice({}, {}, 2)}], {2, 2}, I{0, 2, 12, 14});
  expect(x[{Ellipsis, -1}], {2, 3}, I{3, 7, 11, 15, 19, 23});
  expect(x[{0, Ellipsis, 1}], {3}, I{1, 5, 9});
  expect(x[{0, 1, NewAxis, Slice(1, 3)}], {1, 2}, I{5, 6});
  expect(x[{NewAxis, Ellipsis, 0, 0}], {1, 2}, I{0, 12});
  expect(x[{}], {2, 3, 4}, x.to_vector<int64_t>());
  const Tensor v = arange(5);
  expect(v[{Slice(-3, {})}], {3}, I{2, 3, 4});
  expect(v[{Slice(-100, 100)}], {5}, I{0, 1, 2, 3, 4});
  expect(v[{Slice(3, 1)}], {0}, I{});
  expect(v[{Slice({}, {}, -2)}], {3}, I{4, 2, 0});
  expect(v[{Slice(3, 0, -1)}], {3}, I{3, 2, 1});
  expect(v[{Slice(100, {}, -3)}], {2}, I{4, 1});
  expect(v[{Slice({}, -100, -1)}], {5}, I{4, 3, 2, 1, 0});
  expect(v[{Slice(1, {}, 100)}], {1}, I{1});
  expect(v[{Slice(0, 5, INT64_MAX)}], {1}, I{0});
  expect(v[{Slice({}, {}, INT64_MIN)}], {1}, I{4});
  expect(v[{Slice(INT64_MIN, INT64_MAX)}], {5}, I{0, 1, 2, 3, 4});
  expect(v.slice(0, 1, {}, 2), {2}, I{1, 3});
  expect(x.select(1, -1), {2, 4}, I{8, 9, 10, 11, 20, 21, 22, 23});
}

TEST(Joins, CatStackChunk) {
  const Tensor x = arange(4).reshape({2, 2}), y = ones({1, 2}, f32);
  expect(cat({x, y}), {3, 2}, F{0, 1, 2, 3, 1, 1});
  expect(cat({x, x.t(), x}, 1), {2, 6}, I{0, 1, 0, 2, 0, 1, 2, 3, 1, 3, 2, 3});
  expect(stack({x[0], x[1] + 5}, -1), {2, 2}, I{0, 7, 1, 8});
  const std::vector<Tensor> parts = arange(10).chunk(4);
  ASSERT_EQ(parts.size(), 4u);
  expect(parts[0], {3}, I{0, 1, 2});
  expect(parts[3], {1}, I{9});
  EXPECT_EQ(chunk(x, 5, 1).size(), 2u);
  EXPECT_EQ(zeros({0}).chunk(3).size(), 1u);
  expect(cat(arange(10).chunk(3)), {10}, arange(10).to_vector<int64_t>());
}

TEST(Joins, Matmul) {
  const Tensor a = arange(6, f32).reshape({2, 3}), b = arange(12, f32).reshape({3, 4});
  expect(matmul(a, b), {2, 4}, F{20, 23, 26, 29, 56, 68, 80, 92});
  expect(a.matmul(Tensor({1.0f, 0.0f, 2.0f})), {2}, F{4, 13});
  expect(matmul(Tensor({1, 2}), Tensor({3, 4})), {}, I32{11});
  expect(matmul(Tensor({1.0, 2.0}), arange(4, f64).reshape({2, 2})), {2}, D{4, 7});
  const Tensor batch = stack({a, a * 2});
  expect(matmul(batch, b[{All, Slice(0, 1)}]), {2, 2, 1}, F{20, 56, 40, 112});
  expect(matmul(batch.unsqueeze(1), batch.transpose(1, 2))[{1, 0}], {2, 2}, F{10, 28, 28, 100});
  expect(matmul(Tensor({1, 2}).reshape({1, 2}), ones({2, 1}, f32)), {1, 1}, F{3});
  expect(matmul(zeros({2, 0}), zeros({0, 2})), {2, 2}, F{0, 0, 0, 0});
  expect(matmul(a.t(), a)[{0}], {3}, F{9, 12, 15});
}

TEST(Values, Items) {
  EXPECT_EQ(Tensor(2.5f).item<double>(), 2.5);
  EXPECT_EQ(Tensor(-2.5f).item<int32_t>(), -2);
  EXPECT_EQ(Tensor(int64_t{1} << 60).item<int64_t>(), int64_t{1} << 60);
  EXPECT_EQ(Tensor({{3}}).item<int64_t>(), 3);
  EXPECT_TRUE(Tensor(0.5f).item<bool>());
  EXPECT_EQ(arange(10)[{7}].item<int32_t>(), 7);
  EXPECT_TRUE(Tensor(1));
  EXPECT_FALSE(zeros({1, 1}));
  int steps = 0;
  for (Tensor error = ones({}); error > 0.1; error /= 2) ++steps;
  EXPECT_EQ(steps, 4);
}

TEST(Values, EvalTakesManyAndDevicesAreNamed) {
  const Tensor a = ones({2}) + 1, b = a * 2, c = b.sum();
  eval(a, b, c);
  eval(std::vector<Tensor>{a, b});
  eval_async(a);
  eval(std::vector<Tensor>());
  EXPECT_EQ(c.item<float>(), 8);
  EXPECT_EQ(devices(), std::vector<std::string>{"cpu"});
  const int before = num_threads();
  set_num_threads(1);
  EXPECT_EQ(num_threads(), 1);
  set_num_threads(0);
  EXPECT_EQ(num_threads(), before);
}

}  // namespace
}  // namespace kiln
