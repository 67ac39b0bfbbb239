#include "worker/worker.hpp"

#include "devices/devices.hpp"
#include "process/channel.hpp"
#include "process/child.hpp"
#include "process/environment.hpp"
#include "worker/calls.hpp"
#include "worker/loaded_code.hpp"
#include "worker/loaded_plugin.hpp"
#include "worker/session.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>

namespace kzoo::worker {

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
  // Without destructors: a plugin's, or a broken device, could crash here.
  std::_Exit(0);
}

}  // namespace kzoo::worker
