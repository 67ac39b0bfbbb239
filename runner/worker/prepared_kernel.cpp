#include "worker/prepared_kernel.hpp"

#include "core/kernel_name.hpp"
#include "core/verdict.hpp"
#include "os/posix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string_view>

namespace kzoo::worker {
namespace {

// Inverted offsets of groups would be invalid, and block scales are positive.
bool may_be_negative(data::content inside) {
  switch (inside) {
    case data::content::offsets:
    case data::content::scales:
    case data::content::one_or_two:
    case data::content::ones: return false;
    default: return true;
  }
}

// "; launched: naive_kernel, reduce<4>", or "" if no name is known.
std::string names_of_kernels(const std::vector<results::launch>& launches) {
  std::set<std::string> names;
  for (const results::launch& l : launches)
    if (!l.kernel.empty()) names.insert(short_kernel_name(demangled(l.kernel)));
  return names.empty() ? "" : fmt::format("; launched: {}", fmt::join(names, ", "));
}

// Warm-up stops after this time, even before all warm-up runs.
constexpr double kWarmSeconds = 0.002;

// A kernel's speed depends measurably on its matrices' physical addresses, and allocators tend to
// reuse addresses. A gap of random size before each matrix moves it.
constexpr std::size_t kGapStep = 64 << 10;
std::size_t random_gap_bytes() {
  constexpr std::size_t kMaxSteps = 128;
  static std::minstd_rand random{std::random_device{}()};
  return kGapStep * (1 + random() % kMaxSteps);
}

}  // namespace

prepared_kernel::~prepared_kernel() {
  try {
    destroy_instance();
  } catch (...) {
    // The plugin's process has ended, or a signal has come, which the next wait reports.
  }
}

void prepared_kernel::prepare(std::uint32_t variant, const problem& p, kzoo_precision declared) {
  destroy_instance();
  declared_ = declared;
  filled_ = p;
  workspace_bytes_ = plugin_.workspace_bytes(variant, p, device_.abi);
  if (workspace_bytes_ == UINT64_MAX)
    throw refusal{"error", "it cannot say how much workspace it needs"};
  if (workspace_bytes_ > device_.memory_bytes)
    throw refusal{"error",
                  fmt::format("it asks for {} bytes of workspace, more than the device has",
                              workspace_bytes_)};
  // Frees what is not reused before allocating anything new.
  const data::matrix workspace = workspace_spec(workspace_bytes_);
  if (workspace_ && (spoiled_ || workspace_->spec().cols != workspace.cols)) workspace_.reset();
  if (!matrices_.c || matrices_.problem != p || spoiled_) allocate(p);
  if (workspace_bytes_ > 0 && !workspace_) workspace_ = make_workspace();
  plugin_.create(slot_, variant, p, device_.abi);
  variant_ = variant;
  place();
}

void prepared_kernel::allocate(const problem& p) {
  matrices_ = {};
  spoiled_ = false;
  const std::vector<named_operand> inputs = inputs_of(p);
  const data::matrix c = operands_of(p).c;
  if (backend_.faults_around()) {
    for (const named_operand& input : inputs)
      matrices_.inputs.push_back(
          std::make_unique<device_matrix>(backend_, input.stored, input.name.data()));
    matrices_.c = std::make_unique<device_matrix>(backend_, c, "C");
  } else {
    std::vector<data::matrix> all;
    for (const named_operand& input : inputs) all.push_back(input.stored);
    all.push_back(c);
    matrices_.inputs = place_together(all);
    matrices_.c = std::move(matrices_.inputs.back());
    matrices_.inputs.pop_back();
  }
  matrices_.problem = p;
}

std::vector<std::unique_ptr<device_matrix>> prepared_kernel::place_together(
    std::span<const data::matrix> all) {
  struct part {
    std::size_t begin, end;  // in bytes
  };
  constexpr std::size_t kPage = 2 << 20;  // a page of the device, where a large matrix begins
  std::vector<part> parts;
  std::size_t end = 0;
  for (const data::matrix& x : all) {
    const std::size_t bytes = device_matrix::bytes_needed(backend_, x);
    const std::size_t begin =
        rounded_up(end + random_gap_bytes(), bytes < kPage ? kGapStep : kPage);
    end = begin + bytes;
    parts.push_back({begin, end});
  }
  end += random_gap_bytes();  // before the workspace or the plugin's allocations
  matrices_.together = std::make_unique<device_memory>(backend_, end);
  auto* const memory = static_cast<std::byte*>(matrices_.together->get());
  std::vector<std::unique_ptr<device_matrix>> placed;
  std::size_t last = 0;
  const auto fill_gap = [&](std::size_t until) {
    matrices_.poison.push_back({memory + last, poison_spec(until - last)});
    backend_.fill(memory + last, matrices_.poison.back().spec);
  };
  for (std::size_t i = 0; i < all.size(); last = parts[i++].end) {
    fill_gap(parts[i].begin);
    placed.push_back(std::make_unique<device_matrix>(backend_, all[i], memory + parts[i].begin));
  }
  fill_gap(end);
  return placed;
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
  constexpr std::string_view kLetters = "abo";
  const std::vector<named_operand> next_inputs = inputs_of(p);
  for (std::size_t i = 0; i < next_inputs.size(); ++i)
    put(matrices_.inputs[i], next_inputs[i].stored, kLetters[std::min(i, kLetters.size() - 1)],
        next_inputs[i].name.data());
  put(matrices_.c, operands_of(p).c, 'c', "C");
  if (workspace_ && move.find('w') != std::string::npos) {
    auto elsewhere = make_workspace();
    workspace_->refill();
    moved_from_.push_back(std::exchange(workspace_, std::move(elsewhere)));
  }
  place();
  matrices_.problem = filled_ = p;
}

run_report prepared_kernel::run(const run_request& request) {
  if (const auto left = backend_.pending_error()) {
    throw refusal{"error", "an error was pending before the kernel was launched: " + *left};
  }
  // The first launch may load code, which synchronizes the device: an unusual run.
  if (process_.loaded.insert(*variant_).second && backend_.stream() != nullptr)
    run_once(devices::start::idle, devices::other_streams::free, fresh());
  const devices::finished_run done = run_once(
      request.idle_device ? devices::start::idle : devices::start::cold,
      devices::other_streams::free,
      request.fresh ? fresh() : [this] { return matrices_.problem.seed; });
  run_report report;
  report.ms = done.ms;
  report.judged = report_on(done.found);
  if (!done.found.right()) plugin_.go_on();
  const auto [found, c] = backend_.examine(watched(), matrices_.c->contents());
  report.changed = changes_from(found);
  report.unfinished = c.digest != done.found.c.digest;
  report.output = copy_result(done.found.c, request.output);
  report.launches = plugin_.launches(slot_);
  return report;
}

devices::finished_run prepared_kernel::run_once(devices::start from, devices::other_streams others,
                                                const std::function<std::uint64_t()>& seed) {
  constexpr std::size_t kSeeds = 4;  // kept seeds of the first runs, and of the latest
  std::vector<std::uint64_t>& seeds = process_.seeds;
  if (seeds.empty() || seeds.back() != filled_.seed) seeds.push_back(filled_.seed);
  if (seeds.size() > 2 * kSeeds) seeds.erase(seeds.begin() + kSeeds);
  constexpr int kMostTries = 5;
  for (int tries = 0; tries < kMostTries; ++tries) {
    try {
      const devices::finished_run done = backend_.run(steps_of_run(seed), from, others);
      if (done.alone) return done;
    } catch (const devices::failure& f) {
      if (backend_.stream() == nullptr) throw;
      // An address that a kernel must not use is found at the end, without the kernel's name.
      throw devices::failure(f.what() + names_of_kernels(plugin_.launches(slot_)));
    }
  }
  throw refusal{"wrong",
                fmt::format("does not work on the stream that it is given: in {} runs of {} a "
                            "kernel of another stream was on the device, and stayed, when the "
                            "numbers of the run came",
                            kMostTries, kMostTries),
                step::kStream};
}

devices::run_steps prepared_kernel::steps_of_run(const std::function<std::uint64_t()>& seed) {
  std::vector<void*> words;
  for (const auto& input : matrices_.inputs) words.push_back(input->contents().words);
  return {.numbers = [this, seed] { return numbers_of(seed()); },
          .call = [this] { call_plugin(); },
          .fill_between = [this] { fill_between(); },
          .output = matrices_.c->words(),
          .expected = [this] { return expected(); },
          .inputs = words};
}

void prepared_kernel::place() {
  placement where{{}, matrices_.c->first(), workspace_ ? workspace_->first() : nullptr};
  for (const auto& input : matrices_.inputs) where.inputs.push_back(input->first());
  plugin_.place(slot_, where, backend_.stream());
}

std::uint64_t prepared_kernel::fresh_seed() const {
  constexpr int kMostDraws = 16;  // equally large groups are the same for each seed
  problem next = filled_;
  for (int draw = 0; draw < kMostDraws; ++draw) {
    next.seed = devices::random_key() & INT64_MAX;  // stored as a signed number
    if (next.groups == 0 ||
        !data::have_same_rows(operands_of(next).offsets, operands_of(filled_).offsets))
      break;
  }
  return next.seed;
}

std::vector<devices::filled_buffer> prepared_kernel::numbers_of(std::uint64_t seed) {
  filled_.seed = seed;
  late_rows_.assign(matrices_.inputs.size(), -1);
  std::vector<devices::filled_buffer> all;
  const auto add = [&](device_matrix& to, const data::matrix& x) {
    to.plan(x);
    all.push_back(to.contents());
  };
  auto to = matrices_.inputs.begin();
  for (const named_operand& next : inputs_of(filled_)) add(**to++, next.stored);
  add(*matrices_.c, operands_of(filled_).c);
  if (workspace_) add(*workspace_, workspace_->spec());
  return all;
}

void prepared_kernel::fill(std::uint64_t seed) {
  for (const devices::filled_buffer& each : numbers_of(seed)) backend_.fill(each.words, each.spec);
}

void prepared_kernel::fill_between() {
  for (std::size_t i = 0; i < late_rows_.size(); ++i) {
    const data::matrix& x = matrices_.inputs[i]->spec();
    if (!may_be_negative(x.inside)) continue;
    const auto rows = static_cast<std::uint64_t>(data::all_rows(x));
    const auto next = static_cast<std::int64_t>(devices::random_key() % rows);
    late_rows_[i] = next == late_rows_[i] ? -1 : next;
    matrices_.inputs[i]->set_late_row(late_rows_[i]);
  }
  if (filled_.beta != 0.0) matrices_.c->refill();
}

reference::product_check prepared_kernel::expected() const {
  reference::product_check all(filled_, declared_);
  for (std::size_t i = 0; i < late_rows_.size(); ++i)
    all.set_late_row(matrices_.inputs[i]->spec().key, late_rows_[i]);
  return all;
}

judged_report prepared_kernel::report_on(const reference::product_findings& found) const {
  judged_report report{found.right(),    filled_.seed,   found.row,
                       found.wrong_rows, found.c.survey, {}};
  if (!report.right) report.earlier_seeds = process_.seeds;
  return report;
}

sample_report prepared_kernel::sample(const sample_request& request) {
  const devices::start from = request.hot ? devices::start::hot : devices::start::cold;
  sample_report report;
  const double begin = steady_seconds();
  const auto elapsed = [&] { return steady_seconds() - begin; };
  const auto once = [&] { return run_once(from, devices::other_streams::counted, fresh()); };
  if (process_.loaded.insert(*variant_).second) once();
  const double enough = std::max(kWarmSeconds, request.warmup_seconds);
  for (int i = 0; i < request.warmup || elapsed() < request.warmup_seconds; ++i) {
    if (request.warmup == 0 || elapsed() > enough) break;
    once();
  }
  report.cold_cache = !request.hot && backend_.cold_cache();
  report.warmup_seconds = elapsed();
  const double first = steady_seconds();
  bool low_clock = false;
  do {
    const devices::finished_run one = once();
    report.samples_ms.push_back(one.ms);
    report.sm_mhz.push_back(one.sm_mhz);
    low_clock = one.sm_mhz > 0 && one.sm_mhz < request.least_mhz;
    report.judged = report_on(one.found);
    report.seconds = steady_seconds() - first;
  } while (report.samples_ms.size() < std::size_t(request.samples) &&
           report.seconds < request.max_seconds && !low_clock && report.judged.right);
  report.changed = changes_from(backend_.find_changes(watched()));
  report.total_seconds = elapsed();
  return report;
}

sustain_report prepared_kernel::sustain(const sustain_request& request) {
  sustain_report report;
  report.begin_seconds = steady_seconds();
  const devices::repeated_runs all = backend_.repeat(steps_of_run(fresh()), request.seconds);
  report.end_seconds = steady_seconds();
  report.runs = all.count;
  report.ms = all.ms;
  report.judged = report_on(all.found);
  report.changed = changes_from(backend_.find_changes(watched()));
  return report;
}

void prepared_kernel::profile(int warmup) {
  for (int i = 0; i < warmup; ++i)
    run_once(devices::start::cold, devices::other_streams::counted, fresh());
  fill(fresh_seed());
  backend_.profile([this] { call_plugin(); });
}

void prepared_kernel::destroy() {
  destroy_instance();
  backend_.synchronize();
  if (const auto error = backend_.pending_error()) {
    throw refusal{"error", "left an error behind: " + *error};
  }
}

void prepared_kernel::destroy_instance() {
  if (std::exchange(variant_, std::nullopt)) plugin_.destroy(slot_);
  moved_from_.clear();
}

void prepared_kernel::mark_redzones(bool out_of_bounds) {
  for (const auto& input : matrices_.inputs) input->mark_redzones(out_of_bounds);
  matrices_.c->mark_redzones(out_of_bounds);
  if (workspace_) workspace_->mark_redzones(out_of_bounds);
}

void prepared_kernel::call_plugin() {
  mark_redzones(true);
  try {
    plugin_.run(slot_);
  } catch (...) {
    mark_redzones(false);  // for the next fill
    throw;
  }
  mark_redzones(false);
  if (const auto error = backend_.pending_error()) {
    throw refusal{"error", "launch failed, and the plugin did not say so: " + *error};
  }
}

std::vector<devices::filled_buffer> prepared_kernel::watched() const {
  // C has been judged; only its zones are left.
  std::vector<const device_matrix*> all;
  for (const auto& input : matrices_.inputs) all.push_back(input.get());
  if (workspace_) all.push_back(workspace_.get());
  std::vector<devices::filled_buffer> buffers;
  for (const device_matrix* x : all) buffers.push_back(x->contents());
  if (workspace_) buffers.back().elements_may_change = true;
  all.push_back(matrices_.c.get());
  for (const device_matrix* x : all) std::ranges::copy(x->zones(), std::back_inserter(buffers));
  std::ranges::copy(matrices_.poison, std::back_inserter(buffers));
  return buffers;
}

changes prepared_kernel::changes_from(std::span<const data::changes> each) {
  std::span<const data::changes> rest =
      each.subspan(matrices_.inputs.size() + (workspace_ ? 1 : 0));
  const auto with_zones = [&](const device_matrix& x, const data::changes& own) {
    const auto in_zones = rest.first(x.zones().size());
    rest = rest.subspan(in_zones.size());
    return x.with_zones(own, in_zones);
  };
  changes all;
  for (const auto& input : matrices_.inputs) {
    const data::changes own = with_zones(*input, each[all.inputs.size()]);
    all.inputs.push_back({own, restored(*input, own)});
  }
  if (workspace_) {
    all.workspace = with_zones(*workspace_, each[all.inputs.size()]);
    all.workspace_bytes = workspace_bytes_;
  }
  all.c = with_zones(*matrices_.c, {});
  for (const data::changes& gap : rest) all.between += gap.inside + gap.outside;
  spoiled_ = spoiled_ || all.between > 0 || all.c.any() || all.workspace.any() ||
             std::ranges::any_of(all.inputs, [](const auto& input) { return input.seen.any(); });
  return all;
}

std::int64_t prepared_kernel::restored(const device_matrix& x, const data::changes& found) {
  const auto at = backend_.take_noted_write(x.words());
  return !at || found.any() ? -1 : *at / static_cast<std::int64_t>(type_size(x.spec().type));
}

void prepared_kernel::copy_result(const std::vector<std::int64_t>& rows) {
  const device_matrix& c = *matrices_.c;
  if (rows.empty())
    return backend_.copy_to_host(output_.view(c.bytes()).data(), c.words(), c.bytes());
  const data::matrix& x = c.spec();
  const std::size_t element = type_size(x.type);
  const std::size_t row_bytes = static_cast<std::size_t>(x.cols) * element;
  std::byte* to = output_.view(rows.size() * row_bytes).data();
  for (const std::int64_t row : rows) {
    const std::size_t from = static_cast<std::size_t>(data::index_of(x, row, 0)) * element;
    backend_.copy_to_host(to, static_cast<const std::byte*>(c.words()) + from, row_bytes);
    to += row_bytes;
  }
}

output_report prepared_kernel::copy_result(const data::reading& c, const output_request& output) {
  const bool known = std::ranges::find(output.known, c.digest) != output.known.end();
  if (output.wanted && !known) copy_result(output.rows);
  return {c.digest, known, c.survey};
}

}  // namespace kzoo::worker
