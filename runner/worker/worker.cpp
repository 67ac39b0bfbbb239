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
  // Of the memory that is free now. Device memory does not count, nor address space that CUDA
  // reserves without using it.
  constexpr double kShare = 0.8;
  const char* ranks = std::getenv(kRanksVariable);
  static const auto bytes =
      static_cast<std::uint64_t>(kShare * double(devices::free_memory(devices::find("cpu"))) /
                                 (ranks == nullptr ? 1 : std::max(1, std::atoi(ranks))));
  return bytes;
}

process::confinement of_plugins() {
  // What a plugin prints is kept in memory: beyond this its writes just fail.
  constexpr std::uint64_t kMostPrinted = std::uint64_t{256} << 20;
  process::confinement c;
#if !defined(__SANITIZE_ADDRESS__)  // which maps terabytes that it does not use
  c.data_bytes = worker_memory_limit();
#endif
  c.file_bytes = kMostPrinted;
  c.longer_writes_fail = true;
  if (process::has_profiler()) {  // which is in the same process
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
  // Before there is any code of a plugin, so that all workers may do so at the same time, and none
  // sees GPUs that are hidden from it.
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
  // Without destructors: those of a plugin, or a broken device, could crash here.
  std::_Exit(0);
}

}  // namespace kzoo::worker
