// The functions that golden texts may name: text in, text out. A pass is one line of the table in
// golden_functions.cpp.
#pragma once

#include <map>
#include <string>

namespace kiln {

using GoldenFunction = std::string (*)(const std::string& input);

const std::map<std::string, GoldenFunction>& golden_functions();

}  // namespace kiln
