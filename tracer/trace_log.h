// What this thread has recorded and not yet seen evaluated, in order: where stable cuts look.
#pragma once

#include "tracer/node.h"

namespace kiln::tracer {

struct LogEntry {
  Node* node;  // weak: alive while it has this generation
  uint32_t generation;
};

struct LogRange {
  LogEntry* next;
  LogEntry* end;
};
extern constinit thread_local LogRange log_range;

/// Makes room in this thread's log. Drops what is gone or evaluated, and where too much remains,
/// cuts the trace: evaluates all before the latest node whose call site, op and shape are those of
/// the first node after the previous cut.
void make_log_room();

/// Call before a node is made, then add_to_log after.
inline void prepare_log() {
  if (log_range.next == log_range.end) [[unlikely]]
    make_log_room();
}
inline void add_to_log(Node* node) { *log_range.next++ = {node, node->generation()}; }

}  // namespace kiln::tracer
