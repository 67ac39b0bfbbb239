#include "devices/cuda/runtime.hpp"

#include <fmt/format.h>
#include <boost/dll/shared_library.hpp>

#include <system_error>

namespace kzoo::devices::cuda {
namespace {

// The part of the driver's ABI that is used here: the program is not linked with the driver.
using result = int;  // 0 is success
using context = void*;
using of_event = result(context, cudaEvent_t);

struct functions {
  functions() {
    std::error_code failed;
    library.load("libcuda.so.1", failed, boost::dll::load_mode::search_system_folders);
    if (failed || !library.has("cuCtxRecordEvent") || !library.has("cuCtxWaitEvent")) return;
    current = &library.get<result(context*)>("cuCtxGetCurrent");
    record = &library.get<of_event>("cuCtxRecordEvent");
    wait = &library.get<of_event>("cuCtxWaitEvent");
  }

  boost::dll::shared_library library;
  result (*current)(context*) = nullptr;
  of_event *record = nullptr, *wait = nullptr;
};
const functions& driver() {
  static const functions all;
  return all;
}

void call(of_event* function, cudaEvent_t event, const char* name) {
  context now = nullptr;
  result done = driver().current(&now);
  if (done == 0) done = function(now, event);
  if (done != 0) throw failure(fmt::format("{}: error {} of the driver", name, done));
}

}  // namespace

void hold_streams_until(cudaEvent_t event) {
  if (driver().wait != nullptr) call(driver().wait, event, "cuCtxWaitEvent");
}

void wait_for_streams(cudaStream_t stream, cudaEvent_t event) {
  if (driver().record == nullptr) return;
  call(driver().record, event, "cuCtxRecordEvent");
  check(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
}

}  // namespace kzoo::devices::cuda
