// How much memory this process may use.
#pragma once

#include <cstdint>

namespace kiln::runtime {

/// Nine tenths of the least of RAM and the limits of the process's control groups (v1 and v2, and
/// their parents), in bytes.
int64_t system_memory_limit();

}  // namespace kiln::runtime
