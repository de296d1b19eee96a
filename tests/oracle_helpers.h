// Short ways to run the oracle on a graph's text and to compare elements.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "ir/core/error.h"
#include "ir/graph.h"

namespace kiln::ir {

using Bytes = std::vector<std::byte>;

/// std::vector<bool> has no elements: bools are bytes.
template <class T>
using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
template <class T>
using Values = std::vector<Element<T>>;

template <class T>
Bytes bytes(const std::vector<T>& values) {
  Bytes out(values.size() * sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

template <class T>
Values<T> values(const Bytes& bytes) {
  Values<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

/// Verifies and runs a graph.
inline std::vector<Bytes> interpret_all(const std::string& text,
                                        const std::vector<Bytes>& inputs = {},
                                        const std::vector<uint64_t>& params = {}) {
  const Graph g = parse_graph(text);
  verify(g);
  std::vector<const std::byte*> pointers;
  for (const Bytes& b : inputs) pointers.push_back(b.data());
  return interpret(g, pointers, params);
}

template <class T>
Values<T> interpret_one(const std::string& text, const std::vector<Bytes>& inputs = {},
                        const std::vector<uint64_t>& params = {}) {
  return values<T>(interpret_all(text, inputs, params)[0]);
}

template <class T>
std::string input_text(int id, size_t n) {
  return "%" + std::to_string(id) + " = input " + std::string(name(dtype_of<T>)) + " [" +
         std::to_string(n) + "]\n";
}

template <class T, class R = T>
Values<R> unary(const std::string& op, const Values<T>& a) {
  const std::string n = std::to_string(a.size());
  return interpret_one<R>("graph params 0 {" + input_text<T>(0, a.size()) + "%1 = " + op + " " +
                              std::string(name(dtype_of<R>)) + " [" + n +
                              "] (%0) inputs %0 outputs %1 }",
                          {bytes(a)});
}

template <class T, class R>
Values<R> cast(const Values<T>& a) {
  return unary<T, R>("cast", a);
}

template <class T, class R = T>
Values<R> binary(const std::string& op, const Values<T>& a, const Values<T>& b) {
  const std::string n = std::to_string(a.size());
  return interpret_one<R>(
      "graph params 0 {" + input_text<T>(0, a.size()) + input_text<T>(1, b.size()) + "%2 = " + op +
          " " + std::string(name(dtype_of<R>)) + " [" + n + "] (%0, %1) inputs %0, %1 outputs %2 }",
      {bytes(a), bytes(b)});
}

/// Equal bits, all NaNs alike.
template <class T>
void expect_same(const std::vector<T>& got, const std::vector<T>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] != got[i] && expected[i] != expected[i]) continue;
    EXPECT_EQ(std::memcmp(&got[i], &expected[i], sizeof(T)), 0)
        << "element " << i << ": got " << +got[i] << ", expected " << +expected[i];
  }
}

}  // namespace kiln::ir
