// eval, explain and the switches.
#include "kiln/sync.h"

#include "api/internal.h"
#include "runtime/stats.h"
#include "tracer/evaluate.h"

namespace kiln {

namespace detail {

void eval(std::span<const Tensor* const> tensors, bool async, const SourceLocation& at) {
  std::vector<NodeRef> nodes;
  for (const Tensor* t : tensors) {
    nodes.push_back(tracer::value_to_evaluate(Access::impl(*t, "eval", at), at));
  }
  std::vector<tracer::Node*> wanted;
  for (const NodeRef& n : nodes) wanted.push_back(n.get());
  if (async) {
    tracer::evaluate_async(wanted, at);
  } else {
    tracer::evaluate(wanted, SyncCause::Eval, at);
  }
}

}  // namespace detail

namespace {

std::vector<const Tensor*> pointers(std::span<const Tensor> tensors) {
  std::vector<const Tensor*> list;
  for (const Tensor& t : tensors) list.push_back(&t);
  return list;
}

}  // namespace

void eval(std::span<const Tensor> tensors, SourceLocation at) {
  detail::eval(pointers(tensors), false, at);
}
void eval_async(std::span<const Tensor> tensors, SourceLocation at) {
  detail::eval(pointers(tensors), true, at);
}

std::string explain(const Tensor& a, SourceLocation at) {
  return tracer::explain(
      tracer::value_to_evaluate(detail::Access::impl(a, "explain", at), at).get());
}

bool fusion() { return tracer::fusion_enabled(); }
void set_fusion(bool on) { tracer::set_fusion(on); }

int num_threads() { return tracer::num_threads(); }
void set_num_threads(int n, SourceLocation at) {
  if (n < 0) detail::fail("set_num_threads", std::to_string(n) + " threads", at);
  tracer::set_num_threads(n);
}

std::vector<std::string> devices() { return {"cpu"}; }

}  // namespace kiln
