#pragma once
// The calls of a handle on one stream: problems that are ready to run, and a workspace. Kernels of
// a stream run one after the other, so they share the workspace.

#include "choice.hpp"
#include "device.hpp"
#include "prepared.hpp"

#include <kzoo/abi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace kzoo::library {

// A GEMM: its problem in the kernels' ABI, and the caller's other arguments.
struct product {
  kzoo_problem problem;
  const void *a, *b;
  void* c;
  void* stream;
  void* workspace;  // nullptr: from the pool
  std::uint64_t workspace_bytes;
  std::uint64_t* workspace_needed;  // not nullptr: only asks
};

// How a call ended. A rejection is no exception, since a preloaded library meets many.
struct outcome {
  kzoo_status status = KZOO_OK;
  std::string why;
  kernel computed_by;
};

class stream_work {
 public:
  stream_work(device& d, const chooser& choice, std::size_t most_problems)
      : device_(d), choice_(choice), problems_(most_problems) {}
  // Requires that the stream's work is done.
  ~stream_work();
  stream_work(const stream_work&) = delete;
  stream_work& operator=(const stream_work&) = delete;

  // `marked`: notes the end of the work, for is_done(). Throws kzoo::error.
  outcome run(const product& p, bool marked);
  // Whether the last run is known to have ended, and no graph may repeat it.
  bool is_done();

 private:
  prepared& find_or_prepare(const product& p, bool capturing);
  std::unique_ptr<prepared> prepare(const kzoo_problem& p) const;
  // Destroys surplus instances whose work has ended.
  void retire(void* stream);
  void* workspace_for(const product& p, const prepared& ready, bool capturing);

  struct retired {
    std::unique_ptr<marker> after;
    std::vector<std::unique_ptr<prepared>> instances;
  };

  device& device_;
  const chooser& choice_;
  std::mutex mutex_;
  prepared_problems problems_;
  std::vector<retired> retired_;
  void* workspace_ = nullptr;
  std::uint64_t workspace_bytes_ = 0;
  bool workspace_in_graph_ = false;
  std::vector<void*> kept_;  // workspaces that graphs use
  bool in_graph_ = false;
  std::unique_ptr<marker> end_;
  bool is_marked_ = false;
};

}  // namespace kzoo::library
