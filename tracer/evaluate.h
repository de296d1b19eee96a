// The sync points: from wanted nodes to values, through plan, kernels and their run.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "tracer/node.h"

namespace kiln {
enum class SyncCause : uint8_t;  // runtime/stats.h
}

namespace kiln::tracer {

/// Causes, for code that does not include the runtime.
extern const SyncCause sync_cut, sync_eval;

/// Computes the nodes that are not evaluated yet. Raises Error where memory is short (nothing
/// changes then) or a computation fails, now or before.
void evaluate(std::span<Node* const> wanted, SyncCause cause, const SourceLocation& at);

/// The same on another thread: collects here, returns at once. Later syncs of the nodes wait for
/// it and raise its errors.
void evaluate_async(std::span<Node* const> wanted, const SourceLocation& at);

/// What `explain` prints of a node. One that is not evaluated is planned, not run.
std::string explain(Node* node);

/// Whether this thread's evaluations fuse. Unless set: KILN_FUSE.
bool fusion_enabled();
void set_fusion(bool on);

/// Threads that kernels use; 0 sets as many as the process may use.
int num_threads();
void set_num_threads(int n);

/// Forgets the plans and schedules kept in memory (kernels stay). For tests and benchmarks.
void clear_plans();

/// Adds one to the operations recorded.
void count_op_recorded();

}  // namespace kiln::tracer
