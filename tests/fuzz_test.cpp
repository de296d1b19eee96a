// Random programs: the oracle, op by op, against the fused and the unfused plan, bit for bit.
#include <gtest/gtest.h>

#include <cstdlib>

#include "jit/jit.h"
#include "tests/plan_runner.h"
#include "tests/random_graph.h"

namespace kiln::testing {
namespace {

int32_t run_compiled(const ir::Kernel& kernel, void* const* ptrs, const int64_t* nums,
                     std::byte* scratch, int64_t begin, int64_t end) {
  return jit::compile(kernel)->fn(ptrs, nums, scratch, begin, end);
}

int32_t run_interpreted(const ir::Kernel& kernel, void* const* ptrs, const int64_t* nums,
                        std::byte* scratch, int64_t begin, int64_t end) {
  return ir::interpret(kernel, ptrs, nums, scratch, begin, end);
}

std::string compare(const RandomProgram& p, bool fuse, const RunKernel& run) {
  const auto inputs = p.input_pointers();
  const auto expected = ir::interpret(p.graph, inputs, p.params);
  fusion::Options options;
  options.fuse = fuse;
  options.verify = true;
  const fusion::Result result = fusion::run_pipeline(p.graph, options);
  const PlanRun got =
      run_plan(result.plan, ir::collect_sizes(p.graph).values, inputs, p.params, run);
  for (size_t i = 0; i < expected.size(); ++i) {
    const ir::Node& n = p.graph.nodes[static_cast<size_t>(p.graph.outputs[i])];
    const int64_t at = first_difference(n.dtype, expected[i], got.outputs[i]);
    if (at >= 0)
      return "output " + std::to_string(i) + " differs at " + std::to_string(at) + " in\n" +
             ir::print(p.graph) + "\n" + ir::print(result.plan);
  }
  return "";
}

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Checks the programs of seeds [begin, end), fused and unfused.
void check_programs(uint64_t begin, uint64_t end, const RunKernel& run) {
  const uint64_t first = setting("FUZZ_SEED", 0);
  for (uint64_t seed = first + begin; seed < first + end; ++seed) {
    const RandomProgram p = random_program(seed);
    for (bool fuse : {true, false}) {
      const std::string fault = compare(p, fuse, run);
      ASSERT_EQ(fault, "") << "seed " << seed << (fuse ? " fused" : " unfused");
    }
  }
}

TEST(Fuzz, InterpretedKernelsEqualTheOracle) { check_programs(0, 1000, run_interpreted); }

/// A quarter of the programs each, so that they can run side by side.
class FuzzPart : public ::testing::TestWithParam<uint64_t> {};

TEST_P(FuzzPart, CompiledKernelsEqualTheOracle) {
  const uint64_t count = setting("FUZZ_PROGRAMS", 10000);
  check_programs(count * GetParam() / 4, count * (GetParam() + 1) / 4, run_compiled);
}
INSTANTIATE_TEST_SUITE_P(Quarter, FuzzPart, ::testing::Range<uint64_t>(0, 4));

}  // namespace
}  // namespace kiln::testing
