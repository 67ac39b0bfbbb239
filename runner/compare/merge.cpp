#include "compare/compare.hpp"

#include "experiment/load.hpp"
#include "input/diagnostics.hpp"
#include "os/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace kzoo::compare {
namespace {

using results::document;

results::experiment all_problems_of(const results::experiment& e) {
  results::overrides over = e.overridden;
  over.problems.clear();
  return experiment::load_text(e.file, e.text, over);
}

// The problems of the whole experiment, and the shard that has each.
struct numbering {
  std::vector<problem> problems;
  std::map<problem, std::size_t> numbers;
  std::vector<const std::string*> shards;  // null: no shard has it

  explicit numbering(const std::vector<problem>& all) : problems(all), shards(all.size()) {
    for (const problem& p : all) numbers.emplace(p, numbers.size());
  }

  std::size_t assign(const problem& p, const std::string& shard) {
    const std::size_t number = numbers.at(p);
    if (shards[number] != nullptr) {
      input::refuse(shard, "has {}, and so has {}: each problem is one shard's", problem_name(p),
                    *shards[number]);
    }
    shards[number] = &shard;
    return number;
  }
};

// Shards of one device, joined step by step.
struct group {
  document joined;
  std::vector<std::size_t> problems;  // numbers of its shards' problems, even without cells
  std::vector<std::string> hosts;
  std::size_t shards = 0;
};

// Refuses a shard whose experiment, kernel-zoo or plugins differ from the first shard's.
void refuse_other(const shard_results& first, shard_results& other) {
  document& d = other.results;
  // The shard's problems and its device may differ.
  const auto problems =
      std::exchange(d.experiment.overridden.problems, first.results.experiment.overridden.problems);
  const auto device = std::exchange(d.device, first.results.device);
  const auto ids = std::exchange(d.devices, first.results.devices);
  const auto changes = changes_between(first.results, d);
  d.experiment.overridden.problems = problems;
  d.device = device;
  d.devices = ids;
  if (changes.empty()) return;
  input::refuse(other.name, "cannot be merged with {} (\"then\"):\n  {}", first.name,
                fmt::join(changes, "\n  "));
}

group& group_of(std::vector<group>& groups, const shard_results& s, const shard_results& first,
                bool by_device) {
  const std::string words = device_words(s.results.device);
  for (group& g : groups)
    if (device_words(g.joined.device) == words) return g;
  if (!groups.empty() && !by_device) {
    input::refuse(s.name,
                  "was measured on {}, and {} on {}: their times have no common table; --by-device "
                  "makes one for each",
                  words, first.name, device_words(first.results.device));
  }
  return groups.emplace_back();
}

void take_head(group& g, document& d) {
  document& joined = g.joined;
  if (g.shards++ == 0) {
    joined = d;
    joined.cells.clear();
    joined.wall_seconds = 0;
    joined.devices.clear();
    joined.notes.clear();
    joined.planned = 0;
  }
  joined.started = std::min(joined.started, d.started);
  joined.wall_seconds = std::max(joined.wall_seconds, d.wall_seconds);
  joined.planned += d.planned;
  if (!joined.peaks) joined.peaks = d.peaks;
  for (const std::string& device : d.devices) add_once(joined.devices, device);
  for (const std::string& note : d.notes) add_once(joined.notes, note);
  add_once(g.hosts, d.host);
}

// Moves the cells into the group, with the numbers of their problems.
void take_cells(group& g, shard_results& s, numbering& all) {
  document& d = s.results;
  const auto own =
      experiment::load_text(d.experiment.file, d.experiment.text, d.experiment.overridden);
  for (const problem& p : own.problems) g.problems.push_back(all.assign(p, s.name));
  for (results::cell& c : d.cells) {
    const auto found = all.numbers.find(d.problem_of(c));
    if (found == all.numbers.end() || all.shards[found->second] != &s.name) {
      input::refuse(s.name, "has results on {}, which is not its problem",
                    problem_name(d.problem_of(c)));
    }
    c.problem = found->second;
    g.joined.cells.push_back(std::move(c));
  }
}

// The kernels of the problem with the most kernels.
std::vector<std::string> kernels_in(const document& d) {
  std::vector<std::string> most;
  for (auto begin = d.cells.begin(); begin != d.cells.end();) {
    const auto end = std::ranges::find_if(
        begin, d.cells.end(), [&](const results::cell& c) { return c.problem != begin->problem; });
    if (static_cast<std::size_t>(end - begin) > most.size()) {
      most.clear();
      for (auto c = begin; c != end; ++c) most.push_back(c->kernel.name());
    }
    begin = end;
  }
  return most;
}

// Names the missing cells of a problem, which should have `each`.
std::string lacking(const document& d, std::size_t number, const problem& p, std::size_t each,
                    const std::vector<std::string>& kernels) {
  const auto cells = d.cells_of(number);
  if (cells.size() >= each) return "";
  if (cells.empty()) return fmt::format("{}: all {} cells", problem_name(p), each);
  if (kernels.size() < each)
    return fmt::format("{}: {} of {} cells", problem_name(p), each - cells.size(), each);
  const std::span names(kernels);
  return fmt::format("{}: {}", problem_name(p), fmt::join(names.subspan(cells.size()), ", "));
}

// Sets the group's experiment and sorts the cells in its order.
void finish(group& g, const numbering& all, bool is_only) {
  document& d = g.joined;
  const std::size_t each = d.planned / g.problems.size();
  std::ranges::stable_sort(d.cells, {}, &results::cell::problem);
  std::ranges::sort(g.problems);
  d.host = fmt::format("{}", fmt::join(g.hosts, ", "));
  d.experiment = all_problems_of(d.experiment);
  if (is_only) {
    d.planned = each * all.problems.size();
  } else {  // its table omits the other groups' problems
    for (const std::size_t number : g.problems)
      d.experiment.overridden.problems.push_back(std::to_string(number));
    std::vector<problem> own;
    for (const std::size_t number : g.problems) own.push_back(all.problems[number]);
    for (results::cell& c : d.cells) {
      const auto at = std::ranges::lower_bound(g.problems, c.problem);
      c.problem = static_cast<std::size_t>(at - g.problems.begin());
    }
    d.experiment.problems = std::move(own);
  }
}

}  // namespace

std::string device_words(const results::device& d) {
  std::string words = d.name;
  if (const std::string driver = d.fact("driver"); !driver.empty()) words += ", driver " + driver;
  if (const std::string runtime = d.fact("runtime"); !runtime.empty())
    words += ", CUDA runtime " + runtime;
  return words;
}

merged merge(std::vector<shard_results> shards, bool by_device) {
  const shard_results& first = shards.front();
  numbering all(all_problems_of(first.results.experiment).problems);
  std::vector<group> groups;
  for (shard_results& s : shards) {
    if (&s != &first) refuse_other(first, s);
    group& g = group_of(groups, s, first, by_device);
    take_head(g, s.results);
    take_cells(g, s, all);
  }
  merged result;
  for (group& g : groups) {
    finish(g, all, groups.size() == 1);
    const document& d = g.joined;
    const auto kernels = kernels_in(d);
    const std::size_t each = d.planned / d.experiment.problems.size(),
                      before = result.missing.size();
    for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
      const std::string words = lacking(d, i, d.experiment.problems[i], each, kernels);
      if (!words.empty()) result.missing.push_back(words);
    }
    if (before < result.missing.size()) {
      g.joined.notes.push_back(fmt::format(
          "cells are missing: {}", fmt::join(std::span(result.missing).subspan(before), "; ")));
    }
    result.by_device.push_back(std::move(g.joined));
  }
  for (std::size_t i = 0; groups.size() > 1 && i < all.problems.size(); ++i) {
    if (all.shards[i] == nullptr)
      result.missing.push_back(problem_name(all.problems[i]) + ": all cells");
  }
  return result;
}

}  // namespace kzoo::compare
