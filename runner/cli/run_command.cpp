#include "cli/setup.hpp"
#include "devices/devices.hpp"
#include "report/terminal.hpp"
#include "results/json.hpp"
#include "run/execute.hpp"
#include "run/plan.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

namespace kzoo::cli {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw experiment::invalid(fmt::format("--json {}: error: cannot be written: {}", name, why));
}

// Where the results go. Tried before anything runs, so that an hour's results do not meet a missing
// folder; and an older file is replaced only when the new one is whole.
class json_file {
 public:
  json_file(const std::string& name, const std::filesystem::path& experiment) : name_(name) {
    if (name.empty() || name == "-") return;
    std::error_code ignored;
    if (std::filesystem::equivalent(name, experiment, ignored)) {
      refuse(name, "it is the experiment file");
    }
    // Devices and pipes cannot be replaced: they are written to as they are.
    const bool in_place =
        std::filesystem::exists(name, ignored) && !std::filesystem::is_regular_file(name, ignored);
    written_ = in_place ? name : fmt::format("{}.{}.part", name, getpid());
    file_ = std::fopen(written_.c_str(), "w");
    if (file_ == nullptr) refuse(name, std::strerror(errno));
  }
  ~json_file() {
    if (file_ != nullptr) std::fclose(file_);
    if (!written_.empty() && written_ != name_) std::remove(written_.c_str());
  }
  json_file(const json_file&) = delete;
  json_file& operator=(const json_file&) = delete;

  void write(const results::document& d) {
    if (name_.empty()) return;
    // A plugin's texts may hold any bytes.
    const std::string text =
        results::to_json(d).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
    std::FILE* out = file_ == nullptr ? stdout : file_;
    const bool whole = std::fwrite(text.data(), 1, text.size(), out) == text.size() &&
                       std::fflush(out) == 0 &&
                       (written_ == name_ || written_.empty() ||
                        std::rename(written_.c_str(), name_.c_str()) == 0);
    if (!whole) throw std::runtime_error(fmt::format("--json {}: {}", name_, std::strerror(errno)));
  }

 private:
  std::string name_, written_;
  std::FILE* file_ = nullptr;  // null: stdout, or nowhere
};

}  // namespace

int run(const run_options& options) {
  experiment::experiment e = load_experiment(options);
  devices::device device = devices::find(e.device);
  const double timeout = e.verify.timeout_seconds;
  run::plan plan = run::make_plan(std::move(e), std::move(device), open_catalogue(options),
                                  hosts_for(options, timeout));
  run::check_memory(plan);
  json_file json(options.json, plan.experiment.file);

  report::terminal_options terminal;
  terminal.quiet = options.quiet;
  const bool json_on_stdout = options.json == "-";
  if (json_on_stdout) terminal.out = stderr;  // stdout is the document's alone

  const auto watch = report::make_terminal(terminal);
  const results::document d = run::execute(plan, *watch);
  report::print_closing(d, terminal);
  json.write(d);
  return results::exit_code(d);
}

int check(const run_options& options) {
  experiment::experiment e = load_experiment(options);
  const auto file = e.file.string();
  const double timeout = e.verify.timeout_seconds;
  // A file can be checked where its device is not: the plugins that it names are looked up for the
  // CPU then, and the reader is told.
  std::string missing;
  devices::device device;
  try {
    device = devices::find(e.device);
  } catch (const devices::absent& a) {
    missing = a.what();
    device = devices::find("cpu");
  }
  const run::plan plan = run::make_plan(std::move(e), std::move(device), open_catalogue(options),
                                        hosts_for(options, timeout));
  std::size_t variants = 0, unavailable = 0;
  for (const run::contestant& c : plan.contestants) {
    if (c.host) {
      variants += c.entries.size();
      continue;
    }
    ++unavailable;
    fmt::print("unavailable {}: {}\n", c.record.name, c.record.problem);
  }
  if (!missing.empty()) fmt::print("note: {}\n", missing);
  const auto plural = [](std::size_t n) { return n == 1 ? "" : "s"; };
  const std::size_t plugins = plan.contestants.size() - unavailable;
  const std::size_t problems = plan.experiment.problems.size();
  fmt::print("{}: ok, {} variant{} of {} plugin{} on {} problem{} = {} cells on {}\n", file,
             variants, plural(variants), plugins, plural(plugins), problems, plural(problems),
             variants * problems, plan.device.id);
  return kOk;
}

}  // namespace kzoo::cli
