#include "worker/prepared_kernel.hpp"

#include "os/posix.hpp"
#include "worker/plugin_calls.hpp"
#include "worker/stopwatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>

namespace kzoo::worker {
namespace {

// Warm-up stops after this time, however many warm-up runs were asked for.
constexpr double kWarmSeconds = 0.002;

// The speed of a kernel depends measurably on where its matrices are in physical memory, and an
// allocator tends to return the same addresses again. An unused allocation of random size before
// each matrix moves it.
std::size_t random_gap_bytes() {
  constexpr std::size_t kStep = 64 << 10, kMaxSteps = 128;
  static std::minstd_rand random{std::random_device{}()};
  return kStep * (1 + random() % kMaxSteps);
}

results::launch describe(const kzoo_launch& l) {
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

void prepared_kernel::prepare(const kzoo_variant& variant, const problem& p) {
  destroy_instance();
  if (!matrices_.c || matrices_.problem != p || inputs_modified_) {
    matrices_ = {};  // frees the old matrices before new ones are allocated
    inputs_modified_ = false;
    const auto make = [&](const data::matrix& x, const char* name) {
      add_gap();
      return std::make_unique<device_matrix>(backend_, x, name);
    };
    const operands spec = operands_of(p);
    matrices_.a = make(spec.a, "A");
    matrices_.b = make(spec.b, "B");
    matrices_.c = make(spec.c, "C");
    matrices_.problem = p;
    add_gap();  // before the workspace or the plugin's allocations
  }
  const kzoo_problem abi = to_abi(p);
  workspace_bytes_ = variant.workspace_bytes(&variant, &abi, &device_.abi);
  if (workspace_bytes_ == UINT64_MAX)
    throw refusal{"error", "it cannot say how much workspace it needs"};
  if (workspace_bytes_ > device_.memory_bytes)
    throw refusal{"error",
                  fmt::format("it asks for {} bytes of workspace, more than the device has",
                              workspace_bytes_)};
  if (workspace_bytes_ > 0) workspace_ = make_workspace();
  instance_ = create_instance(variant, abi, device_.abi);
  variant_ = &variant;
}

void prepared_kernel::add_gap() {
  // Where an access around an allocation faults, there are no neighbours, and no need of gaps.
  if (backend_.faults_around()) return;
  const std::size_t bytes = random_gap_bytes();
  matrices_.gaps.push_back(std::make_unique<device_memory>(backend_, bytes));
  void* const words = matrices_.gaps.back()->get();
  matrices_.poison.push_back({words, poison_spec(bytes)});
  backend_.fill(words, matrices_.poison.back().spec);
}

std::unique_ptr<device_matrix> prepared_kernel::make_workspace() {
  return std::make_unique<device_matrix>(backend_, workspace_spec(workspace_bytes_),
                                         "the workspace");
}

void prepared_kernel::refill(const problem& p, const std::string& move) {
  const kzoo_problem now = to_abi(matrices_.problem), next = to_abi(p);
  using bytes = std::array<std::byte, sizeof(kzoo_problem)>;
  if (std::bit_cast<bytes>(now) != std::bit_cast<bytes>(next)) {
    throw std::invalid_argument(
        "an instance serves one problem, and refill() asks for a different one");
  }
  moved_from_.clear();
  const operands spec = operands_of(p);
  const auto put = [&](std::unique_ptr<device_matrix>& x, const data::matrix& contents, char letter,
                       const char* name) {
    if (move.find(letter) == std::string::npos) return x->refill(contents);
    auto elsewhere = std::make_unique<device_matrix>(backend_, contents, name);
    data::matrix poison = x->spec();
    poison.inside = data::content::poison;
    x->refill(poison);
    moved_from_.push_back(std::move(x));
    x = std::move(elsewhere);
  };
  put(matrices_.a, spec.a, 'a', "A");
  put(matrices_.b, spec.b, 'b', "B");
  put(matrices_.c, spec.c, 'c', "C");
  if (workspace_ && move.find('w') != std::string::npos) {
    auto elsewhere = make_workspace();
    workspace_->refill();
    moved_from_.push_back(std::exchange(workspace_, std::move(elsewhere)));
  }
  matrices_.problem = p;
  inputs_modified_ = false;
}

run_report prepared_kernel::run(const run_request& how) {
  if (const std::string left = backend_.pending_error(); !left.empty()) {
    throw refusal{"error", "an error was pending before the kernel was launched: " + left};
  }
  // Where code is loaded by the first launch, that waits for the device: no run like the others.
  if (loaded_.insert(variant_).second && backend_.stream() != nullptr)
    run_once(devices::start::idle, random_negation());
  const devices::finished_run done =
      run_once(how.idle_device ? devices::start::idle : devices::start::cold,
               how.plain ? data::negation{} : random_negation());
  run_report report;
  report.changed = find_changes();
  report.output = report_on(done.digest, how.output);
  report.unfinished = matrices_.c->digest() != done.digest;
  copy_result(how.output, report.output);
  for (std::uint32_t i = 0; i < std::min(launch_list_.count, launch_list_.capacity); ++i) {
    report.launches.push_back(describe(launches_[i]));
  }
  return report;
}

devices::finished_run prepared_kernel::run_once(devices::start from, const data::negation& next) {
  const devices::finished_run done = backend_.run(steps_of_run([&] { return next; }), from);
  if (done.changed_later > 0)
    throw refusal{
        "wrong",
        fmt::format("C still changes when run() has returned: {} of the "
                    "elements that were read at once changed later; does a thread go on computing?",
                    done.changed_later)};
  return done;
}

devices::run_steps prepared_kernel::steps_of_run(const std::function<data::negation()>& next) {
  return {.fill =
              [this, next] {
                fill(next());
                if (workspace_) workspace_->refill();
              },
          .fill_late = [this] { fill_late(); },
          .call = [this] { call_plugin(); },
          .output = matrices_.c->words(),
          .output_spec = matrices_.c->spec(),
          .inputs = {matrices_.a->words(), matrices_.b->words()}};
}

data::negation prepared_kernel::random_negation() { return {random_() | 1, random_() | 1, true}; }

void prepared_kernel::fill(const data::negation& negated) {
  const auto negate = [](device_matrix& x, const data::negation& op) {
    x.negate(data::op_negation(x.spec(), op));
  };
  negate(*matrices_.a, {negated.rows, 0, negated.without_late});
  negate(*matrices_.b, {0, negated.cols, negated.without_late});
  data::matrix c = matrices_.c->spec();
  c.negated = negated;
  matrices_.c->refill(c);
}

void prepared_kernel::fill_late() {
  for (device_matrix* x : {matrices_.a.get(), matrices_.b.get(), matrices_.c.get()}) {
    data::negation all = x->spec().negated;
    all.without_late = false;
    x->negate(all);
  }
}

sample_report prepared_kernel::sample(const sample_request& how) {
  const devices::start from = how.hot ? devices::start::hot : devices::start::cold;
  sample_report report;
  const stopwatch total, warmup;
  if (loaded_.insert(variant_).second) run_once(from, random_negation());
  const double enough = std::max(kWarmSeconds, how.warmup_seconds);
  for (int i = 0; i < how.warmup || warmup.seconds() < how.warmup_seconds; ++i) {
    if (how.warmup == 0 || warmup.seconds() > enough) break;
    run_once(from, random_negation());
  }
  report.cold_cache = !how.hot && backend_.cold_cache();
  report.warmup_seconds = warmup.seconds();
  const stopwatch sampling;
  bool low_clock = false;
  do {
    const devices::finished_run one = run_once(from, random_negation());
    report.samples_ms.push_back(one.ms);
    report.sm_mhz.push_back(one.sm_mhz);
    low_clock = one.sm_mhz > 0 && one.sm_mhz < how.least_mhz;
    report.output = report_on(one.digest, how.output);
    report.seconds = sampling.seconds();
  } while (report.samples_ms.size() < std::size_t(how.samples) &&
           report.seconds < how.max_seconds && !low_clock &&
           (report.output.known || how.any_output));
  copy_result(how.output, report.output);
  report.changed = find_changes();
  report.total_seconds = total.seconds();
  return report;
}

sustain_report prepared_kernel::sustain(const sustain_request& how) {
  sustain_report report;
  report.begin_seconds = steady_seconds();
  const devices::repeated_runs all =
      backend_.repeat(steps_of_run([this] { return random_negation(); }), how.seconds);
  report.end_seconds = steady_seconds();
  report.runs = all.count;
  report.ms = all.ms;
  report.output = report_on(matrices_.c->digest(), how.output);
  copy_result(how.output, report.output);
  report.changed = find_changes();
  return report;
}

void prepared_kernel::profile(int warmup) {
  for (int i = 0; i < warmup; ++i) run_once(devices::start::cold, random_negation());
  fill(random_negation());
  fill_late();
  backend_.profile([this] { call_plugin(); });
}

void prepared_kernel::sum_rows(std::uint64_t key) {
  const std::vector<data::row_sums> sums =
      backend_.sum_rows(matrices_.c->words(), matrices_.c->spec(), key);
  const std::size_t bytes = sums.size() * sizeof(sums[0]);
  std::memcpy(output_.view(bytes).data(), sums.data(), bytes);
}

void prepared_kernel::destroy() {
  destroy_instance();
  backend_.synchronize();
  if (const std::string error = backend_.pending_error(); !error.empty()) {
    throw refusal{"error", "left an error behind: " + error};
  }
}

void prepared_kernel::destroy_instance() {
  if (variant_ != nullptr) variant_->destroy(variant_, instance_);
  variant_ = nullptr;
  instance_ = nullptr;
  workspace_.reset();
  moved_from_.clear();
}

void prepared_kernel::mark_redzones(bool out_of_bounds) {
  for (device_matrix* x :
       {matrices_.a.get(), matrices_.b.get(), matrices_.c.get(), workspace_.get()}) {
    if (x != nullptr) x->mark_redzones(out_of_bounds);
  }
}

void prepared_kernel::call_plugin() {
  mark_redzones(true);
  call_plugin({sizeof(kzoo_arguments), matrices_.a->first(), matrices_.b->first(),
               matrices_.c->first(), workspace_ ? workspace_->first() : nullptr, nullptr, nullptr});
  mark_redzones(false);
}

void prepared_kernel::call_plugin(kzoo_arguments arguments) {
  arguments.stream = backend_.stream();
  launch_list_.count = 0;
  arguments.launches = &launch_list_;
  run_instance(*variant_, instance_, arguments);
  if (const std::string error = backend_.pending_error(); !error.empty()) {
    throw refusal{"error", "launch failed, and the plugin did not say so: " + error};
  }
}

changes prepared_kernel::find_changes() {
  // C has been judged; what is left are its zones.
  std::vector<devices::filled_buffer> buffers{{matrices_.a->words(), matrices_.a->spec()},
                                              {matrices_.b->words(), matrices_.b->spec()}};
  if (workspace_) buffers.push_back({workspace_->words(), workspace_->spec()});
  const std::array<const device_matrix*, 4> all{matrices_.a.get(), matrices_.b.get(),
                                                workspace_.get(), matrices_.c.get()};
  for (const device_matrix* x : all)
    if (x != nullptr) std::ranges::copy(x->zones(), std::back_inserter(buffers));
  std::ranges::copy(matrices_.poison, std::back_inserter(buffers));
  const std::vector<data::changes> each = backend_.find_changes(buffers);
  std::span<const data::changes> rest = std::span(each).subspan(workspace_ ? 3 : 2);
  const auto with_zones = [&](const device_matrix& x, const data::changes& own) {
    const auto in_zones = rest.first(x.zones().size());
    rest = rest.subspan(in_zones.size());
    return x.with_zones(own, in_zones);
  };
  changes found;
  found.a = with_zones(*matrices_.a, each[0]);
  found.b = with_zones(*matrices_.b, each[1]);
  // A plugin may write to its workspace, but not to the redzones around it.
  if (workspace_) {
    data::changes own = each[2];
    own.inside = 0;
    found.workspace = with_zones(*workspace_, own);
    found.workspace_bytes = workspace_bytes_;
  }
  found.c = with_zones(*matrices_.c, {});
  for (const data::changes& gap : rest) found.between += gap.inside + gap.outside;
  found.restored_a = restored(*matrices_.a, found.a);
  found.restored_b = restored(*matrices_.b, found.b);
  // The next variant must not run on modified inputs.
  inputs_modified_ = inputs_modified_ || found.a.any() || found.b.any();
  return found;
}

std::int64_t prepared_kernel::restored(const device_matrix& x, const data::changes& found) {
  const std::int64_t at = backend_.take_noted_write(x.words());
  return at < 0 || found.any() ? -1 : at / static_cast<std::int64_t>(type_size(x.spec().type));
}

output_report prepared_kernel::report_on(std::uint64_t digest, const output_request& output) {
  output_report report;
  report.digest = digest;
  report.known = std::ranges::find(output.known, digest) != output.known.end();
  return report;
}

void prepared_kernel::copy_result() {
  device_matrix& c = *matrices_.c;
  c.negate({});  // what is shown, and judged, is the result of the problem itself
  backend_.copy_to_host(output_.view(c.bytes()).data(), c.words(), c.bytes());
}

void prepared_kernel::copy_result(const output_request& output, output_report& report) {
  if (!output.wanted || report.known) return;
  if (output.rows.empty()) return copy_result();
  device_matrix& c = *matrices_.c;
  c.negate({});
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

}  // namespace kzoo::worker
