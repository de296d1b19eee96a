#include "tests/plan_runner.h"

namespace kiln::testing {

namespace {

template <class T>
void multiply(const ir::BoundStep& step, std::byte* out, const std::byte* a, const std::byte* b) {
  using Acc = std::conditional_t<std::is_same_v<T, float>, double,
                                 std::conditional_t<std::is_same_v<T, double>, long double, T>>;
  const ir::BoundStep::View &vo = step.views[0], &va = step.views[1], &vb = step.views[2];
  const size_t batch = vo.shape.size() - 2;
  const int64_t inner = va.shape[batch + 1], count = numel(vo.shape);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, po = 0, pa = 0, pb = 0;
    for (size_t k = vo.shape.size(); k-- > 0;) {
      const int64_t x = rest % vo.shape[k];
      rest /= vo.shape[k];
      po += x * vo.strides[k];
      if (k != batch + 1) pa += x * va.strides[k];
      if (k != batch) pb += x * vb.strides[k];
    }
    Acc sum = 0;
    for (int64_t k = 0; k < inner; ++k)
      sum += static_cast<Acc>(reinterpret_cast<const T*>(a)[pa + k * va.strides[batch + 1]]) *
             static_cast<Acc>(reinterpret_cast<const T*>(b)[pb + k * vb.strides[batch]]);
    reinterpret_cast<T*>(out)[po] = static_cast<T>(sum);
  }
}

}  // namespace

void run_matmul(const ir::BoundStep& step, const std::vector<std::byte*>& base,
                std::span<const uint64_t> params) {
  std::byte* p[3];
  for (size_t i = 0; i < 3; ++i)
    p[i] = base[static_cast<size_t>(step.views[i].slot)] +
           affine_value(step.views[i].offset_bytes, params);
  switch (step.views[0].dtype) {
    case DType::F32: multiply<float>(step, p[0], p[1], p[2]); break;
    case DType::F64: multiply<double>(step, p[0], p[1], p[2]); break;
    case DType::I32: multiply<uint32_t>(step, p[0], p[1], p[2]); break;
    default: multiply<uint64_t>(step, p[0], p[1], p[2]); break;
  }
}

}  // namespace kiln::testing
