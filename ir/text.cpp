#include "ir/text.h"

#include <charconv>
#include <cmath>

#include "ir/core/error.h"

namespace kiln::ir {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

template <class T>
bool parse_number(std::string_view text, T* value, int base = 10) {
  const char* end = text.data() + text.size();
  std::from_chars_result r;
  if constexpr (std::is_floating_point_v<T>) {
    r = std::from_chars(text.data(), end, *value);
  } else {
    r = std::from_chars(text.data(), end, *value, base);
  }
  return r.ec == std::errc() && r.ptr == end;
}

std::string print_hex(Bits bits) {
  char buffer[20];
  const auto r = std::to_chars(buffer, buffer + sizeof buffer, bits.raw, 16);
  return "0x" + std::string(buffer, r.ptr);
}

}  // namespace

void Scanner::skip_space() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '#') {
      while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++pos_;
    } else {
      break;
    }
  }
}

std::string_view Scanner::next_word() const {
  size_t end = pos_;
  while (end < text_.size() && is_word(text_[end])) ++end;
  return text_.substr(pos_, end - pos_);
}

bool Scanner::at_end() {
  skip_space();
  return pos_ == text_.size();
}

bool Scanner::peek(std::string_view token) {
  skip_space();
  if (is_word(token[0])) return next_word() == token;
  return text_.substr(pos_, token.size()) == token;
}

bool Scanner::accept(std::string_view token) {
  if (!peek(token)) return false;
  pos_ += token.size();
  return true;
}

void Scanner::expect(std::string_view token) {
  if (!accept(token)) fail("expected '" + std::string(token) + "'");
}

std::string_view Scanner::word() {
  skip_space();
  const std::string_view w = next_word();
  if (w.empty()) fail("expected a word");
  pos_ += w.size();
  return w;
}

int64_t Scanner::integer() {
  const bool negative = accept("-");
  const std::string_view digits = word();
  int64_t value = 0;
  // The sign belongs to the number, so that INT64_MIN reads back.
  if (!parse_number(negative ? "-" + std::string(digits) : std::string(digits), &value))
    fail("expected an integer");
  return value;
}

bool Scanner::peek_reference(std::string_view prefix) {
  skip_space();
  if (text_.substr(pos_, prefix.size()) != prefix) return false;
  const size_t digit = pos_ + prefix.size();
  return digit < text_.size() && text_[digit] >= '0' && text_[digit] <= '9';
}

int32_t Scanner::reference(std::string_view prefix) {
  if (!peek_reference(prefix)) fail("expected '" + std::string(prefix) + "' and a number");
  pos_ += prefix.size();
  int32_t value = 0;
  if (!parse_number(word(), &value)) fail("expected a number after '" + std::string(prefix) + "'");
  return value;
}

void Scanner::expect_reference(std::string_view prefix, size_t number) {
  if (reference(prefix) != static_cast<int32_t>(number))
    fail("expected '" + std::string(prefix) + std::to_string(number) + "'");
}

DType Scanner::dtype() {
  const auto t = parse_dtype(word());
  if (!t) fail("expected a dtype");
  return *t;
}

Bits Scanner::bits(DType t) {
  skip_space();
  size_t end = pos_;
  while (end < text_.size() && (is_word(text_[end]) || text_[end] == '-' || text_[end] == '+'))
    ++end;
  Bits value;
  if (!parse_bits(text_.substr(pos_, end - pos_), t, &value))
    fail("expected a number of dtype " + std::string(name(t)));
  pos_ = end;
  return value;
}

Shape Scanner::shape() {
  Shape out;
  expect("[");
  while (!accept("]")) {
    if (!out.empty()) expect(",");
    out.push_back(integer());
  }
  return out;
}

std::string_view Scanner::until(std::string_view stops) {
  skip_space();
  const size_t begin = pos_;
  for (int depth = 0; pos_ < text_.size() && text_[pos_] != '\n'; ++pos_) {
    const char c = text_[pos_];
    if (depth == 0 && stops.find(c) != stops.npos) break;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
  }
  size_t end = pos_;
  while (end > begin && text_[end - 1] == ' ') --end;
  return text_.substr(begin, end - begin);
}

std::string_view Scanner::block() {
  skip_space();
  const size_t begin = pos_;
  int depth = 0;
  while (pos_ < text_.size()) {
    const char c = text_[pos_++];
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == '}' && depth == 0) return text_.substr(begin, pos_ - begin);
  }
  fail("expected '}'");
}

void Scanner::fail(const std::string& problem) const {
  size_t line = 1;
  for (size_t i = 0; i < pos_; ++i) line += text_[i] == '\n';
  const size_t end = std::min(text_.find('\n', pos_), text_.size());
  internal_error(what_ + " text, line " + std::to_string(line) + ": " + problem + " before '" +
                 std::string(text_.substr(pos_, end - pos_)) + "'");
}

std::string print_bits(Bits bits, DType t) {
  if (!info(t).available) return print_hex(bits);
  return dispatch(t, [&]<class T>(T) -> std::string {
    if constexpr (std::is_same_v<T, bool>) {
      return bits.raw & 1 ? "true" : "false";
    } else {
      const T value = bits.as<T>();
      if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(value)) return print_hex(Bits::of(value));
      char buffer[40];
      return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
    }
  });
}

bool parse_bits(std::string_view text, DType t, Bits* bits) {
  *bits = {};
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    return parse_number(text, &bits->raw, 16);
  }
  if (!info(t).available) return false;
  return dispatch(t, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool>) {
      *bits = Bits::of(text == "true");
      return text == "true" || text == "false";
    } else {
      T value{};
      if (!parse_number(text, &value)) return false;
      *bits = Bits::of(value);
      return true;
    }
  });
}

}  // namespace kiln::ir
