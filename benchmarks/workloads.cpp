#include "workloads.h"

#include <array>

namespace bench {

using kiln::Shape, kiln::Tensor;
using Inputs = std::span<const Tensor>;
using Shapes = std::vector<Shape>;

namespace {

int64_t scaled(int64_t n, double scale) {
  return static_cast<int64_t>(static_cast<double>(n) * scale);
}
int64_t large(double scale) { return scaled(int64_t{1} << 26, scale); }
int64_t middle(double scale) { return scaled(int64_t{1} << 24, scale); }
int64_t rows(double scale) { return scaled(8192, scale); }

Shapes mlp_shapes(int64_t batch) {
  return {{batch, 1024}, {1024, 4096}, {4096}, {4096, 1024}, {1024}};
}

// ---- Formulas -----------------------------------------------------------------------------------

Tensors chain(Inputs in) {
  const Tensor &x = in[0], &y = in[1];
  return {(x * 2.0 + y) * x - y};
}

Tensor gelu(const Tensor& x) {
  return 0.5 * x * (1.0 + kiln::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}

Tensors gelu_tanh(Inputs in) { return {gelu(in[0])}; }

/// Prices of call and put.
Tensors black_scholes(Inputs in) {
  const double r = 0.02, v = 0.3;
  const Tensor s = kiln::abs(in[0]) + 0.5, k = kiln::abs(in[1]) + 0.5, t = kiln::abs(in[2]) + 0.1;
  const Tensor sq = v * kiln::sqrt(t);
  const Tensor d1 = (kiln::log(s / k) + (r + 0.5 * v * v) * t) / sq;
  const Tensor d2 = d1 - sq;
  const Tensor c1 = 0.5 * (1.0 + kiln::erf(d1 * 0.70710678));
  const Tensor c2 = 0.5 * (1.0 + kiln::erf(d2 * 0.70710678));
  const Tensor e = k * kiln::exp(-r * t);
  return {s * c1 - e * c2, e * (1.0 - c2) - s * (1.0 - c1)};
}

Tensors softmax(Inputs in) { return {kiln::softmax(in[0], 1)}; }

Tensors layernorm(Inputs in) {
  const Tensor &x = in[0], &g = in[1], &b = in[2];
  const Tensor d = x - x.mean(1, true);
  const Tensor v = (d * d).mean(1, true);
  return {d / kiln::sqrt(v + 1e-5) * g + b};
}

Tensors sum_all(Inputs in) { return {in[0].sum()}; }
Tensors sum_axis0(Inputs in) { return {in[0].sum(0)}; }

Tensors var_axis1(Inputs in) {
  const Tensor d = in[0] - in[0].mean(1, true);
  return {(d * d).mean(1)};
}

Tensors broadcast_outer(Inputs in) {
  const Tensor &a = in[0], &b = in[1];
  return {kiln::exp(-(a - b) * (a - b))};
}

Tensors pairwise_nbody(Inputs in) {
  const Tensor &p = in[0], &m = in[1];
  const Tensor d = p.unsqueeze(0) - p.unsqueeze(1);
  const Tensor r2 = (d * d).sum(2) + 1e-3;
  const Tensor w = m.unsqueeze(0) / (r2 * kiln::sqrt(r2));
  return {(d * w.unsqueeze(2)).sum(1)};
}

Tensors transpose_add(Inputs in) { return {in[0].t() + in[1]}; }

Tensors tiny_chain32(Inputs in) {
  Tensor x = in[0];
  const Tensor& y = in[1];
  for (int i = 0; i < 8; ++i) {
    x = x * y;
    x = x + 0.5;
    x = kiln::tanh(x);
    x = x - y;
  }
  return {x};
}

Tensors mlp(Inputs in) {
  const Tensor &x = in[0], &w1 = in[1], &b1 = in[2], &w2 = in[3], &b2 = in[4];
  const Tensor h = gelu(kiln::matmul(x, w1) + b1);
  return {kiln::matmul(h, w2) + b2 + x};
}

Tensors attention(Inputs in) {
  const Tensor &q = in[0], &k = in[1], &v = in[2];
  Tensor s = kiln::matmul(q, k.transpose(-1, -2)) * 0.125;
  s = s - s.amax(-1, true);
  const Tensor e = kiln::exp(s);
  return {kiln::matmul(e / e.sum(-1, true), v)};
}

// ---- The table ----------------------------------------------------------------------------------

const auto table = std::to_array<Workload>({
    {"chain", [](double s) { return Shapes{{large(s)}, {large(s)}}; }, chain},
    {"gelu_tanh", [](double s) { return Shapes{{large(s)}}; }, gelu_tanh},
    {"black_scholes", [](double s) { return Shapes(3, Shape{middle(s)}); }, black_scholes},
    {"softmax", [](double s) { return Shapes{{rows(s), 4096}}; }, softmax},
    {"layernorm", [](double s) { return Shapes{{rows(s), 4096}, {4096}, {4096}}; }, layernorm},
    {"rmsnorm_half", nullptr, nullptr},  // bf16
    {"sum_all", [](double s) { return Shapes{{large(s)}}; }, sum_all},
    {"sum_axis0", [](double s) { return Shapes{{rows(s), 4096}}; }, sum_axis0},
    {"var_axis1", [](double s) { return Shapes{{rows(s), 4096}}; }, var_axis1},
    {"broadcast_outer", [](double s) { return Shapes{{rows(s), 1}, {1, 4096}}; }, broadcast_outer},
    {"pairwise_nbody", [](double) { return Shapes{{4096, 3}, {4096}}; }, pairwise_nbody},
    {"transpose_add", [](double) { return Shapes(2, Shape{4096, 4096}); }, transpose_add},
    {"tiny_chain32", [](double) { return Shapes(2, Shape{1024}); }, tiny_chain32},
    {"mlp", [](double) { return mlp_shapes(512); }, mlp},
    {"mlp_batch1", [](double) { return mlp_shapes(1); }, mlp},
    {"attention", [](double) { return Shapes(3, Shape{2, 16, 1024, 64}); }, attention},
});

}  // namespace

std::span<const Workload> workloads() { return table; }

Tensors make_inputs(const Workload& workload, double scale) {
  kiln::manual_seed(0);
  Tensors inputs;
  for (const Shape& shape : workload.shapes(scale)) inputs.push_back(kiln::randn(shape));
  kiln::eval(inputs);
  return inputs;
}

}  // namespace bench
