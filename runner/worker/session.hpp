#pragma once
// One plugin on one device, answering requests: the worker's side of plugin_host.hpp. Requests and
// replies are JSON objects, so that a local session and one in another process are the same.
//
//   {"op": "open", "file"}                                -> {"plugin": {…}}
//   {"op": "ask", "device", "variant", "problem"}         -> {}
//   {"op": "prepare", "slot", "device", "variant", "problem"} -> {}
//   {"op": "renew", "slot", "problem", "move"}            -> {}
//   {"op": "run", "slot", "output": output_request}       -> run_report
//   {"op": "sample", "slot", "how": sample_request}       -> sample_report
//   {"op": "end_to_end", "slot", "output": output_request} -> end_to_end_report
//   {"op": "profile", "slot", "warmup"}                   -> {}
//   {"op": "show", "slot"}                                -> {}
//   {"op": "fold", "slot", "key"}                         -> {}
//   {"op": "finish", "slot"}                              -> {}
//   {"op": "release"}                                     -> {}
//
// or a status: {"status": "unsupported" | "unavailable" | "error", "reason"}. A slot is a
// workbench: instances that are alive at the same time are in different ones. The reports are in
// messages.hpp.

#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "process/shared_memory.hpp"
#include "worker/library.hpp"
#include "worker/nvtx_ranges.hpp"
#include "worker/prepared_kernel.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace kzoo::worker {

class session {
 public:
  explicit session(process::shared_memory& output);
  ~session();

  // Never throws for what a plugin or a device does wrong: that is a status.
  nlohmann::json handle(const nlohmann::json& request);

 private:
  nlohmann::json dispatch(const std::string& name, const nlohmann::json& request);
  nlohmann::json open(const nlohmann::json& request);
  nlohmann::json ask(const nlohmann::json& request);
  nlohmann::json prepare(const nlohmann::json& request);

  void open_device(const nlohmann::json& request);
  const kzoo_variant& variant(const nlohmann::json& request) const;
  // The one that was prepared.
  prepared_kernel& kernel_in(const nlohmann::json& request);

  process::shared_memory& output_;
  std::optional<library> library_;
  std::string name_;  // of the plugin, as users type it
  results::device device_;
  std::unique_ptr<devices::backend> backend_;
  std::map<int, prepared_kernel> kernels_;  // by slot
  std::map<int, cell_range> ranges_;        // likewise, of what is prepared
};

}  // namespace kzoo::worker
