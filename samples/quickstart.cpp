// Records a few lines of tensor code, shows why they become one kernel, runs it.
#include <kiln/kiln.h>

#include <iostream>

using kiln::Slice, kiln::Tensor;

static Tensor gelu(const Tensor& x) {
  return 0.5 * x * (1 + kiln::tanh(0.79788456 * (x + 0.044715 * x * x * x)));
}

/// Evaluates softmax(gelu(x)) and its row maxima; returns the bytes that this moves.
static int64_t bytes_moved(const Tensor& x, bool fused) {
  kiln::set_fusion(fused);
  const kiln::Stats before = kiln::stats();
  Tensor p = kiln::softmax(gelu(x), -1);
  Tensor top = p.amax(-1);
  kiln::eval(p, top);
  const kiln::Stats after = kiln::stats();
  kiln::set_fusion(true);
  const int64_t kernels = after.kernels_launched - before.kernels_launched;
  const int64_t bytes =
      after.bytes_read + after.bytes_written - before.bytes_read - before.bytes_written;
  std::cout << (fused ? "fused:    " : "op by op: ") << kernels << " kernels, " << bytes / 1000000
            << " MB moved\n";
  return bytes;
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

  kiln::eval(x);
  const int64_t fused = bytes_moved(x, true);
  const int64_t unfused = bytes_moved(x, false);
  std::cout << "saved:    " << (unfused - fused) / 1000000 << " MB, a factor of "
            << static_cast<double>(unfused) / static_cast<double>(fused) << '\n';
}
