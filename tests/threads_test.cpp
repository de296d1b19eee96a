// Recording and evaluating from many threads, and evaluation in the background.
#include <gtest/gtest.h>
#include <kiln/kiln.h>

#include <thread>

#include "runtime/buffer.h"

namespace kiln {
namespace {

TEST(Threads, RecordAndEvaluateAtTheSameTime) {
  const Tensor shared = randn({64, 64}), lazy = exp(shared) + 1;  // evaluated by whoever is first
  std::vector<std::thread> threads;
  std::vector<float> results(8);
  for (size_t t = 0; t < results.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        Tensor x = lazy * static_cast<double>(i % 3) + shared[{Slice(i % 8, {})}].sum(0);
        x[{Slice(t, {})}] += 1;
        x = softmax(x, i % 2);
        results[t] += x.sum().item<float>();
        if (i % 10 == 0) eval(lazy, lazy.sum(1), lazy.t().reshape({4096}));
      }
    });
  for (std::thread& t : threads) t.join();
  for (float r : results) EXPECT_NEAR(r, 50 * 64, 0.1);
  EXPECT_TRUE((lazy == exp(shared) + 1).all());
}

TEST(Threads, TensorsMoveBetweenThreads) {
  Tensor x = zeros({16});
  for (int round = 0; round < 20; ++round)
    std::thread([&] {
      for (int i = 0; i < 100; ++i) x = x + 1;
      if (round % 3 == 0) eval(x);
    }).join();
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(16, 2000));
}

TEST(Async, ValuesArriveAndChain) {
  Tensor x = randn({256, 256});
  eval(x);
  const Tensor a = exp(x), b = a.sum(1), c = b * 2;
  eval_async(a, b);
  eval_async(c);  // follows b without waiting here
  EXPECT_TRUE((c + b == 2 * exp(x).sum(1) + exp(x).sum(1)).all());
  EXPECT_TRUE((a == exp(x)).all());
}

TEST(Async, AShortageIsRaisedByTheSyncAndPasses) {
  runtime::release_cached_buffers();
  const Tensor large = ones({1 << 26}) * 2, last = large[{-1}] + 1;
  runtime::set_memory_limit(int64_t{128} << 20);
  eval_async(large);
  eval_async(last);  // needs what the first could not make
  EXPECT_THROW(eval(large), Error);
  runtime::set_memory_limit(0);
  EXPECT_EQ(last.item<float>(), 3);
  EXPECT_EQ(large[{0}].item<float>(), 2);
}

TEST(Async, WritesToAFixedAddressWaitForReaders) {
  Tensor x = ones({1 << 16});
  float* p = x.data<float>();
  std::vector<Tensor> sums;
  for (int i = 0; i < 50; ++i) {
    sums.push_back((x * 1).sum());
    eval_async(sums.back());
    x += 1;
    eval(x);
    EXPECT_EQ(p[0], static_cast<float>(i + 2));
  }
  for (size_t i = 0; i < sums.size(); ++i)
    EXPECT_EQ(sums[i].item<float>(), static_cast<float>((i + 1) << 16));
}

}  // namespace
}  // namespace kiln
