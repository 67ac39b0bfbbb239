#include "report/focus.hpp"

#include "os/text.hpp"
#include "report/problem_table.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

constexpr std::size_t kMostNamed = 3;  // kernels that failed

std::string problem_of(const document& d, const cell& c) { return problem_name(d.problem_of(c)); }

// The kernels that failed, each once, in order, with the problems on which they did.
std::vector<std::pair<const cell*, std::size_t>> failed_kernels(const document& d) {
  std::vector<std::pair<const cell*, std::size_t>> all;
  for (const cell& c : d.cells) {
    if (!is_failure(c.verdict)) continue;
    const auto known =
        std::ranges::find_if(all, [&](const auto& f) { return f.first->kernel == c.kernel; });
    if (known == all.end()) {
      all.emplace_back(&c, 1);
    } else {
      ++known->second;
    }
  }
  return all;
}

std::string verdicts_text(const document& d) {
  std::string text = verdict_counts(d), names;
  const auto failed = failed_kernels(d);
  for (std::size_t i = 0; i < std::min(failed.size(), kMostNamed); ++i) {
    const auto& [c, problems] = failed[i];
    add_item(names, problems == 1 ? c->kernel.name() + " on " + problem_of(d, *c)
                                  : fmt::format("{} on {} problems", c->kernel.name(), problems));
  }
  if (failed.size() > kMostNamed)
    names += fmt::format(" and {} more kernels", failed.size() - kMostNamed);
  return names.empty() ? text : text + ": " + names;
}

std::vector<std::string> failures_of(const document& d) {
  std::vector<std::string> lines;
  for (const auto& [c, problems] : failed_kernels(d)) {
    if (lines.size() == kMostNamed) break;
    lines.push_back(fmt::format("{} on {}: {}", c->kernel.name(), problem_of(d, *c), c->reason));
  }
  if (d.complete())
    for (const std::string& name : results::unjudged_sources(d))
      lines.push_back(name + " declined every problem");
  return lines;
}

// "1.06x as fast as cublas:fp32 (95 % interval 1.05x to 1.07x)"; "…, a tie (…)".
std::string compared(const timing::ratio& speed, const std::string& with) {
  const std::string interval = interval_text(speed);
  return fmt::format("{}x as fast as {}{}{}", number_text(speed.value), with,
                     speed.tie() ? ", a tie" : "",
                     interval.empty() ? "" : fmt::format(" (95 % interval {})", interval));
}

// "54200 GFLOP/s, in tf32": with its precision where `with`, which may be null, has another.
std::string rate_of(const document& d, const cell& c, const cell* with) {
  const bool other = with != nullptr
                         ? with->declared != c.declared
                         : d.problem_of(c).dtype == KZOO_F32 && c.declared != KZOO_COMPUTE_FP32;
  return fmt::format("{} GFLOP/s{}", number_text(d.gflops(c).value_or(0)),
                     other ? fmt::format(", in {}", precision_name(c.declared)) : "");
}

// Whether a cell ran in the simulator: by its clock, or without a clock by its plugin.
bool is_simulated(const document& d, const cell& c) {
  if (c.time) return has_simulated_time(c);
  const results::plugin_record* const plugin = d.plugin(c.kernel.plugin);
  return !is_declined(c.verdict) && plugin != nullptr && plugin->description &&
         plugin->description->simulated();
}

// Why there is no time to speak of.
std::string no_speed(const document& d, const focus& f) {
  const bool others_timed = std::ranges::any_of(d.cells, results::is_timed);
  const bool simulated = std::ranges::any_of(d.cells, [&](const cell& c) {
    const std::string& plugin = c.kernel.plugin;
    const bool counts = !others_timed || plugin == f.subject || f.is_own(plugin);
    return counts && is_simulated(d, c);
  });
  if (simulated)
    return "Checked in the simulator, which does not tell how fast a kernel is on a GPU.";
  if (!d.experiment.timing.enabled) return "No times were asked for.";
  if (!others_timed) return "Nothing was timed.";
  return f.subject.empty() ? "None of the new kernels was timed." : "It was not timed.";
}

// The fastest kernel of another plugin by the same clock; null if there is none.
const cell* fastest_beside(const document& d, const cell& c) {
  return fastest_of(d, c.problem, [&](const cell& other) {
    return other.time->clock == c.time->clock && other.kernel.plugin != c.kernel.plugin;
  });
}

// The kernel that a cell is compared with: the baseline, or the fastest other; null if there is
// none.
const cell* compared_with(const document& d, const cell& c) {
  const cell* baseline = d.baseline_of(c);
  const bool other = baseline != nullptr && baseline->kernel.plugin != c.kernel.plugin;
  return other ? baseline : fastest_beside(d, c);
}

// " (tf32 vs fp32)" where one kernel computes in a lower precision, else nothing.
std::string different_precisions(const document& d, const cell& a, const cell& b) {
  return have_different_precision(d, a, b)
             ? fmt::format(" ({} vs {})", precision_name(a.declared), precision_name(b.declared))
             : "";
}

// How a cell compares with another, if there is one.
std::string place_of(const document& d, const cell& c, const cell* with) {
  if (with == nullptr) return "";
  return compared(c.speedup && with == d.baseline_of(c) ? *c.speedup : d.ratio_of(*with, c),
                  with->kernel.name() + different_precisions(d, c, *with));
}

// " Over 6 problems it is 0.62x (on 64x64x64 f32) to 1.07x (on 512x512x512 f32) as fast as cublas:
// faster on 4, a tie on 1, slower on 1."
std::string over_problems(const document& d, const cell& own) {
  std::vector<const cell*> compared;
  for (const cell& c : d.cells)
    if (c.kernel == own.kernel && c.speedup && is_timed(c) && d.baseline_of(c) != &c)
      compared.push_back(&c);
  if (compared.size() < 2 || !d.experiment.baseline) return "";
  const auto count = [&](const auto& holds) { return std::ranges::count_if(compared, holds); };
  const auto ties = count([](const cell* c) { return c->speedup->tie(); });
  const auto faster =
      count([](const cell* c) { return !c->speedup->tie() && c->speedup->value > 1; });
  std::string parts;
  for (const auto& [words, on] : {std::pair{"faster", faster},
                                  {"a tie", ties},
                                  {"slower", std::ssize(compared) - faster - ties}})
    if (on > 0) add_item(parts, fmt::format("{} on {}", words, on));
  const auto figure = [&](const cell* c) {
    return fmt::format("{}x (on {})", number_text(c->speedup->value), problem_of(d, *c));
  };
  const auto [least, most] =
      std::ranges::minmax_element(compared, {}, [](const cell* c) { return c->speedup->value; });
  return fmt::format(" Over {} problems it is {} to {} as fast as {}{}: {}.", compared.size(),
                     figure(*least), figure(*most), baseline_name(d),
                     different_precisions(d, **least, *d.baseline_of(**least)), parts);
}

std::string subject_speed(const document& d, const cell& c) {
  const cell* with = compared_with(d, c);
  const std::string place = place_of(d, c, with);
  const std::string standing = standing_of(d, c).text();
  return fmt::format("{} {} on {}: {}, {}{}.{}", c.kernel.name(),
                     place.empty() ? "was timed" : "is " + place, problem_of(d, c),
                     time_text(c.time->median_ms), rate_of(d, c, with),
                     standing.empty() ? "" : ", place " + standing, over_problems(d, c));
}

// On how many problems a variant of the plugin is the fastest, and where it loses most.
std::string wins_of(const document& d, const std::string& plugin) {
  std::size_t timed = 0, won = 0;
  bool mixed = false;
  double least = 1;
  std::string loss;
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    const cell* c = best_of(d, i, plugin);
    const auto best = best_of_each(d, i);
    timed += std::ranges::any_of(best, [](const cell* b) { return is_timed(*b); }) ? 1 : 0;
    if (c == nullptr || !is_timed(*c)) continue;
    const standing s = standing_of(d, *c);
    won += s.place == 1 ? 1 : 0;
    mixed = mixed || s.mixed;
    const cell* beside = fastest_beside(d, *c);
    const double speed = beside == nullptr ? 1 : d.ratio_of(*beside, *c).value;
    if (s.place == 1 || speed >= least) continue;
    least = speed;
    loss = fmt::format(", at worst {}x as fast as {} (on {})", number_text(speed),
                       beside->kernel.name() + different_precisions(d, *c, *beside),
                       problem_of(d, *c));
  }
  return timed < 2 ? ""
                   : fmt::format(" {} is the fastest on {} of {} problems{}{}.", plugin, won, timed,
                                 mixed ? ", among kernels of several precisions" : "", loss);
}

std::string fastest_speed(const document& d, const focus& f, std::size_t problem) {
  const cell* fastest = fastest_of(
      d, problem, [&](const cell& c) { return f.own.empty() || f.is_own(c.kernel.plugin); });
  const cell* with = compared_with(d, *fastest);
  const std::string place = place_of(d, *fastest, with);
  return fmt::format("{} on {}: {}{}; {}, {}.{}",
                     f.own.empty() ? "Fastest" : "Fastest of the new kernels",
                     problem_of(d, *fastest), fastest->kernel.name(),
                     place.empty() ? "" : ", " + place, time_text(fastest->time->median_ms),
                     rate_of(d, *fastest, with), wins_of(d, fastest->kernel.plugin));
}

// "mine is right on 4 of 5 problems. "
std::string passes_of(const document& d, const std::string& plugin) {
  std::size_t tried = 0, passed = 0;
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    const cell* c = best_of(d, i, plugin);
    if (c == nullptr) continue;
    ++tried;
    passed += std::ranges::all_of(d.cells_of(i), [&](const cell& each) {
      return each.kernel.plugin != plugin || !is_failure(each.verdict);
    });
  }
  if (tried == 0) return plugin + " was judged on no problem. ";
  return fmt::format("{} is right on {} of {} problems. ", plugin, passed, tried);
}

std::string speed_text(const document& d, const focus& f) {
  const std::size_t problem = main_problem(d, f.talked_of());
  if (problem == d.experiment.problems.size())
    return (f.subject.empty() ? "" : passes_of(d, f.subject)) + no_speed(d, f);
  if (f.subject.empty()) return fastest_speed(d, f, problem);
  return subject_speed(d, *best_of(d, problem, f.subject));
}

std::string conditions_text(const document& d) {
  std::string text = d.devices.size() > 1 ? fmt::format("{} × {}", d.devices.size(), d.device.name)
                                          : d.device.name;
  const auto add = [&](const std::string& words) {
    if (!words.empty()) text += " · " + words;
  };
  const auto fact = [&](const char* before, const char* name) {
    const std::string value = d.device.fact(name);
    return value.empty() ? "" : before + value;
  };
  add(fact("driver ", "driver"));
  add(fact("CUDA ", "runtime"));
  std::set<std::string> caches;
  for (const cell& c : d.cells) {
    if (!is_timed(c)) continue;
    caches.insert(c.time->caches == timing::caches::cold
                      ? "L2 flushed before each sample"
                      : fmt::format("{} caches", name_of(c.time->caches)));
  }
  add(fmt::format("{}", fmt::join(caches, ", ")));
  add(fmt::format("tier {}", name_of(d.experiment.verify.tier)));
  add(d.experiment.file.filename().string());
  add(d.started);
  return text;
}

}  // namespace

std::string verdict_counts(const document& d) {
  std::string counts;
  for (const verdict v : kAllOf<verdict>) {
    const auto count = std::ranges::count(d.cells, v, &cell::verdict);
    if (count == 0 && v != verdict::pass) continue;
    add_item(counts, fmt::format("{} {}", count, name_of(v)));
  }
  if (!d.complete())
    add_item(counts, fmt::format("{} of {} cells not run", d.planned - d.cells.size(), d.planned));
  return counts;
}

std::string interval_text(const timing::ratio& r) {
  if (!r.likely) return "";
  return fmt::format("{}x to {}x", number_text(r.likely->low), number_text(r.likely->high));
}

answer answer_of(const document& d, const focus& f) {
  return {results::exit_code(d) == 0 && d.complete(), verdicts_text(d), failures_of(d),
          speed_text(d, f), conditions_text(d)};
}

std::vector<std::string> limits_of(const document& d, const cell& c) {
  std::vector<std::string> lines;
  if (const auto floor = d.floor_of(c)) {
    const std::string share = fmt::format("{:.0f} % of ", 100 * floor->ms / c.time->median_ms);
    const std::string least = fmt::format("{}, {}.", time_text(floor->ms), text_of(*floor));
    lines.push_back(
        d.peak_of(c)
            ? share + "what the roofline allows: the least time is " + least
            : fmt::format("No measured peak bounds its {} arithmetic. Memory traffic alone "
                          "takes at least {}its time: {}",
                          precision_name(c.declared), share, least));
  }
  const results::conditions& k = c.conditions;
  const double mhz = c.time ? timing::median_mhz(*c.time) : 0;
  std::string state;
  if (mhz > 0) {
    const std::string most = d.device.fact("max_clock_mhz");
    state = fmt::format("SM clock {:.0f}{} MHz", mhz, most.empty() ? "" : " of " + most);
  }
  if (k.watts) {
    add_item(
        state,
        fmt::format("up to {:.0f}{} W", *k.watts,
                    k.power_limit_watts ? fmt::format(" of {:.0f}", *k.power_limit_watts) : ""));
  }
  if (k.celsius) add_item(state, fmt::format("{:.0f} °C", *k.celsius));
  // From this share of the highest clock on, reasons for a lower clock are not named.
  constexpr double kNearlyAll = 0.98;
  const double most_mhz = std::strtod(d.device.fact("max_clock_mhz").c_str(), nullptr);
  if (!k.clock_reasons.empty() && !(mhz > 0 && mhz >= kNearlyAll * most_mhz && most_mhz > 0))
    add_item(state, fmt::format("the clock is limited by {}", fmt::join(k.clock_reasons, ", ")));
  if (!state.empty()) lines.push_back(state + ".");
  if (const results::launch* l = results::main_launch(c.launches)) {
    lines.push_back(fmt::format(
        "{} registers a thread, {} of shared memory a block: {} of {} warps fit an SM ({:.0f} %){}.",
        l->registers, shared_text(*l), l->resident_warps, l->most_warps, 100 * l->occupancy(),
        l->local_bytes > 0 ? fmt::format("; {} bytes a thread are spilled", l->local_bytes) : ""));
  }
  return lines;
}

}  // namespace kzoo::report
