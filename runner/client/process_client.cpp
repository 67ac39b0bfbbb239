// Declared in client/plugin_client.hpp.

#include "client/plugin_client.hpp"
#include "client/visible_gpu.hpp"
#include "process/child.hpp"
#include "process/command.hpp"
#include "process/resident.hpp"
#include "process/settings.hpp"
#include "process/source_frames.hpp"
#include "worker/operations.hpp"
#include "worker/worker.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace kzoo::client {
namespace {

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return process::signal_words(WTERMSIG(status));
  return fmt::format("the plugin ended its process with exit code {}", WEXITSTATUS(status));
}

// How often a worker that is busy is looked at.
constexpr double kWatchSeconds = 0.25;

class process_client final : public plugin_client {
 public:
  process_client(std::filesystem::path file, double timeout_seconds)
      : plugin_client(std::move(file), timeout_seconds) {
    process::restore_own_settings();  // takes them, before any plugin is loaded
  }
  ~process_client() override {
    if (last_ == this) last_ = nullptr;
  }
  process_client(const process_client&) = delete;
  process_client& operator=(const process_client&) = delete;

  void see_only(const results::device& d) override {
    const std::string setting = hiding_all_but(d);
    if (setting != hides_others_) leave();  // a process keeps the GPUs that it has seen
    hides_others_ = setting;
    device_ = d.id;
  }
  void start() override {
    if (worker_) return;
    std::vector<std::string> arguments{std::string(worker::kWorkerCommand)};
    if (!device_.empty()) arguments.push_back(hides_others_.empty() ? device_ : kOnlyGpu);
    worker_.emplace(std::move(arguments), log_, output_memory().fd(), hides_others_);
  }
  void begin_to_end() override {
    if (worker_) worker_->kill();
  }

 protected:
  nlohmann::json exchange(const nlohmann::json& request, double timeout_seconds) override {
    restore_settings();
    last_ = this;
    start();
    const auto op = worker::find_operation(request.at("op").get<std::string>());
    const std::string_view doing = worker::names_of(op.value()).doing;
    // A worker runs only while it has a request: between its turns nothing that its plugin left
    // running disturbs the others.
    worker_->resume();
    if (!worker_->control().send(as_seen_there(request))) give_up_crashed(doing);
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_seconds);
    for (;;) {
      const std::chrono::duration<double> left = deadline - std::chrono::steady_clock::now();
      const process::child::event event = worker_->wait(std::min(left.count(), kWatchSeconds));
      // Also when bytes keep arriving that form no reply.
      if (left.count() <= 0) {
        give_up(verdict::hung,
                fmt::format("no answer within {:g} s while {}, killed", timeout_seconds, doing));
      }
      if (event == process::child::event::deadline) {
        watch(doing);
        continue;
      }
      bool closed = event == process::child::event::ended;
      if (!closed) {
        try {
          if (auto reply = worker_->control().receive(closed)) {
            worker_->hold();
            restore_settings();
            return std::move(*reply);
          }
        } catch (const nlohmann::json::exception&) {
          closed = true;  // not JSON: the plugin wrote to the worker's channel
        }
      }
      if (closed) give_up_crashed(doing);
    }
  }

  void restart() override { worker_.reset(); }
  bool set_back() override {
    if (!worker_) return true;
    if (!worker_->wait_for_end(0)) return worker_->set_back();
    const std::optional<int> status = worker_->end();
    worker_.reset();
    note_replacement(status ? how_it_ended(*status) : "its channel was closed");
    return false;
  }

 private:
  nlohmann::json as_seen_there(nlohmann::json request) const {
    if (!hides_others_.empty() && request.contains("device")) request["device"] = kOnlyGpu;
    return request;
  }

  // Fails for a worker that will not answer, or holds too much memory.
  void watch(std::string_view doing) {
    if (worker_->is_stopped()) {
      give_up(verdict::hung,
              fmt::format("its process was stopped by a signal while {}, killed", doing));
    }
    // The limit of the process itself does not count what it maps as shared.
    const double limit = memory_limit_ + double(output_memory().size());
    if (const double held = process::resident_bytes(worker_->pid()); held > limit) {
      give_up(verdict::error,
              fmt::format("no more host memory: it holds {:.1f} GB, shared mappings included, and "
                          "a worker may have {:.1f} GB; killed while {}",
                          held / 1e9, limit / 1e9, doing));
    }
    worker_->watch_memory();
  }

  // Sets back what was changed of this process by the plugin that had the last turn, before that
  // harms others.
  static void restore_settings() {
    const process::settings::restored found = process::restore_own_settings();
    if (found.changed.empty() || last_ == nullptr) return;
    last_->note_interference(found.changed + (found.all ? "" : ", for good"));
  }

  [[noreturn]] void give_up(verdict v, const std::string& why) {
    worker_.reset();
    throw failure(v, why + log_.last_line());
  }

  [[noreturn]] void give_up_crashed(std::string_view doing) {
    // The channel closes shortly before the process can be waited for.
    constexpr double kMomentSeconds = 1.0;
    worker_->wait_for_end(kMomentSeconds);
    const std::optional<int> status = worker_->end();
    worker_.reset();
    const std::string how =
        status ? how_it_ended(*status) : "the plugin closed or overwrote the worker's channel";
    throw failure(verdict::crashed, fmt::format("{}, while {}{}", how, doing,
                                                process::with_line(log_.last_line(), file())));
  }

  // What the only GPU that a process sees is called there.
  static constexpr const char* kOnlyGpu = "cuda:0";
  static inline process_client* last_ = nullptr;
  std::string device_;        // that its processes open first; "": none
  std::string hides_others_;  // the setting by which its process sees one GPU; "": nothing to hide
  process::output_log log_;
  std::optional<process::child> worker_;
  double memory_limit_ = double(worker::worker_memory_limit());
};

}  // namespace

std::unique_ptr<plugin_client> make_process_client(std::filesystem::path file,
                                                   double timeout_seconds) {
  return std::make_unique<process_client>(std::move(file), timeout_seconds);
}

}  // namespace kzoo::client
