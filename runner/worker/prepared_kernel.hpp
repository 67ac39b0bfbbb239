#pragma once
// A variant prepared for a problem: its matrices on the device, and its instance.

#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "process/anonymous_files.hpp"
#include "worker/device_matrix.hpp"
#include "worker/messages.hpp"
#include "worker/plugin.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace kzoo::worker {

class stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Throws refusal when the plugin fails, devices::failure when the device does.
class prepared_kernel {
 public:
  // A process's memory of all its runs.
  struct history {
    std::set<std::uint32_t> loaded;    // variants that have run: CUDA loads kernels lazily
    std::vector<std::uint64_t> seeds;  // of the first and the latest runs
  };

  // Uses the instance in the plugin's slot.
  prepared_kernel(plugin& plugin, int slot, devices::backend& backend,
                  const results::device& device, process::shared_memory& output, history& process)
      : plugin_(plugin),
        slot_(slot),
        backend_(backend),
        device_(device),
        output_(output),
        process_(process) {}
  ~prepared_kernel();
  prepared_kernel(const prepared_kernel&) = delete;
  prepared_kernel& operator=(const prepared_kernel&) = delete;

  // Creates the instance, judged by `declared`. Reuses matrices of the same problem, and a
  // workspace of the same size, unless a kernel spoiled them.
  void prepare(std::uint32_t variant, const problem& p, kzoo_precision declared);
  // Changes data for the next run: contents to `p`'s, which may differ in seed and fill
  // only, and the addresses of matrices in `move` ("abcow"; o: all other operands, w: the
  // workspace). Poisons the old memory and keeps it until the next refill() or destroy().
  void refill(const problem& p, const std::string& move);
  run_report run(const run_request& how);
  sample_report sample(const sample_request& how);
  sustain_report sustain(const sustain_request& how);
  // Allocates, copies to the device, runs and copies back, like a program with its matrices on the
  // host. Puts the copied result into C.
  end_to_end_report end_to_end();
  // Runs `warmup` times, then once within a profiler's range.
  void profile(int warmup);
  // Copies C to shared memory: these rows, or all if empty.
  void copy_result(const std::vector<std::int64_t>& rows);
  // Destroys the instance and checks for errors, so that they count against this variant.
  void destroy();

 private:
  // The matrices of the last prepared problem.
  struct matrices {
    kzoo::problem problem;
    std::unique_ptr<device_memory> together;             // holds all of them, if it may
    std::vector<std::unique_ptr<device_matrix>> inputs;  // see inputs_of()
    std::unique_ptr<device_matrix> c;
    std::vector<devices::filled_buffer> poison;  // in the gaps between them
  };

  void destroy_instance();
  // Passes the matrices' addresses to the instance.
  void place();
  void allocate(const problem& p);
  // Puts the matrices into one allocation, with poisoned gaps of random size around them.
  std::vector<std::unique_ptr<device_matrix>> place_together(std::span<const data::matrix> all);
  std::unique_ptr<device_matrix> make_workspace();
  void mark_redzones(bool out_of_bounds);
  // Makes every run, judged or timed. Before it, C and the workspace hold their initial contents,
  // and A, B and C0 this seed's numbers.
  devices::finished_run run_once(devices::start from, devices::other_streams others,
                                 const std::function<std::uint64_t()>& seed);
  // `seed()`: of the next fill.
  devices::run_steps steps_of_run(const std::function<std::uint64_t()>& seed);
  // A seed that no run has had. If possible, groups get other rows than in the previous run: with
  // few divisions, a kernel that keeps offsets could be right by chance.
  std::uint64_t fresh_seed() const;
  std::function<std::uint64_t()> fresh() const {
    return [this] { return fresh_seed(); };
  }
  // The operands, C and workspace with another seed's numbers. The caller writes them.
  std::vector<devices::filled_buffer> numbers_of(std::uint64_t seed);
  void fill(std::uint64_t seed);
  // Inverts one row of each input, except offsets and scales, and restores the previous one.
  void fill_between();
  // The expected C for the inputs' current contents.
  reference::product_check expected() const;
  judged_report report_on(const reference::product_findings& found) const;
  void call_plugin();
  // The inputs and the workspace, then the zones around all matrices, then the gaps between them.
  std::vector<devices::filled_buffer> watched() const;
  // From what the backend finds in watched(), in its order.
  changes changes_from(std::span<const data::changes> each);
  // The element that was written and restored; -1: none.
  std::int64_t restored(const device_matrix& x, const data::changes& found);
  // Copies the requested part to shared memory.
  output_report copy_result(const data::reading& c, const output_request& output);

  plugin& plugin_;
  const int slot_;
  devices::backend& backend_;
  const results::device& device_;
  process::shared_memory& output_;
  history& process_;
  matrices matrices_;
  bool spoiled_ = false;  // a kernel wrote to inputs, or around its outputs
  std::vector<std::unique_ptr<device_matrix>> moved_from_;
  std::uint64_t workspace_bytes_ = 0;
  std::unique_ptr<device_matrix> workspace_;
  std::optional<std::uint32_t> variant_;  // of the instance
  kzoo_precision declared_{};
  problem filled_;                       // the problem, with the seed of the matrices' contents
  std::vector<std::int64_t> late_rows_;  // of the inputs, by fill_between(); -1: none
};

}  // namespace kzoo::worker
