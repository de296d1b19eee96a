// How NumPy writes numbers in arrays: one format for all elements that are shown.
#pragma once

#include <string>
#include <vector>

#include "ir/core/dtype.h"
#include "ir/core/scalar.h"

namespace kiln::detail {

/// Each element as NumPy's array printing writes it, all of the same width.
std::vector<std::string> format_elements(DType dtype, const std::vector<Bits>& elements);

/// str() of a NumPy scalar.
std::string format_scalar(DType dtype, Bits element);

}  // namespace kiln::detail
