// The two kinds of failure, and the caller's position that each message carries.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

#include "ir/core/export.h"

namespace kiln {

using SourceLocation = std::source_location;

/// "file.cpp:12" of a call site, or "" if it is unknown.
std::string to_string(const SourceLocation& at);

/// The caller's mistake or a limit of the machine. what() is "op: problem (shapes, dtypes) at
/// file:line"; where() is the recording line.
class KILN_API Error : public std::runtime_error {
 public:
  Error(const std::string& message, const SourceLocation& at);
  const SourceLocation& where() const { return at_; }

 private:
  SourceLocation at_;
};

/// A fault of Kiln itself. what() holds the problem and, where there is one, the kernel or graph
/// text that reproduces it.
class KILN_API InternalError : public std::logic_error {
 public:
  explicit InternalError(const std::string& message) : std::logic_error(message) {}
};

[[noreturn]] void internal_error(const std::string& message);

/// Raises InternalError unless `ok`; the message names what was expected.
inline void check_internal(bool ok, const char* message) {
  if (!ok) [[unlikely]]
    internal_error(message);
}

}  // namespace kiln
