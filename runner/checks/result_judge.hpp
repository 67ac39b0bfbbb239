#pragma once
// Judges C after a run: which part is copied, and whether it is right.

#include "client/plugin_client.hpp"
#include "core/problem.hpp"
#include "devices/nvml.hpp"
#include "reference/expected_result.hpp"
#include "reference/judge.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace kzoo::checks {

// Caches expected results, in up to a quarter of the memory. Several threads may ask; each result
// is computed once. begin() needs a caller without other threads.
class expected_results {
 public:
  expected_results() = default;
  // Computes the same rows of large results as others with this key.
  explicit expected_results(std::uint64_t key) : key_(key) {}

  std::uint64_t key() const { return key_; }
  std::shared_ptr<const reference::expected_result> of(const problem& p);
  // Starts a thread that computes it, if all rows can be computed. The next of() waits for it.
  void begin(const problem& p);
  // For a problem that a check makes: so few rows that it takes less than a second.
  std::shared_ptr<const reference::expected_result> few_rows_of(const problem& p);
  // For a run on fresh numbers in which this row is wrong (-1: none). Not cached.
  std::shared_ptr<const reference::expected_result> with_row(const problem& p,
                                                             std::int64_t row) const;
  // Keeps only small results, which all kernels need.
  void forget_large();

 private:
  // Selects the computed rows of large results; random, so that no kernel can know them.
  std::uint64_t key_ = std::random_device{}() | std::uint64_t{std::random_device{}()} << 32;
  using shared_result = std::shared_ptr<const reference::expected_result>;
  using result_map = std::map<problem, std::shared_future<shared_result>>;
  // Returns the map's entry for the problem; computes it if missing.
  shared_result find(result_map& in, const problem& p,
                     std::function<reference::expected_result()> compute);

  void forget_if_large();  // with mutex_ held

  std::mutex mutex_;
  double kept_elements_ = 0;  // computed since large results were last forgotten
  result_map known_, few_rows_;
  std::optional<std::pair<problem, std::future<reference::expected_result>>> begun_;
};

// The library, the variant, the device and the problem.
struct candidate_description {
  std::filesystem::path file;  // the library
  std::string device;
  std::uint32_t variant = 0;  // in the plugin's table
  results::variant_description description;
  bool simulated = false;                  // runs in the simulator, which is slow
  kzoo::problem problem;                   // sweeps use only its element type
  bool show_errors = false;                // adds an error map to a wrong result
  const devices::nvml* monitor = nullptr;  // the device's; may be null
};

// Rows of one C.
struct kept_rows {
  problem of;  // with the numbers of its run
  std::vector<std::int64_t> rows;
  reference::result words;
};

class result_judge {
 public:
  result_judge(client::plugin_client& client, const candidate_description& who,
               expected_results& expected)
      : client_(client), who_(who), expected_(expected) {}

  // All rows that are ever computed; fewer rows for large problems of checks.
  std::shared_ptr<const reference::expected_result> expected(const problem& p) {
    return p == who_.problem ? expected_.of(p) : expected_.few_rows_of(p);
  }
  expected_results& cache() { return expected_; }

  // The part of C to copy: all, or the rows with expected results.
  worker::output_request wanted(const problem& p);
  // Judges a run on the problem's own numbers. A C with a known digest was right before.
  reference::judgement judge(const problem& p, const worker::output_report& seen, int slot = 0);
  // Copies a few random rows of the last run's C.
  kept_rows keep_rows(const problem& p, const worker::judged_report& of_run);
  // Whether the rows have the declared precision's errors. Takes a moment.
  reference::judgement judge(const kept_rows& kept) const;
  // Judges a run on fresh numbers, already judged on the device. If it seemed wrong there, the
  // reference decides and gives the reason.
  reference::judgement judge(const problem& p, const worker::judged_report& seen, int slot = 0);
  // Explains a wrong judgement if the completely copied C is the result of an earlier run, on one
  // of these problems. They differ from the judged problem only in their numbers.
  void tell_if_kept(const std::vector<problem>& earlier, reference::judgement& j) const;
  // Rows with expected results of the C that was judged last.
  reference::result last_judged() const;

 private:
  reference::judgement judge_output(const reference::expected_result& by) const;
  bool is_of_one(const std::vector<problem>& earlier) const;
  kzoo_precision declared(const problem& p) const { return who_.description.declared(p.dtype); }

  client::plugin_client& client_;
  const candidate_description& who_;
  expected_results& expected_;
  std::shared_ptr<const reference::expected_result> judged_by_;
  bool rows_only_ = false;  // the client's output() holds only the rows with expected results
};

// Makes the judgement wrong if the run changed memory that is not its own.
void check_tampering(const problem& p, const worker::changes& found, reference::judgement& j);

}  // namespace kzoo::checks
