#pragma once
// Judges and times one plugin on one device for plugin_client.hpp. Requests and replies are JSON
// objects, in one process or between two. On a GPU the session is in the worker. On the CPU it is
// in the supervisor, and the worker only calls the plugin (worker.cpp).
//
//   {"op": "open", "file"}                                    -> {"plugin": {…}}
//   {"op": "supports", "device", "variant", "problem"}        -> {}
//   {"op": "prepare", "slot", "device", "variant", "variant_id", "problem", "declared"} -> {}
//   {"op": "refill", "slot", "problem", "move"}               -> {}
//   {"op": "run", "slot", "how": run_request}                 -> run_report
//   {"op": "sample", "slot", "how": sample_request}           -> sample_report
//   {"op": "sustain", "slot", "how": sustain_request}         -> sustain_report
//   {"op": "end_to_end", "slot"}                              -> end_to_end_report
//   {"op": "profile", "slot", "warmup"}                       -> {}
//   {"op": "copy_result", "slot", "rows"}                     -> {}
//   {"op": "longest_pause", "device"}                         -> pause_report
//   {"op": "destroy", "slot"}                                 -> {}
//   {"op": "free_memory"}                                     -> memory_report
//
// or a status: {"status": "unsupported" | "unavailable" | "wrong" | "error", "reason"}. Names of
// GEMM libraries that the plugin has loaded are added as "libraries": […]. A slot holds one
// prepared kernel; live instances are in different slots. messages.hpp has the reports.

#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "process/messages.hpp"
#include "worker/plugin.hpp"
#include "worker/prepared_kernel.hpp"

#include <nlohmann/json_fwd.hpp>
#ifdef KZOO_HAS_CUDA
#include <nvtx3/nvtx3.hpp>
#endif

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace kzoo::worker {

// NVTX ranges in the domain "kernel-zoo", for Nsight Systems' timeline and Nsight Compute's
// filters. Without a tool a range costs two tests of a pointer. No range is inside a timed region.
// A build without CUDA has none.
#ifdef KZOO_HAS_CUDA
struct nvtx_domain {
  static constexpr const char* name = "kernel-zoo";
};

// Until the end of the scope; a thread's ranges nest.
using phase_range = nvtx3::scoped_range_in<nvtx_domain>;
// Lasts as long as the object; such ranges may overlap.
using cell_range = nvtx3::unique_range_in<nvtx_domain>;
#else
struct phase_range {
  explicit phase_range(const std::string&) {}
};
struct cell_range {
  explicit cell_range(const std::string&) {}
};
#endif

// The result of `work`, or the status for its exception; lets failure pass.
nlohmann::json answer(const std::function<nlohmann::json()>& work);

class session {
 public:
  // Calls `plugin`, whose library is called `name`. `own_code`: code that plugins must not change;
  // null if other tools may, or if this process has no plugin. `memory`: for the CPU's matrices;
  // null: this process's own.
  session(plugin& plugin, std::string name, process::shared_memory& output,
          const loaded_code* own_code = nullptr, devices::host_memory* memory = nullptr);
  ~session();

  // Requests that name a device open it, too. After a failure, all of them fail with its reason.
  void open_device(const std::string& name);

  // Returns a status when a plugin or device fails. Throws failure when the process does.
  nlohmann::json handle(const nlohmann::json& request);

 private:
  nlohmann::json dispatch(const std::string& name, const nlohmann::json& request);
  nlohmann::json open(const nlohmann::json& request);
  nlohmann::json supports(const nlohmann::json& request);
  nlohmann::json prepare(const nlohmann::json& request);
  nlohmann::json free_memory();
  // Throws a refusal if the plugin changed code that is not its own.
  void check_own_code() const;

  devices::backend& device_of(const nlohmann::json& request);
  // The kernel in the request's slot.
  prepared_kernel& kernel_in(const nlohmann::json& request);

  plugin& plugin_;
  std::string name_;  // the plugin's name: its file's without .so
  process::shared_memory& output_;
  const loaded_code* own_code_;
  devices::host_memory* memory_;
  results::device device_;
  std::unique_ptr<devices::backend> backend_;
  std::exception_ptr no_device_;  // why it could not be opened
  std::int64_t free_before_ = 0;  // device memory before the first prepare
  prepared_kernel::history history_;
  std::map<int, prepared_kernel> kernels_;  // by slot
  std::map<int, cell_range> ranges_;        // by slot: from prepare() to destroy()
};

}  // namespace kzoo::worker
