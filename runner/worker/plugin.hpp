#pragma once
// The judge's view of a plugin, loaded into the same process, or into a worker
// without data of the judge (client/process_client.cpp). Below it, calls into a plugin's own
// functions.

#include "core/problem.hpp"
#include "results/plugin.hpp"

#include <kzoo/abi.h>
#include <boost/dll/shared_library.hpp>

#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::worker {

// The shared libraries of this process: the plugin's, GEMM libraries, and code loaded before a
// plugin.

// The library cannot be used as a plugin. what() says why, and what to do about it.
class unusable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The library of one plugin. Only used in a worker, or with --in-process.
class library {
 public:
  // Loads the file and checks the descriptor. Throws unusable.
  explicit library(const std::filesystem::path& file);
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  const kzoo_plugin& plugin() const { return *plugin_; }
  const kzoo_variant& variant(std::uint32_t index) const;

 private:
  // Never unloaded: code that has run may have left threads, handlers and pointers into it.
  boost::dll::shared_library& handle_;
  const kzoo_plugin* plugin_ = nullptr;
};

// Paths as in the loader, without the program itself.
std::set<std::string> loaded_libraries();

// GEMM libraries among them, named after their files: "cublas" for libcublasLt.so.13.
std::set<std::string> product_libraries();

// Code loaded before a plugin: the runner's, and libraries that time, copy and allocate. It
// compares code with its files, and read-only tables of addresses (RELRO) with a copy.
class loaded_code {
 public:
  loaded_code();

  // A library whose code has changed. Takes less than a millisecond.
  std::optional<std::string> changed() const;

 private:
  struct part {
    std::string library;
    std::span<const std::byte> loaded, original;
  };

  void add(const std::string& file, const dl_phdr_info& library);

  std::vector<part> parts_;
  std::deque<std::vector<std::byte>> copies_;
};

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
  std::string_view step{};  // a step of core/verdict.hpp
};

// All throw a refusal unless the plugin answers KZOO_OK.
void ask_support(const kzoo_variant& variant, const kzoo_problem& p, const kzoo_device& device);
void* create_instance(const kzoo_variant& variant, const kzoo_problem& p,
                      const kzoo_device& device);
// Arguments without stream and launches. `inputs` (A, B, other operands) must outlive the call.
kzoo_arguments arguments_of(const std::vector<const void*>& inputs, void* c, void* workspace);
void run_instance(const kzoo_variant& variant, void* instance, const kzoo_arguments& arguments);

// A plugin whose library is loaded into this process.

class loaded_plugin final : public plugin {
 public:
  results::plugin_description open(const std::filesystem::path& file) override;
  void ask_support(std::uint32_t variant, const problem& p, const kzoo_device& on) override;
  std::uint64_t workspace_bytes(std::uint32_t variant, const problem& p,
                                const kzoo_device& on) override;
  void create(int slot, std::uint32_t variant, const problem& p, const kzoo_device& on) override;
  void place(int slot, const placement& where, void* stream) override;
  void run(int slot) override;
  std::vector<results::launch> launches(int slot) override;
  void destroy(int slot) override;
  std::int64_t heap_in_use() override;
  std::vector<std::string> product_libraries() override;

 private:
  struct instance {
    const kzoo_variant* variant = nullptr;
    void* made = nullptr;
    placement where;
    void* stream = nullptr;
  };

  std::set<std::string> libraries_before_ = worker::product_libraries();
  std::optional<library> library_;
  std::map<int, instance> instances_;
  // Launches of the last run. Every run gets the same list, so that no run can recognise itself by
  // it.
  static constexpr std::uint32_t kMaxLaunches = 16;
  std::array<kzoo_launch, kMaxLaunches> launches_{};
  kzoo_launch_list launch_list_{
      sizeof(kzoo_launch_list), launches_.data(), kMaxLaunches, sizeof(kzoo_launch), 0, 0};
};

}  // namespace kzoo::worker
