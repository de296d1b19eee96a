// Text forms, identity and launch arithmetic of the three IRs.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "ir/core/error.h"
#include "ir/core/reduce_tree.h"
#include "ir/graph.h"
#include "ir/kernel.h"
#include "ir/plan.h"
#include "ir/text.h"

namespace kiln::ir {
namespace {

template <class T>
void expect_bits_round_trip(T value) {
  const DType t = dtype_of<T>;
  const std::string text = print_bits(Bits::of(value), t);
  Bits back;
  ASSERT_TRUE(parse_bits(text, t, &back)) << text;
  EXPECT_EQ(back.raw, Bits::of(value).raw) << text;
}

TEST(Text, NumbersReadBackExactly) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const uint64_t bits = random();
    expect_bits_round_trip(std::bit_cast<double>(bits));
    expect_bits_round_trip(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    expect_bits_round_trip(static_cast<int64_t>(bits));
    expect_bits_round_trip(static_cast<int32_t>(bits));
  }
  for (double v : {0.0, -0.0, 5e-324, 1.7976931348623157e308, double(INFINITY), -double(INFINITY)})
    expect_bits_round_trip(v);
  expect_bits_round_trip(std::numeric_limits<float>::denorm_min());
  expect_bits_round_trip(std::numeric_limits<int64_t>::min());
  expect_bits_round_trip(true);
  expect_bits_round_trip(false);
}

TEST(Text, NumbersAreReadable) {
  EXPECT_EQ(print_bits(Bits::of(0.1f), DType::F32), "0.1");
  EXPECT_EQ(print_bits(Bits::of(-7), DType::I32), "-7");
  EXPECT_EQ(print_bits(Bits::of(true), DType::Bool), "true");
  EXPECT_EQ(print_bits(Bits::of(uint32_t{0x7fc00000}), DType::F32), "0x7fc00000");
  EXPECT_EQ(print_bits(Bits{0x3c00}, DType::F16), "0x3c00");
}

TEST(Text, BadNumbersAreRefused) {
  Bits bits;
  for (const char* text : {"", "1.5.2", "x", "1e", "--1"})
    EXPECT_FALSE(parse_bits(text, DType::F32, &bits)) << text;
  for (const char* text : {"1.5", "2147483648", "true"})
    EXPECT_FALSE(parse_bits(text, DType::I32, &bits)) << text;
  EXPECT_FALSE(parse_bits("1", DType::Bool, &bits));
  EXPECT_FALSE(parse_bits("1.0", DType::F16, &bits));
}

TEST(Text, ErrorsNameTheLine) {
  try {
    parse_kernel("kernel rows {\n  num n0 extent\n  ptr p0 f33 in\n}\n");
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("line 3: expected a dtype"), std::string::npos)
        << e.what();
  }
}

Graph chain() {
  return parse_graph(R"(graph params 0 {
    %0 = input f32 [4]
    %1 = mul f32 [4] (%0, %0)
    %2 = add f32 [4] (%1, %0)
    %3 = sub f32 [4] (%2, %2)
    inputs %0
    outputs %3
  })");
}

TEST(Graph, UsersInOrderWithoutDuplicates) {
  const auto uses = users(chain());
  ASSERT_EQ(uses.size(), 4u);
  EXPECT_EQ(uses[0], (SmallVector<NodeId, 3>{1, 2}));
  EXPECT_EQ(uses[1], (SmallVector<NodeId, 3>{2}));
  EXPECT_EQ(uses[2], (SmallVector<NodeId, 3>{3}));
  EXPECT_TRUE(uses[3].empty());
}

TEST(Graph, AddListsInputs) {
  Graph g;
  EXPECT_EQ(add(g, {Op::Input, DType::F32, {2}, {}, {}, {}, {}}), 0);
  EXPECT_EQ(add(g, {Op::Neg, DType::F32, {2}, {0}, {}, {}, {}}), 1);
  EXPECT_EQ(add(g, {Op::Input, DType::F32, {2}, {}, {}, {}, {}}), 2);
  EXPECT_EQ(g.inputs, (std::vector<NodeId>{0, 2}));
  verify(g);
}

TEST(Graph, DamagedTextNeverCrashes) {
  const std::string text = print(chain());
  std::mt19937 random(2);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = text;
    damaged[random() % damaged.size()] = "%0[]{}(),x= "[random() % 12];
    try {
      verify(parse_graph(damaged));
    } catch (const InternalError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

const char* const columns_text = R"(kernel columns {
  num n0 extent
  num n1 extent
  num n2 extent
  num n3 tile
  num n4 stride
  num n5 scratch_offset
  num n6 scratch_offset
  num n7 scratch_offset
  ptr p0 f32 in
  ptr p1 i64 out
  ptr p2 f32 out
  outer i0 < n0
  outer i1 < n1
  inner i2 < n2
  tile n3
  %0 = load f32 p0[n4*i2 + i1]
  %1 = acc i64 r0
  %2 = acc f32 r1
  %3 = scratch f32 s0
  reduce r0 = argmax f32 %0 at n6
  reduce r1 = sum f32 %0 at n7
  scratch s0 f32 at n5
  stage loop {
    reduce r0
    reduce r1
    fill s0 = %0
  }
  stage once {
    store p1[n4*i0 + i1] = %1
  }
}
)";

TEST(Kernel, DamagedTextNeverCrashes) {
  const std::string text = columns_text;
  ASSERT_EQ(print(parse_kernel(text)), text);
  std::mt19937 random(3);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string damaged = text;
    damaged[random() % damaged.size()] = "%0123[]{}+-*/=<nrpsia "[random() % 22];
    try {
      const Kernel k = parse_kernel(damaged);
      print(k);
      verify(k);
    } catch (const InternalError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 2000);
}

TEST(Kernel, EqualIndicesShareAnEntry) {
  const Kernel k = parse_kernel(columns_text);
  EXPECT_EQ(k.linears.size(), 2u);
  EXPECT_EQ(k.values[0].linear, 0);
  EXPECT_EQ(k.stages[1].stores[0].linear, 1);
}

/// Every field of a kernel that changes what it does changes its text.
TEST(Kernel, TextIsTheIdentity) {
  const Kernel base = parse_kernel(columns_text);
  std::vector<Kernel> changed;
  const auto change = [&](auto f) {
    changed.push_back(base);
    f(changed.back());
  };
  change([](Kernel& k) { k.schedule = Schedule::Rows; });
  change([](Kernel& k) { k.extents[0] = 1; });
  change([](Kernel& k) { k.outer = 1, k.inner = 2; });
  change([](Kernel& k) { k.tile = 0; });
  change([](Kernel& k) { k.nums[4].role = NumRole::Offset; });
  change([](Kernel& k) { k.nums[4] = {NumRole::Scalar, DType::F32}; });
  change([](Kernel& k) { k.nums[4] = {NumRole::Scalar, DType::F64}; });
  change([](Kernel& k) { k.ptrs[0].dtype = DType::F64; });
  change([](Kernel& k) { k.ptrs[0].output = true; });
  change([](Kernel& k) { k.linears[0].offset = 4; });
  change([](Kernel& k) { k.linears[0].terms[0].atom = 0; });
  change([](Kernel& k) { k.linears[0].terms[1].stride.kind = Stride::Kind::MinusOne; });
  change([](Kernel& k) { k.linears[0].terms[0].stride.num = 5; });
  change([](Kernel& k) { k.values[0].ptr = 1; });
  change([](Kernel& k) { k.values[0].guard = 1; });
  change([](Kernel& k) { k.values[0].kind = Value::Kind::Index; });
  change([](Kernel& k) { k.values[1].slot = 1; });
  change([](Kernel& k) { k.values[1].dtype = DType::I32; });
  change([](Kernel& k) { k.values[3].slot = 1; });
  change([](Kernel& k) { k.reduces[0].op = Op::Argmin; });
  change([](Kernel& k) { k.reduces[0].dtype = DType::F64; });
  change([](Kernel& k) { k.reduces[0].value = 1; });
  change([](Kernel& k) { k.reduces[0].tree = Reduce::Tree::Pairwise; });
  change([](Kernel& k) { k.reduces[0].scratch = -1; });
  change([](Kernel& k) { k.scratch[0].dtype = DType::F64; });
  change([](Kernel& k) { k.scratch[0].offset = 6; });
  change([](Kernel& k) { k.stages[0].loop = false; });
  change([](Kernel& k) { k.stages[0].reduces.pop_back(); });
  change([](Kernel& k) { k.stages[0].fills[0].value = 1; });
  change([](Kernel& k) { k.stages[0].fills[0].slot = 1; });
  change([](Kernel& k) { k.stages[1].stores[0].ptr = 2; });
  change([](Kernel& k) { k.stages[1].stores[0].linear = 0; });
  change([](Kernel& k) { k.stages[1].stores[0].value = 2; });
  change([](Kernel& k) { k.templates.push_back({"scan", {}}); });
  change([](Kernel& k) { k.templates.push_back({"scan", {"body"}}); });
  std::vector<std::string> texts = {print(base)};
  for (const Kernel& k : changed) texts.push_back(print(k));
  for (size_t i = 0; i < texts.size(); ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_NE(texts[i], texts[j]) << i << " and " << j;
}

TEST(Kernel, IterationsOfEachSchedule) {
  Kernel k = parse_kernel(columns_text);
  const int64_t nums[] = {3, 100, 7, 32, 100, 0, 0, 0};
  EXPECT_EQ(iterations(k, nums), 3 * 4);
  k.schedule = Schedule::Rows;
  k.tile = -1;
  EXPECT_EQ(iterations(k, nums), 300);
  k.schedule = Schedule::Split;
  EXPECT_EQ(iterations(k, nums), 300);
  k.outer = 0;
  k.inner = 3;
  k.schedule = Schedule::Rows;
  EXPECT_EQ(iterations(k, nums), 1);
  EXPECT_EQ(split_group(), reduce_block * reduce_split_blocks);
}

TEST(Kernel, ScratchPartsDoNotOverlapAndAreAligned) {
  const Kernel k = parse_kernel(columns_text);
  int64_t nums[] = {3, 100, 1000, 37, 100, -1, -1, -1};
  const int64_t bytes = layout_scratch(k, nums);
  const int64_t levels = pairwise_levels(1000);
  const int64_t slot = 1000 * 37 * 4;
  const int64_t indexed = (levels + 1) * 37 * (4 + 8), plain = (levels + 1) * 37 * 4;
  EXPECT_EQ(nums[5], 0);
  EXPECT_GE(nums[6], slot);
  EXPECT_GE(nums[7], nums[6] + indexed);
  EXPECT_GE(bytes, nums[7] + plain);
  EXPECT_LE(bytes, slot + indexed + plain + 3 * 64);
  for (int i : {5, 6, 7}) EXPECT_EQ(nums[i] % 64, 0);
}

TEST(Kernel, PairwiseLevelsHoldTheStack) {
  for (int64_t rows : {1, 64, 65, 128, 129, 192, 193, 4096, 4097, 1000000}) {
    // The deepest the binary counter gets while the chunks are pushed.
    const int64_t chunks = (rows + reduce_chunk - 1) / reduce_chunk;
    int deepest = 0;
    for (int64_t k = 1; k <= chunks; ++k)
      deepest = std::max(deepest, std::popcount(static_cast<uint64_t>(k)));
    EXPECT_GE(pairwise_levels(rows), deepest) << rows;
    EXPECT_LE(pairwise_levels(rows), 1 + std::log2(static_cast<double>(chunks))) << rows;
  }
}

TEST(Plan, PrintsTheSameAfterReading) {
  // The pool's order of atoms decides how expressions print; here it is not that of first use.
  Plan plan;
  plan.pool = std::make_shared<ExprPool>();
  const Expr a = plan.pool->symbol(0), b = plan.pool->symbol(1);
  const Expr q = plan.pool->floordiv(a + 1, b);
  plan.num_inputs = 1;
  plan.slots = {{Slot::Kind::Input, DType::F32, b, 0},
                {Slot::Kind::Temp, DType::F32, b * q * a, 1}};
  plan.output_slots = {0};
  const std::string text = print(plan);
  EXPECT_EQ(print(parse_plan(text)), text);
  verify(parse_plan(text));
}

}  // namespace
}  // namespace kiln::ir
