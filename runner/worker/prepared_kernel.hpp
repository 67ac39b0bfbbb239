#pragma once
// One variant prepared for one problem: its instance and the matrices on the device.

#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "process/shared_memory.hpp"
#include "worker/device_matrix.hpp"
#include "worker/messages.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace kzoo::worker {

// Throws refusal when the plugin fails, devices::failure when the device does.
class prepared_kernel {
 public:
  prepared_kernel(devices::backend& backend, const results::device& device,
                  process::shared_memory& output)
      : backend_(backend), device_(device), output_(output) {}
  ~prepared_kernel() { destroy_instance(); }
  prepared_kernel(const prepared_kernel&) = delete;
  prepared_kernel& operator=(const prepared_kernel&) = delete;

  // Creates the instance. Matrices of the same problem are reused, unless a kernel modified them.
  void prepare(const kzoo_variant& variant, const problem& p);
  // Changes what the instance finds at its next run: the contents to those of `p`, which may differ
  // in seed and fill only, and the address of each matrix in `move` ("abcw", w the workspace). The
  // old memory is poisoned, and stays allocated until the next refill() or destroy().
  void refill(const problem& p, const std::string& move);
  run_report run(const run_request& how);
  sample_report sample(const sample_request& how);
  // Runs it again and again, on new signs from time to time.
  sustain_report sustain(const sustain_request& how);
  // Allocates, copies to the device, runs and copies back, as a program with its matrices on the
  // host does. C then holds what was copied back.
  end_to_end_report end_to_end(const output_request& output);
  // Runs it `warmup` times, then once within the range that a profiler watches.
  void profile(int warmup);
  // Copies all of C, as it is, to shared memory.
  void copy_result();
  // Writes the weighted row sums of C to shared memory: see devices::backend::sum_rows.
  void sum_rows(std::uint64_t key);
  // Destroys the instance and checks for errors, so that they count against this variant.
  void destroy();

 private:
  // The matrices of the problem that was prepared last.
  struct matrices {
    kzoo::problem problem;
    std::unique_ptr<device_matrix> a, b, c;
    std::vector<std::unique_ptr<device_memory>> gaps;  // between them, poisoned
    std::vector<devices::filled_buffer> poison;        // what they hold
  };

  void destroy_instance();
  void add_gap();
  std::unique_ptr<device_matrix> make_workspace();
  void mark_redzones(bool out_of_bounds);
  // Every run, judged or timed, goes through here: C and the workspace hold their initial contents,
  // A, B and C0 have these rows and columns negated.
  devices::finished_run run_once(devices::start from, const data::negation& next);
  devices::run_steps steps_of_run(const std::function<data::negation()>& next);
  // A, B and C as their specification says, with these rows and columns negated.
  void fill(const data::negation& negated);
  // Changes the signs of the late row and column.
  void fill_late();
  data::negation random_negation();
  void call_plugin();
  void call_plugin(kzoo_arguments arguments);
  changes find_changes();
  // The element that was written to though nothing has changed; -1: none.
  std::int64_t restored(const device_matrix& x, const data::changes& found);
  output_report report_on(std::uint64_t digest, const output_request& output);
  // Copies what was requested to shared memory; adds the survey.
  void copy_result(const output_request& output, output_report& report);

  devices::backend& backend_;
  const results::device& device_;
  process::shared_memory& output_;
  matrices matrices_;
  bool inputs_modified_ = false;
  std::vector<std::unique_ptr<device_matrix>> moved_from_;
  std::uint64_t workspace_bytes_ = 0;
  std::unique_ptr<device_matrix> workspace_;
  std::set<const kzoo_variant*> loaded_;  // have run before: CUDA loads kernels lazily
  const kzoo_variant* variant_ = nullptr;
  void* instance_ = nullptr;
  std::mt19937_64 random_{std::random_device{}()};
  // Of the last run. Every run gets the same list, so that no run can be told from another by it.
  static constexpr std::uint32_t kMaxLaunches = 16;
  std::array<kzoo_launch, kMaxLaunches> launches_{};
  kzoo_launch_list launch_list_{
      sizeof(kzoo_launch_list), launches_.data(), kMaxLaunches, sizeof(kzoo_launch), 0, 0};
};

}  // namespace kzoo::worker
