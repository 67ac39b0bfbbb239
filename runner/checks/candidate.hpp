#pragma once
// The kernel under test: one variant of a plugin in its worker, and the judgement of each run.

#include "checks/result_judge.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::checks {

// Operations of a problem that the simulator computes in minutes.
inline constexpr double kLongSimulation = 0x1p32;

struct judged_run {
  reference::judgement judgement;
  worker::run_report report;
};

// Throws failure when the plugin crashes, hangs or reports an error.
class candidate {
 public:
  candidate(client::plugin_client& client, candidate_description who, expected_results& expected)
      : client_(client), who_(std::move(who)), judge_(client_, who_, expected) {}
  candidate(const candidate&) = delete;  // its judge refers to its description
  candidate& operator=(const candidate&) = delete;

  const candidate_description& who() const { return who_; }
  const problem& current_problem() const { return who_.problem; }
  kzoo_precision declared() const { return who_.description.declared(current_problem().dtype); }
  client::plugin_client& client() { return client_; }
  result_judge& judge() { return judge_; }

  // Creates an instance for the problem. Slots as in plugin_client.
  void prepare(const problem& p, int slot = 0);
  // New contents and addresses for the same instance: see plugin_client::refill().
  void refill(const problem& p, const std::string& move, int slot = 0);
  // The largest of all runs.
  std::uint64_t workspace_bytes() const { return workspace_bytes_; }
  const problem& prepared(int slot = 0) const { return prepared_.at(slot); }
  // The last prepared problem, in any slot.
  const std::optional<problem>& last_prepared() const { return last_; }
  void destroy(int slot = 0) { client_.destroy(slot); }

  // Runs the instance in the slot and judges C, the redzones and the inputs. Does not compare a C
  // again whose digest is in `judged`: it was right before.
  judged_run run(int slot = 0, std::vector<std::uint64_t> judged = {});
  // Like run() with `judged`: the digests of earlier right runs on the same numbers.
  judged_run run_again(int slot = 0);
  // Runs on fresh numbers and judges on the device, without copies.
  reference::judgement run_fresh(int slot = 0);
  // Whether the precision of a timed run is still to be measured.
  bool is_unmeasured() const { return !measured_; }
  void note_measured() { measured_ = true; }
  // Prepares slot 0 and runs it often enough to catch a kernel that fails now and then. Every
  // result's digest must be in `judged`, unless the variant is nondeterministic.
  reference::judgement repeat(const std::vector<std::uint64_t>& judged);

 private:
  // Seeks a better reason for a wrong run: is it right on an idle device?
  void explain(reference::judgement& wrong, worker::run_request request, int slot);
  reference::judgement judge(const worker::run_report& report, int slot);
  void note_prepared(const problem& p, int slot);
  std::vector<problem> seen_with_other_numbers(const problem& p) const;

  client::plugin_client& client_;
  candidate_description who_;
  result_judge judge_;
  std::map<int, problem> prepared_;                      // by slot
  std::set<problem> seen_;                               // every prepared problem
  std::optional<problem> last_;                          // the problem prepared last
  std::map<problem, std::vector<std::uint64_t>> right_;  // digests for run_again()
  std::uint64_t workspace_bytes_ = 0;
  bool measured_ = false;
};

// Replaces a problem of a check by one that the variant takes.
struct fitted_problem {
  // The problem, or the next larger size that is taken, if need be narrow or without padding.
  std::optional<problem> taken;
  std::string objection;  // why it rejects the problem, or its padding
};

// Finds sizes by the variant's granularity or, if only supports() knows them, powers of two.
fitted_problem fit(candidate& c, const problem& p);

// The sizes at which a wrong kernel is right.
struct size_report {
  // "only right where K is a multiple of 16: 16x16xK is right at 16, 32, wrong at 1, 17". Empty if
  // no size shows a pattern.
  std::string text;
  problem smallest_wrong;  // the smallest that was tried and is wrong
};

// Tries small sizes of the problem on which the kernel, of a worker that has ended, is wrong.
size_report search_sizes(client::plugin_client& client, const candidate_description& wrong,
                         expected_results& expected);

}  // namespace kzoo::checks
