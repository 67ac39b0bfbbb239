#include "profile/ncu.hpp"

#include "client/profiled.hpp"
#include "os/printable.hpp"
#include "os/text.hpp"
#include "process/command.hpp"
#include "process/one_shot.hpp"
#include "profile/raw_page.hpp"
#include "profile/report_folder.hpp"
#include "worker/worker.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace kzoo::profile {
namespace {

// Makes numbers have a decimal point.
const std::vector<std::string> kSettings{"LC_ALL=C"};

constexpr std::string_view kConnected = "==PROF== Connected to process";
constexpr std::string_view kReport = "==PROF== Report: ";

bool is_complaint(const std::string& line) {
  return line.starts_with("==ERROR==") || line.starts_with("==WARNING==");
}

// ncu's errors and warnings in one line; without any, the last line of output.
std::string complaints_in(const std::string& output) {
  std::vector<std::string> found;
  std::string last = "nothing was printed";
  for (const std::string& line : lines_of(output)) {
    if (is_complaint(line)) found.push_back(line.substr(line.find("== ") + 3));
    if (!line.empty()) last = line;
  }
  return printable(found.empty() ? last : fmt::format("{}", fmt::join(found, " ")), kLongestText);
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
process::confinement confined_with(const std::filesystem::path& reports) {
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

}  // namespace

bool tool::has_option(const std::string& option) const {
  return std::ranges::any_of(arguments, [&](const std::string& word) {
    return word == option || word.starts_with(option + "=");
  });
}

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
      client::check_profiled(ran.output, complaints_in(ran.output));
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

}  // namespace kzoo::profile
