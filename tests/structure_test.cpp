// What fusion must give, from the counters: kernels and bytes, never times.
#include <gtest/gtest.h>
#include <kiln/kiln.h>

#include <functional>

namespace kiln {
namespace {

struct Work {
  int64_t kernels, bytes, compiled, plan_misses, skeleton_misses;
};

/// Evaluates what `f` records, with its arguments stored before, and says what that took.
Work work_of(const std::function<std::vector<Tensor>()>& f) {
  const Stats before = stats();
  const std::vector<Tensor> results = f();
  eval(std::span<const Tensor>(results));
  const Stats after = stats();
  return {after.kernels_launched - before.kernels_launched,
          after.bytes_read + after.bytes_written - before.bytes_read - before.bytes_written,
          after.kernels_compiled - before.kernels_compiled, after.plan_misses - before.plan_misses,
          after.skeleton_misses - before.skeleton_misses};
}

Tensor stored(const Shape& shape) {
  Tensor x = randn(shape);
  eval(x);
  return x;
}

/// One kernel that moves so many f32 elements: distinct ones, once per buffer.
void expect_one_kernel(int64_t elements, const std::function<std::vector<Tensor>()>& f) {
  const Work w = work_of(f);
  EXPECT_EQ(w.kernels, 1);
  EXPECT_EQ(w.bytes, 4 * elements);
}

Tensor softmax_of(const Tensor& x, int64_t axis) {
  const Tensor e = exp(x - x.amax(axis, true));
  return e / e.sum(axis, true);
}

TEST(OneKernel, StandardWorkloads) {
  const Tensor x = stored({3000}), y = stored({3000});
  expect_one_kernel(9000, [&] { return std::vector{(x * 2.0 + y) * x - y}; });
  expect_one_kernel(6000, [&] {
    return std::vector{0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)))};
  });
  const Tensor m = stored({40, 70}), g = stored({70}), b = stored({70});
  expect_one_kernel(5600, [&] { return std::vector{softmax(m, 1)}; });
  expect_one_kernel(5600, [&] { return std::vector{softmax_of(m, 1)}; });
  expect_one_kernel(5600, [&] { return std::vector{softmax_of(m, 0)}; });
  expect_one_kernel(5740, [&] {
    const Tensor d = m - m.mean(1, true);
    const Tensor v = (d * d).mean(1, true);
    return std::vector{d / sqrt(v + 1e-5) * g + b};
  });
  expect_one_kernel(2840, [&] {
    const Tensor d = m - m.mean(1, true);
    return std::vector{(d * d).mean(1)};
  });
  expect_one_kernel(2840, [&] { return std::vector{var(m, 1)}; });
  const Tensor column = stored({40, 1}), row = stored({1, 70});
  expect_one_kernel(2910, [&] { return std::vector{exp(-(column - row) * (column - row))}; });
}

TEST(OneKernel, ElementsMovedAreExact) {
  const Tensor x = stored({10, 10}), y = stored({10});
  expect_one_kernel(210, [&] { return std::vector{x + y}; });
  expect_one_kernel(200, [&] { return std::vector{x + x.transpose(0, 1)}; });
  expect_one_kernel(200, [&] { return std::vector{softmax(x, -1)}; });
  expect_one_kernel(200, [&] { return std::vector{softmax(softmax(x, -1), -1)}; });
}

TEST(OneKernel, ManyInputsAndOutputs) {
  std::vector<Tensor> in;
  for (int i = 0; i < 20; ++i) in.push_back(stored({500}));
  expect_one_kernel(20 * 500 + 3 * 500, [&] {
    Tensor sum = in[0];
    for (int i = 1; i < 20; ++i) sum = sum * 0.5 + in[static_cast<size_t>(i)];
    return std::vector{sum, exp(sum), sum - in[3]};
  });
}

TEST(OneKernel, PointwiseIntoAndAfterReductions) {
  const Tensor x = stored({30, 50});
  expect_one_kernel(1530, [&] { return std::vector{sqrt((x * x + 1).sum(1)) * 2}; });
  expect_one_kernel(1550, [&] { return std::vector{abs((x - 1).amax(0))}; });
  expect_one_kernel(1560, [&] { return std::vector{x.sum(1), x.amax(1)}; });
  expect_one_kernel(3030, [&] {
    const Tensor y = x * 3;
    return std::vector{y, y.sum(1)};
  });
}

TEST(OneKernel, ViewsCostNothing) {
  const Tensor x = stored({12, 30});
  expect_one_kernel(720, [&] { return std::vector{exp(x).transpose(0, 1) * 1.5}; });
  expect_one_kernel(150 + 150, [&] {
    return std::vector{(x * 2)[{Slice(1, 11), Slice(0, 30, 2)}].flip({0}) + 1};
  });
  expect_one_kernel(360 + 360, [&] { return std::vector{(x + 1).reshape({30, 12}) * 2}; });
  expect_one_kernel(360 + 1080,
                    [&] { return std::vector{(x - 1).reshape({1, 360}).expand({3, 360}) * 2}; });
}

TEST(OneKernel, CommonAndDeadValuesAreGone) {
  const Tensor x = stored({100}), y = stored({100});
  expect_one_kernel(300, [&] {
    const Tensor unused = exp(x).sum();
    return std::vector{x * y + x * y};
  });
  const Stats before = stats();
  const Tensor lazy = exp(x + y);
  EXPECT_EQ(lazy.shape(), Shape{100});
  EXPECT_EQ(lazy.dim(), 1);
  EXPECT_EQ(stats().sync_total(), before.sync_total()) << "a shape is known without a value";
}

TEST(Caches, AnotherScalarOrStartCompilesAndPlansNothing) {
  const Tensor x = stored({64, 3});
  const auto step = [&](double scale, int64_t row) {
    return work_of([&] { return std::vector{x[{row}] * scale + x.select(0, row)}; });
  };
  step(1.5, 0);
  for (int i = 1; i < 60; ++i) {
    const Work w = step(0.1 * i, i);
    EXPECT_EQ(w.compiled, 0);
    EXPECT_EQ(w.plan_misses, 0);
  }
}

/// Over 1,000 distinct shapes: at most 3 kernels per group, and skeletons are shared.
void expect_few_kernels(const std::function<Tensor(const Tensor&)>& f,
                        const std::function<Shape(int64_t)>& shape) {
  Work all{};
  for (int64_t n = 1; n <= 1000; ++n) {
    const Tensor x = zeros(shape(n));
    eval(x);
    const Work w = work_of([&] { return std::vector{f(x)}; });
    all.kernels = std::max(all.kernels, w.kernels);
    all.compiled += w.compiled;
    all.skeleton_misses += w.skeleton_misses;
  }
  EXPECT_EQ(all.kernels, 1);
  EXPECT_LE(all.compiled, 3);
  EXPECT_LE(all.skeleton_misses, 12);
}

TEST(Caches, AThousandShapesCompileAHandfulOfKernels) {
  expect_few_kernels([](const Tensor& x) { return exp(x) * 2 + x; },
                     [](int64_t n) { return Shape{n, 24}; });
  expect_few_kernels([](const Tensor& x) { return softmax(x, -1); },
                     [](int64_t n) { return Shape{16, n}; });
  expect_few_kernels([](const Tensor& x) { return (x + 1).sum(0); },
                     [](int64_t n) { return Shape{n, 40}; });
  expect_few_kernels([](const Tensor& x) { return x.transpose(0, 1) + 1; },
                     [](int64_t n) { return Shape{n, 33}; });
}

TEST(Caches, RepeatedEvaluationReusesBuffers) {
  const Tensor x = stored({100000});
  int64_t held = 0;  // by results and by the cache
  for (int i = 0; i < 50; ++i) {
    const Tensor y = exp(x) + 1, z = y.sum();
    eval(y, z);
    const int64_t now = stats().bytes_live + stats().bytes_cached;
    if (i == 5) held = now;
    if (i > 5) {
      EXPECT_EQ(now, held);
    }
  }
}

// Case I11, second half: each update reads an element of the value before.
TEST(LongPrograms, UnrolledElementUpdates) {
  Tensor x = zeros({300});
  for (int64_t i = 0; i < 300; ++i) x[{i}] = x[{i}] + 1;
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(300, 1.0f));
}

// Case I7: sums that grow through a loop without a sync.
TEST(LongPrograms, AccumulationsInALoop) {
  const Tensor t1 = ones({10, 10});
  Tensor t2 = zeros({10}), t3 = zeros({10});
  for (int i = 0; i < 1000; ++i) {
    t3 += t1.sum(1);
    t2 += t3;
  }
  EXPECT_EQ(t3.to_vector<float>(), std::vector<float>(10, 10000.0f));
  EXPECT_EQ(t2.to_vector<float>(), std::vector<float>(10, 5005000.0f));
}

}  // namespace
}  // namespace kiln
