#pragma once
// A plugin, run in a worker process or, for debuggers and profilers, in this process.

#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "devices/nvml.hpp"
#include "process/messages.hpp"
#include "results/plugin.hpp"
#include "worker/messages.hpp"

#include <nlohmann/json_fwd.hpp>

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace kzoo::client {

// Calls throw failure when the plugin fails: unsupported, unavailable, error, and in a worker also
// crashed or hung. After error, crashed and hung the next prepare() starts a new session.
class plugin_client {
 public:
  virtual ~plugin_client() = default;

  // Limits the plugin to one device from now on: it sees no other GPU.
  virtual void see_only(const results::device&) {}
  // Runs simulated kernels in the order of a seed from now on, in another session; 0: in the fixed
  // order. Returns whether it can: only in a worker process.
  virtual bool set_schedule(std::uint64_t) { return false; }
  // Begins, without waiting, work that needs no library.
  virtual void start() {}
  // Begins the work that the destructor waits for.
  virtual void begin_to_end() {}
  // Loads the library.
  results::plugin_description open();
  // Why the variant rejects the problem, or why no variant can take it; nothing if it accepts. Asks
  // once: prepare() asks again.
  std::optional<std::string> objection(const std::string& device, std::uint32_t variant,
                                       const problem& p);
  // Creates an instance for the problem: generates inputs, allocates C. Instances alive at the same
  // time need different slots. A variant that rejects a problem after accepting it gets `error`.
  void prepare(const std::string& device, std::uint32_t variant, const problem& p, int slot = 0);
  // Gives a prepared instance the contents of `p`, which may differ in seed and fill only. Moves
  // each matrix in `move` ("abc", "b", ""; w: the workspace) and poisons its old memory.
  void refill(const problem& p, const std::string& move, int slot = 0);
  // Runs it once; output() then holds the requested part of C.
  worker::run_report run(const worker::run_request& request = {}, int slot = 0);
  // Times repeated runs.
  worker::sample_report sample(const worker::sample_request& request);
  // Repeats runs without pauses.
  worker::sustain_report sustain(const worker::sustain_request& request);
  // Times one run with allocation and copies from and to the host.
  worker::end_to_end_report end_to_end();
  // Runs it `warmup` times, then once within the range that a profiler watches.
  void profile(int warmup);
  // output() then holds all of C, or the given rows, as the last run left it.
  void copy_result(int slot = 0, const std::vector<std::int64_t>& rows = {});
  // The longest time that another process held the device while our process ran a kernel.
  double longest_pause_ms(const std::string& device);
  // Destroys the instance that prepare() created.
  void destroy(int slot = 0);
  // Frees the memory of all problems, but keeps the library. Returns the memory that the plugin
  // keeps (nothing without a library). Host: growth since the last free_memory() of the session, 0
  // at first. Device: the same where `monitor`, of the device, lists the session's process; at
  // first, and else, what all processes take more than at the first prepare() after the last
  // free_memory().
  std::optional<worker::memory_report> free_memory(const devices::nvml* monitor = nullptr);
  // Ends the session and its worker; the next prepare() starts another.
  void leave();
  // Sets the timeout for a reply, in seconds. Returns the previous timeout.
  double set_timeout(double seconds) { return std::exchange(timeout_seconds_, seconds); }
  // The session's latest run other than this variant on this problem, which may have left something
  // behind: "plugin:variant at 64x64x64". Empty if there is none.
  std::string ran_before(std::uint32_t variant, const problem& p) const;
  // How the session's process ended between turns since the last call, with no work lost. Empty
  // if it did not end. A stopped process can only be killed from outside.
  std::string take_replacement() { return std::exchange(replacement_, ""); }

  // Settings of the runner's process that the variant has changed since the last call: "limits,
  // processors". Empty if none. Changes by loading the library count for any variant.
  std::string take_interference(std::uint32_t variant);

  // GEMM libraries that the plugin has ever loaded: "cublas".
  std::vector<std::string> libraries() const { return {libraries_.begin(), libraries_.end()}; }
  std::vector<std::string> unnamed_libraries() const;

  // Output of the last run() or copy_result(): the C buffer with redzones, or rows. Valid until the
  // next call.
  std::span<const std::byte> output();

 protected:
  plugin_client(std::filesystem::path file, double timeout_seconds)
      : file_(std::move(file)), timeout_seconds_(timeout_seconds) {}

  // Sends a request and returns the reply. Throws failure when the worker crashes or hangs.
  virtual nlohmann::json exchange(const nlohmann::json& request, double timeout_seconds) = 0;
  // Discards the session: the next exchange starts a new session.
  virtual void restart() = 0;
  // The session's process, if it has begun and is known.
  virtual std::optional<pid_t> session_process() const { return std::nullopt; }
  // Restores the session process's settings that others have changed. Returns whether it could.
  virtual bool set_back() { return true; }

  // For take_replacement(): the session's process has ended between its turns.
  void note_replacement(const std::string& how_it_ended);

  // For take_interference(): changes by the variant that was prepared last.
  void note_interference(const std::string& changed) { interference_[prepared_variant_] = changed; }

  process::shared_memory& output_memory() { return output_; }
  const std::filesystem::path& file() const { return file_; }

 private:
  // Like objection(), but asks the plugin each time.
  std::optional<std::string> ask_support(const std::string& device, std::uint32_t variant,
                                         const problem& p);
  // Sends a request; `more_seconds` extends the timeout.
  nlohmann::json call(worker::operation op, nlohmann::json request, double more_seconds);
  void forget_session();
  std::string name_of_run(std::uint32_t variant, const problem& p) const;
  // Ends the worker and throws failure.
  [[noreturn]] void give_up(verdict v, const std::string& reason, std::string_view step = "");
  // For a reply that no worker sends: the plugin has written to the channel.
  [[noreturn]] void refuse_forged();
  template <class T>
  T call_for(worker::operation op, nlohmann::json request, double more_seconds = 0);

  // Makes room in shared memory for the requested part of C.
  void expect(const worker::output_request& output, const problem& p);

  std::filesystem::path file_;
  double timeout_seconds_;
  std::string replacement_;
  std::set<std::string> libraries_;                // loaded GEMM libraries
  std::optional<std::uint32_t> prepared_variant_;  // the last
  std::map<std::optional<std::uint32_t>, std::string> interference_;
  process::shared_memory output_;
  std::map<int, problem> prepared_;  // by slot
  std::size_t output_bytes_ = 0;
  bool opened_ = false;
  // Bytes at the last free_memory() of this session.
  std::optional<std::int64_t> host_in_use_, device_in_use_;
  std::vector<results::variant_description> variants_;  // once opened
  std::vector<std::string> ran_;  // in this session, as ran_before() names them
  // A variant's answers for a problem, in all sessions.
  struct support {
    std::optional<std::optional<std::string>> answer;  // objection()'s, once asked
    bool prepared = false;
    std::optional<std::string> rejected_later;  // why it rejects what it had accepted
  };
  support& support_of(const std::string& device, std::uint32_t variant, const problem& p) {
    return supports_[{device, variant, as_told(p)}];
  }
  std::map<std::tuple<std::string, std::uint32_t, problem>, support> supports_;
};

// In this process: a debugger or profiler sees the kernel directly, and a crash ends the run.
std::unique_ptr<plugin_client> make_local_client(std::filesystem::path file);

// In a worker process, as the judge's side of worker/worker.cpp: a crash or a hang affects this
// plugin's cells only. `device_code`: where CUDA keeps what it compiles from PTX there, if
// anywhere.
std::unique_ptr<plugin_client> make_process_client(
    std::filesystem::path file, double timeout_seconds,
    std::optional<std::filesystem::path> device_code);

// CUDA_VISIBLE_DEVICES for a process that sees only one GPU, as cuda:0. `ours`: its value in this
// process. `ordinal`: the GPU's number here. Returns entry `ordinal` of `ours` or, if `ours` is
// empty, the number itself: both processes order the GPUs alike.
std::string visible_alone(std::string_view ours, int ordinal);

// Hides the GPUs that a worker does not need: "CUDA_VISIBLE_DEVICES=…". Nothing for the CPU, and
// if no other GPU is visible.
std::optional<std::string> hiding_all_but(const results::device& d);

}  // namespace kzoo::client
