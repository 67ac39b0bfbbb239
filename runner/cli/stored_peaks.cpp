#include "cli/stored_peaks.hpp"

#include "core/output.hpp"
#include "core/printable.hpp"
#include "core/sha256.hpp"
#include "devices/backend.hpp"
#include "input/invalid.hpp"
#include "microbenchmarks/measure.hpp"
#include "microbenchmarks/microbenchmark.hpp"
#include "microbenchmarks/process_medians.hpp"
#include "process/command.hpp"
#include "roofline/floor.hpp"
#include "run/execution.hpp"
#include "storage/peaks_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

// "" where it is not set, or empty.
std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path folder() {
  if (const std::string named = environment("KZOO_CEILINGS"); !named.empty()) return named;
  const fs::path below = fs::path("kernel-zoo") / "ceilings";
  // The XDG Base Directory Specification says to ignore a relative path.
  const fs::path cache = environment("XDG_CACHE_HOME");
  if (cache.is_absolute()) return cache / below;
  const fs::path home = environment("HOME");
  return home.empty() ? fs::path() : home / ".cache" / below;
}

// Times the same products in several processes, one after the other.
timing::process_spread measure_spread(const results::device& d) {
  constexpr int kProcesses = 10;
  constexpr double kTimeoutSeconds = 60;
  print_to(stderr, "measuring how much times differ between processes on {}: {} processes\n", d.id,
           kProcesses);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::vector<timing::process_median>> by_size;
  for (int i = 0; i < kProcesses; ++i) {
    const process::command_result ran = process::run_command(
        {self, std::string(microbenchmarks::kProductsCommand), d.id}, {}, kTimeoutSeconds);
    if (ran.code != 0 || ran.hung) throw devices::failure(printable(ran.output, kLongestText));
    const auto medians = microbenchmarks::read_medians(ran.output);
    by_size.resize(medians.size());
    for (std::size_t size = 0; size < medians.size(); ++size)
      by_size[size].push_back(medians[size]);
  }
  return timing::fit(by_size);
}

// On an otherwise idle device the slowest sample is no further than this below the best; an H200
// that reaches its power limit has 0.09.
constexpr double kMaxIdleSpread = 0.15;

bool is_disturbed(const roofline::measured_peak& peak) { return peak.spread > kMaxIdleSpread; }

roofline::peaks measured_now(const results::device& d) {
  roofline::peaks c = microbenchmarks::peaks_for(d);
  c.measured = run::utc_now();
  for (const microbenchmarks::microbenchmark& l : microbenchmarks::all(d)) {
    print_to(stderr, "measuring {} on {}: {}\n", roofline::resource_name(l.resource), d.id,
             l.kernel);
    c.all.push_back(microbenchmarks::measure(l));
    if (is_disturbed(c.all.back())) {
      print_to(stderr,
               "warning: the slowest sample is {:.0f}% below the best: is something else running? "
               "A peak that is measured too low makes valid times look impossible.\n",
               100 * c.all.back().spread);
    }
  }
  if (d.abi.kind == KZOO_CUDA) c.spread = measure_spread(d);
  return c;
}

// Replaces peaks that are exceeded now: something else was running when they were measured.
// Returns whether there are any.
bool raise_where_low(roofline::peaks& known, const results::device& d,
                     const std::set<roofline::resource>& needed) {
  constexpr microbenchmarks::schedule kShort{.warmup_seconds = 0.05, .samples = 3};
  bool raised = false;
  for (const microbenchmarks::microbenchmark& l : microbenchmarks::all(d)) {
    if (!needed.contains(l.resource)) continue;
    const roofline::measured_peak now = microbenchmarks::measure(l, kShort);
    const auto was = std::ranges::find_if(known.all, [&](const roofline::measured_peak& p) {
      return p.resource == l.resource && p.kernel == l.kernel;
    });
    if (was == known.all.end() || now.best.rate <= (1 + roofline::kTolerance) * was->best.rate)
      continue;
    print_to(stderr, "{} on {} reaches {}, not {} as when the peaks were measured: stored\n",
             roofline::resource_name(l.resource), d.id,
             roofline::rate_text(l.resource, now.best.rate),
             roofline::rate_text(l.resource, was->best.rate));
    *was = now;
    raised = true;
  }
  return raised;
}

}  // namespace

fs::path peaks_file(const results::device& d) {
  if (folder().empty()) return {};
  std::string facts = storage::kPeaksSchema;
  for (const auto& [name, fact] : microbenchmarks::peaks_for(d).facts) {
    facts += fmt::format("{}={}\n", name, fact);
  }
  constexpr std::size_t kDigits = 8;
  return folder() /
         fmt::format("{}-{}.json", file_name_from(d.name), sha256(facts).substr(0, kDigits));
}

std::optional<roofline::peaks> known_peaks(const results::device& d) {
  const fs::path file = peaks_file(d);  // "" is never there
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  return storage::load_peaks(file);
}

roofline::peaks measure_peaks(const results::device& d) {
  if (peaks_file(d).empty()) {
    throw input::invalid(
        "--measure: error: there is no place for the peaks: HOME is not set; name a folder in "
        "KZOO_CEILINGS");
  }
  const roofline::peaks c = measured_now(d);
  storage::store_peaks(c, peaks_file(d));
  return c;
}

std::optional<roofline::peaks> peaks_of(const results::device& d,
                                        const std::set<roofline::resource>& needed) {
  auto known = known_peaks(d);
  if (d.abi.kind != KZOO_CUDA || peaks_file(d).empty()) return known;
  try {
    if (known && known->spread) {
      if (raise_where_low(*known, d, needed)) storage::store_peaks(*known, peaks_file(d));
      return known;
    }
    print_to(stderr,
             "the peaks of {} are measured first, once, in some seconds; no kernel can be faster\n",
             d.id);
    const roofline::peaks now = measured_now(d);
    if (std::ranges::any_of(now.all, is_disturbed)) {
      print_to(
          stderr,
          "warning: the peaks are not used, and impossible times are not found in this run: {} "
          "was busy. They will be measured by the next run, or by `runner devices --measure`\n",
          d.id);
      return std::nullopt;
    }
    storage::store_peaks(now, peaks_file(d));
    return now;
  } catch (const devices::failure& f) {
    print_to(stderr, "warning: the peaks could not be measured: {}\n", f.what());
    return known;
  }
}

}  // namespace kzoo::cli
