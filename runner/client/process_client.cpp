// Declared in client/plugin_client.hpp.

#include "client/plugin_client.hpp"
#include "client/remote_plugin.hpp"
#include "devices/devices.hpp"
#include "process/child.hpp"
#include "process/command.hpp"
#include "process/process_table.hpp"
#include "process/source_frames.hpp"
#include "worker/messages.hpp"
#include "worker/session.hpp"
#include "worker/worker.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace kzoo::client {
namespace {

constexpr const char* kVariable = "CUDA_VISIBLE_DEVICES";

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return process::signal_words(WTERMSIG(status));
  return fmt::format("the plugin ended its process with exit code {}", WEXITSTATUS(status));
}

// How often a busy worker is checked.
constexpr double kWatchSeconds = 0.25;

// On a GPU the worker judges and times, since kernels of several processes take turns there. On the
// CPU this process does, and the worker runs the plugin only. Its processes are stopped while
// matrices are written and read, so a kernel can work only between the clock's start and stop.
class process_client final : public plugin_client {
 public:
  process_client(std::filesystem::path file, double timeout_seconds)
      : plugin_client(std::move(file), timeout_seconds) {
    restore_settings();  // saves them before any plugin is loaded
  }
  ~process_client() override {
    {
      const std::scoped_lock lock(turns_);
      if (last_ == this) last_ = nullptr;
    }
    worker_.reset();  // before the session, which must not ask it any more
  }
  process_client(const process_client&) = delete;
  process_client& operator=(const process_client&) = delete;

  void see_only(const results::device& d) override {
    const std::string setting = hiding_all_but(d);
    if (setting != hides_others_) leave();  // a process keeps the GPUs that it has seen
    hides_others_ = setting;
    device_ = d.id;
    on_cpu_ = d.abi.kind == KZOO_CPU;
  }
  bool set_schedule(std::uint64_t seed) override {
    leave();
    schedule_ = seed == 0 ? "" : fmt::format("KZOO_SIM_SCHEDULE={}", seed);
    return true;
  }
  void start() override {
    if (worker_) return;
    judge_.reset();  // of the previous worker
    lost_ = nullptr;
    std::vector<std::string> arguments{std::string(worker::kWorkerCommand)};
    if (!device_.empty() && !on_cpu_)
      arguments.push_back(hides_others_.empty() ? device_ : kOnlyGpu);
    const process::confinement confined = worker::of_plugins();
    worker_.emplace(
        std::move(arguments), log_, &confined,
        std::vector<process::given_descriptor>{{output_memory().fd(), process::kSharedMemoryFd},
                                               {memory_.fd(), process::kMatricesFd}},
        on_cpu_ ? schedule_ : hides_others_);
  }
  void begin_to_end() override {
    if (worker_) worker_->kill();
  }

 protected:
  nlohmann::json exchange(const nlohmann::json& request, double timeout_seconds) override {
    restore_settings();
    begin_turn();
    start();
    const auto op = from_name<worker::operation>(request.at("op").get<std::string>());
    doing_ = worker::doing(op.value());
    timeout_seconds_ = timeout_seconds;
    if (request.contains("device")) on_cpu_ = request.at("device") == "cpu";
    nlohmann::json reply = on_cpu_ ? judge(request) : ask(as_seen_there(request));
    worker_->note_settings();
    restore_settings();
    return reply;
  }

  // The process ends first, so that no request to free memory is needed.
  void restart() override {
    worker_.reset();
    judge_.reset();
    lost_ = nullptr;
  }
  bool set_back() override {
    if (!worker_) return true;
    if (!worker_->wait_for_end(0)) return worker_->set_back();
    const std::optional<int> status = worker_->end();
    worker_.reset();
    note_replacement(status ? how_it_ended(*status) : "its channel was closed");
    return false;
  }

 private:
  using clock = std::chrono::steady_clock;

  nlohmann::json judge(const nlohmann::json& request) {
    if (!judge_)
      judge_.emplace(plugin_, file().stem().string(), output_memory(), nullptr, &memory_);
    nlohmann::json reply = judge_->handle(request);
    // Releasing matrices cannot throw; it stores the exception here.
    if (lost_) std::rethrow_exception(lost_);
    require_it_stood_still();  // while C was read
    return reply;
  }

  // A worker runs only during a request: between turns, nothing left by its plugin disturbs others.
  nlohmann::json ask(const nlohmann::json& request) {
    if (!worker_) throw failure(verdict::crashed, "its process has ended");
    try {
      require_it_stood_still();
      deadline_ = clock::now() + std::chrono::duration_cast<clock::duration>(
                                     std::chrono::duration<double>(timeout_seconds_));
      worker_->resume();
      if (!worker_->control().send(request)) give_up_crashed();
      nlohmann::json reply = reply_of_worker();
      if (!reply.is_object())
        give_up(verdict::crashed, "the plugin wrote into the worker's own channel");
      return reply;
    } catch (const failure&) {
      lost_ = std::current_exception();
      throw;
    }
  }

  void require_it_stood_still() {
    if (worker_ && !worker_->stood_still())
      give_up(verdict::wrong,
              "works between its calls, while its process is stopped: does a timer continue it? "
              "What it computes then is not timed");
  }

  nlohmann::json reply_of_worker() {
    for (;;) {
      const std::chrono::duration<double> left = deadline_ - clock::now();
      const process::child::event event =
          worker_->wait(std::clamp(left.count(), 0.0, kWatchSeconds));
      if (event == process::child::event::deadline) {
        refuse_if_late(left.count());
        watch();
        continue;
      }
      bool closed = event == process::child::event::ended;
      if (!closed) {
        try {
          if (auto reply = worker_->control().receive(closed)) {
            if (!worker_->hold() && on_cpu_)
              give_up(verdict::hung, fmt::format("could not be stopped after {}", doing_));
            return std::move(*reply);
          }
        } catch (const nlohmann::json::exception&) {
          closed = true;  // not JSON: the plugin wrote to the worker's channel
        }
      }
      if (closed) give_up_crashed();
      refuse_if_late(left.count());  // if bytes keep arriving without forming a reply
    }
  }

  void refuse_if_late(double seconds_left) {
    if (seconds_left > 0) return;
    give_up(verdict::hung,
            fmt::format("no answer within {:g} s while {}, killed", timeout_seconds_, doing_));
  }

  void let_go_on() {
    constexpr std::chrono::milliseconds kWhile{20};
    if (!worker_) return;
    worker_->resume();
    std::this_thread::sleep_for(kWhile);
    worker_->hold();
  }

  nlohmann::json as_seen_there(nlohmann::json request) const {
    if (!hides_others_.empty() && request.contains("device")) request["device"] = kOnlyGpu;
    return request;
  }

  // Fails for a worker that will not answer, or holds too much memory.
  void watch() {
    if (worker_->is_stopped()) {
      give_up(verdict::hung,
              fmt::format("its process was stopped by a signal while {}, killed", doing_));
    }
    // The process's own limit does not count shared mappings.
    const double limit = memory_limit_ + double(output_memory().size()) + double(memory_.bytes());
    if (const double held = process::resident_bytes(worker_->pid()); held > limit) {
      give_up(verdict::error,
              fmt::format("no more host memory: it holds {:.1f} GB, shared mappings included, and "
                          "a worker may have {:.1f} GB; killed while {}",
                          held / 1e9, limit / 1e9, doing_));
    }
    worker_->watch_memory();
  }

  void begin_turn() {
    const std::scoped_lock lock(turns_);
    last_ = this;
  }
  // Restores settings of this process that the last turn's plugin changed, before others suffer.
  static void restore_settings() {
    const std::scoped_lock lock(turns_);
    const process::settings::restored found = process::restore_own_settings();
    if (found.changed.empty() || last_ == nullptr) return;
    last_->note_interference(found.changed + (found.all ? "" : ", for good"));
  }

  [[noreturn]] void give_up(verdict v, const std::string& why) {
    worker_.reset();
    throw failure(v, why + log_.last_line());
  }

  [[noreturn]] void give_up_crashed() {
    // The channel closes shortly before the process can be waited for.
    constexpr double kMomentSeconds = 1.0;
    worker_->wait_for_end(kMomentSeconds);
    const std::optional<int> status = worker_->end();
    worker_.reset();
    const std::string how =
        status ? how_it_ended(*status) : "the plugin closed or overwrote the worker's channel";
    throw failure(verdict::crashed, fmt::format("{}, while {}{}", how, doing_,
                                                process::with_line(log_.last_line(), file())));
  }

  // Id of the only GPU that a process sees.
  static constexpr const char* kOnlyGpu = "cuda:0";
  static inline std::mutex turns_;  // guards last_ for the clients of all threads
  static inline process_client* last_ = nullptr;
  std::string device_;        // the device that its processes open first; "": none
  std::string hides_others_;  // the setting that hides all GPUs but one; "": nothing to hide
  std::string schedule_;      // the setting of the simulator's seed; "": none
  process::output_log log_;
  std::optional<process::child> worker_;
  double memory_limit_ = double(worker::worker_memory_limit());
  // For the current request:
  std::string_view doing_;
  double timeout_seconds_ = 0;
  clock::time_point deadline_;

  bool on_cpu_ = false;
  shared_matrices memory_{[this](const nlohmann::json& request) { return ask(request); },
                          memory_limit_};
  remote_plugin plugin_{[this](const nlohmann::json& request) { return ask(request); },
                        [this] { let_go_on(); }, memory_};
  std::optional<worker::session> judge_;  // on the CPU
  std::exception_ptr lost_;               // how the worker ended
};

}  // namespace

std::string visible_alone(std::string_view ours, int ordinal) {
  if (ours.empty()) return std::to_string(ordinal);
  for (int i = 0; i < ordinal; ++i)
    ours.remove_prefix(std::min(ours.find(','), ours.size() - 1) + 1);
  ours = ours.substr(0, ours.find(','));
  const auto first = ours.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(ours.substr(first, ours.find_last_not_of(' ') + 1 - first));
}

std::string hiding_all_but(const results::device& d) {
  if (d.abi.kind != KZOO_CUDA) return "";
  static const std::size_t gpus = devices::list().size() - 1;  // the first device is the CPU
  if (gpus < 2) return "";
  const char* const ours = std::getenv(kVariable);
  const std::string alone = visible_alone(ours == nullptr ? "" : ours, d.abi.ordinal);
  return alone.empty() ? "" : std::string(kVariable) + '=' + alone;
}

std::unique_ptr<plugin_client> make_process_client(std::filesystem::path file,
                                                   double timeout_seconds) {
  return std::make_unique<process_client>(std::move(file), timeout_seconds);
}

}  // namespace kzoo::client
