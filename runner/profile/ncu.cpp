#include "profile/ncu.hpp"

#include "client/plugin_client.hpp"
#include "os/files.hpp"
#include "os/text.hpp"
#include "process/command.hpp"
#include "process/messages.hpp"
#include "storage/describe.hpp"
#include "storage/parts_json.hpp"
#include "storage/results_json.hpp"
#include "worker/messages_json.hpp"
#include "worker/worker.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/tokenizer.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace kzoo::profile::metric {
namespace {

// Stall reasons as the metrics spell them, without `selected`, with which a warp issues.
constexpr std::array kReasons{"barrier",
                              "branch_resolving",
                              "dispatch_stall",
                              "drain",
                              "gmma",
                              "imc_miss",
                              "lg_throttle",
                              "long_scoreboard",
                              "math_pipe_throttle",
                              "membar",
                              "mio_throttle",
                              "misc",
                              "no_instruction",
                              "not_selected",
                              "short_scoreboard",
                              "sleeping",
                              "tex_throttle",
                              "wait"};

std::string stall_metric(const std::string& reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& stalls() {
  static const auto list = [] {
    std::vector<std::pair<std::string, std::string>> made;
    for (const char* reason : kReasons)
      made.emplace_back(with_spaces(reason), stall_metric(reason));
    return made;
  }();
  return list;
}

std::vector<std::string> all(unsigned compute_capability) {
  std::vector<std::string> names{kTime,
                                 kLoadRequests,
                                 kLoadSectors,
                                 kLoadWavefronts,
                                 kStoreRequests,
                                 kStoreSectors,
                                 kCopyRequests,
                                 kCopySectors,
                                 kSharedWavefronts,
                                 kLoadConflicts,
                                 kStoreConflicts,
                                 kOccupancy,
                                 kFma,
                                 kTensor,
                                 kL1,
                                 kL2,
                                 kDram,
                                 kFfma};
  constexpr unsigned kHopper = 90;  // the first with wgmma
  for (const auto& [words, name] : stalls())
    if (words != "gmma" || compute_capability >= kHopper) names.push_back(name);
  return names;
}

}  // namespace kzoo::profile::metric

namespace kzoo::profile {
namespace {

using row = std::vector<std::string>;

row fields_of(const std::string& line) {
  using separator = boost::escaped_list_separator<char>;
  const boost::tokenizer<separator> fields(line, separator("", ",", "\""));
  return {fields.begin(), fields.end()};
}

// The head of ncu's raw page; the details page has other columns and a row for each metric.
bool is_head(const row& names) {
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  return has("ID") && has("Kernel Name") && !has("Metric Name");
}

// "1,234.5", with commas between thousands.
std::optional<double> metric_in(std::string text) {
  std::erase(text, ',');
  return number_from<double>(text);
}

// "(32, 16, 1)".
std::array<std::uint32_t, 3> extent_in(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c < '0' || c > '9'; }, ' ');
  std::istringstream in(text);
  std::array<std::uint32_t, 3> extent{1, 1, 1};
  for (std::uint32_t& side : extent)
    if (std::uint32_t number = 0; in >> number) side = number;
  return extent;
}

// Factor from a time unit to nanoseconds; 1 for other units. Newer versions of ncu use short names.
double scale_of(const std::string& unit) {
  static const std::map<std::string, double, std::less<>> kTimes{
      {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"usecond", 1e3}, {"msecond", 1e6}, {"second", 1e9}};
  const auto known = kTimes.find(unit);
  return known == kTimes.end() ? 1 : known->second;
}

launch read_launch(const row& names, const row& units, const row& values) {
  launch l;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "Kernel Name") {
      l.kernel = values[i];
    } else if (names[i] == "Grid Size") {
      l.grid = extent_in(values[i]);
    } else if (names[i] == "Block Size") {
      l.block = extent_in(values[i]);
    } else if (names[i].find("__") != std::string::npos) {  // part of every metric's name
      if (const auto number = metric_in(values[i]))
        l.metrics[names[i]] = *number * scale_of(i < units.size() ? units[i] : "");
    }
  }
  return l;
}

}  // namespace

std::optional<std::vector<launch>> read_raw_page(const std::string& output) {
  row names, units;
  std::vector<launch> launches;
  for (std::string& line : lines_of(output)) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.starts_with('"')) continue;
    const row fields = fields_of(line);
    if (is_head(fields)) {
      names = fields;
      units.clear();
      launches.clear();  // an earlier table was printed by the plugin
    } else if (names.empty() || fields.size() != names.size()) {
      continue;
    } else if (fields[0].empty()) {
      units = fields;
    } else {
      launches.push_back(read_launch(names, units, fields));
    }
  }
  if (names.empty()) return {};
  return launches;
}

}  // namespace kzoo::profile

namespace kzoo::storage {

void describe(auto& fields, const profile::launch& l) {
  fields(KZOO_MEMBERS(l, kernel, grid, block, metrics));
}

void describe(auto& fields, const profile::profiled& c) {
  const profile::counters found = c.found.value_or(profile::counters());
  fields(KZOO_MEMBERS(c.kernel, plugin, variant), "problem", problem_name(c.problem), "verdict",
         c.found ? "profiled" : name_of(c.verdict), KZOO_MEMBERS(c, reason),
         KZOO_MEMBERS(found, launches, missing, report));
}

void describe(auto& fields, const profile::document& d) {
  fields.schema("kzoo.profile/1");
  fields("runner", this_runner());
  fields.object("ncu", [&](auto& ncu) { ncu("version", d.ncu_version); });
  fields.object("experiment", [&](auto& experiment) { experiment("file", d.experiment); });
  fields(KZOO_MEMBERS(d, device, cells));
}

}  // namespace kzoo::storage

namespace kzoo::profile {

std::string schema() { return storage::record_schema(document()).dump(); }

std::string to_text(const document& d) { return storage::dumped(storage::to_value(d), 2) + '\n'; }

namespace {

namespace fs = std::filesystem;

// In order of preference; of several versions in /opt the newest first.
std::vector<std::string> usual_places() {
  std::vector<std::string> places;
  for (const fs::path& version : paths_in("/opt/nvidia/nsight-compute"))
    places.push_back((version / "ncu").string());
  std::ranges::sort(places, std::ranges::greater{});
  places.insert(places.begin(), {"ncu", "/usr/local/cuda/bin/ncu"});
  return places;
}

// The output of --version; nothing if the program cannot be started.
std::optional<process::command_result> ask(const std::string& program) {
  constexpr double kSeconds = 60;
  try {
    return process::run_command({program, "--version"}, {}, kSeconds);
  } catch (const std::system_error&) {
    return {};
  }
}

// "Version 2025.3.0.0 (build …)".
std::string version_in(const std::string& output) {
  std::istringstream in(output);
  for (std::string word; in >> word;)
    if (word == "Version" && in >> word) return word;
  return "";
}

constexpr std::string_view kLong = "--export=";

// A folder for ncu's reports only, since the kernel can write wherever ncu can.
class report_folder {
 public:
  // Replaces the report (-o, --export) in ncu's arguments by one in this folder.
  explicit report_folder(std::vector<std::string>& arguments);

  const fs::path& path() const { return own_.path(); }
  // Copies the requested report to its place. Returns the place of `report`, ncu's name of it.
  // Throws no_counters if the file exists and ncu was not told to replace it.
  std::string put_in_place(const std::string& report) const;

 private:
  temporary_folder own_;
  std::optional<fs::path> asked_;  // by the user
  bool replaces_ = false;
};

report_folder::report_folder(std::vector<std::string>& arguments) {
  replaces_ = std::ranges::any_of(arguments, [](const std::string& word) {
    return word == "-f" || word == "--force-overwrite";
  });
  const auto redirected = [&](const fs::path& name) {
    asked_ = fs::absolute(name);
    return (own_.path() / name.filename()).string();
  };
  for (auto word = arguments.begin(); word != arguments.end(); ++word) {
    if (word->starts_with(kLong))
      *word = std::string(kLong) + redirected(word->substr(kLong.size()));
    const bool names_next = *word == "-o" || *word == "--export";
    if (names_next && word + 1 != arguments.end()) {
      ++word;
      *word = redirected(*word);
    }
  }
}

std::string report_folder::put_in_place(const std::string& report) const {
  if (!asked_) return report;
  // The kernel wrote anything else in the folder.
  for (const char* ending : {"", ".ncu-rep"}) {
    const fs::path name = asked_->filename().string() + ending, written = own_.path() / name;
    if (fs::symlink_status(written).type() != fs::file_type::regular) continue;
    const fs::path place = asked_->parent_path() / name;
    if (fs::exists(fs::symlink_status(place)) && !replaces_) {
      throw no_counters(fmt::format(
          "{} is there already; give ncu -f to replace it, or another name", place.string()));
    }
    fs::remove(place);
    fs::copy_file(written, place);
  }
  const fs::path named = report;
  return named.parent_path() == own_.path() ? (asked_->parent_path() / named.filename()).string()
                                            : report;
}

// Makes numbers have a decimal point.
const std::vector<std::string> kSettings{"LC_ALL=C"};

constexpr std::string_view kConnected = "==PROF== Connected to process";
constexpr std::string_view kReport = "==PROF== Report: ";

bool is_complaint(const std::string& line) {
  return line.starts_with("==ERROR==") || line.starts_with("==WARNING==");
}

// ncu's errors and warnings in one line; without any, the last line of output.
std::string complaints_in(const std::string& output) {
  std::vector<std::string> lines;
  std::string last = "nothing was printed";
  for (const std::string& line : lines_of(output)) {
    if (is_complaint(line)) lines.push_back(line.substr(line.find("== ") + 3));
    if (!line.empty()) last = line;
  }
  return printable(lines.empty() ? last : fmt::format("{}", fmt::join(lines, " ")), kLongestText);
}

// Whether an error or warning names the metric. ncu prints a pattern: "regex:^a__b\.(sum|avg)$".
bool complains_of(const std::string& output, const std::string& metric) {
  const std::string base = metric.substr(0, metric.find('.'));
  return std::ranges::any_of(lines_of(output), [&](const std::string& line) {
    return is_complaint(line) && has_word(line, base);
  });
}

void check_access(const std::string& output) {
  if (output.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    throw no_counters(
        "this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM). Run as root, in "
        "a container with --cap-add=SYS_ADMIN, or have the driver's module loaded with "
        "NVreg_RestrictProfilingToAdminUsers=0: https://developer.nvidia.com/ERR_NVGPUCTRPERM");
  }
  // Another tool uses the counters, or ncu does not match the driver: every other cell fails too.
  for (const char* words : {"driver resource was unavailable", "driver is not compatible",
                            "failed to connect to the CUDA driver"}) {
    if (output.find(words) != std::string::npos)
      throw no_counters("ncu cannot use the GPU: " + complaints_in(output));
  }
}

// The output without ncu's progress lines and the target's last line.
std::string printed_in(const std::string& output) {
  std::string text;
  bool any = false;
  for (const std::string& line : lines_of(output)) {
    if (line.starts_with("==PROF==") || line.starts_with(process::kReply)) continue;
    text += line + '\n';
    any = any || !line.empty();
  }
  return any ? text : "";
}

// ncu maps unlimited address space, starts the kernel's process, talks to it, and reads counters.
process::confinement confined_with(const fs::path& reports) {
  process::confinement c = worker::of_plugins();
  c.writable = {reports};
  c.held_bytes = std::exchange(c.data_bytes, 0);
  c.most_processes = process::enough_processes();
  c.network = c.privileged = c.writes_in_proc = true;
  c.file_bytes = 0;  // a report of all sections may be long
  return c;
}

std::string report_in(const std::string& output) {
  for (const std::string& line : lines_of(output))
    if (line.starts_with(kReport)) return line.substr(kReport.size());
  return "";
}

// The result of a run that printed no counters, although ncu knows all metrics.
counters without_table(const tool& ncu, const process::command_result& ran,
                       const std::string& report) {
  if (ran.output.find("No kernels were profiled") != std::string::npos)
    throw failure(verdict::error, "ncu saw no kernel launch: " + complaints_in(ran.output));
  if (ran.code != 0 || ncu.arguments.empty()) {
    throw no_counters(fmt::format("ncu ended with exit code {} and no counters: {}", ran.code,
                                  complaints_in(ran.output)));
  }
  counters c;
  c.report = report;
  c.printed = printed_in(ran.output);
  return c;
}

// The complete command line of ncu. A user's option replaces the default.
std::vector<std::string> command_of(const tool& ncu, const std::vector<std::string>& metrics,
                                    const std::vector<std::string>& target) {
  std::vector<std::string> words{ncu.program};
  const auto add = [&](const std::vector<std::string>& option) {
    if (!ncu.has_option(option[0])) words.insert(words.end(), option.begin(), option.end());
  };
  add({"--profile-from-start", "off"});
  add({"--clock-control", "none"});
  add({"--csv"});
  add({"--page", "raw"});
  add({"--print-units", "base"});
  add({"--metrics", fmt::format("{}", fmt::join(metrics, ","))});
  words.insert(words.end(), ncu.arguments.begin(), ncu.arguments.end());
  words.insert(words.end(), target.begin(), target.end());
  return words;
}

}  // namespace

tool find_tool(const std::optional<std::string>& asked) {
  const std::vector<std::string> places = asked ? std::vector<std::string>{*asked} : usual_places();
  for (const std::string& place : places) {
    const auto answer = ask(place);
    if (!answer) continue;
    const std::string version = version_in(answer->output);
    if (answer->code != 0 || version.empty()) {
      throw no_counters(fmt::format("{} is not Nsight Compute's ncu, or does not work: {}", place,
                                    answer->output.substr(0, answer->output.find('\n'))));
    }
    return {place, version, {}};
  }
  if (asked) throw no_counters(fmt::format("{} cannot be started", *asked));
  throw no_counters(
      "there is no ncu (Nsight Compute) in PATH, /usr/local/cuda/bin or /opt/nvidia. It comes with "
      "the CUDA toolkit, as the package nsight-compute; pass its path with --ncu.");
}

bool tool::has_option(const std::string& option) const {
  return std::ranges::any_of(arguments, [&](const std::string& word) {
    return word == option || word.starts_with(option + "=");
  });
}

counters collect(const tool& asked, std::vector<std::string> metrics,
                 const std::vector<std::string>& target) {
  tool ncu = asked;
  const report_folder reports(ncu.arguments);
  std::vector<std::string> unknown;
  for (;;) {
    const auto ran = process::run_confined(command_of(ncu, metrics, target), kSettings,
                                           confined_with(reports.path()), ncu.timeout_seconds);
    if (!ran.exceeded.empty()) throw failure(verdict::error, ran.exceeded + " under ncu, killed");
    if (ran.hung) {
      throw failure(verdict::hung, fmt::format("did not end within {:g} s under ncu, killed",
                                               ncu.timeout_seconds));
    }
    check_access(ran.output);
    auto page = read_raw_page(ran.output);
    const auto named = std::ranges::find_if(
        metrics, [&](const std::string& m) { return complains_of(ran.output, m); });
    if (!page && named != metrics.end() && !ncu.has_option("--metrics")) {
      unknown.push_back(*named);
      metrics.erase(named);
      continue;
    }
    // Even with counters, the cell may have failed after its first launches.
    if (ran.output.find(kConnected) != std::string::npos)
      process::read_reply(ran.output, complaints_in(ran.output), [](const auto&) {});
    const std::string report = reports.put_in_place(report_in(ran.output));
    if (!page || page->empty()) return without_table(ncu, ran, report);
    if (!ncu.has_option("--metrics")) {
      for (const std::string& m : metrics) {
        if (std::ranges::none_of(*page, [&](const launch& l) { return l.metrics.contains(m); }))
          unknown.push_back(m);
      }
    }
    return {std::move(*page), std::move(unknown), report, ""};
  }
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(profiled_cell, file, device, variant, problem, warmup)

std::vector<std::string> profiled_command(const std::string& program, const profiled_cell& cell) {
  return process::one_shot_command(program, kProfiledCommand, cell);
}

int profiled_main(std::string_view cell) {
  return process::answer_once(cell, [](const nlohmann::json& request) {
    const auto named = request.get<profiled_cell>();
    const auto client = client::make_local_client(named.file);
    client->prepare(named.device, named.variant, named.problem);
    client->profile(named.warmup);
    client->destroy();
    return nlohmann::ordered_json();
  });
}

}  // namespace kzoo::profile
