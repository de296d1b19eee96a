// Golden texts: tests/golden/*.txt holds cases of the form
//
//   === name function
//   input
//   ---
//   expected output
//
// A case passes if the function gives exactly the expected output. With GOLDEN_REGENERATE=1 in the
// environment the files are rewritten with what the functions give now.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/golden_functions.h"

namespace kiln {
namespace {

struct GoldenCase {
  std::string file, name, function, input, expected;
  friend void PrintTo(const GoldenCase& c, std::ostream* os) { *os << c.file << " " << c.name; }
};

std::filesystem::path golden_dir() { return std::filesystem::path(KILN_TEST_DIR) / "golden"; }

std::vector<GoldenCase> read_cases(const std::filesystem::path& path) {
  std::vector<GoldenCase> cases;
  std::ifstream in(path);
  bool expected = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== ")) {
      std::istringstream words(line.substr(4));
      GoldenCase c;
      c.file = path.stem().string();
      words >> c.name >> c.function;
      cases.push_back(c);
      expected = false;
    } else if (line == "---") {
      expected = true;
    } else if (!cases.empty()) {
      (expected ? cases.back().expected : cases.back().input) += line + "\n";
    }
  }
  return cases;
}

void write_cases(const std::filesystem::path& path, const std::vector<GoldenCase>& cases) {
  std::ofstream out(path);
  for (const GoldenCase& c : cases)
    out << "=== " << c.name << " " << c.function << "\n" << c.input << "---\n" << c.expected;
}

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(golden_dir()))
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<GoldenCase> all_cases() {
  std::vector<GoldenCase> all;
  for (const auto& path : files())
    for (GoldenCase& c : read_cases(path)) all.push_back(std::move(c));
  return all;
}

/// What the case's function gives now, always ending in a newline.
std::string actual(const GoldenCase& c) {
  const auto& functions = golden_functions();
  const auto it = functions.find(c.function);
  if (it == functions.end()) throw std::runtime_error("no golden function '" + c.function + "'");
  std::string text = it->second(c.input);
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

class Golden : public testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, Matches) { EXPECT_EQ(actual(GetParam()), GetParam().expected); }

std::string case_name(const testing::TestParamInfo<GoldenCase>& info) {
  return info.param.file + "_" + info.param.name;
}

bool regenerate() {
  const char* value = std::getenv("GOLDEN_REGENERATE");
  if (!value || std::string(value) != "1") return false;
  for (const auto& path : files()) {
    std::vector<GoldenCase> cases = read_cases(path);
    for (GoldenCase& c : cases) c.expected = actual(c);
    write_cases(path, cases);
  }
  return true;
}

INSTANTIATE_TEST_SUITE_P(Texts, Golden,
                         testing::ValuesIn((static_cast<void>(regenerate()), all_cases())),
                         case_name);

TEST(GoldenFiles, EveryFileHasACase) {
  ASSERT_FALSE(files().empty());
  for (const auto& path : files()) EXPECT_FALSE(read_cases(path).empty()) << path;
}

TEST(GoldenFiles, RewriteKeepsTheCases) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("kiln_golden_" + std::to_string(::getpid()) + ".txt");
  const std::vector<GoldenCase> cases = {{path.stem().string(), "a", "f", "x\n\ny\n", "z\n"},
                                         {path.stem().string(), "b", "g", "", "w\n"}};
  write_cases(path, cases);
  const auto back = read_cases(path);
  std::filesystem::remove(path);
  ASSERT_EQ(back.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back[i].name, cases[i].name);
    EXPECT_EQ(back[i].function, cases[i].function);
    EXPECT_EQ(back[i].input, cases[i].input);
    EXPECT_EQ(back[i].expected, cases[i].expected);
  }
}

}  // namespace
}  // namespace kiln
