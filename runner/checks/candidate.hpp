#pragma once
// The kernel under test: one variant of a plugin in its worker, and the checks of every single run.

#include "checks/expected_results.hpp"
#include "client/plugin_client.hpp"
#include "devices/nvml.hpp"
#include "reference/reference.hpp"
#include "results/experiment.hpp"
#include "timing/end_to_end.hpp"
#include "timing/throttling.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::checks {

// The library, the variant, the device and the problem.
struct candidate_description {
  std::filesystem::path file;  // the library
  std::string device;
  std::uint32_t variant = 0;  // in the plugin's table
  results::variant_description description;
  bool simulated = false;                  // runs in the simulator
  kzoo::problem problem;                   // that is checked; sweeps take its element type only
  bool show_errors = false;                // adds an error map to a wrong result
  const devices::nvml* monitor = nullptr;  // of the device; may be null
};

// The verdict on one run.
struct judged_run {
  reference::judgement judgement;
  worker::run_report report;
};

// Many timed runs; each distinct result was judged.
struct judged_samples {
  reference::judgement judgement;          // the first wrong one, else the last
  std::vector<double> samples_ms, sm_mhz;  // without those that were throttled
  results::conditions conditions;
  double warmup_seconds = 0;
  bool cold_cache = false;
  // How long the worker was at it, warm-up included, by its own clock and by this process's, which
  // no plugin can reach.
  double worker_seconds = 0, runner_seconds = 0;
};

// A worker's clock is wrong if the runner's shows more than so many times the seconds.
inline constexpr double kMostClockRatio = 1.5;

// One timed run on data that the kernel had not seen.
struct unseen_run {
  reference::judgement judgement;
  double ms = 0;
};

// Runs without pauses; the last result was judged.
struct judged_repetition {
  reference::judgement judgement;
  double ms = 0;                              // of one run, on average
  double begin_seconds = 0, end_seconds = 0;  // when, by the machine's steady clock
};

// Several end-to-end runs; each distinct result was judged.
struct judged_end_to_end {
  reference::judgement judgement;  // the first wrong one, else the last
  timing::end_to_end medians;
};

// A problem that the variant takes, in place of one that a check asks for.
struct fitted_problem {
  // The same, or one of the next larger sizes that it takes; without padding if it takes no other.
  std::optional<problem> taken;
  std::string objection;  // why it declines, where nothing is taken or the padding is left out
};

// Throws failure when the plugin crashes, hangs or reports an error.
class candidate {
 public:
  candidate(client::plugin_client& client, candidate_description who, expected_results& known)
      : client_(client), who_(std::move(who)), expected_(known) {}

  const problem& current_problem() const { return who_.problem; }
  kzoo_precision declared() const { return who_.description.declared(current_problem().dtype); }
  std::string file() const { return who_.file.string(); }
  const std::string& device() const { return who_.device; }
  const devices::nvml* monitor() const { return who_.monitor; }
  const std::string& variant() const { return who_.description.id; }
  // Whether its results may differ from run to run, within the bound.
  bool nondeterministic() const { return who_.description.nondeterministic; }
  // Whether it runs in the simulator, which is slow.
  bool simulated() const { return who_.simulated; }
  // Whether the current types are the first of those that the variant takes.
  bool has_first_types() const {
    return who_.description.signatures.front().dtype == current_problem().dtype;
  }
  const results::granularity& granularity() const { return who_.description.granularity; }
  client::plugin_client& client() { return client_; }
  // What else has run in its process: see plugin_client.
  std::string ran_before() const { return client_.ran_before(who_.variant, who_.problem); }
  // All of the current problem's result that is ever computed; fewer rows of large problems that
  // checks make.
  std::shared_ptr<const reference::expected_result> expected(const problem& p) {
    return p == current_problem() ? expected_.of(p) : expected_.few_rows_of(p);
  }
  expected_results& expected_cache() { return expected_; }

  // Finds sizes that the variant takes: by its granularity, or, where supports() alone knows it, by
  // trying powers of two.
  fitted_problem fit(const problem& p);
  // Creates an instance for the problem. Slots are those of plugin_client.
  void prepare(const problem& p, int slot = 0);
  // New contents and addresses for the same instance: see plugin_client::renew().
  void renew(const problem& p, const std::string& move, int slot = 0);
  void finish(int slot = 0) { client_.finish(slot); }

  // Runs the instance in the slot and judges C, the redzones and whether the inputs are unchanged.
  // A C whose digest is in `judged` was found right before, and is not compared again.
  judged_run run(int slot = 0, std::vector<std::uint64_t> judged = {});
  // Runs the instance in the slot and leaves C on the device without judging it. Throws failure if
  // the run wrote to memory that is not its own.
  void run_unjudged(int slot = 0);
  // Times the instance in slot 0 and judges every result whose digest is not in `judged`, to which
  // it is added. `how.output` and `how.least_mhz` are set here.
  judged_samples sample(worker::sample_request how, std::vector<std::uint64_t>& judged,
                        timing::throttle_filter& filter);
  // Runs slot 0 again and again for so long.
  judged_repetition run_for(double seconds, std::vector<std::uint64_t>& judged);
  // Gives the instance in slot 0 the contents of another seed, and times its first run on them. The
  // result is judged if `judged` is set.
  unseen_run time_unseen(std::uint64_t seed, bool hot, bool judged);
  // Prepares slot 0 and runs it so often that a kernel which fails now and then does so. Every
  // result's digest must be in `judged`, unless the variant is nondeterministic.
  reference::judgement repeat(const std::vector<std::uint64_t>& judged);
  // Compares the worker's clock with this process's over so many samples of slot 0 that messages
  // between them do not matter.
  reference::judgement compare_clocks(bool hot);
  // Times slot 0 end to end, with allocation and copies; no further run after `max_seconds`.
  judged_end_to_end end_to_end(double max_seconds, std::vector<std::uint64_t>& judged);
  // The C that was judged last: the rows for which expected results exist.
  reference::result kept() const;

 private:
  const problem& problem_in(int slot) const { return prepared_.at(slot); }
  // The part of C to copy: all of it, or the rows with expected results and a survey of the rest.
  worker::output_request wanted(const problem& p);
  reference::judgement judge(const problem& p, const worker::output_report& seen, int slot);
  // Judges a result of slot 0 that differs from the ones judged before.
  reference::judgement judge_again(const problem& p, const worker::output_report& seen);
  reference::judgement judge_seen(const worker::output_report& seen, kzoo_precision declared,
                                  int slot);
  // Sets the judgement to wrong if the run changed memory that is not its own.
  static void check_tampering(const problem& p, const worker::changes& found,
                              reference::judgement& j);
  // Adds the samples that the filter accepts; returns whether it accepts all.
  bool add_samples(const worker::sample_report& report, timing::throttle_filter& filter,
                   judged_samples& all) const;
  // Finds a better reason for a wrong run by running it again: is it right on an idle device, and
  // what is wrong where no signs are changed?
  void explain(reference::judgement& wrong, worker::run_request how, int slot);

  client::plugin_client& client_;
  candidate_description who_;
  expected_results& expected_;
  std::map<int, problem> prepared_;  // by slot
  std::shared_ptr<const reference::expected_result> judged_by_;
  bool rows_only_ =
      false;  // whether the client's output() holds only the rows with expected results
};

}  // namespace kzoo::checks
