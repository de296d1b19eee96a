// What a sync fires: the unevaluated ancestors of the wanted nodes in topological order, their key
// and arguments.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "tracer/node.h"
#include "tracer/pending.h"

namespace kiln::tracer {

/// The exact plan key as words: everything that a plan depends on but scalars and slice starts.
struct PlanKey {
  std::vector<uint64_t> words;
  uint64_t hash = 0;
  friend bool operator==(const PlanKey& a, const PlanKey& b) {
    return a.hash == b.hash && a.words == b.words;
  }
};

class Trace {
 public:
  struct Entry {
    NodeRef node;
    int32_t first_operand = 0;  // in operands()
    int32_t num_operands = 0;
    int32_t position = -1;  // in order()
    int32_t uses = 0;       // as an operand in this trace
    bool leaf = false;      // evaluated, or about to be: its memory is an argument
    bool live = false;      // something outside the trace refers to it
  };
  /// A tensor operand is an entry, a scalar argument -1 - its position in params().
  static constexpr int32_t constant = INT32_MIN;

  /// What to do about values that another thread is computing.
  enum class InFlight : uint8_t { Wait, Leaf };

  /// Collects what `wanted` needs. Raises the error of a node that failed before.
  void collect(std::span<Node* const> wanted, InFlight in_flight, bool fuse);
  /// Empties it for the next use; keeps its memory unless that is large.
  void clear();

  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<int32_t>& operands() const { return operands_; }
  /// Entries, operands before users.
  const std::vector<int32_t>& order() const { return order_; }
  /// Entries whose memory is an argument, in order.
  const std::vector<int32_t>& leaves() const { return leaves_; }
  /// Entries to store: the wanted ones, then live ones that fired before.
  const std::vector<int32_t>& outputs() const { return outputs_; }
  /// Live entries, stored only if the schedule stores them anyway.
  const std::vector<int32_t>& kept() const { return kept_; }
  const std::vector<uint64_t>& params() const { return params_; }
  const PlanKey& key() const { return key_; }
  /// The evaluations that leaves wait for (InFlight::Leaf).
  const std::vector<std::shared_ptr<Pending>>& waits_for() const { return waits_for_; }
  /// The outputs as references that outlive the trace's use.
  std::vector<NodeRef> output_nodes() const;
  /// Whether there is nothing to compute.
  bool empty() const { return outputs_.empty(); }

 private:
  struct Slot {
    Node* node;
    uint32_t epoch;
    int32_t entry;
  };
  struct Frame {
    int32_t entry;
    int32_t next;  // operand to look at
  };

  int32_t find_or_add(Node* node);
  void grow_table();
  void visit(int32_t entry, InFlight in_flight);
  void add_operand(int32_t entry, int32_t operand);
  void finish(int32_t entry);
  void walk(int32_t root, InFlight in_flight);
  void choose_outputs(std::span<Node* const> wanted);
  void finish_key(bool fuse);

  std::vector<Entry> entries_;
  std::vector<int32_t> operands_, order_, leaves_, outputs_, kept_;
  std::vector<uint64_t> params_;
  PlanKey key_;
  std::vector<std::shared_ptr<Pending>> waits_for_;
  std::vector<Frame> stack_;
  std::vector<Slot> table_;
  uint32_t epoch_ = 0;
  int32_t previous_ = -1;  // entry finished last, whose shape the next often has
};

/// The trace as a tensor graph; inputs, outputs, wanted and params in the trace's order.
ir::Graph to_graph(const Trace& trace);

}  // namespace kiln::tracer
