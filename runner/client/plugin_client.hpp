#pragma once
// One plugin, as the supervisor sees it. Implementations run it in a worker process of its own, or
// in this process for debuggers and profilers.

#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "process/shared_memory.hpp"
#include "results/device.hpp"
#include "results/plugin.hpp"
#include "worker/messages.hpp"
#include "worker/operations.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::client {

// Every call throws failure when the plugin fails: unsupported, unavailable or error, and from a
// worker process also crashed or hung. After error, crashed and hung the next prepare() starts a
// new session.
class plugin_client {
 public:
  virtual ~plugin_client() = default;

  // No other device is asked for from now on, and no other GPU is to be seen by the plugin.
  virtual void see_only(const results::device&) {}
  // Begins what can be done before the library is loaded, and does not wait for it.
  virtual void start() {}
  // Of a client that is not used any more: begins what the destructor waits for.
  virtual void begin_to_end() {}
  // Loads the library.
  results::plugin_description open();
  // Why the variant declines the problem on the device, or why nobody could take it; nothing where
  // it accepts.
  std::optional<std::string> objection(const std::string& device, std::uint32_t variant,
                                       const problem& p);
  // Makes the variant ready for the problem on the device: inputs are generated, C is allocated.
  // Instances that are to be alive at the same time need different slots. A variant that declines
  // what it has once taken gets `error`.
  void prepare(const std::string& device, std::uint32_t variant, const problem& p, int slot = 0);
  // Gives a prepared instance the contents of `p`, which may differ in seed and fill only, and a
  // new address to each matrix named in `move`, such as "abc", "b", ""; w is the workspace. The old
  // memory is poisoned.
  void refill(const problem& p, const std::string& move, int slot = 0);
  // Runs it once; output() then holds the requested part of C.
  worker::run_report run(const worker::run_request& how = {}, int slot = 0);
  // Times repeated runs.
  worker::sample_report sample(const worker::sample_request& how);
  // Runs it again and again.
  worker::sustain_report sustain(const worker::sustain_request& how);
  // Times one run with allocation and copies from and to the host.
  worker::end_to_end_report end_to_end();
  // Runs it `warmup` times, then once within the range that a profiler watches.
  void profile(int warmup);
  // output() then holds all of C, as the last run left it, or these rows of it.
  void copy_result(int slot = 0, const std::vector<std::int64_t>& rows = {});
  // The longest time for which another process had the device, while this one's ran a kernel.
  double longest_pause_ms(const std::string& device);
  // Destroys the instance that prepare() created.
  void destroy(int slot = 0);
  // Frees the memory of all problems, keeps the library. Returns what the plugin has kept: on the
  // host, what is in use beyond what was at the last free_memory() of the same session, 0 at the
  // first one; on the device, beyond what was before the first prepare() since then, so that what
  // other processes keep in their turns does not count. Nothing where nothing was loaded.
  std::optional<worker::memory_report> free_memory();
  // Discards the session and ends its worker; the next prepare() starts another.
  void leave();
  // How long it waits for an answer, in seconds. Returns how long it did before.
  double set_timeout(double seconds) { return std::exchange(timeout_seconds_, seconds); }
  // What this session ran last beside this variant on this problem, and what may have left
  // something behind: "plugin:variant at 64x64x64"; "" if nothing.
  std::string ran_before(std::uint32_t variant, const problem& p) const;
  // How the session's process has ended between its turns, where no work was lost with it, since
  // the last call; "" where it has not. A stopped process can only be killed from outside.
  std::string take_replacement() { return std::exchange(replacement_, ""); }

  // What this variant has changed of the runner's own process, since the last call: "limits,
  // processors"; "" for nothing. What the library did when it was loaded is said of any variant.
  std::string take_interference(std::uint32_t variant);

  // The libraries for matrix products that the plugin has loaded, at any time: "cublas"; and those
  // that its name does not contain.
  std::vector<std::string> libraries() const { return {libraries_.begin(), libraries_.end()}; }
  std::vector<std::string> unnamed_libraries() const;

  // What the last run() or copy_result() copied: the C buffer with its redzones, or rows of it.
  // Valid until the next call.
  std::span<const std::byte> output();

 protected:
  plugin_client(std::filesystem::path file, double timeout_seconds)
      : file_(std::move(file)), timeout_seconds_(timeout_seconds) {}

  // Sends one request and returns the reply. Throws failure when the worker crashes or hangs.
  virtual nlohmann::json exchange(const nlohmann::json& request, double timeout_seconds) = 0;
  // Discards the session: the next exchange starts a new one.
  virtual void restart() = 0;
  // Sets back what others have changed of the session's process since its last turn. Returns
  // whether it could.
  virtual bool set_back() { return true; }

  // For take_replacement(): the session's process has ended between its turns.
  void note_replacement(const std::string& how_it_ended);

  // For take_interference(): of the variant that was prepared last.
  void note_interference(const std::string& changed) { interference_[prepared_variant_] = changed; }

  process::shared_memory& output_memory() { return output_; }
  const std::filesystem::path& file() const { return file_; }

 private:
  // Sends a request, and waits that much longer than the timeout.
  nlohmann::json call(worker::operation op, nlohmann::json request, double more_seconds);
  void forget_session();
  std::string name_of_run(std::uint32_t variant, const problem& p) const;
  // Ends the worker and throws failure.
  [[noreturn]] void give_up(verdict v, const std::string& reason, std::string_view step = "");
  // The reply is not one that a worker sends: the plugin has written to the channel.
  [[noreturn]] void refuse_forged();
  template <class T>
  T call_for(worker::operation op, nlohmann::json request, double more_seconds = 0);

  // Makes room in shared memory for the requested part of C.
  void expect(const worker::output_request& output, const problem& p);

  std::filesystem::path file_;
  double timeout_seconds_;
  std::string replacement_;
  std::set<std::string> libraries_;                // for matrix products, that it has loaded
  std::optional<std::uint32_t> prepared_variant_;  // the last one
  std::map<std::optional<std::uint32_t>, std::string> interference_;
  process::shared_memory output_;
  std::map<int, problem> prepared_;  // by slot
  std::size_t output_bytes_ = 0;
  bool opened_ = false;
  std::optional<std::int64_t> host_in_use_;  // bytes, at the last free_memory() of this session
  std::vector<results::variant_description> variants_;  // once opened
  std::vector<std::string> ran_;  // in this session, as ran_before() names them
  // What a variant has been prepared for, in any session, and how it declined that afterwards; "":
  // it did not.
  std::map<std::pair<std::uint32_t, problem>, std::string> taken_;
};

// In a worker process: a crash or a hang affects this plugin's cells only.
std::unique_ptr<plugin_client> make_process_client(std::filesystem::path file,
                                                   double timeout_seconds);
// In this process: a debugger or profiler sees the kernel directly, and a crash ends the run.
std::unique_ptr<plugin_client> make_local_client(std::filesystem::path file);

}  // namespace kzoo::client
