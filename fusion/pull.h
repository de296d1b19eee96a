// Makes the expression of a node's element at an index by pulling its operands' elements.
#pragma once

#include <map>
#include <string>

#include "fusion/lower.h"

namespace kiln::fusion {

class Puller {
 public:
  /// `vars` are the expressions of the group's domain axes over the builder's loops.
  Puller(const ir::Graph& graph, const Indexer& indexer, const Uses& uses, const Group& group,
         const SlotTable& slots, const Index& vars, KernelBuilder& builder)
      : graph_(graph),
        indexer_(indexer),
        uses_(uses),
        group_(group),
        slots_(slots),
        vars_(vars),
        builder_(builder) {}

  /// The value of `node` at `at`; loads happen only where the bool value `guard` (-1: none) holds.
  int32_t pull(ir::NodeId node, const Index& at, int32_t guard);

  /// Gives a reduction's operand from elsewhere: partial results of a split.
  std::function<int32_t(ir::NodeId)> partial;

 private:
  const ir::Node& node(ir::NodeId id) const { return graph_.nodes[static_cast<size_t>(id)]; }
  bool member(ir::NodeId id) const;
  int32_t make(ir::NodeId id, const Index& at, int32_t guard);
  int32_t elementwise(ir::NodeId id, const Index& at, int32_t guard);
  int32_t reduction(ir::NodeId id);
  int32_t cat(ir::NodeId id, const Index& at, int32_t guard);
  int32_t update(ir::NodeId id, const Index& at, int32_t guard);
  int32_t arange(const ir::Node& n, const Index& at, int32_t guard);
  /// Bool values, -1 for always: that all conditions hold, and those on which the bounds depend.
  struct Held {
    int32_t all = -1, unsafe = -1;
  };
  Held holds(const std::vector<Condition>& conditions);
  int32_t both(int32_t a, int32_t b);

  const ir::Graph& graph_;
  const Indexer& indexer_;
  const Uses& uses_;
  const Group& group_;
  const SlotTable& slots_;
  const Index& vars_;
  KernelBuilder& builder_;
  std::map<std::string, int32_t> known_;
};

}  // namespace kiln::fusion
