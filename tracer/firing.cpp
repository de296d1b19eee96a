#include "tracer/firing.h"

#include "ir/core/settings.h"
#include "tracer/evaluate.h"

namespace kiln::tracer {

namespace {

thread_local std::unique_ptr<Trace> spare_trace;
thread_local int fusion_override = -1;

}  // namespace

ReusedTrace::ReusedTrace()
    : trace_(spare_trace ? std::move(spare_trace) : std::make_unique<Trace>()) {}

ReusedTrace::~ReusedTrace() {
  trace_->clear();
  spare_trace = std::move(trace_);
}

void mark_failed(std::span<const NodeRef> nodes, std::exception_ptr error,
                 const std::shared_ptr<Pending>& job) {
  const auto failure = std::make_shared<Pending>();
  failure->error = std::move(error);
  for (const NodeRef& n : nodes) {
    std::shared_ptr<Pending> old = failure;  // the node's, released after the lock
    std::lock_guard lock(n->lock);
    if (job ? n->job != job || n->state() != State::InFlight : n->state() != State::Lazy) continue;
    n->job.swap(old);
    n->set_state(State::Failed);
  }
}

bool fusion_enabled() { return fusion_override < 0 ? settings().fuse : fusion_override != 0; }
void set_fusion(bool on) { fusion_override = on; }

}  // namespace kiln::tracer
