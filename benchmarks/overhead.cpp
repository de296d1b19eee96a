#include "overhead.h"

#include <array>

namespace bench {

using kiln::Tensor;

namespace {

/// Per call of `calls`, from the counters before and after them.
void count_per_call(Row& row, const kiln::Stats& before, const kiln::Stats& after, int64_t calls) {
  row.kernels = (after.kernels_launched - before.kernels_launched) / calls;
  row.bytes =
      (after.bytes_read + after.bytes_written - before.bytes_read - before.bytes_written) / calls;
}

Tensor normal(int64_t n) {
  const Tensor x = kiln::randn({n});
  kiln::eval(x);
  return x;
}

Row record_op(double seconds) {
  constexpr int ops = 1000;
  const Tensor x = normal(8);
  std::vector<double> record, drop;
  const auto chain = [&] {
    Tensor y = x;
    record.push_back(seconds_of([&] {
                       for (int i = 0; i < ops / 2; ++i) {
                         y = y * x;
                         y = y + 0.5;
                       }
                     }) /
                     ops);
    drop.push_back(seconds_of([&] { y = Tensor(); }) / ops);
  };
  chain();
  const double cold_s = record.back();
  for (int i = 0; i < 3; ++i) chain();
  record.clear();
  drop.clear();

  const kiln::Stats before = kiln::stats();
  for (double spent = 0; spent < seconds; spent += (record.back() + drop.back()) * ops) chain();
  const kiln::Stats after = kiln::stats();
  Row row{.workload = "record_op", .timing = summarize(record)};
  row.timing.cold_s = cold_s;
  row.more = {{"record_ns", row.timing.median_us * 1e3},
              {"drop_ns", summarize(drop).median_us * 1e3},
              {"syncs", static_cast<double>(after.sync_total() - before.sync_total())}};
  return row;
}

Row plan_hit(double seconds) {
  const Tensor x = normal(8), y = normal(8);
  const auto call = [&] { evaluate_and_drop({kiln::tanh(x * y + 0.5) - y}); };
  Row row{.workload = "plan_hit", .timing = clock(call, seconds)};

  constexpr int64_t calls = 100;
  const kiln::Stats before = kiln::stats();
  for (int64_t i = 0; i < calls; ++i) call();
  const kiln::Stats after = kiln::stats();
  count_per_call(row, before, after, calls);
  row.more = {{"calls", calls},
              {"plan_hits", static_cast<double>(after.plan_hits - before.plan_hits)}};
  return row;
}

/// Not the program of plan_hit, whose kernel would serve.
Row new_shape(double) {
  constexpr int64_t shapes = 1000;
  Tensors inputs;
  for (int64_t i = 0; i < shapes; ++i)
    inputs.emplace_back(std::vector<float>(static_cast<size_t>(16 + i), 0.5f));

  std::vector<double> times;
  const kiln::Stats before = kiln::stats();
  for (const Tensor& x : inputs)
    times.push_back(seconds_of([&] { evaluate_and_drop({kiln::tanh(x * 0.5 + x) * x}); }));
  const kiln::Stats after = kiln::stats();

  const double cold_s = times.front();
  times.erase(times.begin());
  Row row{.workload = "new_shape", .timing = summarize(times)};
  row.timing.cold_s = cold_s;
  count_per_call(row, before, after, shapes);
  const auto difference = [&](int64_t kiln::Stats::* counter) {
    return static_cast<double>(after.*counter - before.*counter);
  };
  row.more = {{"shapes", shapes},
              {"kernels_compiled", difference(&kiln::Stats::kernels_compiled)},
              {"plan_misses", difference(&kiln::Stats::plan_misses)},
              {"skeleton_hits", difference(&kiln::Stats::skeleton_hits)}};
  return row;
}

constexpr std::array<Overhead, 3> table{
    {{"record_op", record_op}, {"plan_hit", plan_hit}, {"new_shape", new_shape}}};

}  // namespace

std::span<const Overhead> overheads() { return table; }

}  // namespace bench
