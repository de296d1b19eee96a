// Text of a tensor as NumPy prints an array.
#pragma once

#include <iosfwd>
#include <string>

#include "kiln/tensor.h"

namespace kiln {

/// str(array) of NumPy with its default options: up to 8 digits, lines of 75 characters, beyond
/// 1000 elements the three at each end of an axis. Computes the values.
KILN_API std::string to_string(const Tensor& a, SourceLocation at = SourceLocation::current());

KILN_API std::ostream& operator<<(std::ostream& out, const Tensor& a);

}  // namespace kiln
