#include "worker/worker.hpp"

#include "devices/devices.hpp"
#include "process/channel.hpp"
#include "process/child.hpp"
#include "worker/session.hpp"

#include <nlohmann/json.hpp>

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

namespace kzoo::worker {

namespace {

void limit(decltype(RLIMIT_CORE) what, rlim_t most) {
  const rlimit both{most, most};
  setrlimit(what, &both);
}

}  // namespace

void set_limits() {
  // 1 and not 0, which does not keep a core from being piped to a program (core(5)).
  limit(RLIMIT_CORE, 1);
  // What a plugin prints is kept in memory: past this, its writes fail and nothing else happens.
  constexpr rlim_t kMostPrinted = rlim_t{256} << 20;
  limit(RLIMIT_FSIZE, kMostPrinted);
  std::signal(SIGXFSZ, SIG_IGN);
  limit(RLIMIT_DATA, worker_memory_limit());
}

std::uint64_t worker_memory_limit() {
  // Of what nobody uses now. Device memory, and address space that CUDA only reserves, do not
  // count.
  constexpr double kShare = 0.8;
  const char* parts = std::getenv(kShardsVariable);
  static const auto bytes =
      static_cast<std::uint64_t>(kShare * double(devices::free_memory(devices::find("cpu"))) /
                                 (parts == nullptr ? 1 : std::max(1, std::atoi(parts))));
  return bytes;
}

int worker_main() {
  // Whatever happens to the supervisor, no worker outlives it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  set_limits();

  process::channel control(process::kControlFd);
  process::shared_memory output(process::kWindowFd);
  session plugin(output);
  for (;;) {
    bool closed = false;
    const auto request = control.receive(closed);
    if (closed) break;
    if (request && !control.send(plugin.handle(*request))) break;
  }
  // Neither a plugin's static destructors nor a broken device may turn the end into a crash.
  std::_Exit(0);
}

}  // namespace kzoo::worker
