#include "tracer/trace_log.h"

#include <cstring>
#include <memory>
#include <unordered_map>

#include "ir/core/settings.h"
#include "tracer/evaluate.h"

namespace kiln::tracer {

constinit thread_local LogRange log_range{nullptr, nullptr};

namespace {

/// Where and what: nodes of equal signature come round again in a loop.
struct Signature {
  const SourceLocation at;
  const ir::Op op;
  const Shape shape;

  explicit Signature(const Node& n) : at(n.at), op(n.op), shape(n.shape) {}
  bool matches(const Node& n) const {
    return op == n.op && at.line() == n.at.line() && at.column() == n.at.column() &&
           shape == n.shape && std::strcmp(at.file_name(), n.at.file_name()) == 0;
  }
};

struct Log {
  std::vector<LogEntry> entries;
  /// Of the first node after the previous cut.
  std::unique_ptr<const Signature> first;
  bool cutting = false;
  ~Log() { log_range = {nullptr, nullptr}; }
};

thread_local Log thread_log;

/// The logged nodes that are still to be evaluated, in order.
std::vector<NodeRef> unevaluated(const Log& log, const LogEntry* end) {
  std::vector<NodeRef> nodes;
  for (const LogEntry* e = log.entries.data(); e != end; ++e)
    if (NodeRef n = Node::try_retain(e->node, e->generation); n && n->state() == State::Lazy)
      nodes.push_back(std::move(n));
  return nodes;
}

/// The stable place to cut: how many of the nodes to fire.
size_t cut_position(const std::vector<NodeRef>& nodes, const Signature& first) {
  for (size_t i = nodes.size(); i-- > 1;)
    if (first.matches(*nodes[i])) return i;
  return nodes.size();
}

/// Of the first `count` nodes those that something else refers to, a handle or a later node.
std::vector<Node*> referred_to(const std::vector<NodeRef>& nodes, size_t count) {
  std::unordered_map<const Node*, int32_t> inner;  // references that we know of
  for (size_t i = 0; i < count; ++i) inner[nodes[i].get()] = 1;
  for (size_t i = 0; i < count; ++i) {
    Node& n = *nodes[i];
    std::lock_guard lock(n.lock);
    for (int k = 0; k < n.num_operands; ++k)
      if (!n.is_scalar(k))
        if (const auto it = inner.find(n.operands[k].node); it != inner.end()) ++it->second;
    if (n.extra)
      for (const Node* o : n.extra->more)
        if (const auto it = inner.find(o); it != inner.end()) ++it->second;
  }
  std::vector<Node*> wanted;
  for (size_t i = 0; i < count; ++i) {
    Node* n = nodes[i].get();
    if (n->refs() <= inner[n]) continue;
    // A view is read again for nothing; its source is what must be there.
    NodeRef held = nodes[i];
    while (n->state() == State::Lazy && ir::is_view(n->op) && n->operands[0].node &&
           inner.count(n->operands[0].node))
      n = n->operands[0].node;
    if (!ir::is_view(n->op)) wanted.push_back(n);
  }
  return wanted;
}

/// Evaluates what comes before the stable place. A failure shows at the sync that needs the value.
void cut(Log& log, std::vector<NodeRef>& nodes) {
  if (!log.first) log.first = std::make_unique<Signature>(*nodes.front());
  const size_t count = cut_position(nodes, *log.first);
  log.first.reset();
  if (count < nodes.size()) log.first = std::make_unique<Signature>(*nodes[count]);
  const std::vector<Node*> wanted = referred_to(nodes, count);
  // The values are kept by what refers to them; the log's references would make all seem live.
  std::vector<NodeRef> held;
  for (Node* n : wanted) held.emplace_back(n);
  nodes.erase(nodes.begin(), nodes.begin() + static_cast<ptrdiff_t>(count));
  try {
    evaluate(wanted, sync_cut, SourceLocation());
  } catch (const std::exception&) {
    // The nodes are as they were, or raise their error when asked for.
  }
}

}  // namespace

void make_log_room() {
  Log& log = thread_log;
  if (!log_range.next) {
    log.entries.resize(static_cast<size_t>(std::max<int64_t>(2, settings().trace_limit)));
    log_range = {log.entries.data(), log.entries.data() + log.entries.size()};
    return;
  }
  std::vector<NodeRef> nodes = unevaluated(log, log_range.next);
  if (nodes.size() > log.entries.size() / 2 && !log.cutting) {
    log.cutting = true;
    cut(log, nodes);
    log.cutting = false;
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                               [](const NodeRef& n) { return n->state() != State::Lazy; }),
                nodes.end());
  }
  // What could not be evaluated stays, and is tried again after as many more.
  const size_t limit = static_cast<size_t>(std::max<int64_t>(2, settings().trace_limit));
  log.entries.resize(nodes.size() > limit / 2 ? nodes.size() * 2 : limit);
  log_range = {log.entries.data(), log.entries.data() + log.entries.size()};
  for (const NodeRef& n : nodes) add_to_log(n.get());
}

}  // namespace kiln::tracer
