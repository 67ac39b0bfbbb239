#include "run/validate.hpp"

#include "checks/candidate.hpp"
#include "checks/check.hpp"
#include "os/posix.hpp"
#include "run/device_memory.hpp"
#include "run/judging.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace kzoo::run {
namespace {

// Examples of a kind of problem, without size, type and layout. The first supported one is checked.
using kind = std::vector<problem>;

const std::vector<kind>& all_kinds() {
  static const std::vector<kind> kAll = [] {
    const auto epilogues = [](std::initializer_list<const char*> names) {
      kind all;
      for (const char* name : names) all.emplace_back().epilogue = epilogue_from_name(name);
      return all;
    };
    const kind activations = epilogues({"bias + gelu", "bias + relu", "bias", "gelu", "gelu_tanh",
                                        "relu", "silu", "bias + gelu_tanh", "bias + silu"});
    const kind operands = epilogues(
        {"row_scale + column_scale + row_bias + residual", "column_scale + residual", "residual",
         "row_scale + column_scale", "column_scale", "row_scale", "row_bias"});
    const kind limits = epilogues({"clamp(-1, 1)"});
    kind scales;
    for (const auto& [a, b] : {std::pair<scale_block, scale_block>{{1, 128}, {128, 128}},
                               {{1, 128}, {1, 128}},
                               {{128, 128}, {128, 128}},
                               {{}, {1, 128}},
                               {{}, {1, 64}},
                               {{}, {1, 32}}}) {
      problem& p = scales.emplace_back();
      p.scale_block_a = a;
      p.scale_block_b = b;
    }
    problem groups;
    groups.groups = 5;
    groups.group_rows = data::group_rows::skewed;
    return std::vector<kind>{{problem{}}, activations, operands, limits, scales, {groups}};
  }();
  return kAll;
}

// For example "5 groups of rows"; "" for a plain GEMM.
std::string kind_name(const problem& p) {
  std::vector<std::string> parts;
  if (p.batch > 1) parts.push_back(fmt::format("a batch of {}", p.batch));
  if (p.groups > 0) parts.push_back(fmt::format("{} groups of rows", p.groups));
  const auto name = [](const scale_block& b) { return b.empty() ? "none" : scale_block_name(b); };
  if (p.has_block_scales())
    parts.push_back(
        fmt::format("scale blocks {},{}", name(p.scale_block_a), name(p.scale_block_b)));
  if (!p.epilogue.empty()) parts.push_back("the epilogue " + epilogue_name(p.epilogue));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Problems to try, until the variant supports one: M, N and K that no tile divides, then whole
// tiles and vectors, in layout nn, then in the other layouts.
std::vector<problem> problems_to_try(const results::device& device,
                                     const validation_options& options, const problem& beside,
                                     const element_types& dtype) {
  using shape = std::array<std::int64_t, 3>;
  const shape odd = device.abi.kind == KZOO_CUDA ? shape{1023, 1025, 1031} : shape{129, 127, 65};
  std::vector<shape> shapes{odd, {128, 256, 64}, {512, 512, 512}, {1, 129, 65}, {127, 1, 65}};
  if (options.size) shapes = {*options.size};
  std::vector<problem> list;
  std::vector<layout> layouts{kLayouts.begin(), kLayouts.end()};
  if (options.layout) layouts = {*options.layout};
  for (const layout given : layouts) {
    for (const auto& [m, n, k] : shapes) {
      problem p = beside;
      p.m = m;
      p.n = n;
      p.k = k;
      if (p.has_block_scales() && !options.size) {  // more than one scale block
        p.n += 128;
        p.k += 256;
      }
      p.dtype = dtype;
      p.data = default_fill(dtype);
      p.layout = given;
      list.push_back(p);
    }
  }
  return list;
}

class variant_validation {
 public:
  variant_validation(loaded_plugin& plugin, checks::candidate_description who,
                     const validation_options& options, checks::expected_results& expected_results,
                     fault_search& faults, const validation_observer& watch, results::validation& v)
      : plugin_(plugin),
        who_(std::move(who)),
        out_{kernel_id{plugin.record.name, who_.description.id}.name(), who_.problem.dtype,
             who_.description.declared(who_.problem.dtype)},
        options_(options),
        expected_results_(expected_results),
        faults_(faults),
        watch_(watch),
        v_(v),
        before_(static_cast<std::ptrdiff_t>(v.variants.size())) {}

  void run() {
    const std::vector<kind> kinds =
        options_.beside ? std::vector<kind>{{*options_.beside}} : all_kinds();
    watch_.starts(out_);
    bool is_taken = false;
    for (const kind& each : kinds)
      if (!has_hung()) is_taken |= check_kind(each);
    if (!is_taken) say_why_not(kinds.front().front());
  }

 private:
  std::vector<problem> problems(const problem& beside) const {
    return problems_to_try(v_.device, options_, beside, who_.problem.dtype);
  }

  checks::candidate candidate_at(const problem& p) {
    checks::candidate_description at = who_;
    at.problem = p;
    return checks::candidate(*plugin_.client, at, expected_results_);
  }

  // Returns the problem in the next larger size that the variant supports; empty if there is none.
  // Returns `p` itself on a failure, for the first check to report.
  std::optional<problem> fitted(const problem& p) try {
    checks::candidate asked = candidate_at(p);
    if (!options_.size) return checks::fit(asked, p).taken;
    return plugin_.client->objection(v_.device.id, who_.variant, p) ? std::nullopt
                                                                    : std::optional(p);
  } catch (const failure&) {
    return p;
  }

  // Whether it supports a round size: otherwise no search for a supported size is worthwhile.
  bool may_take(const problem& beside) try {
    problem p = beside;
    p.dtype = who_.problem.dtype;
    p.n = p.k = 512;
    for (const layout given : kLayouts) {
      p.layout = given;
      for (const std::int64_t m : {512, 16}) {
        p.m = m;
        if (!plugin_.client->objection(v_.device.id, who_.variant, p)) return true;
      }
    }
    return false;
  } catch (const failure&) {
    return true;
  }

  // Whether the variant supports a problem of the kind.
  bool check_kind(const kind& each) {
    for (const problem& beside : each) {
      const bool is_example = !options_.beside && !(beside == problem{});
      if (is_example && !may_take(beside)) continue;
      for (const problem& p : problems(beside)) {
        const std::optional<problem> taken = fitted(p);
        if (!taken) continue;
        const results::finding first = first_check(*taken);
        if (first.outcome == results::outcome::skipped) continue;
        begin(*taken);
        add(first);
        run_checks(*taken);
        return true;
      }
    }
    return false;
  }

  results::finding first_check(const problem& p) {
    checks::candidate candidate = candidate_at(p);
    return checks::run_check(checks::runs_and_repeats(), candidate);
  }

  void say_why_not(const problem& beside) {
    // The second size consists of whole tiles, so there the size is not the reason.
    const results::finding first = first_check(problems(beside)[options_.size ? 0 : 1]);
    v_.variants.push_back(out_);
    add(first);
  }

  // In a kind checked before.
  bool has_hung() const {
    return std::ranges::any_of(v_.variants.begin() + before_, v_.variants.end(),
                               [](const auto& one) {
                                 return std::ranges::count(one.findings, results::outcome::hung,
                                                           &results::finding::outcome);
                               });
  }

  void begin(const problem& p) {
    v_.variants.push_back(out_);
    v_.variants.back().problem = problem_name(p);
    v_.variants.back().kind = kind_name(p);
    watch_.takes(v_.variants.back());
  }

  void add(const results::finding& f) {
    v_.variants.back().findings.push_back(f);
    watch_.found(f);
  }

  void run_checks(const problem& p) {
    const std::vector<results::finding>& found = v_.variants.back().findings;
    const auto has = [&](results::outcome o) {
      return std::ranges::any_of(found, [o](const auto& f) { return f.outcome == o; });
    };
    const double start = steady_seconds();
    std::uint64_t workspace_bytes = 0;
    for (const checks::check& c : checks::all_checks()) {
      checks::candidate candidate = candidate_at(p);
      if (c.from > options_.tier || !c.applies_to(candidate)) continue;
      add(has(results::outcome::hung) ? checks::skipped_after_hang(c)
                                      : checks::run_check(c, candidate));
      workspace_bytes = std::max(workspace_bytes, candidate.workspace_bytes());
    }
    if (const auto slow = results::slow_checks(steady_seconds() - start, workspace_bytes))
      add(*slow);
    checks::candidate_description at = who_;
    at.problem = p;
    const auto bad = std::ranges::find_if(found, results::is_bad);
    if (bad == found.end()) {
      if (options_.tier == tier::paranoid && who_.simulated) add(faults_.check(plugin_, at));
    } else if (!has(results::outcome::hung)) {
      at.problem = bad->at.value_or(p);
      for (const results::finding& closer : faults_.of(plugin_, at)) add(closer);
    }
    if (const auto names = plugin_.client->unnamed_libraries(); !names.empty())
      add(results::calls_libraries(names));
  }

  loaded_plugin& plugin_;
  const checks::candidate_description who_;
  const results::validated_variant out_;  // before it is checked
  const validation_options& options_;
  checks::expected_results& expected_results_;
  fault_search& faults_;
  const validation_observer& watch_;
  results::validation& v_;
  const std::ptrdiff_t before_;  // entries of other variants
};

// A variant in one of its element types.
struct task {
  std::size_t plugin = 0;  // index in the list of plugins
  checks::candidate_description who;
};

std::vector<task> tasks_of(const std::vector<loaded_plugin>& plugins, const results::device& device,
                           const validation_options& options) {
  std::vector<task> all;
  for (std::size_t i = 0; i < plugins.size(); ++i) {
    const loaded_plugin& plugin = plugins[i];
    if (!plugin.client) continue;
    for (const selected_variant& variant : plugin.variants) {
      for (const results::signature_description& s : variant.description.signatures) {
        if (std::ranges::find(kElementTypes, s.dtype) == kElementTypes.end()) continue;
        if (options.dtype && s.dtype != *options.dtype) continue;
        checks::candidate_description who{plugin.record.file,
                                          device.id,
                                          variant.index,
                                          variant.description,
                                          plugin.record.description->simulated(),
                                          {},
                                          options.show_errors};
        who.problem.dtype = s.dtype;
        all.push_back({i, std::move(who)});
      }
    }
  }
  return all;
}

// Checks the tasks in threads, each with its own workers. Reports findings in the tasks' order.
class side_by_side {
 public:
  using check = std::function<void(loaded_plugin&, const task&, const validation_observer&,
                                   results::validation&)>;

  side_by_side(const std::vector<loaded_plugin>& plugins, const std::vector<task>& tasks,
               const validation_options& options, check check_one)
      : plugins_(plugins),
        tasks_(tasks),
        options_(options),
        check_one_(std::move(check_one)),
        accounts_(tasks.size()) {}

  void run(const validation_observer& watch, results::validation& v) {
    std::vector<std::jthread> threads;
    try {
      for (unsigned i = 0; i < options_.side_by_side; ++i)
        threads.emplace_back([this, &v] { work(v.device); });
      for (account& of : accounts_) {
        tell(of, watch);
        std::ranges::move(of.variants, std::back_inserter(v.variants));
      }
    } catch (...) {
      next_ = tasks_.size();
      throw;  // after the threads have ended
    }
  }

 private:
  struct account {
    std::vector<std::function<void(const validation_observer&)>> said;
    std::vector<results::validated_variant> variants;
    bool is_over = false;
  };

  void tell(account& of, const validation_observer& watch) {
    for (bool is_over = false; !is_over;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return failure_ || of.is_over || !of.said.empty(); });
      if (failure_) std::rethrow_exception(failure_);
      const auto said = std::exchange(of.said, {});
      is_over = of.is_over;
      lock.unlock();
      for (const auto& say : said) say(watch);
    }
  }

  void work(const results::device& device) {
    loaded_plugin mine;  // plugin of the last task
    std::optional<std::size_t> its_place;
    for (std::size_t i = next_++; i < tasks_.size(); i = next_++) {
      try {
        if (its_place != tasks_[i].plugin) {
          its_place = tasks_[i].plugin;
          mine.record = plugins_[*its_place].record;
          mine.client = options_.make_client(mine.record.file);
          mine.client->see_only(device);
        }
        check_one(mine, device, i);
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        next_ = tasks_.size();
        changed_.notify_all();
      }
    }
  }

  void check_one(loaded_plugin& plugin, const results::device& device, std::size_t i) {
    account& of = accounts_[i];
    const auto note = [&](std::function<void(const validation_observer&)> say) {
      const std::scoped_lock lock(mutex_);
      of.said.push_back(std::move(say));
      changed_.notify_all();
    };
    results::validation found{device, options_.tier, {}, {}, 0};
    check_one_(plugin, tasks_[i],
               {[&](const auto& one) { note([one](const auto& watch) { watch.starts(one); }); },
                [&](const auto& one) { note([one](const auto& watch) { watch.takes(one); }); },
                [&](const auto& one) { note([one](const auto& watch) { watch.found(one); }); }},
               found);
    const std::scoped_lock lock(mutex_);
    of.variants = std::move(found.variants);
    of.is_over = true;
    changed_.notify_all();
  }

  const std::vector<loaded_plugin>& plugins_;
  const std::vector<task>& tasks_;
  const validation_options& options_;
  const check check_one_;
  std::vector<account> accounts_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
};

}  // namespace

results::validation validate(std::vector<loaded_plugin>& plugins, const results::device& device,
                             const validation_options& options, const validation_observer& watch) {
  const double start = steady_seconds();
  results::validation v{device, options.tier, {}, {}, 0};
  for (const loaded_plugin& plugin : plugins) v.plugins.push_back(plugin.record);
  checks::expected_results expected_results;
  fault_search faults(options.find_access_analysis, expected_results);
  const auto check = [&](loaded_plugin& plugin, const task& t, const validation_observer& tells,
                         results::validation& found) {
    variant_validation(plugin, t.who, options, expected_results, faults, tells, found).run();
  };
  const std::vector<task> tasks = tasks_of(plugins, device, options);
  if (options.side_by_side > 1 && tasks.size() > 1) {
    for (loaded_plugin& plugin : plugins)
      if (plugin.client) plugin.client->leave();
    side_by_side(plugins, tasks, options, check).run(watch, v);
  } else {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      loaded_plugin& plugin = plugins[tasks[i].plugin];
      check(plugin, tasks[i], watch, v);
      if (i + 1 == tasks.size() || tasks[i + 1].plugin != tasks[i].plugin) release(*plugin.client);
    }
  }
  v.wall_seconds = steady_seconds() - start;
  return v;
}

}  // namespace kzoo::run
