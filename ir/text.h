// What the three grammars (graph, kernel, plan) share: a scanner and the spelling of numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/core/scalar.h"
#include "ir/core/shape.h"

namespace kiln::ir {

/// Reads tokens from a text: words (letters, digits, '_', '.'), references (a prefix with a
/// number: "n3", "%12") and single punctuation characters. '#' starts a comment. Every failure
/// raises InternalError naming `what` and the line.
class Scanner {
 public:
  Scanner(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

  bool at_end();
  /// Whether `token` comes next; a word token must match the whole next word.
  bool peek(std::string_view token);
  bool accept(std::string_view token);
  void expect(std::string_view token);
  std::string_view word();
  int64_t integer();
  /// Whether a reference with this prefix comes next.
  bool peek_reference(std::string_view prefix);
  /// The number of a reference.
  int32_t reference(std::string_view prefix);
  /// A reference that must have the number `number`: tables are written in order.
  void expect_reference(std::string_view prefix, size_t number);
  DType dtype();
  /// A number as print_bits writes it.
  Bits bits(DType t);
  /// "[2, 3]".
  Shape shape();
  /// The text up to one of `stops` outside parentheses, or to the end of the line.
  std::string_view until(std::string_view stops);

  /// The text from here to the brace that closes the next open one, both included.
  std::string_view block();

  [[noreturn]] void fail(const std::string& problem) const;

 private:
  void skip_space();
  std::string_view next_word() const;

  std::string_view text_;
  std::string what_;
  size_t pos_ = 0;
};

/// One element: "true", "-7", the shortest decimal that reads back the same, "inf", or its bits as
/// "0x7fc00000" for a NaN and for dtypes without arithmetic.
std::string print_bits(Bits bits, DType t);

/// The bits that print_bits wrote. Returns false if `text` is no such number.
bool parse_bits(std::string_view text, DType t, Bits* bits);

}  // namespace kiln::ir
