#pragma once
// One plugin, as the supervisor uses it. Where the plugin runs is the implementation's business: in
// a worker process of its own, or in this process for debuggers and profilers.

#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "process/shared_memory.hpp"
#include "results/plugin.hpp"
#include "worker/messages.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kzoo::host {

// Every call throws failure for what the plugin does wrong: unsupported, unavailable, error, and
// from a process crashed and hung. After crashed, hung and error the next prepare() starts afresh.
class plugin_host {
 public:
  virtual ~plugin_host() = default;

  // Loads the library.
  results::plugin_description open();
  // Makes the variant ready for the problem on the device: inputs are generated, C is allocated.
  // Instances that shall be alive at the same time are prepared in different slots.
  void prepare(const std::string& device, std::uint32_t variant, const problem& p, int slot = 0);
  // Gives a prepared instance the contents of `p`, which differs in seed and fill alone, and other
  // memory for each matrix in `move`: "abc", "b", "". What it moved from becomes poison.
  void renew(const problem& p, const std::string& move, int slot = 0);
  // Runs it once; output() then holds what of C is asked for.
  worker::run_report run(const worker::output_request& output = {}, int slot = 0);
  // Runs it over and over; output() then holds what the last sample wrote, if that is unknown.
  worker::sample_report sample(const worker::sample_request& how);
  // Runs it once on matrices that were allocated and sent just before; output() as after run().
  worker::end_to_end_report end_to_end(const worker::output_request& output);
  // Runs it `warmup` times, and once more as what a profiler of the process sees.
  void profile(int warmup);
  // output() then holds all of C as the last run left it.
  void show(int slot = 0);
  // For each row of C as the last run left it: the sum of its elements times hash(key, column).
  std::vector<std::uint64_t> fold(std::uint64_t key, int slot = 0);
  // Ends the cell: destroys what prepare() made.
  void finish(int slot = 0);
  // Frees the memory of all problems, keeps the library.
  void release();
  // Ends the worker; the next prepare() starts another.
  void leave();

  // What the last run(), sample(), end_to_end() or show() gave: the C buffer, zones included, or
  // rows of it. Valid until the next call.
  std::span<const std::byte> output();

 protected:
  plugin_host(std::filesystem::path file, double timeout_seconds)
      : file_(std::move(file)), timeout_seconds_(timeout_seconds) {}

  // Sends one request and gives back the reply. Throws failure for crashed and hung.
  virtual nlohmann::json exchange(const nlohmann::json& request, double timeout_seconds) = 0;
  // Forgets everything: the next exchange meets a new session.
  virtual void restart() = 0;

  process::shared_memory& output_window() { return output_; }

 private:
  nlohmann::json call(const nlohmann::json& request, double timeout_seconds);
  // The reply is not what a worker says.
  [[noreturn]] void give_up(verdict v, const std::string& reason);
  [[noreturn]] void refuse_forged();
  template <class T>
  T call_for(const nlohmann::json& request, double timeout_seconds);

  std::filesystem::path file_;
  double timeout_seconds_;
  // Makes room for what is about to be shown.
  void expect(const worker::output_request& output, const problem& p);

  process::shared_memory output_;
  std::map<int, problem> prepared_;  // by slot
  std::size_t output_bytes_ = 0;
  bool opened_ = false;
};

// A worker process: a crash or a hang costs the plugin its verdict and nothing else.
std::unique_ptr<plugin_host> make_process_host(std::filesystem::path file, double timeout_seconds);
// This process: nothing protects it, and nothing stands between a debugger and the kernel.
std::unique_ptr<plugin_host> make_local_host(std::filesystem::path file);

}  // namespace kzoo::host
