#pragma once
// The judge's view of a plugin, loaded into the same process (loaded_plugin.hpp), or into a worker
// without data of the judge (client/remote_plugin.hpp). Below it, calls into a plugin's own
// functions.

#include "core/problem.hpp"
#include "results/device.hpp"
#include "results/plugin.hpp"

#include <kzoo/abi.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::worker {

// worker
//  A kernel's data, by element (0, 0) of each matrix.
struct placement {
  std::vector<const void*> inputs;  // A, B and the other operands
  void *c = nullptr, *workspace = nullptr;
};

// Variants are indices into the plugin's table. A slot holds one instance. Throws refusal when the
// plugin answers anything but KZOO_OK.
class plugin {
 public:
  virtual ~plugin() = default;

  // Loads the library. Throws unusable.
  virtual results::plugin_description open(const std::filesystem::path& file) = 0;
  virtual void ask_support(std::uint32_t variant, const problem& p, const kzoo_device& on) = 0;
  // See kzoo_variant.
  virtual std::uint64_t workspace_bytes(std::uint32_t variant, const problem& p,
                                        const kzoo_device& on) = 0;
  virtual void create(int slot, std::uint32_t variant, const problem& p, const kzoo_device& on) = 0;
  // For all runs until the next call.
  virtual void place(int slot, const placement& where, void* stream) = 0;
  virtual void run(int slot) = 0;
  // Launches of the last run.
  virtual std::vector<results::launch> launches(int slot) = 0;
  virtual void destroy(int slot) = 0;
  // Lets the plugin's remaining threads run for a while, if they are held between its calls.
  virtual void go_on() {}
  // Bytes allocated by the plugin and its process.
  virtual std::int64_t heap_in_use() = 0;
  // GEMM libraries that it has loaded so far: "cublas".
  virtual std::vector<std::string> product_libraries() = 0;
};

// Ends the handling of a request with a status; see session.hpp.
struct refusal {
  const char* status;
  std::string reason;
  std::string_view step{};  // of core/step.hpp
};

// All throw a refusal unless the plugin answers KZOO_OK.
void ask_support(const kzoo_variant& variant, const kzoo_problem& p, const kzoo_device& device);
void* create_instance(const kzoo_variant& variant, const kzoo_problem& p,
                      const kzoo_device& device);
// Arguments without stream and launches. `inputs` (A, B, other operands) must outlive the call.
kzoo_arguments arguments_of(const std::vector<const void*>& inputs, void* c, void* workspace);
void run_instance(const kzoo_variant& variant, void* instance, const kzoo_arguments& arguments);

}  // namespace kzoo::worker
