// Views, writes through them, aliases and fixed addresses.
#include <gtest/gtest.h>
#include <kiln/kiln.h>

#include <numeric>

namespace kiln {
namespace {

std::vector<float> iota(int n, float start = 0) {
  std::vector<float> v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), start);
  return v;
}

template <class T>
std::vector<T> values(const Tensor& t) {
  return t.to_vector<T>();
}
std::vector<float> values(const Tensor& t) { return values<float>(t); }

TEST(Aliasing, ViewsSeeWritesToTheWhole) {
  Tensor x = arange(6, f32).reshape({2, 3});
  const Tensor row = x[1], column = x[{All, 1}], flat = x.reshape({6});
  x += 10;
  EXPECT_EQ(values(row), (std::vector<float>{13, 14, 15}));
  EXPECT_EQ(values(column), (std::vector<float>{11, 14}));
  EXPECT_EQ(values(flat), iota(6, 10));
}

TEST(Aliasing, TheWholeSeesWritesThroughViews) {
  Tensor x = zeros({3, 4});
  x[{1}] = 1;
  x[{All, -1}] = Tensor({7.0f, 8.0f, 9.0f});
  x[{Slice({}, {}, 2), 0}] += 5;
  EXPECT_EQ(to_string(x), "[[5. 0. 0. 7.]\n [1. 1. 1. 8.]\n [5. 0. 0. 9.]]");
}

TEST(Aliasing, WritesThroughEveryKindOfView) {
  Tensor x = arange(24, f32).reshape({2, 3, 4});
  x.permute({2, 0, 1})[{0}] = -1;               // x[:, :, 0]
  x.reshape({6, 4})[{5}] = -2;                  // x[1, 2, :]
  x.flip(2)[{0, 0, 0}] = -3;                    // x[0, 0, 3]
  x.unsqueeze(0)[{0, 1, 0, Slice(1, 3)}] = -4;  // x[1, 0, 1:3]
  x.transpose(0, 1)[{1, 0, 2}] = -5;            // x[0, 1, 2]
  const std::vector<float> expect = {-1, 1,  2,  -3, -1, 5,  -5, 7,  -1, 9,  10, 11,
                                     -1, -4, -4, 15, -1, 17, 18, 19, -2, -2, -2, -2};
  EXPECT_EQ(values(x), expect);
}

TEST(Aliasing, SlicesOfSlices) {
  Tensor x = arange(20, f32);
  const Tensor v = x[{Slice(2, 18)}][{Slice({}, {}, 3)}][{Slice({}, {}, -1)}];
  EXPECT_EQ(values(v), (std::vector<float>{17, 14, 11, 8, 5, 2}));
  v[{Slice(1, 3)}] = 0;  // elements 14 and 11
  std::vector<float> expect = iota(20);
  expect[14] = expect[11] = 0;
  EXPECT_EQ(values(x), expect);
  EXPECT_EQ(values(v), (std::vector<float>{17, 0, 0, 8, 5, 2}));
}

TEST(Aliasing, HandlesRebindAndCopiesAlias) {
  Tensor x = ones({2}), y = x, z = x.clone();
  y += 1;
  EXPECT_EQ(values(x), (std::vector<float>{2, 2}));
  EXPECT_EQ(values(z), (std::vector<float>{1, 1}));
  y = z;  // another storage
  y += 5;
  EXPECT_EQ(values(x), (std::vector<float>{2, 2}));
  EXPECT_EQ(values(z), (std::vector<float>{6, 6}));
  x[{All}] = z;  // equal values, not one storage
  z += 1;
  EXPECT_EQ(values(x), (std::vector<float>{6, 6}));
}

TEST(Aliasing, ReadsTakeTheValueOfTheirTime) {
  Tensor x = arange(4, f32);
  const Tensor before = x * 2;
  Tensor view = x[{Slice(1, 3)}];
  const Tensor part = view + 0;
  x += 100;
  view += 1;
  EXPECT_EQ(values(before), (std::vector<float>{0, 2, 4, 6}));
  EXPECT_EQ(values(part), (std::vector<float>{1, 2}));
  EXPECT_EQ(values(x), (std::vector<float>{100, 102, 103, 103}));
}

// A full-slice copy is not delayed past a later write of its source.
TEST(Aliasing, CopyThenWriteTheSource) {
  Tensor dst = zeros({3, 4}), src = arange(12, f32).reshape({3, 4});
  dst[{All, All}] = src[{All, All}];
  src += 1;
  eval(dst, src);
  EXPECT_EQ(values(dst), iota(12));
  EXPECT_EQ(values(src), iota(12, 1));
}

TEST(Aliasing, InPlaceOfOwnViews) {
  for (int64_t n : {8, 129}) {
    Tensor x = rand({n, n}), w = rand({n, n});
    const Tensor x0 = x.clone(), w0 = w.clone();
    x += x.flip(0);
    w[{All}] = w.t() * 1.0;
    eval(x, w);
    EXPECT_TRUE((x == x0 + x0.flip(0)).all());
    EXPECT_TRUE((w == w0.transpose(0, 1)).all());
  }
}

TEST(Aliasing, OverlappingShifts) {
  Tensor y = zeros({8});
  y[{Slice(1, {})}] = 1 + y[{Slice({}, -1)}];
  EXPECT_EQ(values(y), (std::vector<float>{0, 1, 1, 1, 1, 1, 1, 1}));
  Tensor q = zeros({4, 1});
  for (int k = 1; k <= 4; ++k) {
    q[{Slice(1, {})}] = q[{Slice({}, -1)}];
    q[0] = k;
  }
  EXPECT_EQ(values(q), (std::vector<float>{4, 3, 2, 1}));
}

TEST(Aliasing, ScalarUpdateAndItsReaders) {
  Tensor a = arange(4096, f32), c = ones({});
  c += 1;
  const Tensor out = a + c * a;
  EXPECT_TRUE((out == 3 * a).all());
  EXPECT_EQ(c.item<float>(), 2);
}

TEST(Aliasing, UpdateDoesNotDependOnHowItIsCut) {
  for (bool cut : {false, true}) {
    Tensor t = randn({10, 2}), u = randn({2, 10, 2});
    const Tensor old = t.clone();
    eval(t, u, old);
    const Tensor r = relu(t);
    if (cut) eval(r);
    const Tensor s = t + u;
    t[{All}] = r;
    EXPECT_TRUE((s == old + u).all());
    EXPECT_TRUE((t == relu(old)).all());
  }
}

TEST(Aliasing, LazyViewOfAPartlyOverwrittenTensor) {
  Tensor t = ones({128, 128});
  t[{Slice(32, 64), Slice(32, 64)}] = 0;
  const Tensor h = t[{Slice(30, 41), Slice(30, 41)}] / 2;
  const std::vector<float> v = values(h);
  for (size_t i = 0; i < 11; ++i)
    for (size_t k = 0; k < 11; ++k) EXPECT_EQ(v[i * 11 + k], i < 2 || k < 2 ? 0.5f : 0.0f);
}

TEST(Aliasing, CatAndItsOperands) {
  const Tensor p = Tensor({{4.9334f, 5.5571f}});
  const Tensor v = cat({p, p}, 0), m = v * v;
  eval(v, m);
  EXPECT_EQ(values(m), (std::vector<float>{24.338438f, 30.881359f, 24.338438f, 30.881359f}));
  EXPECT_EQ(values(amin(v, 0)), (std::vector<float>{4.9334f, 5.5571f}));
}

TEST(Aliasing, ExpandedTargetsAreRefusedAndUntouched) {
  Tensor x = arange(3, f32);
  const Tensor wide = x.unsqueeze(0).expand({4, 3});
  EXPECT_THROW(wide[{All}] = 1, Error);
  EXPECT_THROW((x.unsqueeze(1).expand({3, 2})[{All, 0}] += 1), Error);
  EXPECT_EQ(values(x), iota(3));
  x.expand({1, 3})[{0, 1}] = 7;  // an added axis of extent 1 repeats nothing
  EXPECT_EQ(values(x), (std::vector<float>{0, 7, 2}));
}

TEST(Aliasing, ReshapeCopiesWhereStridesAllowNoView) {
  Tensor x = arange(6, f32).reshape({2, 3});
  Tensor copy = x.t().reshape({6});
  copy += 1;
  EXPECT_EQ(values(x), iota(6));
  EXPECT_EQ(values(copy), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  Tensor view = x.t().unsqueeze(1).reshape({3, 2});
  view += 1;
  EXPECT_EQ(values(x), iota(6, 1));
  EXPECT_EQ((x[{All, Slice({}, {}, 2)}].reshape({2, 2, 1}).strides()), (Dims{3, 2, 2}));
}

// ---- Fixed addresses ---------------------------------------------------------------------------

TEST(FixedAddress, LaterWritesArriveThere) {
  Tensor x = arange(4, f32);
  float* p = x.data<float>();
  EXPECT_EQ(p[3], 3);
  x += 1;
  x[{0}] = 9;
  eval(x);
  EXPECT_EQ(std::vector<float>(p, p + 4), (std::vector<float>{9, 2, 3, 4}));
  EXPECT_EQ(x.data<float>(), p);
  p[1] = -1;
  EXPECT_EQ(values(x), (std::vector<float>{9, -1, 3, 4}));
  EXPECT_EQ(values(x + 1), (std::vector<float>{10, 0, 4, 5}));
}

TEST(FixedAddress, OldValuesKeepTheirBytes) {
  Tensor x = arange(4, f32);
  float* p = x.data<float>();
  const Tensor before = x.clone(), lazy = x * 10;
  x += 1;
  eval(x);
  EXPECT_EQ(std::vector<float>(p, p + 4), iota(4, 1));
  EXPECT_EQ(values(before), iota(4));
  EXPECT_EQ(values(lazy), (std::vector<float>{0, 10, 20, 30}));
}

TEST(FixedAddress, WhatWasRecordedBeforeDataKeepsItsValue) {
  Tensor x = arange(4, f32);
  eval(x);
  const Tensor first = x + 0, twin = x.clone();
  float* p = x.data<float>();
  p[0] = 50;
  EXPECT_EQ(values(first), iota(4));
  EXPECT_EQ(values(twin), iota(4));
  const Tensor second = x + 0;
  ASSERT_EQ(x.data<float>(), p);
  p[0] = 60;
  EXPECT_EQ(values(second)[0], 50);
  EXPECT_EQ(values(x)[0], 60);
}

TEST(FixedAddress, OfAView) {
  Tensor x = arange(12, f32).reshape({3, 4});
  const Tensor row = x[1];
  float* p = row.data<float>();
  EXPECT_EQ(p[0], 4);
  EXPECT_EQ(p, x.data<float>() + 4);
  x[{1, 2}] = 0;
  eval(x);
  EXPECT_EQ(p[2], 0);
  EXPECT_THROW(x.t().data<float>(), Error);
}

TEST(FixedAddress, BorrowedMemory) {
  std::vector<double> memory = {1, 2, 3, 4};
  int deleted = 0;
  {
    Tensor x = from_blob(memory.data(), {2, 2}, [&](void* p) { deleted += p == memory.data(); });
    const Tensor y = x * 2;
    memory[0] = 10;  // nothing has run
    EXPECT_EQ(values<double>(x), (std::vector<double>{10, 2, 3, 4}));
    x[{All, 1}] += 100;
    eval(x);
    EXPECT_EQ(memory, (std::vector<double>{10, 102, 3, 104}));
    EXPECT_EQ(x.data<double>(), memory.data());
    Tensor kept = y;
    x = Tensor();
    EXPECT_EQ(values<double>(kept), (std::vector<double>{20, 4, 6, 8}));
  }
  EXPECT_EQ(deleted, 1);
}

TEST(FixedAddress, OutlivedByItsReaders) {
  Tensor y;
  {
    std::vector<float>* memory = new std::vector<float>{1, 2};
    const Tensor x = from_blob(memory->data(), {2}, [memory](void*) { delete memory; });
    y = x + 1;
  }
  EXPECT_EQ(values(y), (std::vector<float>{2, 3}));
}

TEST(FixedAddress, AViewOfAnArgumentIsNotAnAliasOfItsMemory) {
  std::vector<float> memory = iota(6);
  Tensor x = from_blob(memory.data(), {2, 3});
  const Tensor flat = x.t().reshape({6}), same = x.reshape({6}).clone();
  eval(flat, same);
  x[{All}] = 0;
  eval(x);
  EXPECT_EQ(memory, std::vector<float>(6, 0));
  EXPECT_EQ(values(flat), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values(same), iota(6));
}

TEST(FixedAddress, SharedValueIsGivenItsOwnMemory) {
  Tensor a = arange(3, f32) + 1, b = zeros({3});
  b[{All}] = a;
  eval(a, b);
  float* pa = a.data<float>();
  float* pb = b.data<float>();
  EXPECT_NE(pa, pb);
  pa[0] = 77;
  EXPECT_EQ(values(b), iota(3, 1));
}

}  // namespace
}  // namespace kiln
