#pragma once
// One plugin, as the supervisor uses it. Where the plugin runs is the implementation's business: in
// a worker process of its own, or in this process for debuggers and profilers.

#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "workers/messages.hpp"
#include "workers/window.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace kzoo::workers {

// Every call throws setback for what the plugin does wrong: unsupported, unavailable, error, and
// from a process crashed and hung. After crashed, hung and error the next prepare() starts afresh.
class plugin_host {
 public:
  virtual ~plugin_host() = default;

  // Loads the library.
  plugin_description open();
  // Makes the variant ready for the problem on the device: inputs are generated, C is allocated.
  void prepare(const std::string& device, std::uint32_t variant, const problem& p);
  // Runs it once; output() then holds all of C.
  run_report run();
  // Runs it over and over; output() then holds what the last sample wrote.
  sample_report sample(int warmup, int samples, double max_seconds);
  // Ends the cell: destroys what prepare() made.
  void finish();
  // Frees the memory of the problem, keeps the library.
  void release();

  // The C buffer of the last run() or sample(), zones included. Valid until the next call.
  std::span<const std::byte> output();

 protected:
  plugin_host(std::filesystem::path file, double timeout_seconds)
      : file_(std::move(file)), timeout_seconds_(timeout_seconds) {}

  // Sends one request and gives back the reply. Throws setback for crashed and hung.
  virtual nlohmann::json exchange(const nlohmann::json& request, double timeout_seconds) = 0;
  // Forgets everything: the next exchange meets a new session.
  virtual void restart() = 0;

  window& output_window() { return output_; }

 private:
  nlohmann::json call(const nlohmann::json& request, double timeout_seconds);
  // The reply is not what a worker says.
  [[noreturn]] void refuse_forged();
  template <class T>
  T call_for(const nlohmann::json& request, double timeout_seconds);

  std::filesystem::path file_;
  double timeout_seconds_;
  window output_;
  std::size_t output_bytes_ = 0;
  bool opened_ = false;
};

// A worker process: a crash or a hang costs the plugin its verdict and nothing else.
std::unique_ptr<plugin_host> make_process_host(std::filesystem::path file, double timeout_seconds);
// This process: nothing protects it, and nothing stands between a debugger and the kernel.
std::unique_ptr<plugin_host> make_local_host(std::filesystem::path file);

}  // namespace kzoo::workers
