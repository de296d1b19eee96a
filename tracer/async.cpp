// Evaluation on other threads.
#include <atomic>

#include "tracer/evaluate.h"
#include "tracer/firing.h"

namespace kiln::tracer {

namespace {

struct Job {
  Trace trace;
  bool fuse = true;
  std::vector<NodeRef> outputs;
  std::shared_ptr<Pending> pending = std::make_shared<Pending>();
  std::atomic<size_t> waiting{1};  // evaluations to wait for, and one for the start

  /// Whether the evaluations it waited for made what it needs. Raises the error of one that failed.
  bool leaves_are_there() const {
    for (const int32_t e : trace.leaves()) {
      Node& n = *trace.entries()[static_cast<size_t>(e)].node;
      std::lock_guard lock(n.lock);
      if (n.state() == State::Failed) std::rethrow_exception(n.job->error);
      if (n.state() != State::Evaluated) return false;
    }
    return true;
  }

  void run() {
    try {
      if (leaves_are_there()) plan_and_execute(trace, fuse);
    } catch (const Error&) {
      // A shortage: the sync that needs the values tries again and raises its own.
    } catch (...) {
      mark_failed(outputs, std::current_exception(), pending);
    }
    for (const NodeRef& n : outputs) {
      std::shared_ptr<Pending> done;
      std::lock_guard lock(n->lock);
      if (n->state() == State::InFlight && n->job == pending) n->set_state(State::Lazy);
      if (n->job == pending) done.swap(n->job);
    }
    outputs.clear();
    trace.clear();
    pending->finish();
  }
};

void one_less(const std::shared_ptr<Job>& job) {
  if (job->waiting.fetch_sub(1) == 1) enqueue([job] { job->run(); });
}

}  // namespace

void evaluate_async(std::span<Node* const> wanted, const SourceLocation& at) {
  auto job = std::make_shared<Job>();
  job->fuse = fusion_enabled();
  job->trace.collect(wanted, Trace::InFlight::Leaf, job->fuse);
  if (job->trace.empty()) return;
  note_sync(job->trace, sync_eval, at);
  job->outputs = job->trace.output_nodes();
  for (const NodeRef& n : job->outputs) {
    std::lock_guard lock(n->lock);
    if (n->state() != State::Lazy) continue;
    n->job = job->pending;
    n->set_state(State::InFlight);
  }
  job->waiting += job->trace.waits_for().size();
  for (const auto& other : job->trace.waits_for()) other->then([job] { one_less(job); });
  one_less(job);
}

}  // namespace kiln::tracer
