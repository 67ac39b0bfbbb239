#pragma once
// One variant at work on one problem: its instance and the matrices that it computes with.

#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "process/shared_memory.hpp"
#include "worker/device_matrix.hpp"
#include "worker/messages.hpp"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kzoo::worker {

// Throws refusal for what the plugin does wrong, devices::failure for what the device does.
class prepared_kernel {
 public:
  prepared_kernel(devices::backend& backend, const results::device& device,
                  process::shared_memory& output)
      : backend_(backend), device_(device), output_(output) {}
  ~prepared_kernel() { destroy_instance(); }
  prepared_kernel(const prepared_kernel&) = delete;
  prepared_kernel& operator=(const prepared_kernel&) = delete;

  // Creates the instance. Matrices of the same problem are there already, unless they were spoilt.
  void prepare(const kzoo_variant& variant, const problem& p);
  // Changes what the instance finds at its next run: the contents of `p`, which is the same to a
  // plugin, and other memory for each matrix in `move` ("abc"). What was moved from becomes poison,
  // and stays allocated until the next renew() or finish().
  void renew(const problem& p, const std::string& move);
  run_report run(const output_request& output);
  sample_report sample(const sample_request& how);
  // Allocates, sends, runs and fetches as a program does that has its matrices on the host. C is
  // then what came back.
  end_to_end_report end_to_end(const output_request& output);
  // Runs it `warmup` times, and once as what a profiler sees.
  void profile(int warmup);
  // Puts all of C as it is into the window.
  void show();
  // See devices::backend::fold_rows: C's sums are in the window.
  void fold(std::uint64_t key);
  // Ends the cell: what `destroy` does wrong is this variant's and not the next one's.
  void finish();

 private:
  // The matrices of the problem that was prepared last.
  struct matrices {
    kzoo::problem problem;
    std::unique_ptr<device_matrix> a, b, c;
    std::vector<std::unique_ptr<device_memory>> gaps;  // between them
  };

  void destroy_instance();
  void mark_redzones(bool out_of_bounds);
  void call_plugin(kzoo_launch_list* launches = nullptr);
  void call_plugin(kzoo_arguments arguments);
  changes find_changes();
  devices::sample time_one_sample();
  // `about_ms`: what one run takes.
  devices::sample time_hot_sample(double about_ms);
  output_report digest_c(const output_request& output);
  // Into the window, if it is to be there; adds the survey.
  void show(const output_request& output, output_report& report);

  devices::backend& backend_;
  const results::device& device_;
  process::shared_memory& output_;
  matrices matrices_;
  bool inputs_spoilt_ = false;
  std::vector<std::unique_ptr<device_matrix>> moved_from_;
  std::uint64_t workspace_bytes_ = 0;
  std::unique_ptr<device_matrix> workspace_;
  std::set<const kzoo_variant*> loaded_;  // have run: a device loads code when it is first wanted
  const kzoo_variant* variant_ = nullptr;
  void* instance_ = nullptr;
};

}  // namespace kzoo::worker
