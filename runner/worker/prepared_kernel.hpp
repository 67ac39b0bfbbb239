#pragma once
// One variant prepared for one problem, for whoever judges it: its matrices on the device, and its
// instance, here or in a worker.

#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "process/shared_memory.hpp"
#include "worker/device_matrix.hpp"
#include "worker/messages.hpp"
#include "worker/plugin.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kzoo::worker {

// Throws refusal when the plugin fails, devices::failure when the device does.
class prepared_kernel {
 public:
  // What a process remembers of all that has run in it.
  struct history {
    std::set<std::uint32_t> loaded;    // variants that have run: CUDA loads kernels lazily
    std::vector<std::uint64_t> seeds;  // of the numbers of the first and the latest runs
  };

  // Its instance is that of the plugin's slot.
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

  // Creates the instance, which is judged by what the variant declares. Matrices of the same
  // problem are reused, and a workspace of the same size, unless a kernel spoiled one of them.
  void prepare(std::uint32_t variant, const problem& p, kzoo_precision declared);
  // Changes what the instance finds at its next run: the contents to those of `p`, which may differ
  // in seed and fill only, and the address of each matrix in `move` ("abcow", o all other operands,
  // w the workspace). The old memory is poisoned, and stays allocated until the next refill() or
  // destroy().
  void refill(const problem& p, const std::string& move);
  run_report run(const run_request& how);
  sample_report sample(const sample_request& how);
  // Runs it again and again.
  sustain_report sustain(const sustain_request& how);
  // Allocates, copies to the device, runs and copies back, as a program with its matrices on the
  // host does. C then holds what was copied back.
  end_to_end_report end_to_end();
  // Runs it `warmup` times, then once within the range that a profiler watches.
  void profile(int warmup);
  // Copies C, as it is, to shared memory: these rows of it, or all where none is named.
  void copy_result(const std::vector<std::int64_t>& rows);
  // Destroys the instance and checks for errors, so that they count against this variant.
  void destroy();

 private:
  // The matrices of the problem that was prepared last.
  struct matrices {
    kzoo::problem problem;
    std::vector<std::unique_ptr<device_matrix>> inputs;  // those of inputs_of()
    std::unique_ptr<device_matrix> c;
    std::vector<std::unique_ptr<device_memory>> gaps;  // between them, poisoned
    std::vector<devices::filled_buffer> poison;        // what they hold
  };

  void destroy_instance();
  // Tells the instance where its matrices are.
  void place();
  void add_gap();
  std::unique_ptr<device_matrix> make_workspace();
  void mark_redzones(bool out_of_bounds);
  // Every run, judged or timed, goes through here: C and the workspace hold their initial contents,
  // and A, B and C0 the numbers of this seed.
  devices::finished_run run_once(devices::start from, devices::other_streams others,
                                 const std::function<std::uint64_t()>& seed);
  // `seed()`: of the next fill.
  devices::run_steps steps_of_run(const std::function<std::uint64_t()>& seed);
  // Of numbers that no run has had. Groups get other rows than in the run before, if that is
  // possible: they have few ways to divide them, and what keeps offsets must not be right by
  // chance.
  std::uint64_t fresh_seed() const;
  std::function<std::uint64_t()> fresh() const {
    return [this] { return fresh_seed(); };
  }
  // A, B, C and the operands as the problem describes them, but with the numbers of another seed;
  // and the workspace's poison. Whoever calls this writes them.
  std::vector<devices::filled_buffer> numbers_of(std::uint64_t seed);
  void fill(std::uint64_t seed);
  // One row of each input gets the opposite signs, and the one that had them its own; but for the
  // offsets of groups and scales of blocks.
  void fill_between();
  // What C should be, of what the inputs hold.
  reference::product_check expected() const;
  judged_report report_on(const reference::product_findings& found) const;
  void call_plugin();
  changes find_changes();
  // The element that was written to though nothing has changed; -1: none.
  std::int64_t restored(const device_matrix& x, const data::changes& found);
  // Copies what was requested to shared memory.
  output_report copy_result(const data::reading& c, const output_request& output);

  plugin& plugin_;
  const int slot_;
  devices::backend& backend_;
  const results::device& device_;
  process::shared_memory& output_;
  history& process_;
  matrices matrices_;
  bool spoiled_ = false;  // a kernel wrote to inputs, or around what it may write to
  std::vector<std::unique_ptr<device_matrix>> moved_from_;
  std::uint64_t workspace_bytes_ = 0;
  std::unique_ptr<device_matrix> workspace_;
  std::optional<std::uint32_t> variant_;  // of the instance
  kzoo_precision declared_{};
  problem filled_;                       // the problem, with the seed of what the matrices hold now
  std::vector<std::int64_t> late_rows_;  // of the inputs, by fill_between(); -1: none
};

}  // namespace kzoo::worker
