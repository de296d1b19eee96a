// When values are computed, and what is known about how.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kiln/tensor.h"

namespace kiln {

namespace detail {
KILN_API void eval(std::span<const Tensor* const> tensors, bool async, const SourceLocation& at);

/// A tensor and the line of the call.
struct Wanted {
  Wanted(const Tensor& tensor, SourceLocation at = SourceLocation::current())
      : tensor(&tensor), at(at) {}
  const Tensor* tensor;
  SourceLocation at;
};
}  // namespace detail

/// Computes the tensors together, in as few kernels as they need. Raises Error where memory is
/// short (nothing changes then).
template <std::same_as<Tensor>... T>
void eval(const detail::Wanted& first, const T&... more) {
  const Tensor* const tensors[] = {first.tensor, &more...};
  detail::eval(tensors, false, first.at);
}
KILN_API void eval(std::span<const Tensor> tensors, SourceLocation at = SourceLocation::current());

/// The same on other threads: returns at once. What needs the values later waits for them, and
/// raises what went wrong.
template <std::same_as<Tensor>... T>
void eval_async(const detail::Wanted& first, const T&... more) {
  const Tensor* const tensors[] = {first.tensor, &more...};
  detail::eval(tensors, true, first.at);
}
KILN_API void eval_async(std::span<const Tensor> tensors,
                         SourceLocation at = SourceLocation::current());

/// The trace, the graph, the groups with the reason for each fusion made or refused, the kernels
/// and the bytes moved, of the evaluation that computed `a`; if it is not computed yet, of the one
/// that would.
KILN_API std::string explain(const Tensor& a, SourceLocation at = SourceLocation::current());

/// Whether the calling thread's evaluations fuse; at first as KILN_FUSE says. The values are the
/// same either way.
KILN_API bool fusion();
KILN_API void set_fusion(bool on);

/// Sets fusion for its lifetime.
class FusionScope {
 public:
  explicit FusionScope(bool on) : before_(fusion()) { set_fusion(on); }
  ~FusionScope() { set_fusion(before_); }
  FusionScope(const FusionScope&) = delete;

 private:
  bool before_;
};

/// Threads that kernels use, for the whole process; 0: as many as the process may use. Error for a
/// negative number.
KILN_API int num_threads();
KILN_API void set_num_threads(int n, SourceLocation at = SourceLocation::current());

/// Names of the devices that tensors can be on.
KILN_API std::vector<std::string> devices();

}  // namespace kiln
