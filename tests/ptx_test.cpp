// The kernels of the code generator's tests as PTX, assembled where the CUDA toolkit is present.
#include <gtest/gtest.h>

#include <set>

#include "fusion/pipeline.h"
#include "jit/jit.h"
#include "tests/kernel_texts.h"
#include "tests/ptxas.h"
#include "tests/random_graph.h"

namespace kiln {
namespace {

using ir::Op;
using testing::replace;

constexpr DType dtypes[] = {DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64};

void expect_assembles(const std::string& kernel) {
  const std::string text = jit::ptx(ir::parse_kernel(kernel));
  EXPECT_NE(text.find(".entry kiln_kernel"), std::string::npos);
  const auto messages = testing::assemble_ptx(text);
  EXPECT_EQ(messages.value_or(""), "") << kernel;
}

class Ptx : public ::testing::Test {
 protected:
  void TearDown() override {
    if (testing::find_ptxas().empty()) GTEST_SKIP() << "no ptxas: PTX was made, not assembled";
  }
};

/// A pointwise kernel that stores every op of the table on its operands' dtype.
TEST_F(Ptx, ElementwiseOps) {
  for (DType t : dtypes)
    for (int i = 0; i < ir::num_ops; ++i) {
      const Op op = static_cast<Op>(i);
      if (!ir::is_elementwise(op) || !ir::accepts(op, t) || ir::compute_dtype(op, t) != t) continue;
      // The exact ops differ little between dtypes: two of them stand for all.
      if (ir::info(op).accuracy == ir::Accuracy::Exact && t != DType::F32 && t != DType::I32 &&
          op != Op::Cast)
        continue;
      if (op == Op::Cast) {
        for (DType to : {DType::Bool, DType::I64, DType::F32})
          expect_assembles(testing::elementwise_text(op, t, to));
      } else {
        expect_assembles(testing::elementwise_text(op, t, ir::result_dtype(op, t)));
      }
    }
}

TEST_F(Ptx, Accesses) {
  for (const char* t : {"bool", "f32", "f64"})
    expect_assembles(replace(testing::access_text, "T", t));
  expect_assembles(replace(testing::transpose_text, "T", "f32"));
}

TEST_F(Ptx, RandomNumbers) {
  for (const char* op : {"rand", "randn"})
    for (const char* t : {"f32", "f64"})
      expect_assembles(replace(replace(testing::random_text, "T", t), "OP", op));
}

TEST_F(Ptx, Reductions) {
  for (const char* op : {"sum", "amax", "argmin"}) {
    const bool index = std::string(op) == "argmin";
    for (DType t : {DType::F32, DType::I64}) {
      const DType result = index ? DType::I64 : t;
      expect_assembles(testing::rows_text(op, t, result, true));
      std::string columns = replace(testing::columns_text, "T", std::string(name(t)));
      columns = replace(replace(columns, "R", std::string(name(result))), "OP", op);
      expect_assembles(columns);
    }
  }
  expect_assembles(replace(testing::split_text, "T", "f64"));
}

TEST_F(Ptx, RowKernelsWithScratch) {
  expect_assembles(replace(testing::softmax_text, "T", "f32"));
  expect_assembles(replace(testing::softmax_columns_text(), "T", "f64"));
}

TEST_F(Ptx, KernelsOfRandomPrograms) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seen.size() < 500; ++seed)
    for (const ir::Kernel& k :
         fusion::run_pipeline(testing::random_program(seed).graph, {}).plan.kernels)
      if (seen.insert(ir::print(k)).second) expect_assembles(ir::print(k));
}

}  // namespace
}  // namespace kiln
