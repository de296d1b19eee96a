// Working memory of a task.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::runtime {

/// At least `bytes` of this thread's own memory, 64-byte aligned, uninitialised, valid until the
/// thread's next call; null for 0. Kept between calls and grown on demand.
std::byte* thread_scratch(int64_t bytes);

}  // namespace kiln::runtime
