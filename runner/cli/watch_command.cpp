// `runner watch`: compiles and runs a source whenever it is saved.

#include "cli/commands.hpp"
#include "compile/source_plugin.hpp"
#include "input/diagnostics.hpp"
#include "os/output.hpp"
#include "os/posix.hpp"
#include "report/report.hpp"
#include "run/device_memory.hpp"
#include "run/execution.hpp"
#include "run/plan.hpp"
#include "setup/plan.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

// The library that was run, and its results.
struct attempt {
  std::string sha256;
  results::document results;
};

// A folder whose files are being edited (inotify). Editors write a file or replace it.
class watched_folder {
 public:
  explicit watched_folder(const fs::path& folder)
      : events_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    if (events_.fd() < 0) throw_errno("inotify");
    if (inotify_add_watch(events_.fd(), folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO) < 0)
      throw_errno("watching the source's folder");
  }

  // Returns after a save, followed by a quiet moment. Throws interrupt::interrupted.
  void wait() const {
    constexpr int kQuietMs = 50;  // an editor may write more than once
    while (!happens_within(std::nullopt)) continue;
    while (happens_within(kQuietMs)) continue;
  }

 private:
  // Whether a file changes within this time. Without one, waits until a file does.
  bool happens_within(std::optional<int> milliseconds) const {
    std::array<pollfd, 2> ends{pollfd{events_.fd(), POLLIN, 0}, pollfd{interrupt::fd(), POLLIN, 0}};
    const int ready = poll(ends.data(), ends.size(), milliseconds.value_or(-1));
    interrupt::check();
    if (ready <= 0) return false;
    std::array<char, 4096> events;  // read only to empty the queue
    while (read(events_.fd(), events.data(), events.size()) > 0) continue;
    return true;
  }

  descriptor events_;
};

class watcher {
 public:
  explicit watcher(const watch_options& options)
      : options_(options), source_(as_file(options.source)), name_() {
    if (!source_ || !fs::is_regular_file(source_->path)) {
      input::refuse("SOURCE", "expected a plugin's source, such as mine.cu, found {}",
                    input::in_quotes(options.source));
    }
    name_ = fs::path(source_->path).stem().string();
    options_.over.plugins.insert(options_.over.plugins.begin(), options.source);
  }

  fs::path folder() const { return fs::absolute(source_->path).parent_path(); }

  // Compiles and runs the current source, and prints a line. A source with errors leaves the
  // earlier results. Throws input::invalid if the first source is bad usage.
  void run_once() try {
    run::plan plan = setup::plan_for(setup::load_experiment(options_, options_), options_);
    begun_ = true;
    const auto mine = std::ranges::find(plan.plugins, name_,
                                        [](const run::loaded_plugin& p) { return p.record.name; });
    const auto saved = fs::last_write_time(source_->path);
    const bool is_saved = std::exchange(saved_, saved) != saved;
    if (last_ && mine != plan.plugins.end() && mine->record.sha256 == last_->sha256) {
      if (is_saved) say(fmt::format("{}: the same machine code as before", name_));
      return;
    }
    attempt now{mine == plan.plugins.end() ? "" : mine->record.sha256, {}};
    run::check_memory(plan);
    run::observer silent;
    now.results = run::execute(plan, run::head_of(plan), silent);
    if (!now.results.complete()) return;  // interrupted
    say(report::change_line(now.results, good_ ? &*good_ : nullptr, name_));
    print_to(stdout, "{}", xray_hint(now.results));
    std::fflush(stdout);
    if (report::all_right(now.results, name_)) good_ = now.results;
    last_ = std::move(now);
  } catch (const compile::does_not_compile& e) {
    complain(e.what());
  } catch (const input::invalid& e) {
    if (!begun_) throw;
    complain(e.what());
  }

 private:
  static void say(const std::string& line) {
    print_to(stdout, "{}\n", line);
    std::fflush(stdout);
  }

  void complain(const std::string& words) {
    begun_ = true;
    print_to(stderr, "{}\n", words);
    if (good_)
      print_to(stderr, "the last good result stays: {}\n",
               report::change_line(*good_, nullptr, name_));
    last_.reset();  // so that the same text runs again once it compiles
  }

  watch_options options_;
  std::optional<file_selector> source_;
  std::string name_;
  bool begun_ = false;        // the arguments are right, so errors may be in the source
  fs::file_time_type saved_;  // the source's time of change
  std::optional<attempt> last_;
  std::optional<results::document> good_;  // the last results without a failure
};

}  // namespace

int watch(const watch_options& options) {
  watcher w(options);
  interrupt::catch_signals();
  watched_folder folder(w.folder());
  for (;;) {
    w.run_once();
    folder.wait();
  }
}

}  // namespace kzoo::cli
