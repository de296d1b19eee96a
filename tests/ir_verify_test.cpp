// Each rule of the verifiers has an example that breaks it: a valid text, a change, the rule.
#include <gtest/gtest.h>

#include <string>

#include "ir/core/error.h"
#include "ir/graph.h"
#include "ir/kernel.h"
#include "ir/plan.h"

namespace kiln::ir {
namespace {

struct Break {
  const char* find;
  const char* replace;
  const char* rule;
};

std::string replaced(std::string text, const char* find, const char* replace) {
  const size_t at = text.find(find);
  EXPECT_NE(at, std::string::npos) << find;
  return at == std::string::npos ? text : text.replace(at, std::string(find).size(), replace);
}

template <class Ir>
void expect_rule(const Ir& ir, const char* rule, const std::string& what) {
  try {
    verify(ir);
    ADD_FAILURE() << "accepted: " << what;
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find(rule), std::string::npos)
        << "wanted: " << rule << "\ngot: " << e.what();
  }
}

template <auto parse, size_t N>
void expect_rules(const char* text, const Break (&breaks)[N]) {
  ASSERT_NO_THROW(verify(parse(text)));
  for (const Break& b : breaks) {
    const std::string broken = replaced(text, b.find, b.replace);
    expect_rule(parse(broken), b.rule, broken);
  }
}

const char* const rows_text = R"(kernel rows {
  num n0 extent
  num n1 extent
  num n2 stride
  num n3 offset
  num n4 bound
  num n5 scalar f32
  num n6 scratch_offset
  num n7 scalar i64
  ptr p0 f32 in
  ptr p1 f32 out
  ptr p2 f32 out
  outer i0 < n0
  inner i1 < n1
  index a2 = (n2*i0 + i1) / n4
  %0 = index i64 a2
  %1 = scalar i64 n4
  %2 = lt bool %0, %1
  %3 = load f32 p0[n2*i0 + i1 + n3] if %2
  %4 = scalar f32 n5
  %5 = const f32 1
  %6 = add f32 %3, %4
  %7 = where f32 %2, %6, %5
  %8 = cast f64 %7
  %9 = scalar i64 n7
  %10 = rand f32 %9, %9, %0
  %11 = acc f32 r0
  %12 = scratch f32 s0
  %13 = div f32 %12, %11
  %14 = cast i64 %3
  reduce r0 = sum f32 %7
  reduce r1 = argmax f32 %3
  scratch s0 f32 at n6
  stage loop { reduce r0 reduce r1 fill s0 = %7 }
  stage loop { store p1[n2*i0 + i1] = %13 }
  stage once { store p2[i0] = %11 }
}
)";

TEST(VerifyKernel, RulesOfRows) {
  const Break breaks[] = {
      {"outer i0 < n0", "outer i0 < n99", "a num is out of range"},
      {"outer i0 < n0", "outer i0 < n2", "an extent has role extent"},
      {"inner i1 < n1", "inner i1 < n1 tile n2", "only pointwise and columns kernels have a tile"},
      {"outer i0 < n0\n  inner", "outer i0 < n0\n  outer",
       "rows and columns kernels have an inner variable"},
      {"kernel rows", "kernel columns", "a num is out of range"},
      {"kernel rows", "kernel split", "only rows and columns kernels have scratch"},
      {"(n2*i0", "(n3*i0", "a stride has role stride"},
      {"+ n3]", "+ n2]", "an offset has role offset"},
      {"/ n4", "/ n2", "a divisor has role bound or extent"},
      {"(n2*i0 + i1) / n4", "(a2) / n4", "an index depends on earlier ones"},
      {"(n2*i0 + i1) / n4", "(a9) / n4", "an index is out of range"},
      {"index i64 a2", "index i32 a2", "an index value is i64"},
      {"%1 = scalar i64 n4", "%1 = scalar i32 n4", "a scalar has the dtype of its num"},
      {"%1 = scalar i64 n4", "%1 = scalar i64 n44", "a num is out of range"},
      {"scalar f32 n5\n  %5", "scalar f64 n5\n  %5", "a scalar has the dtype of its num"},
      {"lt bool %0, %1", "lt bool %0, %4", "operands come before the values that use them"},
      {"lt bool %0, %1", "lt i64 %0, %1", "an op gives the dtype of the table"},
      {"lt bool %0, %1", "lt bool %0", "an op has its arity"},
      {"lt bool %0, %1", "sum bool %0", "an op of a kernel is elementwise or random"},
      {"load f32 p0", "load f32 p9", "a pointer is out of range"},
      {"load f32 p0", "load f32 p1", "loads are from inputs"},
      {"load f32 p0", "load f64 p0", "a load has the dtype of its pointer"},
      {"if %2", "if %1", "a guard is bool"},
      {"if %2", "if %3", "a guard comes before its load"},
      {"const f32 1\n", "const f32 0x100000000\n", "unused bits of a constant are zero"},
      {"const f32 1\n", "const bool 0x2\n", "a bool is 0 or 1"},
      {"const f32 1\n", "const f16 0x0\n", "no kernel computes in this dtype"},
      {"add f32 %3, %4", "add f32 %3, %1", "operands of an op have one dtype"},
      {"add f32 %3, %4", "add f64 %3, %4", "an op gives the dtype of the table"},
      {"add f32 %3, %4", "sub bool %2, %2", "an op accepts the dtype of its operands"},
      {"add f32 %3, %4", "div f32 %1, %1", "operands have the dtype that the op computes in"},
      {"where f32 %2, %6", "where f32 %5, %6", "where chooses by a bool"},
      {"rand f32 %9, %9, %0", "rand f32 %9, %9", "a random op has seed, stream and position"},
      {"rand f32 %9, %9, %0", "rand f32 %9, %9, %4", "operands of a random op are i64"},
      {"rand f32 %9, %9, %0", "rand f32 %9, %0, %0", "seed and stream depend on no variable"},
      {"rand f32 %9, %9, %0", "rand i64 %9, %9, %0", "a random op gives a float"},
      {"acc f32 r0", "acc f32 r7", "a reduction is out of range"},
      {"acc f32 r0", "acc f64 r0", "the result of a reduction has its dtype"},
      {"acc f32 r0", "acc f32 r1", "the result of a reduction has its dtype"},
      {"scratch f32 s0", "scratch f32 s1", "a scratch slot is out of range"},
      {"scratch f32 s0", "scratch f64 s0", "an element of scratch has its slot's dtype"},
      {"scratch s0 f32 at n6", "scratch s0 f16 at n6",
       "an element of scratch has its slot's dtype"},
      {"at n6", "at n3", "a scratch offset has role scratch_offset"},
      {"sum f32 %7", "exp f32 %7", "a reduction has a reduction op"},
      {"sum f32 %7", "sum f32 %99", "a value is out of range"},
      {"sum f32 %7", "sum f32 %8", "a reduction has the dtype of its operand"},
      {"argmax f32 %3", "sum bool %2", "sums and products take the dtype they accumulate in"},
      {"sum f32 %7", "sum f32 %7 at n6",
       "reductions of columns kernels, and no others, have scratch"},
      {"argmax f32 %3", "argmax f32 %3 pairwise", "argmax and argmin do not split"},
      {"reduce r0 reduce r1 fill", "reduce r0 fill", "a reduction belongs to one stage"},
      {"reduce r0 reduce r1 fill", "reduce r0 reduce r1 reduce r1 fill",
       "a reduction belongs to one stage"},
      {"{ reduce r0", "{ reduce r5", "a reduction is out of range"},
      {"fill s0 = %7", "fill s3 = %7", "a scratch slot is out of range"},
      {"fill s0 = %7", "fill s0 = %7 fill s0 = %7", "a scratch slot is filled once"},
      {"fill s0 = %7", "", "a scratch slot is filled once"},
      {"fill s0 = %7", "fill s0 = %8", "a fill has its slot's dtype"},
      {"sum f32 %7", "sum f32 %13", "results of reductions and scratch are used in later stages"},
      {"fill s0 = %7", "fill s0 = %12",
       "results of reductions and scratch are used in later stages"},
      {"fill s0 = %7 }", "fill s0 = %7 store p1[n2*i0 + i1] = %13 }",
       "results of reductions and scratch are used in later stages"},
      {"stage loop { reduce r0", "stage once { reduce r0", "reductions and fills loop"},
      {"store p2[i0] = %11", "", "a stage does something"},
      {"store p2[i0] = %11", "store p2[i0] = %13",
       "a stage that runs once depends on no inner variable"},
      {"store p2[i0] = %11", "store p2[i1] = %11",
       "a store in a loop depends on every inner variable, any other on none"},
      {"store p1[n2*i0 + i1] = %13", "store p1[n2*i0] = %13",
       "a store in a loop depends on every inner variable, any other on none"},
      {"store p2[i0] = %11", "store p2[i0] = %77", "a value is out of range"},
      {"store p2[i0] = %11", "store p7[i0] = %11", "a pointer is out of range"},
      {"store p2[i0] = %11", "store p0[i0] = %11", "stores are to outputs"},
      {"store p2[i0] = %11", "store p2[i0] = %9", "a store has the dtype of its pointer"},
  };
  expect_rules<parse_kernel>(rows_text, breaks);
}

const char* const pointwise_text = R"(kernel pointwise {
  num n0 extent
  num n1 tile
  num n2 scratch_offset
  ptr p0 f64 in
  ptr p1 f64 out
  outer i0 < n0
  tile n1
  %0 = load f64 p0[i0]
  stage loop { store p1[i0] = %0 }
}
)";

TEST(VerifyKernel, RulesOfPointwise) {
  const Break breaks[] = {
      {"outer i0", "inner i0", "this schedule needs an outer variable"},
      {"outer i0 < n0", "outer i0 < n0 inner i1 < n0", "a pointwise kernel has no inner variable"},
      {"tile n1\n  %0", "tile n0\n  %0", "the tile has role tile"},
      {"  tile n1\n  %0", "  %0", "a num is out of range"},
      {"stage loop", "reduce r0 = sum f64 %0 stage loop", "a pointwise kernel reduces nothing"},
      {"stage loop", "scratch s0 f64 at n2 stage loop",
       "only rows and columns kernels have scratch"},
      {"stage loop", "stage once", "stages of pointwise kernels loop"},
  };
  expect_rules<parse_kernel>(pointwise_text, breaks);
}

const char* const split_text = R"(kernel split {
  num n0 extent
  num n1 extent
  ptr p0 f64 in
  ptr p1 f64 out
  outer i0 < n0
  inner i1 < n1
  %0 = load f64 p0[i1]
  %1 = acc f64 r0
  reduce r0 = sum f64 %0
  stage loop { reduce r0 }
  stage once { store p1[i0] = %1 }
}
)";

TEST(VerifyKernel, RulesOfSplit) {
  const Break breaks[] = {
      {"inner i1 < n1", "inner i1 < n1 inner i2 < n1", "a split kernel has one inner variable"},
      {"sum f64 %0", "sum f64 %0 pairwise",
       "a pairwise reduction is that of a rows kernel with one inner variable"},
      {"= sum f64 %0", "= argmin f64 %0", "the result of a reduction has its dtype"},
  };
  expect_rules<parse_kernel>(split_text, breaks);
  const std::string argmin =
      replaced(replaced(split_text, "= sum f64 %0", "= argmin f64 %0"), "acc f64 r0", "acc i64 r0");
  expect_rule(parse_kernel(argmin), "argmax and argmin do not split", argmin);
}

/// Rules that the grammar cannot break.
TEST(VerifyKernel, RulesOfStructure) {
  const auto expect = [](auto change, const char* rule) {
    Kernel k = parse_kernel(rows_text);
    change(k);
    expect_rule(k, rule, rule);
  };
  expect([](Kernel& k) { k.extents.pop_back(); }, "each variable has one extent");
  expect([](Kernel& k) { k.inner = -1; }, "numbers of variables are not negative");
  expect([](Kernel& k) { k.outer = 65; }, "a kernel has at most 64 variables");
  expect([](Kernel& k) { k.atoms[0].var = 1; }, "the first atoms are the variables");
  expect([](Kernel& k) { k.atoms.resize(1); }, "the first atoms are the variables");
  expect([](Kernel& k) { k.atoms[2].kind = IndexAtom::Kind::Var; }, "each variable has one atom");
  expect([](Kernel& k) { k.atoms[2].linear = 99; }, "a linear form is out of range");
  expect([](Kernel& k) { k.values[3].linear = 99; }, "a linear form is out of range");
  expect([](Kernel& k) { k.stages[1].stores[0].linear = -1; }, "a linear form is out of range");
  expect([](Kernel& k) { k.values[4].linear = 0; }, "only loads and index values have an index");
  expect([](Kernel& k) { k.values[4].guard = 2; }, "only a load has a guard");
  expect([](Kernel& k) { k.values[4].inputs.push_back(0); }, "only an op has operands");
  expect([](Kernel& k) { k.linears[0].terms[1].stride.num = 2; },
         "only an argument stride has a num");
  expect([](Kernel& k) { k.templates.push_back({"", {}}); }, "a template has a name");
}

const char* const graph_text = R"(graph params 3 {
  %0 = input f32 [4, 6]
  %1 = const f32 [] 2
  %2 = mul f32 [4, 6] (%0, %1)
  %3 = lt bool [4, 6] (%2, %0)
  %4 = where f32 [4, 6] (%3, %0, %2)
  %5 = sum f32 [4] (%4) axes [1]
  %6 = reshape f32 [3, 8] (%4)
  %7 = permute f32 [8, 3] (%6) order [1, 0]
  %8 = slice f32 [4, 2] (%7) steps [2, -2] @0, @1
  %9 = expand f32 [5, 4, 2] (%8)
  %10 = slice_scatter f32 [8, 3] (%7, %8) steps [2, 1] @0, @1
  %11 = cat f32 [12, 2] (%8, %8, %8) axis [0]
  %12 = full f32 [2] (%1)
  %13 = arange f32 [7] (%1, %1)
  %14 = param i64 [] @2
  %15 = randn f64 [3] (%14, %14)
  %16 = reshape f32 [6, 4] (%4)
  %17 = slice f32 [6, 3] (%16) steps [1, 1] @0, @1
  %18 = matmul f32 [4, 3] (%0, %17)
  %19 = cast i32 [4, 6] (%2)
  inputs %0
  outputs %5
  wanted %2
}
)";

TEST(VerifyGraph, Rules) {
  const Break breaks[] = {
      {"input f32 [4, 6]", "input f16 [4, 6]", "no kernel computes in this dtype"},
      {"input f32 [4, 6]", "input f32 [-4, 6]", "extents are not negative"},
      {"input f32 [4, 6]", "input f32 [4611686018427387904, 6]",
       "the number of elements is in range"},
      {"(%0, %1)", "(%0)", "an op has its arity"},
      {"(%0, %1)", "(%0, %2)", "operands come before their users"},
      {"@2\n", "@3\n", "a parameter is out of range"},
      {"%2 = mul f32", "%2 = mul f64", "the dtype is the one of the table"},
      {"%2 = mul f32 [4, 6]", "%2 = mul f32 [6, 4]",
       "the shape is that of the operands, broadcast"},
      {"const f32 [] 2", "const f32 [1] 2", "a scalar has rank 0"},
      {"const f32 [] 2", "const f32 [] 0x100000000", "unused bits of a constant are zero"},
      {"const f32 [] 2", "const bool [] 0x2", "a bool is 0 or 1"},
      {"const f32 [] 2", "const f64 [] 2", "operands have one dtype"},
      {"lt bool [4, 6] (%2", "lt f32 [4, 6] (%2", "the dtype is the one of the table"},
      {"where f32 [4, 6] (%3", "where f32 [4, 6] (%2", "where chooses by a bool"},
      {"%4 = where f32 [4, 6] (%3, %0, %2)", "%4 = sub bool [4, 6] (%3, %3)",
       "the op accepts the dtype of its operands"},
      {"axes [1]", "axes [2]", "an axis is out of range"},
      {"axes [1]", "axes [1, 1]", "axes are sorted and unique"},
      {"axes [1]", "axes [0]", "the reduced axes leave the shape"},
      {"sum f32 [4]", "sum i64 [4]", "the dtype is the one of the table"},
      {"reshape f32 [3, 8]", "reshape f32 [3, 7]", "a reshape keeps the number of elements"},
      {"reshape f32 [3, 8]", "reshape f64 [3, 8]", "a view keeps the dtype"},
      {"order [1, 0]", "order [1, 1]", "the order is a permutation"},
      {"order [1, 0]", "order [1, 2]", "the order is a permutation"},
      {"order [1, 0]", "order [1]", "the op has another number of attributes"},
      {"permute f32 [8, 3]", "permute f32 [3, 8]", "extents move with their axes"},
      {"permute f32 [8, 3] (%6) order [1, 0]", "permute f32 [3] (%6) order [0]",
       "a permutation keeps the rank"},
      {"steps [2, -2] @0, @1", "steps [2, -2] @0", "the op has another number of parameters"},
      {"steps [2, -2]", "steps [2, 0]", "a step is not zero"},
      {"steps [2, -2]", "steps [3, -2]", "a slice fits its operand"},
      {"slice f32 [4, 2] (%7) steps [2, -2] @0, @1", "slice f32 [4] (%7) steps [2] @0",
       "a slice keeps the rank"},
      {"expand f32 [5, 4, 2]", "expand f32 [5, 4, 3]", "the operand broadcasts to the shape"},
      {"slice_scatter f32 [8, 3]", "slice_scatter f32 [8, 4]", "an update keeps the shape"},
      {"slice_scatter f32", "slice_scatter f64", "operands have the result's dtype"},
      {"(%7, %8) steps [2, 1]", "(%7, %8) steps [2, 3]", "a slice fits its operand"},
      {"axis [0]", "axis [2]", "an axis is out of range"},
      {"cat f32 [12, 2]", "cat f32 [13, 2]", "the joined axis is the sum"},
      {"(%8, %8, %8)", "(%8, %7)", "the other axes of the operands are equal"},
      {"(%8, %8, %8)", "(%8, %5)", "operands have the result's rank"},
      {"(%8, %8, %8)", "(%8, %3)", "operands have the result's dtype"},
      {" (%8, %8, %8)", "", "cat has an operand"},
      {"full f32 [2] (%1)", "full f32 [2] (%5)", "operands are scalars"},
      {"full f32 [2] (%1)", "full f64 [2] (%1)", "operands have their dtype"},
      {"arange f32 [7]", "arange f32 [7, 1]", "arange has rank 1"},
      {"randn f64", "randn i64", "the op accepts its dtype"},
      {"(%14, %14)", "(%14, %1)", "operands have their dtype"},
      {"matmul f32 [4, 3] (%0", "matmul f64 [4, 3] (%0", "operands have the result's dtype"},
      {"matmul f32 [4, 3] (%0", "matmul f32 [4, 3] (%9", "ranks are equal and at least 2"},
      {"matmul f32 [4, 3] (%0", "matmul f32 [6, 3] (%16", "the inner extents are equal"},
      {"matmul f32 [4, 3]", "matmul f32 [4, 4]", "the result is rows by columns"},
      {"inputs %0", "inputs %0, %0", "an input is listed once"},
      {"inputs %0", "inputs %1", "the inputs are input nodes"},
      {"inputs %0", "", "every input node is listed"},
      {"outputs %5", "outputs %50", "an output is out of range"},
      {"wanted %2", "wanted %20", "a wanted value is out of range"},
  };
  expect_rules<parse_graph>(graph_text, breaks);
}

TEST(VerifyGraph, RulesOfSingleNodes) {
  const Break breaks[] = {
      {"add", "div", "operands have the dtype that the op computes in"},
      {"[2, 3, 4] (%1, %1)", "[2, 4, 4] (%1, %1)", "the shape is that of the operands, broadcast"},
      {"matmul i32 [2, 3, 3]", "matmul i32 [3, 3, 3]", "batch axes are equal"},
      {"sum i64 [0]", "amax i64 [0]", "the reduction of no elements has no value"},
      {"%3 = input i64 [0, 0]", "%3 = input f32 [0, 0]", "the dtype is the one of the table"},
      {"arange i32 [3] (%5", "arange bool [3] (%5", "operands have their dtype"},
  };
  expect_rules<parse_graph>(R"(graph params 0 {
  %0 = input i32 [2, 4, 3]
  %1 = input i32 [2, 3, 4]
  %2 = add i32 [2, 3, 4] (%1, %1)
  %3 = input i64 [0, 0]
  %4 = sum i64 [0] (%3) axes [1]
  %5 = const i32 [] 1
  %6 = arange i32 [3] (%5, %5)
  %7 = matmul i32 [2, 3, 3] (%1, %0)
  inputs %0, %1, %3
})",
                            breaks);
}

const char* const plan_text = R"(plan inputs 1 outputs 1 params 2 {
  atoms s0, p1
  slot b0 input f32 [s0*s0] of %0
  slot b1 output f32 [s0*s0] of %2
  slot b2 temp f32 [s0*s0] of %1
  kernel pointwise {
    num n0 extent
    num n1 tile
    num n2 scalar f32
    num n3 offset
    ptr p0 f32 in
    ptr p1 f32 out
    outer i0 < n0
    tile n1
    %0 = load f32 p0[i0 + n3]
    stage loop { store p1[i0] = %0 }
  }
  step k0 cost 2 {
    ptr b0[0]
    ptr b2[0]
    num s0*s0
    num launch
    num @0
    num p1
    reads b0[s0]
    writes b2[s0]
    nodes %1
  }
  step matmul cost 1 {
    view b1[0] shape [s0, s0] strides [s0, 1]
    view b2[0] shape [s0, s0] strides [s0, 1]
    view b0[0] shape [s0, s0] strides [s0, 1]
    nodes %2
  }
  outputs b1
  wanted none
})";

TEST(VerifyPlan, Rules) {
  const Break breaks[] = {
      {"inputs 1 outputs 1", "inputs -1 outputs 1", "counts are not negative"},
      {"inputs 1 outputs 1", "inputs 1 outputs 9", "every input and output has a slot"},
      {"b0 input", "b0 output", "slots are inputs, then outputs, then temporaries"},
      {"b0 input f32", "b0 input f16", "no kernel computes in this dtype"},
      {"b0 input f32", "b0 input f64", "a pointer has its slot's dtype"},
      {"f32 [s0*s0] of %0", "f32 [p1] of %0", "an expression uses the parameters that it may"},
      {"i0 < n0", "i0 < n1", "an extent has role extent"},
      {"cost 2", "cost 0", "a cost is positive"},
      {"step k0", "step k1", "a kernel is out of range"},
      {"    ptr b0[0]\n", "", "every pointer is bound"},
      {"    num p1\n", "", "every num is bound"},
      {"ptr b0[0]", "ptr b7[0]", "a slot is out of range"},
      {"ptr b0[0]", "ptr b1[0]", "a slot is written before it is read"},
      {"ptr b2[0]", "ptr b0[0]", "an input is not written"},
      {"ptr b0[0]", "ptr b0[p7]", "an expression uses the parameters that it may"},
      {"num launch", "num s0", "tiles and scratch offsets, and no others, are set at the launch"},
      {"num s0*s0", "num launch",
       "tiles and scratch offsets, and no others, are set at the launch"},
      {"num @0", "num @5", "a parameter is out of range"},
      {"num s0*s0", "num @0", "a parameter is a scalar, a bound or an offset"},
      {"num s0*s0", "num p1", "an expression uses the parameters that it may"},
      {"reads b0", "reads b9", "a slot is out of range"},
      {"nodes %1\n", "nodes %1 view b0[0] shape [s0] strides [1]\n",
       "only external steps have views"},
      {"step matmul cost 1 {", "step matmul cost 1 { num s0",
       "only kernel steps have pointers and nums"},
      {"step matmul", "step add", "an external step has an external op"},
      {"    view b2[0] shape [s0, s0] strides [s0, 1]\n", "",
       "an external step has a result and its operands"},
      {"view b1[0] shape [s0, s0] strides", "view b1[0] shape [s0] strides",
       "a view has a stride per axis"},
      {"view b1[0]", "view b2[0]", "a slot is written before all its reads"},
      {"view b2[0]", "view b9[0]", "a slot is out of range"},
      {"outputs b1\n", "outputs b2\n", "an output's slot is no temporary"},
      {"outputs b1\n", "outputs b9\n", "a slot is out of range"},
      {"wanted none", "wanted b9", "a slot is out of range"},
      {"wanted none", "wanted b2", "a wanted slot is no temporary"},
  };
  expect_rules<parse_plan>(plan_text, breaks);
}

TEST(VerifyPlan, RulesOfStructure) {
  Plan plan = parse_plan(plan_text);
  plan.steps.pop_back();
  expect_rule(plan, "every output is written", "no last step");
  plan = parse_plan(plan_text);
  plan.slots[0].numel = plan.pool->var(0, Expr(4));
  expect_rule(plan, "a size has no loop variable", "variable");
  plan.slots[0].numel = Expr();
  ExprPool other;
  for (int i = 0; i < 9; ++i) plan.slots[0].numel = other.symbol(i);
  plan.pool = std::make_shared<ExprPool>();
  plan.pool->symbol(0);
  expect_rule(plan, "an atom is of the pool", "atom");
  plan = parse_plan(plan_text);
  plan.slots.push_back({Slot::Kind::Temp, DType::F64, Expr(0), -1});
  plan.steps[1].views[2].slot = 3;
  expect_rule(plan, "views have one dtype", "dtype");
  plan = parse_plan(plan_text);
  plan.steps.pop_back();
  plan.output_slots.clear();
  plan.wanted_slots = {1};
  expect_rule(plan, "every wanted slot is written", "wanted");
  plan = parse_plan(plan_text);
  plan.pool = nullptr;
  expect_rule(plan, "a plan has a pool", "no pool");
}

}  // namespace
}  // namespace kiln::ir
