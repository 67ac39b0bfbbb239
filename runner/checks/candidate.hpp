#pragma once
// One variant of a plugin on a live worker, and the protocol that every run of it goes through.

#include "checks/expected_results.hpp"
#include "devices/nvml.hpp"
#include "host/plugin_host.hpp"
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

// Which variant, on which device, for which element type and problem.
struct candidate_description {
  std::filesystem::path file;  // the library
  std::string device;
  std::uint32_t variant = 0;  // in the plugin's table
  results::variant_description description;
  kzoo::problem problem;                   // the one at hand
  bool show_errors = false;                // a judgement that is wrong comes with a map
  const devices::nvml* monitor = nullptr;  // of the device; may be null
};

// One run, judged.
struct judged_run {
  reference::judgement judgement;
  worker::run_report report;
};

// Many runs, timed, each different result judged.
struct judged_samples {
  reference::judgement judgement;          // the first that is wrong, else the last
  std::vector<double> samples_ms, sm_mhz;  // those that count
  results::conditions conditions;
  double warmup_seconds = 0;
  bool cold_cache = false;
};

// The whole way, some times over, each different result judged.
struct judged_end_to_end {
  reference::judgement judgement;  // likewise
  timing::end_to_end medians;
};

// Whatever the plugin does wrong to its worker comes out as a failure.
class candidate {
 public:
  candidate(host::plugin_host& host, candidate_description who, expected_results& known)
      : host_(host), who_(std::move(who)), expected_(known) {}

  const problem& at() const { return who_.problem; }
  kzoo_precision declared() const { return who_.description.declared(at().dtype); }
  std::string file() const { return who_.file.string(); }
  const std::string& device() const { return who_.device; }
  const std::string& variant() const { return who_.description.id; }
  bool nondeterministic() const { return who_.description.nondeterministic; }
  host::plugin_host& host() { return host_; }
  std::shared_ptr<const reference::expected_result> expected(const problem& p) {
    return expected_.of(p);
  }

  // Creates an instance for the problem; see plugin_host for slots.
  void prepare(const problem& p, int slot = 0);
  // Other contents, other addresses, the same instance.
  void renew(const problem& p, const std::string& move, int slot = 0);
  void finish(int slot = 0) { host_.finish(slot); }

  // Runs what is in the slot, and judges all that one run shows: C, what is around it, the inputs.
  // A C whose digest is in `judged` has been found right before.
  judged_run run(int slot = 0, std::vector<std::uint64_t> judged = {});
  // Runs what is in the slot, leaves C on the device, and judges nothing but the inputs: throws
  // failure where they were written to.
  void run_unseen(int slot = 0);
  // Times what is in slot 0, and judges every output whose digest is not in `judged`, to which it
  // is added; `how` need not say anything about the output and the clock.
  judged_samples sample(worker::sample_request how, std::vector<std::uint64_t>& judged,
                        timing::throttle_filter& filter);
  // Allocation, copies and all, of what is in slot 0; few runs once `max_seconds` are over.
  judged_end_to_end end_to_end(double max_seconds, std::vector<std::uint64_t>& judged);
  // The rows that the truth covers of the C that was judged last.
  reference::result kept() const;

 private:
  const problem& problem_in(int slot) const { return prepared_.at(slot); }
  // What the reference needs to see of C: all of it, or the rows that it knows and a survey.
  worker::output_request wanted(const problem& p);
  reference::judgement judge(const problem& p, const worker::output_report& seen, int slot);
  reference::judgement judge_seen(const worker::output_report& seen, kzoo_precision declared,
                                  int slot);
  // Each makes a right judgement wrong where it finds something.
  static void check_tampering(const problem& p, const worker::changes& found,
                              reference::judgement& j);
  // Adds those of the report's samples that count; whether all do.
  bool add_samples(const worker::sample_report& report, timing::throttle_filter& filter,
                   judged_samples& all) const;
  static void check_clocks(const worker::sample_report& report, reference::judgement& j);

  host::plugin_host& host_;
  candidate_description who_;
  expected_results& expected_;
  std::map<int, problem> prepared_;  // by slot
  std::shared_ptr<const reference::expected_result> judged_by_;
  bool rows_only_ = false;  // is what the host's output() has
};

}  // namespace kzoo::checks
