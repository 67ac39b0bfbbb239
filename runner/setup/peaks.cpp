#include "setup/peaks.hpp"

#include "devices/backend.hpp"
#include "input/diagnostics.hpp"
#include "microbenchmarks/measure.hpp"
#include "os/files.hpp"
#include "os/output.hpp"
#include "os/sha256.hpp"
#include "os/text.hpp"
#include "process/command.hpp"
#include "storage/documents_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace kzoo::setup {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> folder() {
  if (const char* named = std::getenv("KZOO_PEAKS"); named != nullptr && *named != '\0')
    return named;
  auto cache = user_folder("XDG_CACHE_HOME", ".cache");
  if (cache) *cache /= "kernel-zoo/peaks";
  return cache;
}

// Times the same GEMMs in several processes, one after the other.
timing::process_spread measure_spread(const results::device& d) {
  constexpr int kProcesses = 10;
  constexpr double kTimeoutSeconds = 60;
  print_to(stderr, "measuring how much times differ between processes on {}: {} processes\n", d.id,
           kProcesses);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::vector<timing::process_median>> by_size;
  for (int i = 0; i < kProcesses; ++i) {
    const process::command_result ran =
        process::run_command(microbenchmarks::products_command(self, d.id), {}, kTimeoutSeconds);
    const std::string how = process::how_it_failed(ran, kTimeoutSeconds);
    std::vector<timing::process_median> medians;
    try {
      medians = microbenchmarks::read_medians(
          ran.output, fmt::format("{}: {}", how, printable(ran.output, kLongestText)));
    } catch (const failure& f) {
      throw devices::failure(fmt::format("a process that times products: {}", f.what()));
    }
    if (ran.hung || ran.code != 0)
      throw devices::failure(fmt::format("a process that times products {}", how));
    by_size.resize(medians.size());
    for (std::size_t size = 0; size < medians.size(); ++size)
      by_size[size].push_back(medians[size]);
  }
  return timing::fit(by_size);
}

// An idle device's samples are at most this far below the best; an H200 at its power limit: 0.09.
constexpr double kMaxIdleSpread = 0.15;

bool is_disturbed(const roofline::measured_peak& peak) { return peak.spread > kMaxIdleSpread; }

// Peaks that cannot be stored are used all the same.
void store_if_possible(const roofline::peaks& c, const results::device& d) {
  try {
    storage::store_peaks(c, peaks_file(d).value());
  } catch (const not_written& e) {
    print_to(stderr, "warning: {}\n  The next run measures the peaks again.\n", e.what());
  }
}

using microbenchmarks::microbenchmark;

// Adds the microbenchmarks' measurements to the peaks.
void add_measured(roofline::peaks& known, const results::device& d,
                  const std::vector<microbenchmark>& which) {
  known.measured = utc_now();
  for (const microbenchmark& l : which) {
    print_to(stderr, "measuring {} on {}: {}\n", name_of(l.resource), d.id, l.kernel);
    known.all.push_back(microbenchmarks::measure(l));
    if (is_disturbed(known.all.back())) {
      print_to(stderr,
               "warning: the slowest sample is {:.0f}% below the best: is something else running? "
               "A peak that is measured too low makes valid times look impossible.\n",
               100 * known.all.back().spread);
    }
  }
  if (d.abi.kind == KZOO_CUDA && !known.spread) known.spread = measure_spread(d);
}

roofline::measured_peak* find(roofline::peaks& known, const microbenchmark& l) {
  const auto found = std::ranges::find_if(known.all, [&](const roofline::measured_peak& p) {
    return p.resource == l.resource && p.kernel == l.kernel;
  });
  return found == known.all.end() ? nullptr : &*found;
}

// Replaces peaks that are exceeded now, since they were measured on a busy device. Returns whether
// there are any.
bool raise_where_low(roofline::peaks& known, const results::device& d,
                     const std::vector<microbenchmark>& which) {
  constexpr microbenchmarks::schedule kShort{.warmup_seconds = 0.05, .samples = 3};
  bool raised = false;
  for (const microbenchmark& l : which) {
    roofline::measured_peak* was = find(known, l);
    if (was == nullptr) continue;
    const roofline::measured_peak now = microbenchmarks::measure(l, kShort);
    if (now.best.rate <= (1 + roofline::kTolerance) * was->best.rate) continue;
    print_to(stderr, "{} on {} reaches {}, not {} as when the peaks were measured: stored\n",
             name_of(l.resource), d.id, roofline::rate_text(l.resource, now.best.rate),
             roofline::rate_text(l.resource, was->best.rate));
    *was = now;
    raised = true;
  }
  return raised;
}

// Clocks fall some time after the last work, so a high clock is read again.
results::conditions idle_conditions(const devices::nvml& monitor, double highest_mhz) {
  constexpr int kMost = 30;
  constexpr std::chrono::milliseconds kPause{100};
  constexpr double kNearly = 0.98;
  results::conditions now = monitor.read();
  for (int i = 0; i < kMost && now.sm_mhz > kNearly * highest_mhz; ++i) {
    std::this_thread::sleep_for(kPause);
    now = monitor.read();
  }
  return now;
}

}  // namespace

std::optional<fs::path> peaks_file(const results::device& d) {
  const auto place = folder();
  if (!place) return std::nullopt;
  std::string facts = storage::kPeaksSchema;
  for (const auto& [name, fact] : microbenchmarks::peaks_for(d).facts)
    facts += fmt::format("{}={}\n", name, fact);
  constexpr std::size_t kDigits = 8;
  return *place /
         fmt::format("{}-{}.json", file_name_from(d.name), sha256(facts).substr(0, kDigits));
}

std::optional<roofline::peaks> known_peaks(const results::device& d) {
  const auto file = peaks_file(d);
  std::error_code ignored;
  if (!file || !fs::exists(*file, ignored)) return std::nullopt;
  return storage::load_peaks(*file);
}

roofline::peaks measure_peaks(const results::device& d) {
  const auto file = peaks_file(d);
  if (!file) {
    input::refuse("--measure",
                  "there is no place for the peaks: HOME is not set; name a folder in KZOO_PEAKS");
  }
  roofline::peaks c = microbenchmarks::peaks_for(d);
  add_measured(c, d, microbenchmarks::all(d));
  storage::store_peaks(c, *file);
  return c;
}

std::optional<roofline::peaks> peaks_of(const results::device& d,
                                        const std::set<roofline::resource>& needed) {
  auto known = known_peaks(d);
  if (d.abi.kind != KZOO_CUDA || !peaks_file(d)) return known;
  try {
    roofline::peaks now = known.value_or(microbenchmarks::peaks_for(d));
    std::vector<microbenchmark> which = microbenchmarks::all(d);
    std::erase_if(which, [&](const microbenchmark& l) { return !needed.contains(l.resource); });
    if (raise_where_low(now, d, which)) {
      store_if_possible(now, d);
      known = now;
    }
    std::erase_if(which, [&](const microbenchmark& l) { return find(now, l) != nullptr; });
    if (which.empty() && now.spread) return known;
    print_to(stderr,
             "the peaks of {} that this run needs are measured first, once, in some seconds; no "
             "kernel can be faster\n",
             d.id);
    const std::size_t were_known = now.all.size();
    add_measured(now, d, which);
    if (std::ranges::any_of(std::span(now.all).subspan(were_known), is_disturbed)) {
      print_to(
          stderr,
          "warning: these peaks are not used, and impossible times are not found in this run: {} "
          "was busy. They will be measured by the next run, or by `runner devices --measure`\n",
          d.id);
      return known;
    }
    store_if_possible(now, d);
    return now;
  } catch (const devices::failure& f) {
    print_to(stderr, "warning: the peaks could not be measured: {}\n", f.what());
    return known;
  }
}

devices::clock_lock measure_clock_lock(const results::device& d) {
  const devices::nvml monitor(d.pci_bus_id);
  if (monitor.absent()) return devices::unknown_clock_lock(*monitor.absent());
  const results::conditions idle = idle_conditions(monitor, d.highest_mhz);
  if (monitor.busy_share().value_or(0) > 0)
    return devices::unknown_clock_lock("another program uses the device");
  try {
    const auto loads = microbenchmarks::all(d);
    microbenchmarks::measure(loads.front(), {.warmup_seconds = 0.3, .samples = 2});
  } catch (const devices::failure& f) {
    return devices::unknown_clock_lock(f.what());
  }
  return devices::find_clock_lock(idle, monitor.read(), d.highest_mhz);
}

void require_locked_clocks(results::device& d) {
  const devices::clock_lock found = measure_clock_lock(d);
  d.facts["clocks"] = found.words;
  if (found.locked.value_or(false)) return;
  throw devices::absent(fmt::format(
      "[timing] require_locked_clocks = true: the clocks of {}: {}. {}", d.id, found.words,
      d.abi.kind == KZOO_CUDA ? devices::how_to_lock(d.pci_bus_id, d.highest_mhz)
                              : "Only a GPU has clocks that the runner can judge: name one with "
                                "--device, or leave the key out."));
}

}  // namespace kzoo::setup
