#include "run/execution.hpp"

#include "checks/candidate.hpp"
#include "core/verdict.hpp"
#include "devices/nvml.hpp"
#include "os/text.hpp"
#include "results/tuned.hpp"
#include "roofline/roofline.hpp"
#include "run/device_memory.hpp"
#include "run/judging.hpp"
#include "run/timing_rounds.hpp"

#include <algorithm>
#include <utility>

namespace kzoo::run {
namespace {

using results::cell;
using results::document;

class execution {
 public:
  execution(plan& p, document head, resumed_cells& resumed, observer& watch)
      : plan_(p),
        document_(std::move(head)),
        resumed_(resumed),
        watch_(watch),
        seconds_before_(document_.wall_seconds),
        complete_(document_.cells.empty() ? 0 : document_.cells.back().problem + 1) {}

  document run(const std::function<std::optional<share>()>& next) {
    watch_.begins(document_);
    while (const auto part = next()) {
      const bool interrupted = !run_share(*part);
      watch_.finished(document_, part->problem);
      if (interrupted) break;  // finished cells are kept
    }
    // Closing a GPU takes a while, so all workers begin at once.
    for (const loaded_plugin& plugin : plan_.plugins)
      if (plugin.client) plugin.client->begin_to_end();
    return std::move(document_);
  }

 private:
  // planned_[i] describes document_.cells[first_cell_ + i].
  struct planned_cell {
    loaded_plugin* plugin;
    const selected_variant* variant;
    bool taken_over;  // by the interrupted run
  };

  // For a problem that the interrupted run finished.
  void pass_over(std::size_t index) {
    for (const cell& c : document_.cells_of(index)) {
      note_hang(c, plan_.experiment.problems[index]);
      watch_.taken_over(document_, c);
    }
  }

  // Returns false when a signal interrupts it.
  bool run_share(const share& part) {
    const std::size_t index = part.problem;
    if (index < complete_) {
      pass_over(index);
      return true;
    }
    planned_.clear();
    deadline_ = deadline_of(index);
    finished_ = 0;
    first_cell_ = document_.cells.size();
    try {
      judging judge(plan_, index, state_, monitor_);
      judge_all(judge, part);
      time_all(judge, part);
      finish_until(planned_.size());
      state_.expected_results.forget_large();
      return true;
    } catch (const interrupt::interrupted&) {
      drop_unfinished();
      return false;
    }
  }

  // Each problem gets an equal share of the remaining time.
  std::optional<double> deadline_of(std::size_t index) const {
    const auto budget = plan_.experiment.timing.budget_seconds;
    if (!budget) return std::nullopt;
    // Compiling counts towards the budget.
    const double over = begun_ + *budget - results::cost_of(document_).compile_seconds;
    const double now = steady_seconds(), left = std::max(0.0, over - now);
    return now + left / double(plan_.experiment.problems.size() - index);
  }

  // A hang must not take time from other kernels. All hangs add at most one budget.
  void extend_budget(double seconds) {
    const double most = plan_.experiment.timing.budget_seconds.value_or(0);
    seconds = std::min(seconds, most - extended_by_);
    extended_by_ += seconds;
    begun_ += seconds;
    if (deadline_) *deadline_ += seconds;
  }

  using plugin_variant = std::pair<loaded_plugin*, const selected_variant*>;

  std::vector<plugin_variant> cells_in(const share& part) const {
    std::vector<plugin_variant> cells;
    std::size_t rival = 0;
    for (loaded_plugin& plugin : plan_.plugins) {
      for (const selected_variant& variant : plugin.variants) {
        if (plan_.experiment.is_baseline(plugin.record.name, variant.description.id) ||
            rival++ % part.count == part.index)
          cells.emplace_back(&plugin, &variant);
      }
    }
    return cells;
  }

  void judge_all(judging& judge, const share& part) {
    std::vector<cell> resumed = std::move(resumed_[part.problem]);
    resumed_.erase(part.problem);
    timed_cells_.clear();
    const auto mine = cells_in(part);
    for (auto at = mine.begin(); at != mine.end(); ++at) {
      const auto [plugin, variant] = *at;
      const auto next =
          std::find_if(at, mine.end(), [&](const auto& other) { return other.first != plugin; });
      // Its worker opens the device meanwhile.
      if (next != mine.end() && next->first->client) next->first->client->start();
      judge_one(judge, part.problem, resumed, *plugin, *variant);
      if (next == at + 1 && plugin->client) release(*plugin->client, need_);
    }
    if (!plan_.experiment.timing.enabled) return;
    for (const planned_cell& at : planned_) {
      if (waits(at))
        timed_cells_.push_back(judge.timed_cell_for(*at.plugin, *at.variant, cell_of(at)));
    }
  }

  void judge_one(judging& judge, std::size_t index, std::vector<cell>& resumed,
                 loaded_plugin& plugin, const selected_variant& variant) {
    const problem& p = plan_.experiment.problems[index];
    const std::size_t position = planned_.size();
    const bool taken_over = position < resumed.size();
    if (taken_over) {
      document_.cells.push_back(std::move(resumed[position]));
    } else {
      interrupt::check();
      watch_.starts(p, kernel_id{plugin.record.name, variant.description.id}.name());
      const double start = steady_seconds();
      document_.cells.push_back(judge.judge(plugin, variant, position));
      document_.cells.back().judge_seconds = steady_seconds() - start;
      if (const judged_result* result = judge.new_result(document_.cells.back()))
        watch_.judged(document_.cells.back(), *result,
                      [&] { return state_.expected_results.of(p); });
      if (document_.cells.back().verdict == verdict::hung)
        extend_budget(document_.cells.back().judge_seconds);
    }
    if (!taken_over && plugin.client && variant.obstacle.empty())
      tell(*plugin.client, variant.index, document_.cells.back());
    planned_.push_back({&plugin, &variant, taken_over});
    note_hang(document_.cells.back(), p);
    // Finishes cells that are not timed, up to the first that waits for its times.
    std::size_t ready = finished_;
    while (ready < planned_.size() && !waits(planned_[ready])) ++ready;
    finish_until(ready);
  }

  bool waits(const planned_cell& at) {
    return plan_.experiment.timing.enabled && !at.taken_over &&
           cell_of(at).verdict == verdict::pass;
  }

  cell& cell_of(const planned_cell& at) {
    return document_.cells[first_cell_ + static_cast<std::size_t>(&at - planned_.data())];
  }

  void time_all(judging& judge, const share& part) {
    const problem& p = plan_.experiment.problems[part.problem];
    const auto time_all_rounds = [&] {
      run_rounds(plan_.experiment.timing, timed_cells_, limits(), need_,
                 [&](int round, const cell& c) {
                   interrupt::check();
                   watch_.times(p, c.kernel.name(), round);
                 });
    };
    time_all_rounds();
    const auto refuses_one = [&] {
      bool any = false;
      for (const timed_cell& t : timed_cells_) any = refuse_impossible(*t.cell) || any;
      return any;
    };
    // Kernels dropped in favour of a rejected kernel may be the fastest.
    while (refuses_one() && plan_.experiment.timing.drop_slower) time_all_rounds();
    for (const timed_cell& t : timed_cells_) {
      note_hang(*t.cell, p);
      tell(*t.client, t.candidate->who().variant, *t.cell);
    }
    for (const planned_cell& at : planned_) {
      if (std::ranges::find(timed_cells_, &cell_of(at), &timed_cell::cell) != timed_cells_.end())
        judge.explain(cell_of(at), *at.plugin, *at.variant);
    }
    document_.compare_with_baseline(std::span(document_.cells).subspan(first_cell_),
                                    part.count > 1);
  }

  round_limits limits() {
    round_limits l{0, deadline_, document_.spread_of(timing::clock::gpu)};
    // Continues after the rounds in which an interrupted run timed some cells.
    for (const planned_cell& at : planned_) {
      if (const auto& time = cell_of(at).time)
        l.first_round = std::max(l.first_round, time->rounds.back() + 1);
    }
    return l;
  }

  // If any time is below the roofline floor, removes all times and sets the verdict; returns true.
  bool refuse_impossible(cell& c) const {
    using results::impossible_time;
    if (plan_.experiment.verify.impossible_time == impossible_time::report) return false;
    std::optional<timing::summary> sustained;
    if (c.sustained) sustained = c.sustained->time;
    for (const auto* time : {&c.time, &c.hot_time, &sustained}) {
      if (!*time) continue;
      const double ms = (*time)->median_ms;
      const auto floor = document_.floor_of(c, **time);
      if (!floor || !roofline::is_below(ms, *floor)) continue;
      c.verdict = verdict::impossible_time;
      c.reason = roofline::why_impossible(ms, *floor, c.declared);
      c.check = step::kFloor;
      c.time.reset();
      c.hot_time.reset();
      c.sustained.reset();
      c.end_to_end.reset();
      return true;
    }
    return false;
  }

  // Adds what the client knows of the variant's plugin and the cell does not yet say.
  static void tell(client::plugin_client& of, std::uint32_t variant, cell& c) {
    const auto add = [&](const results::finding& f) {
      if (std::ranges::find(c.findings, f.check, &results::finding::check) == c.findings.end())
        c.findings.push_back(f);
    };
    if (const std::string changed = of.take_interference(variant); !changed.empty())
      add(results::remark(
          results::kRunner,
          "changes settings of the runner's own process, which are set back after each turn: " +
              changed));
    if (const auto names = of.unnamed_libraries(); !names.empty())
      add(results::calls_libraries(names));
    c.libraries = of.libraries();
  }

  void finish_until(std::size_t end) {
    if (finished_ < end) count_time();
    for (; finished_ < end; ++finished_) {
      const planned_cell& at = planned_[finished_];
      if (at.taken_over) {
        watch_.taken_over(document_, cell_of(at));
      } else {
        watch_.finished(document_, std::span(document_.cells).subspan(first_cell_, finished_ + 1));
      }
    }
  }

  void drop_unfinished() { document_.cells.resize(first_cell_ + finished_); }

  void note_hang(const cell& c, const problem& p) {
    if (c.verdict == verdict::hung) state_.hung.emplace(c.kernel.name(), problem_name(p));
  }

  void count_time() { document_.wall_seconds = seconds_before_ + steady_seconds() - start_; }

  plan& plan_;
  document document_;
  resumed_cells& resumed_;
  observer& watch_;
  devices::nvml monitor_{plan_.device.pci_bus_id};
  memory_need need_ = memory_need_of(plan_, monitor_);
  double seconds_before_;
  std::size_t complete_;  // problems before this have all their cells
  double start_ = steady_seconds();
  run_state state_{plan_};
  double begun_ = steady_seconds();
  double extended_by_ = 0;
  // For the current problem:
  std::vector<planned_cell> planned_;
  std::vector<timed_cell> timed_cells_;
  std::optional<double> deadline_;
  std::size_t first_cell_ = 0;  // in the document
  std::size_t finished_ = 0;    // cells of planned_ reported to the observer
};

// Moves the cells out of the document, from the first incomplete problem on.
resumed_cells take_unfinished(const plan& p, document& d) {
  std::size_t complete = 0;
  while (complete < p.experiment.problems.size() && d.cells_of(complete).size() == p.variants())
    ++complete;
  const auto rest = std::ranges::lower_bound(d.cells, complete, {}, &cell::problem);
  resumed_cells resumed;
  for (auto c = rest; c != d.cells.end(); ++c) resumed[c->problem].push_back(std::move(*c));
  d.cells.erase(rest, d.cells.end());
  return resumed;
}

}  // namespace

document execute(plan& p, document head, observer& watch) {
  resumed_cells resumed = take_unfinished(p, head);
  return execute(p, std::move(head), resumed, watch, [&p, i = std::size_t{0}]() mutable {
    return i < p.experiment.problems.size() ? std::optional(share{i++}) : std::nullopt;
  });
}

document execute(plan& p, document head, resumed_cells& resumed, observer& watch,
                 const std::function<std::optional<share>()>& next) {
  return execution(p, std::move(head), resumed, watch).run(next);
}

}  // namespace kzoo::run
