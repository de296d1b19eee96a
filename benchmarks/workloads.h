// The standard workloads: names, shapes, dtypes and formulas of peers.py.
#pragma once

#include <kiln/kiln.h>

#include <span>
#include <vector>

namespace bench {

using Tensors = std::vector<kiln::Tensor>;

struct Workload {
  const char* name;
  /// Shapes of the f32 inputs. `scale` shrinks the element counts.
  std::vector<kiln::Shape> (*shapes)(double scale);
  /// Records the results; null: the workload's dtypes are not available.
  Tensors (*record)(std::span<const kiln::Tensor> inputs);
};

/// In the order of peers.py.
std::span<const Workload> workloads();

/// Evaluated inputs, standard normal.
Tensors make_inputs(const Workload& workload, double scale);

}  // namespace bench
