#pragma once
// A plugin as whoever judges it calls it. It is loaded into the same process (loaded_plugin.hpp),
// or into a worker that has nothing of the judge's (client/remote_plugin.hpp).

#include "core/problem.hpp"
#include "results/launch.hpp"
#include "results/plugin.hpp"

#include <kzoo/abi.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::worker {

// Where a kernel finds its data, by element (0, 0) of each matrix.
struct placement {
  std::vector<const void*> inputs;  // A, B and the other operands
  void *c = nullptr, *workspace = nullptr;
};

// Variants are those of its table, by index. A slot holds one instance. Throws refusal when the
// plugin answers anything but KZOO_OK.
class plugin {
 public:
  virtual ~plugin() = default;

  // Loads the library. Throws unusable.
  virtual results::plugin_description open(const std::filesystem::path& file) = 0;
  virtual void ask_support(std::uint32_t variant, const problem& p, const kzoo_device& on) = 0;
  // As kzoo_variant has it.
  virtual std::uint64_t workspace_bytes(std::uint32_t variant, const problem& p,
                                        const kzoo_device& on) = 0;
  virtual void create(int slot, std::uint32_t variant, const problem& p, const kzoo_device& on) = 0;
  // Of all runs until the next call.
  virtual void place(int slot, const placement& where, void* stream) = 0;
  virtual void run(int slot) = 0;
  // Of the last run.
  virtual std::vector<results::launch> launches(int slot) = 0;
  virtual void destroy(int slot) = 0;
  // Lets threads that it has left running go on for a while, where they are held between its calls.
  virtual void go_on() {}
  // Bytes that it and its process have allocated.
  virtual std::int64_t heap_in_use() = 0;
  // The libraries for matrix products that it has loaded by now: "cublas".
  virtual std::vector<std::string> product_libraries() = 0;
};

}  // namespace kzoo::worker
