#include <kiln/kiln.h>

#include <iostream>

int main() {
  kiln::Tensor x = kiln::arange(0, 3, 0.25).reshape({3, 4});  // recorded, nothing has run
  kiln::Tensor e = kiln::exp(x - x.amax(-1, true));
  kiln::Tensor p = e / e.sum(-1, true);  // softmax, in primitive operations
  std::cout << p << "\n\n";              // a value is needed: one kernel, compiled and run

  x[{kiln::All, kiln::Slice(1, 3)}] += 10;  // views alias what they were taken from
  std::cout << x << "\n\n";

  kiln::Stats s = kiln::stats();
  std::cout << s.ops_recorded << " operations became " << s.kernels_launched << " kernels\n";
}
