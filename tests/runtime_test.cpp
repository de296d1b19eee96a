// Buffers, threads, programs, the matrix product and the counters of runtime/, and the settings.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#include "ir/core/error.h"
#include "ir/core/scalar.h"
#include "ir/core/settings.h"
#include "runtime/buffer.h"
#include "runtime/counters.h"
#include "runtime/float_mode.h"
#include "runtime/matmul.h"
#include "runtime/program.h"
#include "runtime/task_pool.h"

namespace kiln::runtime {
namespace {

/// Restores what a test changes for the whole process.
class RuntimeTest : public testing::Test {
 protected:
  ~RuntimeTest() override {
    set_guard_pages(false);
    set_memory_limit(limit_);
    set_num_threads(0);
  }
  int64_t limit_ = memory_limit();
};

using SettingsTable = RuntimeTest;
using Buffers = RuntimeTest;
using Tasks = RuntimeTest;
using Programs = RuntimeTest;
using Matmul = RuntimeTest;
using Counters = RuntimeTest;

// Settings.

TEST_F(SettingsTable, EveryRowIsInTheDocument) {
  std::ifstream file(std::string(KILN_TEST_DIR) + "/../docs/settings.md");
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(settings_table().empty());
  for (const SettingInfo& s : settings_table()) {
    const std::string value =
        s.default_value.empty() ? "" : "`" + std::string(s.default_value) + "`";
    const std::string row =
        "| `" + std::string(s.name) + "` | " + value + " | " + std::string(s.doc) + " |";
    EXPECT_NE(text.str().find(row), std::string::npos) << row;
  }
}

TEST_F(SettingsTable, EveryNameParses) {
  Settings s = default_settings();
  EXPECT_EQ(s.trace_limit, 4096);
  EXPECT_TRUE(s.jit && s.fuse && !s.verify);
  EXPECT_TRUE(parse_setting(s, "KILN_NUM_THREADS", "3"));
  EXPECT_EQ(s.num_threads, 3);
  EXPECT_TRUE(parse_setting(s, "KILN_LOG", "sync,fallback"));
  EXPECT_EQ(s.log, 1u << int(Log::Sync) | 1u << int(Log::Fallback));
  EXPECT_TRUE(parse_setting(s, "KILN_DUMP", "all"));
  EXPECT_EQ(s.dump, 127u);
  EXPECT_TRUE(parse_setting(s, "KILN_DUMP_DIR", "/tmp/x"));
  EXPECT_EQ(s.dump_dir, "/tmp/x");
  EXPECT_TRUE(parse_setting(s, "KILN_MEMORY_LIMIT", "5000000000"));
  EXPECT_EQ(s.memory_limit, 5000000000);
  EXPECT_TRUE(parse_setting(s, "KILN_TRACE_LIMIT", "17"));
  EXPECT_EQ(s.trace_limit, 17);
  EXPECT_TRUE(parse_setting(s, "KILN_CPU", "avx2"));
  EXPECT_EQ(s.cpu, CpuLevel::Avx2);
  EXPECT_TRUE(parse_setting(s, "KILN_VERIFY", "1"));
  EXPECT_TRUE(s.verify);
  EXPECT_TRUE(parse_setting(s, "KILN_FUSE", "0"));
  EXPECT_FALSE(s.fuse);
  EXPECT_TRUE(parse_setting(s, "KILN_JIT", "0"));
  EXPECT_FALSE(s.jit);
}

TEST_F(SettingsTable, BadValuesLeaveTheSettingAsItWas) {
  Settings s = default_settings();
  EXPECT_FALSE(parse_setting(s, "KILN_LOG", "sync,colour"));
  EXPECT_EQ(s.log, 0u);
  EXPECT_FALSE(parse_setting(s, "KILN_TRACE_LIMIT", "0"));
  EXPECT_FALSE(parse_setting(s, "KILN_MEMORY_LIMIT", "12x"));
  EXPECT_FALSE(parse_setting(s, "KILN_CPU", "sse9"));
  EXPECT_FALSE(parse_setting(s, "KILN_JIT", "yes"));
  EXPECT_FALSE(parse_setting(s, "KILN_NO_SUCH", "1"));
  EXPECT_EQ(s.trace_limit, 4096);
  EXPECT_TRUE(s.jit);
}

TEST_F(SettingsTable, EnvironmentIsReadAndUnknownNamesWarnOnce) {
  // A second process, since this one has read its environment already.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    setenv("KILN_RUNTIME_TEST_CHILD", "1", 1);
    setenv("KILN_TRACE_LIMIT", "77", 1);
    setenv("KILN_CPU", "abacus", 1);
    execl("/proc/self/exe", "runtime_test", "--gtest_filter=SettingsChild.*",
          "--gtest_also_run_disabled_tests", nullptr);
    _exit(1);
  }
  close(ends[1]);
  std::string text;
  char part[256];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << text;
  const std::string unknown = "kiln: KILN_RUNTIME_TEST_CHILD: no such setting\n";
  EXPECT_NE(text.find(unknown), std::string::npos) << text;
  EXPECT_EQ(text.find(unknown), text.rfind(unknown)) << text;
  EXPECT_NE(text.find("kiln: KILN_CPU: value not understood"), std::string::npos) << text;
}

// Run by the test above in a process of its own.
TEST(SettingsChild, DISABLED_SeesItsEnvironment) {
  EXPECT_EQ(settings().trace_limit, 77);
  EXPECT_EQ(settings().cpu, CpuLevel::Native);
  EXPECT_EQ(&settings(), &settings());
}

// Buffers.

TEST_F(Buffers, AlignedWritableAndOfTheSizeAskedFor) {
  for (const int64_t n : {0, 1, 63, 64, 65, 255, 257, 1000, 4097, 65536, 65537, 1 << 20,
                          (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20}) {
    const BufferRef b = allocate(n);
    EXPECT_EQ(b->size(), n);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b->data()) % 64, 0u) << n;
    if (n >= 2 << 20) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(b->data()) % (2 << 20), 0u) << n;
    }
    std::memset(b->data(), 0x5A, static_cast<size_t>(n));
    EXPECT_TRUE(b->unique());
  }
}

TEST_F(Buffers, FreedBlocksAreReused) {
  for (const int64_t n : {100, 50000, 300000, 8 << 20}) {
    release_cached_buffers();
    std::byte* first = allocate(n)->data();
    EXPECT_EQ(allocate(n - 1)->data(), first) << n;
    const BufferRef a = allocate(n), b = allocate(n);
    EXPECT_NE(a->data(), b->data());
  }
}

TEST_F(Buffers, ReferencesKeepTheBlock) {
  BufferRef a = allocate(256);
  std::byte* p = a->data();
  BufferRef b = a;
  EXPECT_FALSE(b->unique());
  a = BufferRef();
  EXPECT_TRUE(b->unique());
  EXPECT_NE(allocate(256)->data(), p);
  b = std::move(a);
  EXPECT_EQ(allocate(256)->data(), p);
}

TEST_F(Buffers, BeyondTheLimitRaisesAndTheNextWorks) {
  release_cached_buffers();
  const int64_t live = stats().bytes_live;
  set_memory_limit(64 << 20);
  try {
    allocate(int64_t{1} << 40);
    FAIL();
  } catch (const OutOfMemory& e) {
    EXPECT_EQ(e.requested(), int64_t{1} << 40);
    EXPECT_EQ(e.limit(), 64 << 20);
  }
  EXPECT_THROW(allocate(INT64_MAX), OutOfMemory);
  const BufferRef a = allocate(32 << 20);
  EXPECT_THROW(allocate(40 << 20), OutOfMemory);
  const BufferRef b = allocate(16 << 20);
  EXPECT_EQ(stats().bytes_live, live + (48 << 20));
}

TEST_F(Buffers, CachedBlocksMakeRoom) {
  release_cached_buffers();
  set_memory_limit(64 << 20);
  {
    const BufferRef a = allocate(24 << 20);
  }
  EXPECT_EQ(stats().bytes_cached, 24 << 20);
  const BufferRef b = allocate(48 << 20);  // fits only without the cached block
  EXPECT_EQ(stats().bytes_cached, 0);
  // The class of 50 MiB has 56; with 48 live nothing of it fits.
  EXPECT_THROW(allocate(50 << 20), OutOfMemory);
}

TEST_F(Buffers, CacheIsBoundedAndTheOldestGoesFirst) {
  release_cached_buffers();
  set_memory_limit(64 << 20);  // half of it may be cached
  {
    const BufferRef oldest = allocate(8 << 20);
  }
  {
    const BufferRef a = allocate(12 << 20), b = allocate(16 << 20);
  }
  EXPECT_EQ(stats().bytes_cached, 28 << 20);  // 8 + 12 + 16 would be too much
  EXPECT_EQ(stats().buffers_cached, 2);
  reset_stats();
  {
    const BufferRef a = allocate(12 << 20), b = allocate(16 << 20);
  }
  EXPECT_EQ(stats().bytes_cached, 28 << 20);
}

TEST_F(Buffers, ExactBlockWhereTheClassExceedsTheLimit) {
  release_cached_buffers();
  set_memory_limit(40 << 20);
  const int64_t n = 39 << 20;  // its class has 40; live blocks of other tests leave no such room
  EXPECT_NO_THROW(allocate(n));
}

TEST_F(Buffers, BorrowedMemoryCallsItsDeleterOnce) {
  int calls = 0;
  float values[4] = {1, 2, 3, 4};
  {
    BufferRef a = borrow(values, sizeof values, [&](void* p) {
      EXPECT_EQ(p, values);
      ++calls;
    });
    EXPECT_TRUE(a->is_borrowed());
    EXPECT_EQ(a->size(), int64_t{sizeof values});
    const BufferRef b = a;
    a = BufferRef();
    EXPECT_EQ(calls, 0);
  }
  EXPECT_EQ(calls, 1);
  borrow(values, 4, nullptr);
}

TEST_F(Buffers, GuardPagesLieAtBothEnds) {
  set_guard_pages(true);
  const int64_t page = sysconf(_SC_PAGESIZE);
  const BufferRef b = allocate(page + 128);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b->data() + b->size()) % static_cast<size_t>(page), 0u);
  EXPECT_EQ(b->data()[0], std::byte{0xFB});
  std::memset(b->data(), 1, static_cast<size_t>(b->size()));
  volatile std::byte* end = b->data() + b->size();
  volatile std::byte* before = b->data() + b->size() - 2 * page - 1;
  EXPECT_DEATH(end[0] = std::byte{1}, "");
  EXPECT_DEATH((void)before[0], "");
  EXPECT_NO_THROW(allocate(0));
}

TEST_F(Buffers, WritesIntoTheGapsAreFound) {
  set_guard_pages(true);
  const int64_t before = guard_violations();
  {
    std::memset(allocate(100)->data(), 0, 100);
  }
  EXPECT_EQ(guard_violations(), before);
  {
    allocate(100)->data()[100] = std::byte{0};
  }
  EXPECT_EQ(guard_violations(), before + 1);
  {
    allocate(100)->data()[-1] = std::byte{0};
  }
  EXPECT_EQ(guard_violations(), before + 2);
}

TEST_F(Buffers, ManyThreadsAllocateAndFreeEachOthersBlocks) {
  const int64_t live = stats().bytes_live, buffers = stats().buffers_live;
  std::mutex mutex;
  std::vector<BufferRef> shared(64);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 5000; ++i) {
        const int64_t n = int64_t{1} << random() % 18;
        BufferRef b = allocate(n);
        std::memset(b->data(), t + 1, static_cast<size_t>(n));
        std::this_thread::yield();
        for (int64_t j = 0; j < n; j += 61) wrong += b->data()[j] != std::byte(t + 1);
        std::lock_guard lock(mutex);
        std::swap(shared[random() % shared.size()], b);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  shared.clear();
  EXPECT_EQ(stats().bytes_live, live);
  EXPECT_EQ(stats().buffers_live, buffers);
}

// Tasks.

TEST_F(Tasks, ParallelForCoversEachIndexOnceInWholeGrains) {
  for (const int64_t n : {0, 1, 7, 64, 65, 1000, 100003})
    for (const int64_t grain : {1, 7, 64, 1000000}) {
      if (n / grain > 20000) continue;
      std::vector<std::atomic<int>> hits(static_cast<size_t>(n));
      std::atomic<int> ragged{0};
      parallel_for(n, grain, [&](int64_t begin, int64_t end) {
        ragged += begin % grain != 0 || (end % grain != 0 && end != n) || begin >= end;
        for (int64_t i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
      });
      EXPECT_EQ(ragged, 0);
      for (const auto& h : hits) ASSERT_EQ(h, 1) << n << " " << grain;
    }
}

TEST_F(Tasks, SmallLoopsStayOnTheCaller) {
  const auto self = std::this_thread::get_id();
  parallel_for(64, 64, [&](int64_t, int64_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
  set_num_threads(1);
  EXPECT_EQ(num_threads(), 1);
  parallel_for(1000, 1, [&](int64_t, int64_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
}

TEST_F(Tasks, ExceptionsReachTheCaller) {
  const auto body = [](int64_t begin, int64_t end) {
    if (begin <= 77 && 77 < end) throw std::runtime_error("77");
  };
  EXPECT_THROW(parallel_for(100, 1, body), std::runtime_error);
  EXPECT_THROW(parallel_for(100, 100, body), std::runtime_error);
}

TEST_F(Tasks, EnqueuedWorkRunsInOrderElsewhere) {
  std::mutex mutex;
  std::condition_variable done;
  std::vector<int> order;
  for (int i = 0; i < 100; ++i)
    enqueue([&, i] {
      std::lock_guard lock(mutex);
      order.push_back(i);
      done.notify_one();
    });
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return order.size() == 100; });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_F(Tasks, DefaultFloatModeIsSetAndRestored) {
  const int before = std::fegetround();
  std::fesetround(FE_UPWARD);
  {
    DefaultFloatMode mode;
    volatile double one = 1, three = 3;
    EXPECT_EQ(one / three, 0x1.5555555555555p-2);
  }
  volatile double one = 1, three = 3;
  EXPECT_EQ(one / three, 0x1.5555555555556p-2);
  std::fesetround(before);
}

// Programs. A kernel: out[i] = in[i] * scalar + i for i in [begin, end) blocks of nums[0] elements.

int32_t scale_kernel(void* const* ptrs, const int64_t* nums, std::byte* scratch, int64_t begin,
                     int64_t end) {
  const int64_t block = nums[0], n = nums[1];
  float factor;
  std::memcpy(&factor, &nums[2], sizeof factor);
  auto* temp = reinterpret_cast<float*>(scratch);
  for (int64_t i = begin * block; i < std::min(n, end * block); ++i) {
    temp[i % block] = static_cast<const float*>(ptrs[0])[i] * factor;
    static_cast<float*>(ptrs[1])[i] = temp[i % block] + static_cast<float>(i);
  }
  return 0;
}

int32_t failing_kernel(void* const*, const int64_t*, std::byte*, int64_t begin, int64_t end) {
  return begin <= 5 && 5 < end ? 42 : 0;
}

Slot slot(Slot::Kind kind, int64_t bytes, int64_t offset = 0) {
  Slot s;
  s.kind = kind;
  s.bytes = bytes;
  s.arena_offset = offset;
  return s;
}

KernelStep scale_step(int32_t from, int32_t to, int64_t n, int64_t block) {
  KernelStep k;
  k.fn = scale_kernel;
  k.ptrs = {{from, {}}, {to, {}}};
  k.nums = {block, n, 0};
  k.patches = {{2, 0, {}}};
  k.iterations = (n + block - 1) / block;
  k.grain = 2;
  k.scratch_bytes = block * 4;
  k.bytes_read = k.bytes_written = n * 4;
  return k;
}

/// in -> temp -> out, each times the scalar plus the index.
Program two_steps(int64_t n) {
  Program p;
  p.slots = {slot(Slot::Kind::Input, n * 4), slot(Slot::Kind::Output, n * 4),
             slot(Slot::Kind::Temp, n * 4, 64)};
  p.num_inputs = p.num_outputs = 1;
  p.arena_bytes = 64 + n * 4;
  p.steps.push_back({scale_step(0, 2, n, 128), {}});
  p.steps.push_back({scale_step(2, 1, n, 128), {0}});
  finish_program(p);
  return p;
}

BufferRef floats(int64_t n) {
  BufferRef b = allocate(n * 4);
  for (int64_t i = 0; i < n; ++i) reinterpret_cast<float*>(b->data())[i] = float(i % 97) * 0.5f;
  return b;
}

const float* f32(const BufferRef& b) { return reinterpret_cast<const float*>(b->data()); }

TEST_F(Programs, RunsStepsInOrderWithParametersAndScratch) {
  for (const bool guard : {false, true})
    for (const int64_t n : {1, 200, 5000}) {
      set_guard_pages(guard);
      const Program p = two_steps(n);
      const BufferRef in = floats(n);
      for (const float factor : {2.0f, -0.25f}) {
        const uint64_t params[] = {Bits::of(factor).raw};
        BufferRef out[1];
        run(p, {&in, 1}, params, out);
        for (int64_t i = 0; i < n; ++i)
          ASSERT_EQ(f32(out[0])[i], (f32(in)[i] * factor + float(i)) * factor + float(i)) << i;
      }
    }
}

TEST_F(Programs, GivenOutputsAndDonorsAreWrittenInPlace) {
  const int64_t n = 300;
  Program p = two_steps(n);
  const BufferRef in = floats(n);
  const uint64_t params[] = {Bits::of(1.0f).raw};
  BufferRef out[1] = {allocate(n * 4)};
  std::byte* given = out[0]->data();
  run(p, {&in, 1}, params, out);
  EXPECT_EQ(out[0]->data(), given);
  EXPECT_EQ(f32(out[0])[5], 2.5f + 5 + 5);
  p.slots[1].donor = 0;
  finish_program(p);
  BufferRef donated[1];
  run(p, {&in, 1}, params, donated);
  EXPECT_EQ(donated[0], in);
  EXPECT_EQ(f32(in)[5], 12.5f);
  BufferRef small[1] = {allocate(4)};
  EXPECT_THROW(run(p, {&in, 1}, params, small), InternalError);
}

TEST_F(Programs, OffsetsAndNumbersAreAffineInTheParameters) {
  // Copies out[0] = in[3 + 2 * param] through a byte offset and out[1] from a patched number.
  Program p;
  p.slots = {slot(Slot::Kind::Input, 400), slot(Slot::Kind::Output, 16)};
  p.num_inputs = p.num_outputs = 1;
  KernelStep k;
  k.interpret = [](void* const* ptrs, const int64_t* nums, std::byte*, int64_t, int64_t) {
    static_cast<int64_t*>(ptrs[1])[0] = static_cast<int64_t>(*static_cast<float*>(ptrs[0]) * 2);
    static_cast<int64_t*>(ptrs[1])[1] = nums[0];
    return 0;
  };
  Affine offset{12, {}};
  offset.terms.push_back({0, 8});
  Affine number{100, {}};
  number.terms.push_back({0, -1});
  number.terms.push_back({1, 7});
  k.ptrs = {{0, offset}, {1, {}}};
  k.nums = {0};
  k.patches = {{0, -1, number}};
  p.steps.push_back({k, {}});
  finish_program(p);
  const BufferRef in = floats(100);
  const uint64_t params[] = {4, static_cast<uint64_t>(-3)};
  BufferRef out[1];
  run(p, {&in, 1}, params, out);
  const auto* got = reinterpret_cast<const int64_t*>(out[0]->data());
  EXPECT_EQ(got[0], 3 + 2 * 4);
  EXPECT_EQ(got[1], 100 - 4 - 21);
}

TEST_F(Programs, KernelsRunInTheDefaultFloatMode) {
  Program p;
  p.slots = {slot(Slot::Kind::Output, 4096 * 4)};
  p.num_outputs = 1;
  KernelStep k;
  k.fn = [](void* const* ptrs, const int64_t*, std::byte*, int64_t begin, int64_t end) -> int32_t {
    for (int64_t i = begin; i < end; ++i) {
      volatile float one = 1, three = 3;
      static_cast<float*>(ptrs[0])[i] = one / three;
    }
    return 0;
  };
  k.ptrs = {{0, {}}};
  k.iterations = 4096;
  k.grain = 16;
  p.steps.push_back({k, {}});
  finish_program(p);
  std::fesetround(FE_UPWARD);
  BufferRef out[1];
  run(p, {}, {}, out);
  volatile float one = 1, three = 3;
  const float after = one / three;
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(after, 0x1.555556p-2f);
  for (int64_t i = 0; i < 4096; ++i) ASSERT_EQ(f32(out[0])[i], 0x1.555556p-2f);
}

TEST_F(Programs, FailedKernelsRaiseTheirStatus) {
  for (const int64_t grain : {1, 100}) {
    Program p;
    KernelStep k;
    k.fn = failing_kernel;
    k.iterations = 100;
    k.grain = grain;
    p.steps.push_back({k, {}});
    finish_program(p);
    try {
      run(p, {}, {}, {});
      FAIL();
    } catch (const KernelFailure& e) {
      EXPECT_EQ(e.status(), 42);
      EXPECT_EQ(e.step(), 0);
    }
  }
}

TEST_F(Programs, IndependentLargeStepsFormOneWave) {
  const int64_t n = 4096;
  Program p;
  p.num_inputs = 1;
  p.num_outputs = 3;
  p.slots = {slot(Slot::Kind::Input, n * 4), slot(Slot::Kind::Output, n * 4),
             slot(Slot::Kind::Output, n * 4), slot(Slot::Kind::Output, n * 4)};
  p.steps.push_back({scale_step(0, 1, n, 64), {}});
  p.steps.push_back({scale_step(0, 2, n, 64), {}});
  p.steps.push_back({scale_step(2, 3, n, 64), {1}});
  finish_program(p);
  EXPECT_EQ(p.waves, (std::vector<int32_t>{0, 2, 3}));
  const BufferRef in = floats(n);
  const uint64_t params[] = {Bits::of(3.0f).raw};
  BufferRef out[3];
  run(p, {&in, 1}, params, out);
  for (int64_t i = 0; i < n; ++i) {
    const float once = f32(in)[i] * 3.0f + float(i);
    ASSERT_EQ(f32(out[0])[i], once);
    ASSERT_EQ(f32(out[1])[i], once);
    ASSERT_EQ(f32(out[2])[i], once * 3.0f + float(i));
  }
}

TEST_F(Programs, BrokenProgramsAreRefused) {
  const auto broken = [](auto change) {
    Program p = two_steps(64);
    change(p);
    EXPECT_THROW(finish_program(p), InternalError);
  };
  broken([](Program& p) { p.steps[0].depends = {1}; });
  broken([](Program& p) { std::get<KernelStep>(p.steps[0].work).ptrs[0].slot = 9; });
  broken([](Program& p) { std::get<KernelStep>(p.steps[0].work).fn = nullptr; });
  broken([](Program& p) { std::get<KernelStep>(p.steps[1].work).patches[0].num = 3; });
  broken([](Program& p) { p.slots[2].arena_offset = 4; });
  broken([](Program& p) { p.arena_bytes = 100; });
  broken([](Program& p) { p.slots[1].donor = 5; });
  broken([](Program& p) { std::swap(p.slots[0], p.slots[1]); });
}

TEST_F(Programs, OutOfMemoryLeavesInputsAndTheNextRunWorks) {
  const int64_t n = 1000;
  Program p = two_steps(n);
  Program huge = p;
  huge.arena_bytes = int64_t{1} << 45;
  const BufferRef in = floats(n);
  const uint64_t params[] = {Bits::of(2.0f).raw};
  BufferRef out[1];
  EXPECT_THROW(run(huge, {&in, 1}, params, out), OutOfMemory);
  EXPECT_EQ(f32(in)[96], 48.0f);
  run(p, {&in, 1}, params, out);
  EXPECT_EQ(f32(out[0])[1], (0.5f * 2 + 1) * 2 + 1);
}

// Counters.

TEST_F(Counters, CountLaunchesBytesAndSyncs) {
  const int64_t n = 5000;
  const Program p = two_steps(n);
  const BufferRef in = floats(n);
  const uint64_t params[] = {0};
  reset_stats();
  BufferRef out[1];
  run(p, {&in, 1}, params, out);
  count_sync(SyncCause::Item);
  count_sync(SyncCause::Copy);
  count_sync(SyncCause::Copy);
  count(Counter::CompileNs, 1234);
  const Stats s = stats();
  EXPECT_EQ(s.kernels_launched, 2);
  EXPECT_EQ(s.external_calls, 0);
  EXPECT_EQ(s.bytes_read, 2 * n * 4);
  EXPECT_EQ(s.bytes_written, 2 * n * 4);
  EXPECT_EQ(s.sync_count(SyncCause::Item), 1);
  EXPECT_EQ(s.sync_count(SyncCause::Copy), 2);
  EXPECT_EQ(s.sync_total(), 3);
  EXPECT_EQ(s.compile_ns, 1234);
  reset_stats();
  EXPECT_EQ(stats().kernels_launched, 0);
  EXPECT_EQ(stats().sync_total(), 0);
}

TEST_F(Counters, ExternalStepsCount) {
  Program p;
  p.slots = {slot(Slot::Kind::Input, 24), slot(Slot::Kind::Input, 24),
             slot(Slot::Kind::Output, 16)};
  p.num_inputs = 2;
  p.num_outputs = 1;
  ExternalStep e;
  e.out = {2, {}, DType::F32, {2, 2}, {2, 1}};
  e.inputs = {{0, {}, DType::F32, {2, 3}, {3, 1}}, {1, {}, DType::F32, {3, 2}, {2, 1}}};
  e.bytes_read = 48;
  e.bytes_written = 16;
  p.steps.push_back({e, {}});
  finish_program(p);
  const BufferRef inputs[] = {floats(6), floats(6)};  // 0, 0.5, ... 2.5
  reset_stats();
  BufferRef out[1];
  run(p, inputs, {}, out);
  EXPECT_EQ(f32(out[0])[0], 0.5f * 1 + 1 * 2);
  EXPECT_EQ(f32(out[0])[3], 1.5f * 0.5f + 2 * 1.5f + 2.5f * 2.5f);
  EXPECT_EQ(stats().external_calls, 1);
  EXPECT_EQ(stats().bytes_read, 48);
  EXPECT_EQ(stats().bytes_written, 16);
}

TEST_F(Counters, SumOverThreadsThatHaveEnded) {
  reset_stats();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 10000; ++i) count(Counter::OpsRecorded);
    });
  for (std::thread& t : threads) t.join();
  count(Counter::OpsRecorded);
  EXPECT_EQ(stats().ops_recorded, 80001);
}

TEST_F(Counters, BuffersLiveCachedAndPeak) {
  release_cached_buffers();
  reset_stats();
  const Stats before = stats();
  EXPECT_EQ(before.buffers_cached, 0);
  EXPECT_EQ(before.bytes_cached, 0);
  {
    const BufferRef a = allocate(100000), b = allocate(3 << 20);
    EXPECT_EQ(stats().buffers_live, before.buffers_live + 2);
    EXPECT_EQ(stats().bytes_live, before.bytes_live + 100000 + (3 << 20));
  }
  const BufferRef c = allocate(1000);
  const Stats after = stats();
  EXPECT_EQ(after.buffers_live, before.buffers_live + 1);
  EXPECT_EQ(after.bytes_live, before.bytes_live + 1000);
  EXPECT_EQ(after.bytes_peak, before.bytes_live + 100000 + (3 << 20));
  EXPECT_EQ(after.buffers_cached, 2);
  EXPECT_EQ(after.bytes_cached, (112 << 10) + (3 << 20));  // the classes' sizes
  reset_stats();
  EXPECT_EQ(stats().bytes_peak, after.bytes_live);
}

}  // namespace
}  // namespace kiln::runtime
