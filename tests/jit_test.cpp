// Machine code against the kernel-IR interpreter, bit for bit, on every instruction set that this
// machine runs, in buffers between guard pages.
#include "jit/jit.h"

#include <gtest/gtest.h>

#include <iostream>
#include <thread>

#include "ir/core/error.h"
#include "ir/core/reduce_tree.h"
#include "ir/op.h"
#include "runtime/stats.h"
#include "tests/kernel_harness.h"
#include "tests/kernel_texts.h"

namespace kiln {
namespace {

using ir::Op;
using testing::access_text;
using testing::Array;
using testing::columns_text;
using testing::corner_array;
using testing::elementwise_text;
using testing::GuardedBuffer;
using testing::Launch;
using testing::make_launch;
using testing::random_array;
using testing::random_text;
using testing::replace;
using testing::rows_text;
using testing::softmax_columns_text;
using testing::softmax_text;
using testing::split_text;
using testing::tame_array;
using testing::transpose_text;
using testing::zeros;

constexpr DType dtypes[] = {DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64};
constexpr CpuLevel levels[] = {CpuLevel::Native, CpuLevel::Avx512, CpuLevel::Avx2,
                               CpuLevel::Baseline};

void expect_as_interpreted(const Launch& launch, int64_t grain = 3) {
  const auto expected =
      testing::run(launch, [&](auto... args) { ir::interpret(launch.kernel, args...); });
  for (CpuLevel level : levels) {
    if (!jit::runs_here(level)) continue;
    const auto code = jit::compile(launch.kernel, level);
    for (auto flush : {GuardedBuffer::Flush::End, GuardedBuffer::Flush::Start}) {
      const auto got = testing::run(launch, code->fn, flush, grain);
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(testing::difference(got[i], expected[i]), "")
            << "buffer " << i << ", level " << static_cast<int>(level) << "\n"
            << ir::print(launch.kernel);
    }
  }
}

// ---------------------------------------------------------------------------------- Pointwise

void check_elementwise(Op op, DType t, DType result) {
  const std::string text = elementwise_text(op, t, result);
  for (int64_t n : {0, 1, 15, 16, 17, 2000}) {
    std::vector<Array> arrays;
    for (int i = 0; i < ir::info(op).arity; ++i)
      arrays.push_back(corner_array(op == Op::Where && i == 0 ? DType::Bool : t, n, i,
                                    static_cast<uint32_t>(n * 7 + i)));
    arrays.push_back(zeros(result, n));
    expect_as_interpreted(make_launch(text, {n, 600}, arrays));
  }
}

class ElementwiseOps : public ::testing::TestWithParam<int> {};
TEST_P(ElementwiseOps, MatchTheInterpreter) {
  const Op op = static_cast<Op>(GetParam());
  for (DType t : dtypes) {
    if (!ir::accepts(op, t) || ir::compute_dtype(op, t) != t) continue;
    if (op == Op::Cast)
      for (DType to : dtypes) check_elementwise(op, t, to);
    else
      check_elementwise(op, t, ir::result_dtype(op, t));
  }
}
std::vector<int> elementwise_ops() {
  std::vector<int> ops;
  for (int i = 0; i < ir::num_ops; ++i)
    if (ir::is_elementwise(static_cast<Op>(i))) ops.push_back(i);
  return ops;
}
INSTANTIATE_TEST_SUITE_P(Table, ElementwiseOps, ::testing::ValuesIn(elementwise_ops()),
                         [](const auto& p) {
                           return std::string(ir::name(static_cast<Op>(p.param)));
                         });

TEST(Jit, ReachesMemoryInEveryWay) {
  for (DType t : dtypes)
    for (int64_t n : {1, 15, 16, 17, 33, 100})
      for (int64_t stride : {2, -3}) {
        const int64_t rows = 6, total = rows * n, width = n * std::abs(stride);
        Array strided = random_array(t, rows * width, 2);
        Array strided_out = zeros(t, rows * width);
        strided.origin = strided_out.origin = stride < 0 ? width - 1 : 0;
        expect_as_interpreted(make_launch(replace(access_text, "T", std::string(name(t))),
                                          {rows, n, 40, n, n - 1, width, stride, 6, n / 2},
                                          {random_array(t, total, 1), strided, zeros(t, total),
                                           zeros(t, total), strided_out, zeros(t, total)}));
      }
}

TEST(Jit, WalksTransposesInBlocks) {
  for (DType t : dtypes)
    for (int64_t rows : {1, 5, 150})
      for (int64_t columns : {1, 16, 70})
        for (int64_t tile : {32, 100}) {
          const int64_t n = rows * columns;
          const Launch l = make_launch(
              replace(transpose_text, "T", std::string(name(t))),
              {rows, columns, tile, rows, columns},
              {random_array(t, n, 11), random_array(t, n, 12), zeros(t, n), zeros(t, n)});
          expect_as_interpreted(l);
          expect_as_interpreted(l, rows * columns);
        }
}

TEST(Jit, DividesLargeIndices) {
  const Launch launch =
      make_launch(R"(kernel pointwise {
  num n0 extent
  num n1 tile
  num n2 stride
  num n3 offset
  num n4 bound
  ptr p0 i64 out
  ptr p1 i64 out
  outer i0 < n0
  tile n1
  index a1 = (n2*i0 + n3) / n4
  index a2 = (n2*i0 + n3) % n4
  %0 = index i64 a1
  %1 = index i64 a2
  stage loop {
    store p0[i0] = %0
    store p1[i0] = %1
  }
}
)",
                  {500, 500, 1, 0, 1}, {zeros(DType::I64, 500), zeros(DType::I64, 500)});
  for (int64_t divisor : {1, 2, 3, 7, 1000003, 1 << 30})
    for (int64_t offset : {int64_t{0}, divisor * 12345 - 250, (int64_t{1} << 51) - 600})
      for (int64_t stride : {int64_t{1}, divisor, int64_t{3}}) {
        if (offset < 0 || offset + 500 * stride >= int64_t{1} << 52) continue;
        Launch l = launch;
        l.nums[2] = stride;
        l.nums[3] = offset;
        l.nums[4] = divisor;
        expect_as_interpreted(l);
      }
}

TEST(Jit, RandomNumbersArePositional) {
  for (const char* op : {"rand", "randn"})
    for (const char* t : {"f32", "f64"}) {
      const std::string text = replace(replace(random_text, "T", t), "OP", op);
      expect_as_interpreted(
          make_launch(text, {1003, 400, 1234567890123, 42}, {zeros(*parse_dtype(t), 1003)}));
    }
}

// --------------------------------------------------------------------------------- Reductions

struct Reduction {
  const char* op;
  bool sum, index;
};
constexpr Reduction reductions[] = {{"sum", true, false},    {"prod", true, false},
                                    {"amax", false, false},  {"amin", false, false},
                                    {"argmax", false, true}, {"argmin", false, true}};

template <class Check>
void for_each_reduction(Check check) {
  for (const Reduction& r : reductions)
    for (DType t : dtypes) {
      if (r.sum && sum_dtype(t) != t) continue;
      check(r, t, r.index ? DType::I64 : t);
    }
}

TEST(Jit, ReducesRows) {
  for_each_reduction([](const Reduction& r, DType t, DType result) {
    const std::string text = rows_text(r.op, t, result, false);
    for (int64_t n : {1, 2, 15, 16, 17, 31, 32, 33, 47, 100, 4095, 4096, 4097, 12289, 20000})
      for (bool tame : {false, true}) {
        const int64_t rows = 4;
        const Array in = tame ? tame_array(t, rows * n, 3) : random_array(t, rows * n, 4);
        expect_as_interpreted(make_launch(text, {rows, 1, n, n, 0}, {in, zeros(result, rows)}));
      }
  });
}

TEST(Jit, ReducesRowsOfSeveralAxes) {
  for_each_reduction([](const Reduction& r, DType t, DType result) {
    const std::string text = rows_text(r.op, t, result, true);
    for (int64_t m : {1, 63, 64, 65, 200})
      for (int64_t n : {1, 7, 33}) {
        const int64_t rows = 3, width = n + 2;
        expect_as_interpreted(
            make_launch(text, {rows, m, n, m * width, width},
                        {tame_array(t, rows * m * width, 5), zeros(result, rows)}));
      }
  });
}

TEST(Jit, ReducesWholeTensors) {
  const std::string text =
      replace(replace(rows_text("sum", DType::F32, DType::F32, false),
                      "  outer i0 < n0\n  inner i1 < n2\n", "  inner i0 < n2\n"),
              "n3*i0 + i1", "i0");
  expect_as_interpreted(make_launch(replace(text, "p1[i0]", "p1[0]"), {0, 0, 9000, 0, 0},
                                    {tame_array(DType::F32, 9000, 13), zeros(DType::F32, 1)}));
}

TEST(Jit, ReducesAsTheTreeSays) {
  const std::string text = rows_text("sum", DType::F32, DType::F32, true);
  const int64_t m = 130, n = 5000;
  const Array in = tame_array(DType::F32, m * n, 6);
  const auto* x = reinterpret_cast<const float*>(in.bytes.data());
  const float expected = tree_reduce<float>(
      m, n, [&](int64_t r, int64_t j) { return x[r * n + j]; },
      [](float a, float b) { return a + b; });
  const Launch l = make_launch(text, {1, m, n, 0, n}, {in, zeros(DType::F32, 1)});
  for (CpuLevel level : levels) {
    if (!jit::runs_here(level)) continue;
    const auto out = testing::run(l, jit::compile(l.kernel, level)->fn);
    EXPECT_EQ(*reinterpret_cast<const float*>(out[1].bytes.data()), expected);
  }
}

TEST(Jit, ReducesColumns) {
  for_each_reduction([](const Reduction& r, DType t, DType result) {
    std::string text = replace(columns_text, "T", std::string(name(t)));
    text = replace(replace(text, "R", std::string(name(result))), "OP", r.op);
    for (int64_t rows : {1, 63, 64, 65, 128, 129, 700})
      for (int64_t columns : {1, 15, 16, 33, 50}) {
        const int64_t outer = 2;
        expect_as_interpreted(make_launch(
            text, {outer, columns, rows, 20, rows * columns, columns, 0, columns},
            {tame_array(t, outer * rows * columns, 7), zeros(result, outer * columns)}));
      }
  });
}

TEST(Jit, SplitsLongRows) {
  std::string second = rows_text("sum", DType::F32, DType::F32, false);
  second = replace(second, "%0\n  stage", "%0 pairwise\n  stage");
  for (DType t : {DType::F32, DType::F64, DType::I64})
    for (int64_t n : {int64_t{1}, ir::split_group(), 3 * ir::split_group() + 4097}) {
      const int64_t groups = (n + ir::split_group() - 1) / ir::split_group();
      const std::string dtype(name(t));
      const Launch split = make_launch(replace(split_text, "T", dtype), {groups, n},
                                       {tame_array(t, n, 8), zeros(t, groups)});
      expect_as_interpreted(split);
      const auto partial = testing::run(split, jit::compile(split.kernel)->fn);
      const Launch join = make_launch(replace(second, "f32", dtype), {1, 1, groups, 0, 0},
                                      {partial[1], zeros(t, 1)});
      expect_as_interpreted(join);
      const auto joined = testing::run(join, jit::compile(join.kernel)->fn);
      const Launch whole =
          make_launch(replace(rows_text("sum", DType::F32, DType::F32, false), "f32", dtype),
                      {1, 1, n, 0, 0}, {split.arrays[0], zeros(t, 1)});
      const auto at_once = testing::run(whole, jit::compile(whole.kernel)->fn);
      EXPECT_EQ(testing::difference(joined[1], at_once[1]), "");
    }
}

TEST(Jit, RunsRowKernelsWithScratch) {
  for (DType t : {DType::F32, DType::F64})
    for (int64_t n : {1, 16, 31, 64, 1000, 5000})
      expect_as_interpreted(make_launch(replace(softmax_text, "T", std::string(name(t))), {5, n, n},
                                        {tame_array(t, 5 * n, 9), zeros(t, 5 * n)}));
}

TEST(Jit, RunsColumnKernelsWithScratch) {
  const std::string text = softmax_columns_text();
  for (DType t : {DType::F32, DType::F64})
    for (int64_t columns : {1, 16, 31, 100})
      for (int64_t rows : {1, 65, 300})
        expect_as_interpreted(
            make_launch(replace(text, "T", std::string(name(t))), {columns, rows, columns, 0, 48},
                        {tame_array(t, columns * rows, 10), zeros(t, columns * rows)}));
}

// -------------------------------------------------------------------------- Cache and failures

TEST(Jit, CompilesEachKernelOnce) {
  const ir::Kernel kernel =
      ir::parse_kernel(replace(elementwise_text(Op::Add, DType::F32, DType::F32), "add", "mul"));
  reset_stats();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { jit::compile(kernel, CpuLevel::Avx2); });
  for (std::thread& t : threads) t.join();
  const Stats s = stats();
  EXPECT_EQ(s.kernels_compiled + s.kernel_cache_hits, 4);
  EXPECT_LE(s.kernels_compiled, 1);
}

TEST(Jit, CompilesManyAtOnce) {
  std::vector<ir::Kernel> kernels;
  for (Op op : {Op::Exp, Op::Log, Op::Tanh, Op::Add, Op::Exp})
    kernels.push_back(ir::parse_kernel(elementwise_text(op, DType::F32, DType::F32)));
  std::vector<const ir::Kernel*> pointers;
  for (const ir::Kernel& k : kernels) pointers.push_back(&k);
  const auto code = jit::compile_all(pointers);
  ASSERT_EQ(code.size(), 5u);
  EXPECT_EQ(code[0], code[4]);
  EXPECT_NE(code[0], code[1]);
}

TEST(Jit, CompilesOnASmallStack) {
  const ir::Kernel kernel = ir::parse_kernel(elementwise_text(Op::Erf, DType::F64, DType::F64));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  const auto body = [](void* k) -> void* {
    jit::compile(*static_cast<const ir::Kernel*>(k), CpuLevel::Avx2);
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, const_cast<ir::Kernel*>(&kernel)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

/// A fused elementwise kernel of 40 ops compiles in milliseconds.
TEST(Jit, ReportsCompileTime) {
  std::string text = replace(elementwise_text(Op::Mul, DType::F32, DType::F32), "stage", "#");
  std::string body;
  const char* ops[] = {"add", "mul", "tanh", "maximum", "sub", "exp", "minimum", "div"};
  for (int i = 3; i < 43; ++i) {
    const std::string n = std::to_string(i), last = "%" + std::to_string(i - 1);
    const std::string op = ops[i % 8];
    const bool unary = op == "tanh" || op == "exp";
    body += "  %" + n + " = " + op + " f32 " + last + (unary ? "\n" : ", %0\n");
  }
  text = replace(replace(text, "  # loop", body + "  stage loop"), "[i0] = %2", "[i0] = %42");
  const Launch l = make_launch(text, {1000, 1000},
                               {random_array(DType::F32, 1000, 14),
                                random_array(DType::F32, 1000, 15), zeros(DType::F32, 1000)});
  expect_as_interpreted(l);
  for (CpuLevel level : levels) {
    if (!jit::runs_here(level)) continue;
    const int64_t ns = jit::compile(l.kernel, level)->compile_ns;
    RecordProperty("compile_us_level_" + std::to_string(static_cast<int>(level)),
                   std::to_string(ns / 1000));
    std::cout << "level " << static_cast<int>(level) << ": " << ns / 1000 << " us\n";
  }
}

TEST(Jit, FailsWithTheKernelsText) {
  ir::Kernel kernel = ir::parse_kernel(elementwise_text(Op::Add, DType::F32, DType::F32));
  kernel.values[2].op = Op::Matmul;  // no emitter knows it
  for (int i = 0; i < 2; ++i) {
    try {
      jit::compile(kernel);
      FAIL() << "compiled";
    } catch (const InternalError& e) {
      EXPECT_NE(std::string(e.what()).find("kernel pointwise {"), std::string::npos) << e.what();
    }
  }
}

TEST(Jit, ShowsItsText) {
  const ir::Kernel kernel = ir::parse_kernel(elementwise_text(Op::Exp, DType::F32, DType::F32));
  EXPECT_NE(jit::llvm_text(kernel, CpuLevel::Avx512).find("<16 x float>"), std::string::npos);
  EXPECT_NE(jit::asm_text(kernel, CpuLevel::Avx512).find("zmm"), std::string::npos);
  EXPECT_EQ(jit::asm_text(kernel, CpuLevel::Avx2).find("zmm"), std::string::npos);
}

}  // namespace
}  // namespace kiln
