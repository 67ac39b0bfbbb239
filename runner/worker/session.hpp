#pragma once
// One plugin on one device, answering requests: the worker's side of plugin_client.hpp. Requests
// and replies are JSON objects, so that a session in this process and one in a worker work alike.
//
//   {"op": "open", "file"}                                    -> {"plugin": {…}}
//   {"op": "supports", "device", "variant", "problem"}        -> {}
//   {"op": "prepare", "slot", "device", "variant", "problem", "declared"} -> {}
//   {"op": "refill", "slot", "problem", "move"}               -> {}
//   {"op": "run", "slot", "how": run_request}                 -> run_report
//   {"op": "sample", "slot", "how": sample_request}           -> sample_report
//   {"op": "sustain", "slot", "how": sustain_request}         -> sustain_report
//   {"op": "end_to_end", "slot"}                              -> end_to_end_report
//   {"op": "profile", "slot", "warmup"}                       -> {}
//   {"op": "copy_result", "slot"}                             -> {}
//   {"op": "longest_pause", "device"}                         -> pause_report
//   {"op": "destroy", "slot"}                                 -> {}
//   {"op": "free_memory"}                                     -> memory_report
//
// or a status: {"status": "unsupported" | "unavailable" | "wrong" | "error", "reason"}. Where the
// plugin has loaded libraries that multiply matrices, their names are added as "libraries": […].
// A slot holds one prepared kernel: instances that are alive at the same time are in different
// slots. messages.hpp has the reports.

#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "process/shared_memory.hpp"
#include "worker/library.hpp"
#include "worker/loaded_code.hpp"
#include "worker/nvtx_ranges.hpp"
#include "worker/prepared_kernel.hpp"

#include <nlohmann/json_fwd.hpp>

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace kzoo::worker {

class session {
 public:
  // `own_code`: of this process, which plugins must not change; null if other tools may.
  explicit session(process::shared_memory& output, const loaded_code* own_code = nullptr);
  ~session();

  // Requests that name a device do this, too. Where it fails, all of them fail with its reason.
  void open_device(const std::string& name);

  // Does not throw when a plugin or a device fails: the reply is then a status.
  nlohmann::json handle(const nlohmann::json& request);

 private:
  nlohmann::json reply_to(const nlohmann::json& request);
  nlohmann::json dispatch(const std::string& name, const nlohmann::json& request);
  nlohmann::json open(const nlohmann::json& request);
  nlohmann::json supports(const nlohmann::json& request);
  nlohmann::json prepare(const nlohmann::json& request);
  nlohmann::json free_memory();
  // Throws a refusal if the plugin changed code that is not its own.
  void check_own_code() const;

  devices::backend& device_of(const nlohmann::json& request);
  const kzoo_variant& variant(const nlohmann::json& request) const;
  // What was prepared in the request's slot.
  prepared_kernel& kernel_in(const nlohmann::json& request);

  process::shared_memory& output_;
  const loaded_code* own_code_;
  std::set<std::string> libraries_before_;  // product_libraries(), before the plugin's
  std::optional<library> library_;
  std::string name_;  // of the plugin: the file's name without .so
  results::device device_;
  std::unique_ptr<devices::backend> backend_;
  std::exception_ptr no_device_;  // why it could not be opened
  std::int64_t free_before_ = 0;  // of the device's memory, before the first prepare
  prepared_kernel::history history_;
  std::map<int, prepared_kernel> kernels_;  // by slot
  std::map<int, cell_range> ranges_;        // by slot: from prepare() to destroy()
};

}  // namespace kzoo::worker
