#include "workers/workbench.hpp"

#include "workers/plugin_calls.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace kzoo::workers {
namespace {

// GPU clocks need time under load, not a number of runs, to come up: this much of max_seconds.
constexpr double kWarmupShare = 0.1;

class stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

launch describe(const kzoo_launch& l) {
  return {{l.grid[0], l.grid[1], l.grid[2]},
          {l.block[0], l.block[1], l.block[2]},
          l.dynamic_shared,
          l.static_shared,
          l.local_bytes,
          l.registers,
          l.resident_warps,
          l.most_warps};
}

}  // namespace

void workbench::prepare(const kzoo_variant& variant, const problem& p) {
  destroy_instance();
  if (!matrices_.c || matrices_.problem != p || inputs_spoilt_) {
    matrices_ = {};  // freed before others are allocated
    inputs_spoilt_ = false;
    const auto make = [&](const data::matrix& x) {
      return std::make_unique<device_matrix>(backend_, x);
    };
    const operands spec = operands_of(p);
    matrices_ = {p, make(spec.a), make(spec.b), make(spec.c)};
  }
  const kzoo_problem abi = to_abi(p);
  workspace_bytes_ = variant.workspace_bytes(&variant, &abi, &device_.abi);
  if (workspace_bytes_ == UINT64_MAX)
    throw refusal{"error", "it cannot say how much workspace it needs"};
  if (workspace_bytes_ > 0)
    workspace_ = std::make_unique<device_matrix>(backend_, workspace_spec(workspace_bytes_));
  instance_ = create_instance(variant, abi, device_.abi);
  variant_ = &variant;
}

void workbench::renew(const problem& p, const std::string& move) {
  const kzoo_problem now = to_abi(matrices_.problem), next = to_abi(p);
  if (std::memcmp(&now, &next, sizeof now) != 0)
    throw std::invalid_argument("an instance is for one problem, and this is another");
  moved_from_.clear();
  const operands spec = operands_of(p);
  const auto put = [&](std::unique_ptr<device_matrix>& x, const data::matrix& contents, char name) {
    if (move.find(name) == std::string::npos) return x->refill(contents);
    auto elsewhere = std::make_unique<device_matrix>(backend_, contents);
    data::matrix poison = x->spec();
    poison.inside = data::content::poison;
    x->refill(poison);
    moved_from_.push_back(std::move(x));
    x = std::move(elsewhere);
  };
  put(matrices_.a, spec.a, 'a');
  put(matrices_.b, spec.b, 'b');
  put(matrices_.c, spec.c, 'c');
  matrices_.problem = p;
  inputs_spoilt_ = false;
}

run_report workbench::run(const output_request& output) {
  if (const std::string left = backend_.pending_error(); !left.empty()) {
    throw refusal{"error", "an error was pending before the kernel was launched: " + left};
  }
  matrices_.c->refill();
  std::array<kzoo_launch, 16> launches{};
  kzoo_launch_list list{
      sizeof(kzoo_launch_list), launches.data(), launches.size(), sizeof(kzoo_launch), 0, 0};
  call_plugin(&list);
  backend_.synchronize();
  run_report report{find_changes(), digest_c(output), {}};
  show(output, report.output);
  for (std::uint32_t i = 0; i < std::min(list.count, list.capacity); ++i) {
    report.launches.push_back(describe(launches[i]));
  }
  return report;
}

// Every sample starts from the same C, which with beta != 0 is an input.
double workbench::time_one_sample() {
  matrices_.c->refill();
  return backend_.time_ms([this] { call_plugin(); });
}

sample_report workbench::sample(const sample_request& how) {
  const stopwatch warmup;
  const double least =
      how.warmup > 0 && device_.abi.kind == KZOO_CUDA ? kWarmupShare * how.max_seconds : 0;
  for (int i = 0; i < how.warmup || warmup.seconds() < least; ++i) {
    if (warmup.seconds() > how.max_seconds) break;
    time_one_sample();
  }

  sample_report report;
  if (how.compare_clocks) {
    const auto both = backend_.compare_clocks([this] { call_plugin(); });
    report.host_ms = both ? both->host_ms : 0;
    report.stream_ms = both ? both->stream_ms : 0;
  }
  report.cold_cache = backend_.cold_cache();
  const stopwatch sampling;
  do {
    report.samples_ms.push_back(time_one_sample());
    report.output = digest_c(how.output);
    report.seconds = sampling.seconds();
    report.out_of_time =
        report.samples_ms.size() < std::size_t(how.samples) && report.seconds > how.max_seconds;
  } while (report.samples_ms.size() < std::size_t(how.samples) && !report.out_of_time &&
           (report.output.known || how.any_output));
  show(how.output, report.output);
  report.changed = find_changes();
  return report;
}

void workbench::profile(int warmup) {
  for (int i = 0; i < warmup; ++i) time_one_sample();
  matrices_.c->refill();
  backend_.profile([this] { call_plugin(); });
}

void workbench::fold(std::uint64_t key) {
  const std::vector<std::uint64_t> sums =
      backend_.fold_rows(matrices_.c->words(), matrices_.c->spec(), key);
  const std::size_t bytes = sums.size() * sizeof(sums[0]);
  std::memcpy(output_.view(bytes).data(), sums.data(), bytes);
}

void workbench::finish() {
  destroy_instance();
  backend_.synchronize();
  if (const std::string error = backend_.pending_error(); !error.empty()) {
    throw refusal{"error", "left an error behind: " + error};
  }
}

void workbench::destroy_instance() {
  if (variant_ != nullptr) variant_->destroy(variant_, instance_);
  variant_ = nullptr;
  instance_ = nullptr;
  workspace_.reset();
  moved_from_.clear();
}

void workbench::guard_zones(bool out_of_bounds) {
  for (device_matrix* x :
       {matrices_.a.get(), matrices_.b.get(), matrices_.c.get(), workspace_.get()}) {
    if (x != nullptr) x->guard(out_of_bounds);
  }
}

void workbench::call_plugin(kzoo_launch_list* launches) {
  guard_zones(true);
  run_instance(
      *variant_, instance_,
      {sizeof(kzoo_arguments), matrices_.a->first(), matrices_.b->first(), matrices_.c->first(),
       workspace_ ? workspace_->first() : nullptr, backend_.stream(), launches});
  guard_zones(false);
  if (const std::string error = backend_.pending_error(); !error.empty()) {
    throw refusal{"error", "launch failed, and the plugin did not say so: " + error};
  }
}

changes workbench::find_changes() {
  changes found{matrices_.a->changes(), matrices_.b->changes(), {}, 0};
  // Its contents are the plugin's own, the zones around it are not.
  if (workspace_) {
    found.workspace = workspace_->changes();
    found.workspace.inside = 0;
    found.workspace_bytes = workspace_bytes_;
  }
  // The next variant must not inherit them.
  inputs_spoilt_ = inputs_spoilt_ || found.a.any() || found.b.any();
  return found;
}

output_report workbench::digest_c(const output_request& output) {
  output_report report;
  report.digest = matrices_.c->digest();
  report.known = std::ranges::find(output.known, report.digest) != output.known.end();
  return report;
}

void workbench::show() {
  const device_matrix& c = *matrices_.c;
  backend_.copy_to_host(output_.view(c.bytes()).data(), c.words(), c.bytes());
}

void workbench::show(const output_request& output, output_report& report) {
  if (!output.wanted || report.known) return;
  if (output.rows.empty()) return show();
  const device_matrix& c = *matrices_.c;
  const std::size_t element = type_size(c.spec().type);
  const std::size_t row_bytes = static_cast<std::size_t>(c.spec().cols) * element;
  std::byte* to = output_.view(output.rows.size() * row_bytes).data();
  for (const std::int64_t row : output.rows) {
    const std::size_t from = static_cast<std::size_t>(data::index_of(c.spec(), row, 0)) * element;
    backend_.copy_to_host(to, static_cast<const std::byte*>(c.words()) + from, row_bytes);
    to += row_bytes;
  }
  report.survey = backend_.survey(c.words(), c.spec());
}

}  // namespace kzoo::workers
