#include "worker/worker.hpp"

#include "devices/devices.hpp"
#include "process/channel.hpp"
#include "process/child.hpp"
#include "process/confinement.hpp"
#include "worker/calls.hpp"
#include "worker/loaded_code.hpp"
#include "worker/loaded_plugin.hpp"
#include "worker/session.hpp"

#include <nlohmann/json.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kzoo::worker {

namespace {

void limit(decltype(RLIMIT_CORE) what, rlim_t most) {
  const rlimit both{most, most};
  setrlimit(what, &both);
}

// Bytes that count for RLIMIT_DATA already. A build with AddressSanitizer has terabytes, unused.
rlim_t mapped_now() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  for (int field = 0; field < 6; ++field) statm >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void set_limits() {
  // 1 instead of 0: a limit of 0 does not stop a core dump that is piped to a program, see core(5).
  limit(RLIMIT_CORE, 1);
  // What a plugin prints is kept in memory: beyond this limit its writes just fail.
  constexpr rlim_t kMaxPrinted = rlim_t{256} << 20;
  limit(RLIMIT_FSIZE, kMaxPrinted);
  std::signal(SIGXFSZ, SIG_IGN);
  limit(RLIMIT_DATA, mapped_now() + worker_memory_limit());
}

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

int worker_main(std::string_view device) {
  process::follow_parent();
  set_limits();
  process::confine({std::filesystem::temp_directory_path()});

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
