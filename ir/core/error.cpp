#include "ir/core/error.h"

namespace kiln {

std::string to_string(const SourceLocation& at) {
  if (at.line() == 0) return "";
  return std::string(at.file_name()) + ":" + std::to_string(at.line());
}

static std::string with_place(const std::string& message, const SourceLocation& at) {
  const std::string place = to_string(at);
  return place.empty() ? message : message + " at " + place;
}

Error::Error(const std::string& message, const SourceLocation& at)
    : std::runtime_error(with_place(message, at)), at_(at) {}

void internal_error(const std::string& message) { throw InternalError(message); }

}  // namespace kiln
