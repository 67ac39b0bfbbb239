#pragma once
// Calls of a plugin that is judged in another process, for client/remote_plugin.hpp. Nothing here
// fills, times or judges.
//
//   {"op": "map", "offset", "bytes", "around", "name"}  -> {"at"}: a part of the shared file,
//   mapped
//   {"op": "unmap", "at"}                               -> {}
//   {"op": "ask", "variant", "problem"}                 -> {}
//   {"op": "workspace", "variant", "problem"}           -> {"bytes"}
//   {"op": "create", "slot", "variant", "problem"}      -> {}
//   {"op": "place", "slot", "inputs", "c", "workspace"} -> {}: addresses in mapped parts
//   {"op": "call", "slot"}                              -> {}, or {"writes": [[address, bytes]…]}
//   {"op": "launches", "slot"}                          -> {"launches"}
//   {"op": "end", "slot"}                               -> {}
//   {"op": "heap"}                                      -> {"bytes"}
//
// Errors are replies as in session.hpp, which also explains "libraries".

#include "results/device.hpp"
#include "worker/plugin.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string_view>
#include <vector>

namespace kzoo::worker {

class calls {
 public:
  // `shared_file`: the descriptor of the file that parts are mapped from.
  calls(plugin& of, int shared_file);

  static bool has(std::string_view op);
  nlohmann::json handle(const nlohmann::json& request);

 private:
  nlohmann::json dispatch(const nlohmann::json& request);
  nlohmann::json map(const nlohmann::json& request) const;
  void place(const nlohmann::json& request);
  nlohmann::json call(int slot);

  plugin& plugin_;
  int shared_file_;
  results::device device_;
  std::map<int, std::vector<const void*>> inputs_;  // read-only, by slot
};

}  // namespace kzoo::worker
