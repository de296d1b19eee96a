// Random programs with views, writes through views, syncs and dropped handles: recorded and fused
// against evaluated op by op, bit for bit.
#include <gtest/gtest.h>
#include <kiln/kiln.h>

#include <cmath>
#include <cstring>
#include <random>

namespace kiln {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes bytes_of(const Tensor& x) {
  const auto copy = [&]<class T>(T) {
    std::vector<T> values = x.to_vector<T>();
    for (T& v : values)
      if (std::isnan(v)) v = std::numeric_limits<T>::quiet_NaN();  // all NaNs are alike
    Bytes b(values.size() * sizeof(T));
    if (!b.empty()) std::memcpy(b.data(), values.data(), b.size());
    return b;
  };
  return x.dtype() == f32 ? copy(float{}) : copy(double{});
}

/// Runs the program of a seed. `eager` evaluates every tensor after each step.
class Program {
 public:
  Program(uint64_t seed, bool eager) : rng_(seed), eager_(eager) {}

  std::vector<Bytes> run() {
    manual_seed(17);
    for (int i = 0; i < 3; ++i) keep(make_input());
    for (int i = 0; i < 25; ++i) {
      step();
      if (eager_) eval(std::span<const Tensor>(values_));
    }
    std::vector<Bytes> results;
    for (const Tensor& x : values_) results.push_back(bytes_of(x));
    return results;
  }

 private:
  int pick(int n) { return static_cast<int>(rng_() % static_cast<uint64_t>(n)); }
  Tensor& any() { return values_[static_cast<size_t>(pick(static_cast<int>(values_.size())))]; }

  void keep(Tensor x) {
    if (values_.size() < 12) {
      values_.push_back(std::move(x));
    } else {
      any() = std::move(x);  // drops a handle
    }
  }

  Tensor make_input() {
    std::vector<float> data(24);
    for (float& v : data) v = static_cast<float>(pick(41) - 20) / 4;
    Tensor x(data, {4, 6});
    return pick(4) ? x : x.to(f64);
  }

  Slice random_slice(int64_t n) {
    const int64_t step = pick(3) ? 1 : pick(2) ? 2 : -1;
    if (step < 0) return Slice({}, {}, -1);
    const int64_t start = pick(static_cast<int>(n));
    return Slice(start, pick(3) ? n : start + 1 + pick(static_cast<int>(n - start)), step);
  }

  Tensor view_of(const Tensor& x) {
    if (x.dim() == 0) return x;
    switch (pick(5)) {
      case 0: return x.transpose(0, -1);
      case 1: return x.flip({0});
      case 2: return x.reshape({x.numel()});
      case 3: return x.unsqueeze(0);
      default: return x[{random_slice(x.size(0))}];
    }
  }

  Tensor compute(const Tensor& a) {
    const Tensor& b = any();
    switch (pick(8)) {
      case 0: return exp(a * 0.1) - 1;
      case 1: return a.dim() ? a - a.mean(-1, true) : a + 1;
      case 2: return where(a > 0, a, a * 0.5);
      case 3: return a.dim() ? softmax(a, -1) : tanh(a);
      case 4: return a.dim() && a.size(0) ? cat({a, a * 2}, 0)[{Slice({}, a.size(0))}] : abs(a);
      case 5: return a.sum() + a;
      default: break;
    }
    if (a.shape() == b.shape()) return pick(2) ? a * 0.5 + b : maximum(a, b);
    return rand(a.shape()) + a;
  }

  void step() {
    switch (pick(9)) {
      case 0:
      case 1: return keep(view_of(any()));
      case 2: any() += pick(9) - 4; return;
      case 3: {
        Tensor& x = any();
        if (x.dim() == 0) return;
        x[{random_slice(x.size(0))}] *= 0.5;
        return;
      }
      case 4: {
        Tensor& x = any();
        if (x.dim() == 0) return;
        x[{random_slice(x.size(0))}] = pick(7);
        return;
      }
      case 5: {  // reads its own storage at other places
        Tensor& x = any();
        if (x.dim() == 0) return;
        x += x.flip({0});
        return;
      }
      case 6:
        if (pick(3) == 0) eval(any());
        return;
      default: return keep(compute(any()));
    }
  }

  std::mt19937_64 rng_;
  bool eager_;
  std::vector<Tensor> values_;
};

TEST(ApiFuzz, FusedEqualsOpByOpAndOneThread) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const auto fused = Program(seed, false).run();
    std::vector<Bytes> eager, single;
    {
      FusionScope off(false);
      eager = Program(seed, true).run();
    }
    ASSERT_EQ(fused, eager) << "seed " << seed;
    if (seed % 4 == 0) {
      set_num_threads(1);
      single = Program(seed, false).run();
      set_num_threads(0);
      ASSERT_EQ(fused, single) << "seed " << seed << ", one thread";
    }
  }
}

}  // namespace
}  // namespace kiln
