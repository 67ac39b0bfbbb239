#include "workers/worker.hpp"

#include "workers/channel.hpp"
#include "workers/session.hpp"

#include <nlohmann/json.hpp>

#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>

namespace kzoo::workers {

int worker_main() {
  // Whatever happens to the supervisor, no worker outlives it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // What a plugin prints is kept in memory: past this, its writes fail and nothing else happens.
  constexpr rlim_t kMostPrinted = rlim_t{256} << 20;
  const rlimit printed{kMostPrinted, kMostPrinted};
  setrlimit(RLIMIT_FSIZE, &printed);
  std::signal(SIGXFSZ, SIG_IGN);

  channel control(kControlFd);
  window output(kWindowFd);
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

}  // namespace kzoo::workers
