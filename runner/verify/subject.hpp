#pragma once
// One variant of a plugin on a live worker, and the protocol that every run of it goes through.

#include "devices/nvml.hpp"
#include "experiment/experiment.hpp"
#include "referee/referee.hpp"
#include "timing/end_to_end.hpp"
#include "timing/throttling.hpp"
#include "verify/truths.hpp"
#include "workers/plugin_host.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::verify {

// Which variant, on which device, for which element type and problem.
struct subject_description {
  std::filesystem::path file;  // the library
  std::string device;
  std::uint32_t variant = 0;  // in the plugin's table
  workers::variant_description description;
  kzoo::problem problem;                   // the one at hand
  bool show_errors = false;                // a judgement that is wrong comes with a map
  const devices::nvml* monitor = nullptr;  // of the device; may be null
};

// One run, judged.
struct judged_run {
  referee::judgement judgement;
  workers::run_report report;
};

// Many runs, timed, each different result judged.
struct judged_samples {
  referee::judgement judgement;            // the first that is wrong, else the last
  std::vector<double> samples_ms, sm_mhz;  // those that count
  devices::conditions conditions;
  double warmup_seconds = 0;
  bool cold_cache = false;
};

// The whole way, some times over, each different result judged.
struct judged_end_to_end {
  referee::judgement judgement;  // likewise
  timing::end_to_end medians;
};

// Whatever the plugin does wrong to its worker comes out as a setback.
class subject {
 public:
  subject(workers::plugin_host& host, subject_description who, truths& known)
      : host_(host), who_(std::move(who)), truths_(known) {}

  const problem& at() const { return who_.problem; }
  kzoo_precision declared() const { return who_.description.declared(at().dtype); }
  std::string file() const { return who_.file.string(); }
  const std::string& device() const { return who_.device; }
  const std::string& variant() const { return who_.description.id; }
  bool nondeterministic() const { return who_.description.nondeterministic; }
  workers::plugin_host& host() { return host_; }
  std::shared_ptr<const referee::truth> truth(const problem& p) { return truths_.of(p); }

  // Creates an instance for the problem; see plugin_host for slots.
  void prepare(const problem& p, int slot = 0);
  // Other contents, other addresses, the same instance.
  void renew(const problem& p, const std::string& move, int slot = 0);
  void finish(int slot = 0) { host_.finish(slot); }

  // Runs what is in the slot, and judges all that one run shows: C, what is around it, the inputs.
  // A C whose digest is in `judged` has been found right before.
  judged_run run(int slot = 0, std::vector<std::uint64_t> judged = {});
  // Runs what is in the slot, leaves C on the device, and judges nothing but the inputs: throws
  // setback where they were written to.
  void run_unseen(int slot = 0);
  // Times what is in slot 0, and judges every output whose digest is not in `judged`, to which it
  // is added; `how` need not say anything about the output and the clock.
  judged_samples sample(workers::sample_request how, std::vector<std::uint64_t>& judged,
                        timing::throttle_filter& filter);
  // Allocation, copies and all, of what is in slot 0; few runs once `max_seconds` are over.
  judged_end_to_end end_to_end(double max_seconds, std::vector<std::uint64_t>& judged);
  // The rows that the truth covers of the C that was judged last.
  referee::result kept() const;

 private:
  const problem& problem_in(int slot) const { return prepared_.at(slot); }
  // What the referee needs to see of C: all of it, or the rows that it knows and a survey.
  workers::output_request wanted(const problem& p);
  referee::judgement judge(const problem& p, const workers::output_report& seen, int slot);
  referee::judgement judge_seen(const workers::output_report& seen, kzoo_precision declared,
                                int slot);
  // Each makes a right judgement wrong where it finds something.
  static void check_tampering(const problem& p, const workers::changes& found,
                              referee::judgement& j);
  // Adds those of the report's samples that count; whether all do.
  bool add_samples(const workers::sample_report& report, timing::throttle_filter& filter,
                   judged_samples& all) const;
  static void check_clocks(const workers::sample_report& report, referee::judgement& j);

  workers::plugin_host& host_;
  subject_description who_;
  truths& truths_;
  std::map<int, problem> prepared_;  // by slot
  std::shared_ptr<const referee::truth> judged_by_;
  bool rows_only_ = false;  // is what the host's output() has
};

}  // namespace kzoo::verify
