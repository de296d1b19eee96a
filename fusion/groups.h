// Fusion groups: which nodes become one kernel, over which iteration space, and what they store.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fusion/index.h"
#include "ir/graph.h"

namespace kiln::fusion {

/// The iteration space of a group: the extents greater than 1 of its defining node, some of them
/// reduced.
struct Domain {
  Shape extents;
  SmallVector<bool, 6> reduced;
  friend bool operator==(const Domain&, const Domain&) = default;

  bool has_reduction() const;
  /// The extents of the kept axes alone.
  Shape kept() const;
};

/// A node's shape without the axes of extent 1.
Shape drop_ones(const Shape& shape);

struct Group {
  enum class Kind : uint8_t { Pointwise, Reduction, External } kind = Kind::Pointwise;
  std::vector<ir::NodeId> nodes;  // ascending
  Domain domain;
  /// The reduction is cut into groups that run in parallel, then combined.
  bool split = false;
  /// All members have one shape and read each other at the same index only.
  bool plain = false;
};

/// What the partition starts from: which nodes compute (views and free leaves do not), who reads
/// whom through views, and what must be stored.
struct Uses {
  /// A member of some group: computes, or is a view or leaf that must be stored as it is.
  std::vector<char> computes;
  std::vector<char> output;  // must be stored
  /// Nodes that compute and read this one, through views; ascending, no duplicates.
  std::vector<std::vector<ir::NodeId>> readers;
  /// Graph::outputs and wanted with reshapes stripped: the node whose buffer holds the result.
  std::vector<ir::NodeId> outputs, wanted;
};
Uses find_uses(const ir::Graph& graph, const Indexer& indexer);

/// Whether a leaf costs nothing to make again wherever it is read.
bool is_free(ir::Op op);

/// Where each member is evaluated, as indices over the group's domain variables 0..n-1.
struct Placement {
  bool legal = true;
  std::string reason;  // why not
  /// For each stored member the index at which its value is at hand, over the domain variables.
  std::unordered_map<ir::NodeId, Index> store;
  /// Extra work through evaluating members more than once an element.
  int64_t extra_cost = 0;
};

/// Checks that the group's nodes can be computed by one kernel over its domain, whose variables are
/// `domain_vars`, storing `stored`, and says at which indices.
Placement place(const ir::Graph& graph, const Indexer& indexer, const Uses& uses,
                const Group& group, const Index& domain_vars,
                const std::vector<ir::NodeId>& stored);

/// Fuses in rounds until nothing changes. Returns groups in execution order.
std::vector<Group> partition(const ir::Graph& graph, const Indexer& indexer, const Uses& uses,
                             bool fuse, std::vector<std::string>* decisions);

/// Members of `group` that other groups or the caller read.
std::vector<ir::NodeId> stored_nodes(const Group& group, const Uses& uses);

}  // namespace kiln::fusion
