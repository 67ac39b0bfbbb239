#include "compare/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace kzoo::compare {
namespace {

using results::cell;
using results::document;
using results::plugin_record;

using identity = std::pair<problem, kernel_id>;

identity identity_of(const document& d, const cell& c) { return {d.problem_of(c), c.kernel}; }

change change_of(const timing::ratio& time, double threshold) {
  if (!time.likely) return change::uncertain;
  const double much = 1 + threshold;
  const auto [low, high] = *time.likely;
  if (low > much) return change::slower;
  if (high < 1 / much) return change::faster;
  return low >= 1 / much && high <= much ? change::same : change::uncertain;
}

// The larger variation: perhaps only one run measured the device.
timing::process_spread spread_of(const document& before, const document& after,
                                 timing::clock clock) {
  const timing::process_spread x = before.spread_of(clock), y = after.spread_of(clock);
  return {std::max(x.ms, y.ms), std::max(x.share, y.share)};
}

pair matched(const cell& before, const cell& after, double threshold,
             const timing::process_spread& spread) {
  pair p{&before, &after, change::failing, {}};
  const bool passed = before.verdict == verdict::pass, passes = after.verdict == verdict::pass;
  if (is_declined(after.verdict)) {
    p.change = passed ? change::declined : change::gone;
  } else if (passed != passes) {
    p.change = passes ? change::repaired : change::broken;
  } else if (before.time && after.time && before.time->clock == after.time->clock) {
    p.time = timing::widened(timing::ratio_of_medians(*after.time, *before.time), *after.time,
                             *before.time, spread);
    p.change = change_of(*p.time, threshold);
  } else if (passes) {
    // Without times in both runs only the verdicts can be compared.
    p.change = before.time || after.time ? change::uncertain : change::same;
  }
  return p;
}

void compare_plugins(const document& then, const document& now, std::vector<std::string>& changes) {
  for (const plugin_record& p : then.plugins) {
    const plugin_record* same = now.plugin(p.name);
    if (same == nullptr) {
      changes.push_back(fmt::format("the plugin {} is no longer in the run", p.name));
    } else if (same->sha256 != p.sha256) {
      changes.push_back(fmt::format("the file of the plugin {} changed: {}", p.name,
                                    (same->file.empty() ? p.file : same->file).string()));
    }
  }
  for (const plugin_record& p : now.plugins) {
    if (then.plugin(p.name) == nullptr)
      changes.push_back(fmt::format("the plugin {} was not in the run before", p.name));
  }
}

}  // namespace

std::size_t comparison::count(compare::change c) const {
  return static_cast<std::size_t>(std::ranges::count(pairs, c, &pair::change));
}

comparison compare(const document& before, const document& after, double threshold) {
  comparison result{before, after, threshold, {}};
  std::map<identity, const cell*> left;  // cells of `before` without a match
  for (const cell& c : before.cells)
    if (!is_declined(c.verdict)) left.emplace(identity_of(before, c), &c);
  const auto match = [&](std::map<identity, const cell*>::iterator partner, const cell& now) {
    const timing::process_spread spread =
        now.time ? spread_of(before, after, now.time->clock) : timing::process_spread{};
    result.pairs.push_back(matched(*partner->second, now, threshold, spread));
    return left.erase(partner);
  };
  for (const cell& c : after.cells) {
    const identity who = identity_of(after, c);
    // A plugin that could not be loaded has a single cell for all its variants.
    const bool is_whole_plugin = c.kernel.variant.empty();
    const auto is_partner = [&](const identity& i) {
      return is_whole_plugin ? i.first == who.first && i.second.plugin == who.second.plugin
                             : i == who;
    };
    auto partner = left.lower_bound(who);
    const bool is_new = partner == left.end() || !is_partner(partner->first);
    while (partner != left.end() && is_partner(partner->first)) partner = match(partner, c);
    if (is_new && !is_declined(c.verdict)) result.pairs.push_back({nullptr, &c, change::added, {}});
  }
  for (const cell& c : before.cells) {
    const auto found = left.find(identity_of(before, c));
    if (found != left.end() && found->second == &c)
      result.pairs.push_back({&c, nullptr, change::gone, {}});
  }
  return result;
}

std::optional<std::string> incomparable(const document& before, const document& after) {
  const results::device &then = before.device, &now = after.device;
  if (then.name != now.name)
    return fmt::format("they are from different devices: {} and {}", then.name, now.name);
  if (then.fact("runtime") != now.fact("runtime"))
    return fmt::format("they are from different CUDA runtimes: {} and {}", then.fact("runtime"),
                       now.fact("runtime"));
  return std::nullopt;
}

std::vector<std::string> changes_between(const document& then, const document& now) {
  std::vector<std::string> changes;
  const auto compare = [&](const std::string& what, const std::string& was, const std::string& is) {
    if (was == is) return;
    const auto shown = [](const std::string& text) { return text.empty() ? "none" : text; };
    changes.push_back(fmt::format("{}: {} then, {} now", what, shown(was), shown(is)));
  };
  const auto joined = [](const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, ","));
  };
  if (then.experiment.text != now.experiment.text)
    changes.push_back(fmt::format("the text of {} changed", now.experiment.file.string()));
  const auto &was = then.experiment.overridden, &is = now.experiment.overridden;
  compare("--device", was.device.value_or(""), is.device.value_or(""));
  compare("--plugins", joined(was.plugins), joined(is.plugins));
  compare("--sizes", joined(was.sizes), joined(is.sizes));
  compare("--layouts", joined(was.layouts), joined(is.layouts));
  compare("--batches", joined(was.batches), joined(is.batches));
  compare("--problems", joined(was.problems), joined(is.problems));
  compare("--build-args", joined(was.build_args), joined(is.build_args));
  compare("--verify", was.tier.value_or(""), is.tier.value_or(""));
  compare("the device", fmt::format("{} ({})", joined(then.devices), then.device.name),
          fmt::format("{} ({})", joined(now.devices), now.device.name));
  compare("the CUDA runtime", then.device.fact("runtime"), now.device.fact("runtime"));
  compare("the NVIDIA driver", then.device.fact("driver"), now.device.fact("driver"));
  compare("kernel-zoo", then.version, now.version);
  compare_plugins(then, now, changes);
  return changes;
}

std::vector<ranking> rank(const results::document& d, const std::string& baseline) {
  std::vector<ranking> rankings;
  for (const results::cell& c : d.cells) {
    const results::cell* base = d.baseline_of(c, baseline);
    if (base == nullptr) continue;
    if (rankings.empty() || rankings.back().problem != c.problem)
      rankings.push_back({c.problem, {}});
    rankings.back().places.push_back({&c, d.ratio_of(*base, c), base == &c});
  }
  for (ranking& r : rankings)
    std::ranges::stable_sort(r.places, {},
                             [&](const place& p) { return d.comparable_ms(*p.cell); });
  return rankings;
}

}  // namespace kzoo::compare
