// Recording, traces, keys, cuts, threads: what the counters and the nodes show.
#include <gtest/gtest.h>
#include <kiln/kiln.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "api/internal.h"
#include "ir/core/settings.h"
#include "jit/jit.h"
#include "tracer/evaluate.h"
#include "tracer/trace.h"

namespace kiln {
namespace {

using tracer::State;

tracer::Node& node_of(const Tensor& t) {
  return *detail::Access::impl(t, "test", SourceLocation()).root->value;
}
bool evaluated(const Tensor& t) { return node_of(t).state() == State::Evaluated; }

/// What happened during f.
template <class F>
Stats during(F f) {
  const Stats a = stats();
  f();
  Stats b = stats();
  b.ops_recorded -= a.ops_recorded;
  b.plan_hits -= a.plan_hits;
  b.plan_misses -= a.plan_misses;
  b.skeleton_hits -= a.skeleton_hits;
  b.skeleton_misses -= a.skeleton_misses;
  b.kernels_compiled -= a.kernels_compiled;
  b.kernels_launched -= a.kernels_launched;
  b.bytes_read -= a.bytes_read;
  b.bytes_written -= a.bytes_written;
  for (size_t i = 0; i < b.syncs.size(); ++i) b.syncs[i] -= a.syncs[i];
  return b;
}

TEST(Tracer, NothingRunsBeforeASync) {
  Tensor y;
  const Stats s = during([&] { y = exp(arange(100, f32)) * 2 + 1; });
  EXPECT_EQ(s.kernels_launched, 0);
  EXPECT_EQ(s.ops_recorded, 5);  // arange, cast, exp, mul, add
  EXPECT_FALSE(evaluated(y));
  eval(y);
  EXPECT_TRUE(evaluated(y));
}

TEST(Tracer, ChainIsOneKernelAndTheSecondTimeAPlanHit) {
  const Tensor x = randn({1000}), y = randn({1000});
  eval(x, y);
  const auto step = [&] { eval((x * 2.0 + y) * x - y); };
  const Stats first = during(step), second = during(step);
  EXPECT_EQ(first.plan_misses, 1);
  EXPECT_EQ(first.kernels_launched, 1);
  EXPECT_EQ(second.plan_hits, 1);
  EXPECT_EQ(second.plan_misses, 0);
  EXPECT_EQ(second.kernels_launched, 1);
  EXPECT_EQ(second.bytes_read, 2 * 4000);
  EXPECT_EQ(second.bytes_written, 4000);
}

TEST(Tracer, ScalarsAndSliceStartsCompileAndPlanNothing) {
  const Tensor x = arange(64, f32);
  eval(x);
  const auto f = [&](double a, int64_t start) {
    return ((x[{Slice(start, start + 8)}] * a) / (a + 1)).sum().item<float>();
  };
  f(1.5, 0);
  const Stats s = during([&] {
    EXPECT_EQ(f(1, 8), 46);
    EXPECT_EQ(f(3, 56), (56 * 8 + 28) * 0.75f);
  });
  EXPECT_EQ(s.plan_misses, 0);
  EXPECT_EQ(s.plan_hits, 2);
  EXPECT_EQ(s.kernels_compiled, 0);
}

TEST(Tracer, RandomCallsCompileOnce) {
  const auto draw = [] { return rand({100}).sum().item<float>(); };
  const float first = draw();
  const Stats s = during([&] { EXPECT_NE(draw(), first); });
  EXPECT_EQ(s.plan_misses, 0);
  manual_seed(7);
  const float a = draw();
  manual_seed(7);
  EXPECT_EQ(draw(), a);
  Generator g(7), h(8);
  EXPECT_EQ(rand({100}, g).sum().item<float>(), a);
  EXPECT_NE(rand({100}, h).sum().item<float>(), a);
  EXPECT_EQ(g.stream(), 1);
}

TEST(Tracer, OtherSizesShareTheSkeleton) {
  const auto f = [](int64_t n) { return softmax(randn({n, 2 * n + 1}), 1) * 3; };
  eval(f(50));
  int64_t compiled = 0, misses = 0;
  for (int64_t n = 51; n < 80; ++n) {
    const Stats s = during([&] { eval(f(n)); });
    EXPECT_EQ(s.plan_misses, 1);
    compiled += s.kernels_compiled;
    misses += s.skeleton_misses;
  }
  EXPECT_LE(compiled, 3);
  EXPECT_LE(misses, 3);
}

TEST(Tracer, OnlyAncestorsOfWhatIsAskedForRun) {
  const Tensor x = randn({100});
  const Tensor a = x + 1, b = x * 2;
  eval(a);
  EXPECT_TRUE(evaluated(a));
  EXPECT_FALSE(evaluated(b));
}

TEST(Tracer, NothingIsComputedAThirdTime) {
  const Tensor x = randn({1000});
  eval(x);
  const Tensor shared = exp(x);  // live, and never asked for
  EXPECT_FALSE(evaluated(shared));
  eval(shared + 1);
  EXPECT_FALSE(evaluated(shared));  // its kernel had no need to store it
  const Stats second = during([&] { eval(shared + 2); });
  EXPECT_TRUE(evaluated(shared));
  EXPECT_EQ(second.bytes_written, 2 * 4000);
  const Stats third = during([&] { eval(shared * 3); });
  EXPECT_EQ(third.bytes_read, 4000);
}

TEST(Tracer, StoredValuesThatAHandleNamesAreKept) {
  const Tensor x = randn({64, 64});
  const Tensor product = matmul(x, x);  // an external kernel stores it anyway
  eval(product + 1);
  EXPECT_TRUE(evaluated(product));
  const Tensor keep = matmul(x, x).reshape({4096});
  eval(keep + 1);
  EXPECT_TRUE(evaluated(keep));
}

TEST(Tracer, WhatNobodyNamesIsNotStored) {
  const Tensor x = randn({1000});
  eval(x);
  Tensor y = x + 1;
  y = tanh(y);
  const Stats s = during([&] { eval(y); });
  EXPECT_EQ(s.bytes_written, 4000);
}

TEST(Tracer, SyncsAreCountedByCause) {
  Tensor x = arange(4, f32) + 1;
  Stats s = during([&] { (void)x.sum().item<float>(); });
  EXPECT_EQ(s.sync_count(SyncCause::Item), 1);
  s = during([&] { (void)(x + 1).to_vector<float>(); });
  EXPECT_EQ(s.sync_count(SyncCause::ToVector), 1);
  s = during([&] { (void)to_string(x + 2); });
  EXPECT_EQ(s.sync_count(SyncCause::Print), 1);
  s = during([&] { (void)(x + 3).data<float>(); });
  EXPECT_EQ(s.sync_count(SyncCause::Data), 1);
  s = during([&] { eval(x + 4); });
  EXPECT_EQ(s.sync_count(SyncCause::Eval), 1);
  EXPECT_EQ(s.sync_total(), 1);
}

TEST(Tracer, FusionOffRunsOpByOpWithTheSameBits) {
  const Tensor x = randn({37, 53});
  eval(x);
  const auto f = [&] { return softmax(0.5 * x * (1 + tanh(x)), -1); };
  const Tensor fused = f(), unfused = f();
  const Stats one = during([&] { eval(fused); });
  Stats many;
  {
    const FusionScope off(false);
    many = during([&] { eval(unfused); });
  }
  EXPECT_TRUE(fusion());
  EXPECT_EQ(one.kernels_launched, 1);
  EXPECT_GE(many.kernels_launched, 8);
  EXPECT_EQ(fused.to_vector<float>(), unfused.to_vector<float>());
}

TEST(Tracer, ExplainTellsTraceGroupsKernelsAndBytes) {
  const Tensor x = randn({8, 16});
  const Tensor p = softmax(x, -1);
  const std::string before = explain(p);
  EXPECT_FALSE(evaluated(p));
  eval(p);
  for (const std::string& text : {before, explain(p)})
    for (const char* part : {"== trace", "randn f32 [8, 16]", "groups", "fused ", "kernel rows",
                             "bytes moved", "in all: reads "})
      EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(explain(Tensor({1.0f})), "given data [1] f32\n");
}

TEST(Tracer, ElementwiseFunctionsAreTheRowsOfTheTable) {
  std::set<std::string_view> listed = {"where", "cast"};
  const auto check = [&](std::string_view function, ir::Op op, int arity) {
    EXPECT_EQ(ir::name(op), function);
    EXPECT_EQ(ir::info(op).arity, arity);
    listed.insert(function);
  };
#define KILN_UNARY(function, Enum, doc) check(#function, ir::Op::Enum, 1);
#define KILN_BINARY(function, Enum, doc) check(#function, ir::Op::Enum, 2);
#include "kiln/elementwise.def"
#undef KILN_UNARY
#undef KILN_BINARY
  for (int i = 0; i < ir::num_ops; ++i) {
    const auto op = static_cast<ir::Op>(i);
    if (ir::is_elementwise(op)) {
      EXPECT_EQ(listed.count(ir::name(op)), 1u) << ir::name(op);
    }
  }
}

// ---- Long traces -------------------------------------------------------------------------------

/// Sets KILN_TRACE_LIMIT for threads that start in its lifetime.
struct TraceLimit {
  explicit TraceLimit(int64_t n) : before(settings().trace_limit) { settings().trace_limit = n; }
  ~TraceLimit() { settings().trace_limit = before; }
  int64_t before;
};

TEST(LongTraces, AMillionNodesAreRecordedCollectedAndFreed) {
  const TraceLimit limit(int64_t{1} << 30 >> 8);
  std::thread([] {
    Tensor x = ones({2});
    const Stats s = during([&] {
      for (int i = 0; i < 1000000; ++i) x = x + 1;
    });
    EXPECT_EQ(s.kernels_launched, 0);
    tracer::Trace trace;
    tracer::Node* wanted = &node_of(x);
    trace.collect({&wanted, 1}, tracer::Trace::InFlight::Wait, true);
    EXPECT_EQ(trace.order().size(), 1000001u);
    EXPECT_EQ(trace.params().size(), 1000001u);
  }).join();  // and the chain ends without recursion
}

TEST(LongTraces, AMillionOperationsEvaluate) {
  const TraceLimit limit(256);
  std::thread([] {
    Tensor x = zeros({4});
    for (int i = 0; i < 1000000; ++i) x = x + 1;
    EXPECT_EQ(x.to_vector<float>(), std::vector<float>(4, 1e6f));
  }).join();
}

TEST(LongTraces, LoopsAreCutAtTheSamePlaceEachTime) {
  const TraceLimit limit(100);
  std::thread([] {
    Tensor x = ones({8}), total = zeros({8});
    eval(x, total);
    const auto loop = [&](int rounds) {
      for (int i = 0; i < rounds; ++i) {
        const Tensor t = x * 0.5 + 1;
        x = tanh(t) + 0.25;
        total += x * t;
      }
    };
    loop(100);
    const Stats s = during([&] { loop(1000); });
    EXPECT_GE(s.sync_count(SyncCause::Cut), 50);
    EXPECT_EQ(s.plan_misses, 0);
    EXPECT_EQ(s.kernels_compiled, 0);
  }).join();
}

TEST(LongTraces, ACutKeepsWhatIsStillNamed) {
  const TraceLimit limit(20);
  std::thread([] {
    std::vector<Tensor> kept;
    Tensor x = zeros({3});
    for (int i = 0; i < 200; ++i) {
      x = x + 1;
      if (i % 7 == 0) kept.push_back(x * 2);
    }
    for (size_t i = 0; i < kept.size(); ++i)
      EXPECT_EQ(kept[i][{0}].item<float>(), 2 * (7 * static_cast<float>(i) + 1));
    EXPECT_EQ(x[{0}].item<float>(), 200);
  }).join();
}

// ---- Settings ----------------------------------------------------------------------------------

TEST(TracerSettings, DumpWritesTheStages) {
  const Settings before = settings();
  settings().dump_dir = ::testing::TempDir() + "kiln-dump-test";
  std::filesystem::remove_all(settings().dump_dir);
  settings().dump = ~0u;
  eval(softmax(randn({7, 11}), 1) + 0.125);
  const std::string dir = settings().dump_dir;
  settings() = before;
  for (const char* name : {"trace.txt", "trace.dot", "graph.txt", "graph.dot", "fusion.txt",
                           "fusion.dot", "kernel-0.txt", "kernel-0.ll", "kernel-0.s", "plan.txt"}) {
    std::ifstream file(dir + "/0000-" + name);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_GT(text.str().size(), 10u) << name;
  }
  std::filesystem::remove_all(dir);
}

TEST(TracerSettings, LogNamesTheSync) {
  const Settings before = settings();
  settings().log = 1u << static_cast<int>(Log::Sync);
  ::testing::internal::CaptureStderr();
  eval(ones({3}) * 5 - 2);
  settings() = before;
  const std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(line.starts_with("kiln sync: eval: 3 nodes, 0 inputs, 1 outputs at ")) << line;
  EXPECT_NE(line.find("tracer_test.cpp:"), std::string::npos) << line;
}

TEST(TracerSettings, TheInterpreterGivesTheSameBits) {
  const Tensor x = randn({33, 65});
  const auto f = [&] { return softmax(x * 3, 0).sum(1) + x[{All, 1}]; };
  const std::vector<float> compiled = f().to_vector<float>();
  tracer::clear_plans();
  settings().jit = false;
  const Stats s = during([&] { EXPECT_EQ(f().to_vector<float>(), compiled); });
  settings().jit = true;
  tracer::clear_plans();
  EXPECT_EQ(s.kernels_compiled, 0);
  EXPECT_GE(s.kernels_launched, 1);
}

// ---- Errors ------------------------------------------------------------------------------------

TEST(Failures, ACompilerFaultFallsBackToTheInterpreter) {
  const Tensor x = randn({37, 5});
  eval(x);
  const auto f = [&] { return (sqrt(abs(x) + 0.25) * 3 - rsqrt(x * x + 2)).sum(1); };
  jit::refuse_compilation(true);
  std::vector<float> interpreted;
  const Stats s = during([&] { interpreted = f().to_vector<float>(); });
  jit::refuse_compilation(false);
  EXPECT_EQ(s.fallbacks, 1);
  EXPECT_EQ(s.kernels_compiled, 0);
  tracer::clear_plans();
  const Stats again = during([&] { EXPECT_EQ(f().to_vector<float>(), interpreted); });
  EXPECT_EQ(again.kernels_compiled, 1) << "a failure is not kept";
}

TEST(Failures, AreRaisedAgainUntilTheStorageIsOverwritten) {
  Tensor x = arange(4, f32) + 1;
  {
    // As evaluate() does when a computation fails.
    tracer::Node& n = node_of(x);
    n.job = std::make_shared<tracer::Pending>();
    n.job->error = std::make_exception_ptr(InternalError("the kernel failed"));
    n.set_state(State::Failed);
  }
  EXPECT_THROW(eval(x), InternalError);
  EXPECT_THROW((void)(x * 2).sum().item<float>(), InternalError);
  x[{0}] = 1;  // the rest is still the failed value
  EXPECT_THROW(eval(x), InternalError);
  x[{All}] = 3;
  EXPECT_EQ(x.sum().item<float>(), 12);
}

}  // namespace
}  // namespace kiln
