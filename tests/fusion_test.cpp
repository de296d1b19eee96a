// The partition's decisions on small graphs, and plans bound to other sizes than they were made
// for.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fusion/cost.h"
#include "fusion/pipeline.h"
#include "tests/plan_runner.h"
#include "tests/random_graph.h"

namespace kiln::testing {
namespace {

int32_t run_interpreted(const ir::Kernel& kernel, void* const* ptrs, const int64_t* nums,
                        std::byte* scratch, int64_t begin, int64_t end) {
  return ir::interpret(kernel, ptrs, nums, scratch, begin, end);
}

fusion::Result plan(const std::string& text) {
  fusion::Options options;
  options.verify = true;
  return fusion::run_pipeline(ir::parse_graph(text), options);
}

bool decided(const fusion::Result& r, const std::string& what) {
  return std::any_of(r.decisions.begin(), r.decisions.end(),
                     [&](const std::string& d) { return d.find(what) != std::string::npos; });
}

TEST(Partition, AChainIsOneGroup) {
  const auto r = plan(R"(graph params 1 {
    %0 = input f32 [100]
    %1 = param f32 [] @0
    %2 = mul f32 [100] (%0, %1)
    %3 = exp f32 [100] (%2)
    %4 = add f32 [100] (%3, %0)
    inputs %0
    outputs %4
  })");
  EXPECT_EQ(r.groups.size(), 1u);
  EXPECT_EQ(r.plan.kernels.size(), 1u);
  EXPECT_EQ(r.plan.slots.size(), 2u) << "no temporary";
}

TEST(Partition, NoCycleThroughAnExternalKernel) {
  const auto r = plan(R"(graph params 0 {
    %0 = input f32 [8, 8]
    %1 = exp f32 [8, 8] (%0)
    %2 = matmul f32 [8, 8] (%1, %1)
    %3 = add f32 [8, 8] (%1, %2)
    inputs %0
    outputs %3
  })");
  EXPECT_EQ(r.groups.size(), 3u);
  EXPECT_TRUE(decided(r, "a cycle through another kernel"));
}

// A path may leave a group behind the other one's last node and come back inside a third group.
TEST(Partition, NoCycleInLargePrograms) {
  for (uint64_t seed = 0; seed < 3000; ++seed)
    EXPECT_NO_THROW(fusion::run_pipeline(random_program(seed, 40).graph, {})) << "seed " << seed;
}

TEST(Partition, TransposedOperandsOfMatmulAreNotCopied) {
  const auto r = plan(R"(graph params 0 {
    %0 = input f32 [5, 8]
    %1 = permute f32 [8, 5] (%0) order [1, 0]
    %2 = matmul f32 [5, 5] (%0, %1)
    inputs %0
    outputs %2
  })");
  EXPECT_EQ(r.plan.kernels.size(), 0u);
  EXPECT_EQ(r.plan.steps.size(), 1u);
}

TEST(Partition, ACostlySmallProducerIsStoredNotComputedPerRow) {
  const auto r = plan(R"(graph params 0 {
    %0 = input f32 [4096, 512]
    %1 = input f32 [512]
    %2 = exp f32 [512] (%1)
    %3 = add f32 [4096, 512] (%0, %2)
    inputs %0, %1
    outputs %3
  })");
  EXPECT_EQ(r.groups.size(), 2u);
  EXPECT_TRUE(decided(r, "computing values again would cost more than it saves"));
}

TEST(Partition, ReductionsOverDifferentSpacesStayApart) {
  const auto r = plan(R"(graph params 0 {
    %0 = input f32 [64, 32]
    %1 = sum f32 [64] (%0) axes [1]
    %2 = sum f32 [32] (%0) axes [0]
    inputs %0
    outputs %1, %2
  })");
  EXPECT_EQ(r.groups.size(), 2u);
  EXPECT_TRUE(decided(r, "reductions over different spaces"));
}

TEST(Stages, ScratchHoldsWhatIsCostlyNotWhatIsLoaded) {
  const auto r = plan(R"(graph params 0 {
    %0 = input f32 [64, 32]
    %1 = amax f32 [64] (%0) axes [1]
    %2 = reshape f32 [64, 1] (%1)
    %3 = sub f32 [64, 32] (%0, %2)
    %4 = exp f32 [64, 32] (%3)
    %5 = sum f32 [64] (%4) axes [1]
    %6 = reshape f32 [64, 1] (%5)
    %7 = div f32 [64, 32] (%4, %6)
    inputs %0
    outputs %7
  })");
  ASSERT_EQ(r.plan.kernels.size(), 1u);
  const ir::Kernel& k = r.plan.kernels[0];
  EXPECT_EQ(k.stages.size(), 3u);
  EXPECT_EQ(k.scratch.size(), 1u) << "the exp alone";
}

TEST(Limits, LongChainsAreCutIntoGroups) {
  ir::Graph g;
  ir::NodeId x = ir::add(g, {ir::Op::Input, DType::F32, {50}, {}, {}, {}, {}});
  const size_t n = 3 * fusion::max_group_nodes;
  for (size_t i = 0; i < n; ++i)
    x = ir::add(g, {i % 2 ? ir::Op::Abs : ir::Op::Neg, DType::F32, {50}, {x}, {}, {}, {}});
  g.outputs = {x};
  const auto r = fusion::run_pipeline(g, {});
  EXPECT_GE(r.groups.size(), 3u);
  EXPECT_LE(r.groups.size(), 6u);
  for (const auto& group : r.groups) EXPECT_LE(group.size(), fusion::max_group_nodes);
}

/// The same graph with other extents: every distinct extent (> 1) gets another value.
ir::Graph resized(const ir::Graph& graph, const std::map<int64_t, int64_t>& to) {
  ir::Graph g = graph;
  for (ir::Node& n : g.nodes)
    for (int64_t& d : n.shape)
      if (d > 1) d = to.at(d);
  return g;
}

/// Programs whose shapes follow from those of the inputs alone stay valid under a change of
/// extents.
bool resizable(const ir::Graph& g) {
  return std::all_of(g.nodes.begin(), g.nodes.end(), [](const ir::Node& n) {
    switch (n.op) {
      case ir::Op::Reshape:
      case ir::Op::Slice:
      case ir::Op::SliceScatter:
      case ir::Op::Cat:
      case ir::Op::Arange: return false;
      default: return true;
    }
  });
}

TEST(Skeleton, PlansServeEverySizeOfTheirKey) {
  std::mt19937_64 rng(3);
  int tried = 0;
  for (uint64_t seed = 0; tried < 150; ++seed) {
    const RandomProgram p = random_program(seed, 8);
    if (!resizable(p.graph)) continue;
    ++tried;
    std::map<int64_t, int64_t> to;
    for (int64_t v : ir::collect_sizes(p.graph).values)
      to[v] = 2 + static_cast<int64_t>(to.size()) * 30 + static_cast<int64_t>(rng() % 25);
    const ir::Graph other = resized(p.graph, to);
    const auto made = fusion::run_pipeline(p.graph, {});
    std::vector<std::vector<std::byte>> inputs;
    std::vector<const std::byte*> pointers;
    for (ir::NodeId id : other.inputs) {
      const ir::Node& n = other.nodes[static_cast<size_t>(id)];
      std::vector<std::byte> data(static_cast<size_t>(numel(n.shape)) * size_of(n.dtype));
      for (std::byte& b : data) b = static_cast<std::byte>(rng() % (is_bool(n.dtype) ? 2 : 64));
      inputs.push_back(std::move(data));
    }
    for (const auto& data : inputs) pointers.push_back(data.data());
    const auto expected = ir::interpret(other, pointers, p.params);
    const PlanRun got =
        run_plan(made.plan, ir::collect_sizes(other).values, pointers, p.params, run_interpreted);
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(first_difference(other.nodes[static_cast<size_t>(other.outputs[i])].dtype,
                                 expected[i], got.outputs[i]),
                -1)
          << "seed " << seed << "\n"
          << ir::print(other);
  }
}

TEST(Skeleton, KeyHoldsThePatternNotTheSizes) {
  const auto key = [](int64_t a, int64_t b, int64_t c) {
    ir::Graph g;
    const auto x = ir::add(g, {ir::Op::Input, DType::F32, {a, b}, {}, {}, {}, {}});
    const auto y = ir::add(g, {ir::Op::Input, DType::F32, {c}, {}, {}, {}, {}});
    g.outputs = {ir::add(g, {ir::Op::Exp, DType::F32, {a, b}, {x}, {}, {}, {}}),
                 ir::add(g, {ir::Op::Exp, DType::F32, {c}, {y}, {}, {}, {}})};
    return fusion::skeleton_key(g, {});
  };
  EXPECT_EQ(key(10, 20, 30), key(11, 50, 12));
  EXPECT_NE(key(10, 20, 30), key(10, 10, 30)) << "equal extents";
  EXPECT_NE(key(10, 20, 30), key(10, 1, 30)) << "an extent of 1";
  EXPECT_NE(key(10, 20, 30), key(10, 0, 30)) << "an extent of 0";
}

}  // namespace
}  // namespace kiln::testing
