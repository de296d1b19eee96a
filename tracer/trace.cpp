#include "tracer/trace.h"

namespace kiln::tracer {

using ir::Op;

namespace {

uint64_t hash_words(std::span<const uint64_t> words) {
  uint64_t h = 0x9e3779b97f4a7c15u ^ words.size();
  for (uint64_t w : words) {
    const auto product = static_cast<unsigned __int128>(h ^ w) * 0xd6e8feb86659fd93u;
    h = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^ (w << 1);
  }
  return h;
}

size_t slot_of(const Node* node, size_t mask) {
  return static_cast<size_t>((reinterpret_cast<uintptr_t>(node) >> 6) * 0x9e3779b97f4a7c15u >> 20) &
         mask;
}

}  // namespace

// ---- Which nodes -------------------------------------------------------------------------------

void Trace::grow_table() {
  table_.assign(std::max<size_t>(256, table_.size() * 2), Slot{nullptr, 0, 0});
  epoch_ = 1;
  for (size_t e = 0; e < entries_.size(); ++e) {
    size_t i = slot_of(entries_[e].node.get(), table_.size() - 1);
    while (table_[i].epoch == epoch_) i = (i + 1) & (table_.size() - 1);
    table_[i] = {entries_[e].node.get(), epoch_, static_cast<int32_t>(e)};
  }
}

int32_t Trace::find_or_add(Node* node) {
  if ((entries_.size() + 1) * 2 > table_.size()) grow_table();
  const size_t mask = table_.size() - 1;
  size_t i = slot_of(node, mask);
  for (; table_[i].epoch == epoch_; i = (i + 1) & mask)
    if (table_[i].node == node) return table_[i].entry;
  const int32_t e = static_cast<int32_t>(entries_.size());
  entries_.emplace_back();
  entries_.back().node = NodeRef(node);
  table_[i] = {node, epoch_, e};
  return e;
}

void Trace::add_operand(int32_t entry, int32_t operand) {
  operands_.push_back(operand);
  ++entries_[static_cast<size_t>(entry)].num_operands;
}

/// Looks at a node once, under its lock: it may be evaluated by another thread at any time.
void Trace::visit(int32_t entry, InFlight in_flight) {
  Node& node = *entries_[static_cast<size_t>(entry)].node;
  entries_[static_cast<size_t>(entry)].first_operand = static_cast<int32_t>(operands_.size());
  while (true) {
    std::shared_ptr<Pending> job;
    std::exception_ptr error;
    {
      std::lock_guard lock(node.lock);
      switch (node.state()) {
        case State::Evaluated: entries_[static_cast<size_t>(entry)].leaf = true; return;
        case State::Failed: error = node.job->error; break;
        case State::InFlight: job = node.job; break;
        case State::Lazy:
          for (int i = 0; i < node.num_operands; ++i)
            add_operand(entry, node.is_scalar(i) ? constant : find_or_add(node.operands[i].node));
          if (node.extra)
            for (Node* n : node.extra->more) add_operand(entry, find_or_add(n));
          return;
      }
    }
    if (error) std::rethrow_exception(error);
    if (in_flight == InFlight::Leaf) {
      entries_[static_cast<size_t>(entry)].leaf = true;
      waits_for_.push_back(std::move(job));
      return;
    }
    job->wait();
  }
}

void Trace::walk(int32_t root, InFlight in_flight) {
  if (entries_[static_cast<size_t>(root)].position >= 0) return;
  visit(root, in_flight);
  stack_.push_back({root, 0});
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    const Entry& e = entries_[static_cast<size_t>(frame.entry)];
    if (frame.next == e.num_operands) {
      finish(frame.entry);
      stack_.pop_back();
      continue;
    }
    const int32_t operand = operands_[static_cast<size_t>(e.first_operand + frame.next++)];
    if (operand < 0) continue;
    Entry& o = entries_[static_cast<size_t>(operand)];
    ++o.uses;
    if (o.position >= 0) continue;
    visit(operand, in_flight);
    stack_.push_back({operand, 0});
  }
}

void Trace::choose_outputs(std::span<Node* const> wanted) {
  for (Entry& e : entries_) e.live = !e.leaf && e.node->refs() - 1 - e.uses > 0;
  // A view costs nothing to read again: what must be kept is what it looks at.
  for (size_t i = order_.size(); i-- > 0;) {
    Entry& e = entries_[static_cast<size_t>(order_[i])];
    if (!e.live || !ir::is_view(e.node->op)) continue;
    e.live = false;
    Entry& source = entries_[static_cast<size_t>(operands_[static_cast<size_t>(e.first_operand)])];
    source.live = !source.leaf;
  }
  for (Node* n : wanted) {
    const int32_t e = find_or_add(n);
    Entry& entry = entries_[static_cast<size_t>(e)];
    if (entry.leaf) continue;
    if (std::find(outputs_.begin(), outputs_.end(), e) == outputs_.end()) outputs_.push_back(e);
    entry.live = false;
  }
  for (const int32_t e : order_) {
    const Entry& entry = entries_[static_cast<size_t>(e)];
    if (entry.live)
      (entry.node->fired.load(std::memory_order_relaxed) ? outputs_ : kept_).push_back(e);
  }
}

void Trace::collect(std::span<Node* const> wanted, InFlight in_flight, bool fuse) {
  for (Node* n : wanted) walk(find_or_add(n), in_flight);
  choose_outputs(wanted);
  finish_key(fuse);
}

std::vector<NodeRef> Trace::output_nodes() const {
  std::vector<NodeRef> nodes;
  for (const int32_t e : outputs_) nodes.push_back(entries_[static_cast<size_t>(e)].node);
  return nodes;
}

void Trace::clear() {
  constexpr size_t large = size_t{1} << 15;
  if (entries_.size() > large) {
    *this = Trace();
    return;
  }
  entries_.clear();
  for (auto* v : {&operands_, &order_, &leaves_, &outputs_, &kept_}) v->clear();
  params_.clear();
  key_.words.clear();
  waits_for_.clear();
  stack_.clear();
  previous_ = -1;
  if (++epoch_ == 0) table_.clear();
}

// ---- Key and graph -----------------------------------------------------------------------------

/// Adds a node, whose operands are all in the order, to order, key and parameters.
void Trace::finish(int32_t entry) {
  Entry& e = entries_[static_cast<size_t>(entry)];
  const Node& n = *e.node;
  e.position = static_cast<int32_t>(order_.size());
  order_.push_back(entry);
  std::vector<uint64_t>& key = key_.words;

  const bool same_shape =
      previous_ >= 0 && entries_[static_cast<size_t>(previous_)].node->shape == n.shape;
  previous_ = entry;
  const Op op = e.leaf ? Op::Input : n.op;
  const uint64_t operands = static_cast<uint64_t>(e.num_operands);
  key.push_back(static_cast<uint64_t>(op) | static_cast<uint64_t>(n.dtype) << 8 |
                static_cast<uint64_t>(same_shape) << 15 |
                static_cast<uint64_t>(e.leaf ? DType{} : n.scalar_dtype) << 16 |
                static_cast<uint64_t>(e.leaf ? 0 : n.const_mask) << 20 |
                static_cast<uint64_t>(e.leaf ? 0 : n.scalar_mask) << 24 | operands << 28 |
                static_cast<uint64_t>(n.shape.size()) << 56);
  if (!same_shape)
    for (int64_t d : n.shape) key.push_back(static_cast<uint64_t>(d));
  if (e.leaf) {
    leaves_.push_back(entry);
    return;
  }
  for (int32_t i = 0; i < e.num_operands; ++i) {
    int32_t& operand = operands_[static_cast<size_t>(e.first_operand + i)];
    if (operand >= 0) {
      key.push_back(static_cast<uint64_t>(entries_[static_cast<size_t>(operand)].position));
    } else if ((n.const_mask >> i & 1) != 0) {
      key.push_back(n.operands[i].bits);
    } else {
      operand = -1 - static_cast<int32_t>(params_.size());
      params_.push_back(n.operands[i].bits);
    }
  }
  // A count below 256 is no node's first word: those of non-leaves hold operands, of leaves op 0.
  if (!n.attrs().empty()) key.push_back(n.attrs().size());
  for (int64_t a : n.attrs()) key.push_back(static_cast<uint64_t>(a));
  for (int64_t s : n.starts()) params_.push_back(static_cast<uint64_t>(s));
}

void Trace::finish_key(bool fuse) {
  std::vector<uint64_t>& key = key_.words;
  key.push_back(static_cast<uint64_t>(outputs_.size()) << 33 |
                static_cast<uint64_t>(kept_.size()) << 1 | static_cast<uint64_t>(fuse));
  for (const auto* list : {&outputs_, &kept_})
    for (int32_t e : *list)
      key.push_back(static_cast<uint64_t>(entries_[static_cast<size_t>(e)].position));
  key_.hash = hash_words(key);
}

namespace {

ir::NodeId add_scalar(ir::Graph& graph, const Node& n, int i, int32_t param) {
  ir::Node scalar{};
  scalar.dtype = n.scalar_dtype;
  scalar.at = n.at;
  if (param < 0) {
    scalar.op = Op::Const;
    scalar.attrs = {static_cast<int64_t>(n.operands[i].bits)};
  } else {
    scalar.op = Op::Param;
    scalar.params = {param};
  }
  return ir::add(graph, std::move(scalar));
}

}  // namespace

ir::Graph to_graph(const Trace& trace) {
  ir::Graph graph;
  int32_t param = 0;
  std::vector<ir::NodeId> ids(trace.entries().size(), -1);
  for (const int32_t entry : trace.order()) {
    const Trace::Entry& e = trace.entries()[static_cast<size_t>(entry)];
    const Node& n = *e.node;
    ir::Node node{};
    node.op = e.leaf ? Op::Input : n.op;
    node.dtype = n.dtype;
    node.shape = n.shape;
    node.at = n.at;
    if (!e.leaf) {
      for (int32_t i = 0; i < e.num_operands; ++i) {
        const int32_t operand = trace.operands()[static_cast<size_t>(e.first_operand + i)];
        if (operand >= 0) {
          node.inputs.push_back(ids[static_cast<size_t>(operand)]);
        } else if (operand == Trace::constant) {
          node.inputs.push_back(add_scalar(graph, n, i, -1));
        } else {
          node.inputs.push_back(add_scalar(graph, n, i, -1 - operand));
          ++param;
        }
      }
      node.attrs = n.attrs();
      for (size_t i = 0; i < n.starts().size(); ++i) node.params.push_back(param++);
    }
    const ir::NodeId id = ir::add(graph, std::move(node));
    ids[static_cast<size_t>(entry)] = id;
  }
  for (int32_t e : trace.outputs()) graph.outputs.push_back(ids[static_cast<size_t>(e)]);
  for (int32_t e : trace.kept()) graph.wanted.push_back(ids[static_cast<size_t>(e)]);
  graph.num_params = param;
  return graph;
}

}  // namespace kiln::tracer
