#include "worker/worker.hpp"

#include "devices/devices.hpp"
#include "devices/guarded_memory.hpp"
#include "process/child.hpp"
#include "process/messages.hpp"
#include "worker/messages_json.hpp"
#include "worker/plugin.hpp"
#include "worker/session.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::worker {
namespace {

using json = nlohmann::json;

void* address_in(const json& number) {
  return reinterpret_cast<void*>(number.get<std::uintptr_t>());  // NOLINT: of this process
}
json number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// Keeps names as long as the process lives.
const char* kept(const std::string& name) {
  static std::set<std::string> names;
  return names.insert(name).first->c_str();
}

KZOO_ENUM(plugin_call, map, unmap, ask, workspace, create, place, call, launches, end, heap);

// Calls of a plugin that is judged in another process, by client/process_client.cpp. Nothing here
// fills, times or judges.
//
//   {"op": "map", "offset", "bytes", "around", "name"}  -> {"at"}: a mapped part of the file
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
class calls {
 public:
  // `shared_file`: the descriptor of the file that parts are mapped from.
  calls(plugin& host, int shared_file)
      : plugin_(host), shared_file_(shared_file), device_(devices::find("cpu")) {}

  static bool has(std::string_view op) { return from_name<plugin_call>(op).has_value(); }
  json handle(const json& request) {
    json reply = answer([&] { return dispatch(request); });
    if (request.value("op", "") == "call") return reply;  // it is timed
    if (const auto libraries = plugin_.product_libraries(); !libraries.empty())
      reply["libraries"] = libraries;
    return reply;
  }

 private:
  json dispatch(const json& request) {
    const auto op = request.at("op").get<std::string>();
    const auto slot = [&] { return request.at("slot").get<int>(); };
    const auto variant = [&] { return request.at("variant").get<std::uint32_t>(); };
    const auto asked_problem = [&] { return request.at("problem").get<problem>(); };
    if (op == "call") return call(slot());
    if (op == "map") return map(request);
    if (op == "unmap") {
      devices::release_guarded(address_in(request.at("at")));
    } else if (op == "ask") {
      plugin_.ask_support(variant(), asked_problem(), device_.abi);
    } else if (op == "workspace") {
      return {{"bytes", plugin_.workspace_bytes(variant(), asked_problem(), device_.abi)}};
    } else if (op == "create") {
      plugin_.create(slot(), variant(), asked_problem(), device_.abi);
    } else if (op == "place") {
      place(request);
    } else if (op == "launches") {
      return {{"launches", plugin_.launches(slot())}};
    } else if (op == "end") {
      inputs_.erase(slot());
      plugin_.destroy(slot());
    } else if (op == "heap") {
      return {{"bytes", plugin_.heap_in_use()}};
    }
    return json::object();
  }
  json map(const json& request) const {
    const auto bytes = request.at("bytes").get<std::size_t>();
    void* at = devices::allocate_guarded(
        bytes, request.at("around").get<std::size_t>(), kept(request.at("name").get<std::string>()),
        devices::file_part{shared_file_, request.at("offset").get<std::size_t>()});
    if (at == nullptr) throw std::runtime_error(fmt::format("cannot map {} bytes", bytes));
    return {{"at", number_of(at)}};
  }
  // Only the judge writes to inputs, through its own mapping.
  void place(const json& request) {
    placement where{{}, address_in(request.at("c")), address_in(request.at("workspace"))};
    for (const json& input : request.at("inputs")) {
      where.inputs.push_back(address_in(input));
      devices::set_read_only(where.inputs.back(), true);
    }
    const int slot = request.at("slot").get<int>();
    plugin_.place(slot, where, nullptr);
    inputs_[slot] = where.inputs;
  }
  json call(int slot) {
    plugin_.run(slot);
    json reply = json::object();
    for (const void* input : inputs_.at(slot)) {
      const auto written = devices::take_noted_write(input);
      if (!written) continue;
      reply["writes"].push_back({number_of(input), *written});
      devices::set_read_only(input, true);
    }
    return reply;
  }

  plugin& plugin_;
  int shared_file_;
  results::device device_;
  std::map<int, std::vector<const void*>> inputs_;  // read-only, by slot
};

}  // namespace

std::uint64_t worker_memory_limit() {
  // Share of the memory that is free now, without address space that CUDA only reserves.
  constexpr double kShare = 0.8;
  const char* ranks = std::getenv(kRanksVariable);
  static const auto bytes =
      static_cast<std::uint64_t>(kShare * double(devices::free_memory(devices::find("cpu"))) /
                                 (ranks == nullptr ? 1 : std::max(1, std::atoi(ranks))));
  return bytes;
}

process::confinement of_plugins() {
  // Plugin output is kept in memory; writes beyond this limit fail.
  constexpr std::uint64_t kMostPrinted = std::uint64_t{256} << 20;
  process::confinement c;
#if !defined(__SANITIZE_ADDRESS__)  // ASan maps terabytes without using them
  c.data_bytes = worker_memory_limit();
#endif
  c.file_bytes = kMostPrinted;
  c.longer_writes_fail = true;
  if (process::has_profiler()) {  // in the same process
    c.most_processes = process::enough_processes();
    c.network = c.privileged = c.writes_in_proc = true;
  }
  return c;
}

int worker_main(std::string_view device) {
  process::follow_parent();

  process::channel control(process::kControlFd);
  process::shared_memory output(process::kSharedMemoryFd);
  const loaded_code own_code;
  loaded_plugin plugin;
  session judged_here(plugin, "", output, &own_code);
  calls judged_elsewhere(plugin, process::kMatricesFd);
  // Before any plugin code: workers may do so concurrently, and no GPU is hidden yet.
  if (!device.empty()) judged_here.open_device(std::string(device));
  for (;;) {
    bool closed = false;
    const auto request = control.receive(closed);
    if (closed) break;
    if (!request) continue;
    const bool is_call = calls::has(request->at("op").get<std::string>());
    if (!control.send(is_call ? judged_elsewhere.handle(*request) : judged_here.handle(*request)))
      break;
  }
  // _Exit runs no destructors: a plugin's destructor, or a broken device, could crash here.
  std::_Exit(0);
}

}  // namespace kzoo::worker
