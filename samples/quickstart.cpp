// Records a few lines of tensor code, shows why they become one kernel, runs it.
#include <kiln/kiln.h>

#include <iostream>

using kiln::Slice, kiln::Tensor;

static Tensor gelu(const Tensor& x) {
  return 0.5 * x * (1 + kiln::tanh(0.79788456 * (x + 0.044715 * x * x * x)));
}

/// Bytes that evaluating softmax(gelu(x)) and its row maxima moves, with fusion on or off.
static uint64_t bytes_moved(const Tensor& x, bool fused) {
  kiln::set_fusion(fused);
  const auto before = kiln::stats();
  Tensor p = kiln::softmax(gelu(x), -1);
  Tensor top = p.amax(-1);
  kiln::eval(p, top);
  const auto after = kiln::stats();
  kiln::set_fusion(true);
  std::cout << (fused ? "fused:   " : "unfused: ")
            << after.kernels_launched - before.kernels_launched << " kernels, "
            << (after.bytes_moved - before.bytes_moved) / 1000000 << " MB moved\n";
  return after.bytes_moved - before.bytes_moved;
}

int main() {
  Tensor x = kiln::randn({2048, 1024});
  Tensor p = kiln::softmax(gelu(x), -1);  // recorded, nothing has run
  Tensor top = p.amax(-1);
  std::cout << kiln::explain(p) << '\n';  // why it is one kernel
  kiln::eval(p, top);                     // compiled in milliseconds, cached
  std::cout << "largest probability of each row:\n" << top << "\n\n";

  // Views alias what they were taken from, and writes through them are recorded too.
  x[{Slice(1, -1)}] += 0.25 * (x[{Slice(2, {})}] - x[{Slice({}, -2)}]);
  std::cout << "row sums after a step along the columns:\n" << x.sum(-1) << "\n\n";

  const uint64_t fused = bytes_moved(x, true);
  const uint64_t unfused = bytes_moved(x, false);
  std::cout << "saved:   " << (unfused - fused) / 1000000 << " MB, a factor of "
            << static_cast<double>(unfused) / static_cast<double>(fused) << '\n';
}
