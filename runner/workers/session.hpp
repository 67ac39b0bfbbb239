#pragma once
// One plugin on one device, answering requests: the worker's side of plugin_host.hpp. Requests and
// replies are JSON objects, so that a local session and one in another process are the same.
//
//   {"op": "open", "file"}                  -> {"plugin": {…}}            or a status
//   {"op": "prepare", "device", "variant", "problem"} -> {}           or a status
//   {"op": "run"}                           -> {"changed", …}            or a status
//   {"op": "sample", "warmup", "samples", "max_seconds"}
//                                           -> {"samples_ms": […], …}    or a status
//   {"op": "finish"}                        -> {}                        or a status
//   {"op": "release"}                       -> {}
//
// A status is {"status": "unsupported" | "unavailable" | "error", "reason"}. After "run" and
// "sample" the whole C buffer of the last call is in the window.

#include "core/operands.hpp"
#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "workers/library.hpp"
#include "workers/messages.hpp"
#include "workers/window.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>

namespace kzoo::workers {

class session {
 public:
  explicit session(window& output);
  ~session();

  // Never throws for what a plugin or a device does wrong: that is a status.
  nlohmann::json handle(const nlohmann::json& request);

 private:
  class device_memory;
  struct device_matrix;
  struct matrices;

  nlohmann::json dispatch(const nlohmann::json& request);
  nlohmann::json open(const nlohmann::json& request);
  nlohmann::json prepare(const nlohmann::json& request);
  nlohmann::json run();
  nlohmann::json sample(const nlohmann::json& request);
  void finish();
  void release();

  void make_matrices(const problem& p);
  void destroy_instance();
  void call_plugin(kzoo_launch_list* launches = nullptr);
  changes count_changes();
  void reset_c();
  void publish_c();

  window& output_;
  std::optional<library> library_;
  devices::device device_;
  std::unique_ptr<devices::backend> backend_;
  std::unique_ptr<matrices> matrices_;
  bool inputs_spoilt_ = false;
  std::unique_ptr<device_memory> workspace_;
  const kzoo_variant* variant_ = nullptr;
  void* instance_ = nullptr;
};

}  // namespace kzoo::workers
