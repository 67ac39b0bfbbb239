#pragma once
// A plugin that runs in a worker and is judged here: the judge's side of worker/worker.cpp.

#include "devices/backend.hpp"
#include "process/anonymous_files.hpp"
#include "worker/plugin.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kzoo::client {

// Sends a request to the worker, which runs until it has answered. Throws failure.
using ask_worker = std::function<nlohmann::json(const nlohmann::json&)>;

// Matrices in memory that the worker also maps, between guard pages.
class shared_matrices final : public devices::host_memory {
 public:
  // `most`: bytes of all allocations together.
  shared_matrices(ask_worker ask, double most) : ask_(std::move(ask)), most_(most) {}

  int fd() const { return pages_.fd(); }
  std::size_t bytes() const { return pages_.bytes(); }
  // The worker's address for `here` in this process.
  std::uintptr_t there(const void* here) const;
  // Notes that the worker wrote to the input at its address `at`.
  void note_write(std::uintptr_t at, std::int64_t offset);

  void* allocate(std::size_t bytes, const devices::surroundings& around) override;
  void release(void* memory) override;
  void set_read_only(void*, bool) override {}  // the worker's mappings of inputs are read-only
  std::int64_t take_noted_write(const void* memory) override;

 private:
  struct allocation {
    process::shared_pages::part pages;
    std::size_t bytes = 0;
    std::uintptr_t there = 0;
    std::int64_t written = -1;
  };
  const std::pair<std::byte* const, allocation>& holding(const void* here) const;

  ask_worker ask_;
  double most_;
  process::shared_pages pages_;
  std::map<std::byte*, allocation> allocations_;  // by address in this process
};

class remote_plugin final : public worker::plugin {
 public:
  // `go_on`: lets the worker run for a while without a request.
  remote_plugin(ask_worker ask, std::function<void()> go_on, shared_matrices& memory)
      : ask_(std::move(ask)), go_on_(std::move(go_on)), memory_(memory) {}

  results::plugin_description open(const std::filesystem::path& file) override;
  void ask_support(std::uint32_t variant, const problem& p, const kzoo_device&) override;
  std::uint64_t workspace_bytes(std::uint32_t variant, const problem& p,
                                const kzoo_device&) override;
  void create(int slot, std::uint32_t variant, const problem& p, const kzoo_device&) override;
  void place(int slot, const worker::placement& where, void*) override;
  void run(int slot) override;
  std::vector<results::launch> launches(int slot) override;
  void destroy(int slot) override;
  void go_on() override { go_on_(); }
  std::int64_t heap_in_use() override;
  std::vector<std::string> product_libraries() override { return libraries_; }

 private:
  // Throws refusal if the reply is a status.
  nlohmann::json ask(const nlohmann::json& request);
  template <class T>
  T ask_for(const nlohmann::json& request, const char* field);

  ask_worker ask_;
  std::function<void()> go_on_;
  shared_matrices& memory_;
  std::vector<std::string> libraries_;
};

}  // namespace kzoo::client
