// A plugin in a worker process.

#include "client/plugin_client.hpp"

#include "core/verdict.hpp"
#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "devices/guarded_memory.hpp"
#include "os/posix.hpp"
#include "os/text.hpp"
#include "process/child.hpp"
#include "process/command.hpp"
#include "process/messages.hpp"
#include "process/process_table.hpp"
#include "process/source_frames.hpp"
#include "worker/messages.hpp"
#include "worker/messages_json.hpp"
#include "worker/plugin.hpp"
#include "worker/session.hpp"
#include "worker/worker.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace kzoo::client {
namespace {

// Sends a request to the worker, which runs until it has answered. Throws failure.
using ask_worker = std::function<nlohmann::json(const nlohmann::json&)>;
using json = nlohmann::json;

[[noreturn]] void refuse_forged() {
  throw failure(verdict::crashed, "the plugin wrote into the worker's own channel", step::kChannel);
}

// Returns a literal, which the refusal may keep.
const char* kept_status(std::string_view name) {
  constexpr std::array kAll{"unsupported", "unavailable", "wrong", "error"};
  for (const char* each : kAll)
    if (name == each) return each;
  refuse_forged();
}

// Matrices in memory that the worker also maps, between guard pages.
class shared_matrices final : public devices::host_memory {
 public:
  // `most`: bytes of all allocations together.
  shared_matrices(ask_worker ask, double most) : ask_(std::move(ask)), most_(most) {}

  int fd() const { return pages_.fd(); }
  std::size_t bytes() const { return pages_.bytes(); }
  // The worker's address for `here` in this process.
  std::uintptr_t there(const void* here) const {
    const auto& [begin, of] = holding(here);
    return of.there + static_cast<std::uintptr_t>(static_cast<const std::byte*>(here) - begin);
  }
  // Notes that the worker wrote to the input at its address `at`.
  void note_write(std::uintptr_t at, std::int64_t offset) {
    for (auto& [begin, of] : allocations_)
      if (at >= of.there && at < of.there + of.bytes && !of.written) of.written = offset;
  }

  void* allocate(std::size_t bytes, const devices::surroundings& around) override {
    const std::size_t pages = devices::guarded_pages(bytes);
    if (pages < bytes || static_cast<double>(pages_.bytes()) + static_cast<double>(pages) > most_)
      throw devices::failure(
          fmt::format("cannot allocate {} bytes: all matrices together may have {:.1f} GB", bytes,
                      most_ / 1e9));
    allocation made{pages_.take(pages), bytes};
    try {
      const json reply = ask_({{"op", "map"},
                               {"offset", made.pages.offset},
                               {"bytes", bytes},
                               {"around", around.bytes},
                               {"name", around.name}});
      if (reply.contains("status"))
        throw devices::failure(reply.value("reason", "the worker cannot map it"));
      made.there = reply.at("at").get<std::uintptr_t>();
    } catch (const json::exception&) {
      pages_.give_back(made.pages);
      refuse_forged();
    } catch (...) {
      pages_.give_back(made.pages);
      throw;
    }
    std::byte* const here = made.pages.here + devices::guarded_offset(bytes);
    allocations_.emplace(here, made);
    return here;
  }
  // An unreachable worker's mappings end with it.
  void release(void* memory) override {
    const auto found = allocations_.extract(static_cast<std::byte*>(memory));
    if (!found) return;
    pages_.give_back(found.mapped().pages);
    try {
      ask_({{"op", "unmap"}, {"at", found.mapped().there}});
    } catch (...) {  // even a signal: the next wait reports it
    }
  }
  void set_read_only(void*, bool) override {}  // the worker's mappings of inputs are read-only
  std::optional<std::int64_t> take_noted_write(const void* memory) override {
    const auto found = allocations_.find(
        const_cast<std::byte*>(static_cast<const std::byte*>(memory)));  // NOLINT: a key
    if (found == allocations_.end()) return std::nullopt;
    return std::exchange(found->second.written, std::nullopt);
  }

 private:
  struct allocation {
    process::shared_pages::part pages;
    std::size_t bytes = 0;
    std::uintptr_t there = 0;
    std::optional<std::int64_t> written{};
  };
  const std::pair<std::byte* const, shared_matrices::allocation>& holding(const void* here) const {
    const auto* at = static_cast<const std::byte*>(here);
    return *std::prev(allocations_.upper_bound(const_cast<std::byte*>(at)));  // NOLINT: a key
  }

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

  results::plugin_description open(const std::filesystem::path& file) override {
    return ask_for<results::plugin_description>({{"op", "open"}, {"file", file.string()}},
                                                "plugin");
  }
  void ask_support(std::uint32_t variant, const problem& p, const kzoo_device&) override {
    ask({{"op", "ask"}, {"variant", variant}, {"problem", p}});
  }
  std::uint64_t workspace_bytes(std::uint32_t variant, const problem& p,
                                const kzoo_device&) override {
    return ask_for<std::uint64_t>({{"op", "workspace"}, {"variant", variant}, {"problem", p}},
                                  "bytes");
  }
  void create(int slot, std::uint32_t variant, const problem& p, const kzoo_device&) override {
    ask({{"op", "create"}, {"slot", slot}, {"variant", variant}, {"problem", p}});
  }
  void place(int slot, const worker::placement& where, void*) override {
    json request{{"op", "place"},
                 {"slot", slot},
                 {"inputs", json::array()},
                 {"c", memory_.there(where.c)},
                 {"workspace", where.workspace == nullptr ? 0 : memory_.there(where.workspace)}};
    for (const void* input : where.inputs) request["inputs"].push_back(memory_.there(input));
    ask(request);
  }
  void run(int slot) override {
    const json reply = ask({{"op", "call"}, {"slot", slot}});
    if (!reply.contains("writes")) return;
    try {
      for (const json& each : reply.at("writes"))
        memory_.note_write(each.at(0).get<std::uintptr_t>(), each.at(1).get<std::int64_t>());
    } catch (const json::exception&) {
      refuse_forged();
    }
  }
  std::vector<results::launch> launches(int slot) override {
    return ask_for<std::vector<results::launch>>({{"op", "launches"}, {"slot", slot}}, "launches");
  }
  void destroy(int slot) override { ask({{"op", "end"}, {"slot", slot}}); }
  void go_on() override { go_on_(); }
  std::int64_t heap_in_use() override { return ask_for<std::int64_t>({{"op", "heap"}}, "bytes"); }
  std::vector<std::string> product_libraries() override { return libraries_; }

 private:
  // Throws refusal if the reply is a status.
  json ask(const json& request) try {
    json reply = ask_(request);
    if (reply.contains("libraries"))
      libraries_ = reply.at("libraries").get<std::vector<std::string>>();
    if (!reply.contains("status")) return reply;
    throw worker::refusal{kept_status(reply.at("status").get<std::string>()),
                          reply.at("reason").get<std::string>(),
                          step::from_name(reply.value("step", ""))};
  } catch (const json::exception&) {
    refuse_forged();
  }
  template <class T>
  T ask_for(const json& request, const char* field) {
    const json reply = ask(request);
    try {
      return reply.at(field).get<T>();
    } catch (const json::exception&) {
      refuse_forged();
    }
  }

  ask_worker ask_;
  std::function<void()> go_on_;
  shared_matrices& memory_;
  std::vector<std::string> libraries_;
};

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
  process_client(std::filesystem::path file, double timeout_seconds,
                 std::optional<std::filesystem::path> device_code)
      : plugin_client(std::move(file), timeout_seconds), device_code_(std::move(device_code)) {
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
    std::optional<std::string> setting = hiding_all_but(d);
    if (setting != hides_others_) leave();  // a process keeps the GPUs that it has seen
    hides_others_ = std::move(setting);
    device_ = d.id;
    on_cpu_ = d.abi.kind == KZOO_CPU;
  }
  bool set_schedule(std::uint64_t seed) override {
    leave();
    schedule_ = seed == 0 ? std::nullopt : std::optional(fmt::format("KZOO_SIM_SCHEDULE={}", seed));
    return true;
  }
  void start() override {
    if (worker_) return;
    judge_.reset();  // the previous worker's
    lost_ = nullptr;
    std::vector<std::string> arguments{std::string(worker::kWorkerCommand)};
    if (device_ && !on_cpu_) arguments.push_back(hides_others_ ? kOnlyGpu : *device_);
    process::confinement confined = worker::of_plugins();
    std::vector<std::string> settings;
    if (const auto& setting = on_cpu_ ? schedule_ : hides_others_) settings.push_back(*setting);
    if (device_code_ && !on_cpu_) {
      confined.writable.push_back(*device_code_);
      settings.push_back("CUDA_CACHE_PATH=" + device_code_->string());
    }
    worker_.emplace(
        std::move(arguments), log_, &confined,
        std::vector<process::given_descriptor>{{output_memory().fd(), process::kSharedMemoryFd},
                                               {memory_.fd(), process::kMatricesFd}},
        std::move(settings));
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
  std::optional<pid_t> session_process() const override {
    return worker_ ? std::optional(worker_->pid()) : std::nullopt;
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
      deadline_ = steady_seconds() + timeout_seconds_;
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
      const double left = deadline_ - steady_seconds();
      const process::child::event event = worker_->wait(std::clamp(left, 0.0, kWatchSeconds));
      if (event == process::child::event::deadline) {
        refuse_if_late(left);
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
      refuse_if_late(left);  // if bytes keep arriving without forming a reply
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
    if (hides_others_ && request.contains("device")) request["device"] = kOnlyGpu;
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
    const process::settings::restored restored = process::restore_own_settings();
    if (restored.changed.empty() || last_ == nullptr) return;
    last_->note_interference(joined(restored.changed, ", ") + (restored.all ? "" : ", for good"));
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
    const std::string end =
        status ? how_it_ended(*status) : "the plugin closed or overwrote the worker's channel";
    throw failure(verdict::crashed, fmt::format("{}, while {}{}", end, doing_,
                                                process::with_line(log_.last_line(), file())));
  }

  // Id of the only GPU that a process sees.
  static constexpr const char* kOnlyGpu = "cuda:0";
  static inline std::mutex turns_;  // guards last_ for the clients of all threads
  static inline process_client* last_ = nullptr;
  std::optional<std::string> device_;        // that its processes open first
  std::optional<std::string> hides_others_;  // the setting that hides all GPUs but one
  std::optional<std::string> schedule_;      // the setting of the simulator's seed
  process::output_log log_;
  std::optional<std::filesystem::path> device_code_;
  std::optional<process::child> worker_;
  double memory_limit_ = double(worker::worker_memory_limit());
  // For the current request:
  std::string_view doing_;
  double timeout_seconds_ = 0;
  double deadline_ = 0;  // by steady_seconds()

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
  const std::vector<std::string_view> all = parts_of(ours, ',');
  const auto at = static_cast<std::size_t>(ordinal);
  return at < all.size() ? std::string(trimmed(all[at])) : "";
}

std::optional<std::string> hiding_all_but(const results::device& d) {
  if (d.abi.kind != KZOO_CUDA) return std::nullopt;
  static const std::size_t gpus = devices::list().size() - 1;  // the first device is the CPU
  if (gpus < 2) return std::nullopt;
  const char* const ours = std::getenv(kVariable);
  const std::string alone = visible_alone(ours == nullptr ? "" : ours, d.abi.ordinal);
  if (alone.empty()) return std::nullopt;
  return std::string(kVariable) + '=' + alone;
}

std::unique_ptr<plugin_client> make_process_client(
    std::filesystem::path file, double timeout_seconds,
    std::optional<std::filesystem::path> device_code) {
  return std::make_unique<process_client>(std::move(file), timeout_seconds, std::move(device_code));
}

}  // namespace kzoo::client
