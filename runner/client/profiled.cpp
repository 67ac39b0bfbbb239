#include "client/profiled.hpp"

#include "client/plugin_client.hpp"
#include "core/verdict.hpp"
#include "os/printable.hpp"
#include "worker/messages_json.hpp"
#include "worker/worker.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace kzoo::client {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(profiled_cell, file, device, variant, problem, warmup)

namespace {

constexpr std::string_view kDone = "done";

void run_profiled(const profiled_cell& cell) {
  const auto client = make_local_client(cell.file);
  client->prepare(cell.device, cell.variant, cell.problem);
  client->profile(cell.warmup);
  client->finish();
}

// On a new line, since the plugin's output may not end with a line break.
void end_with(std::string_view words) {
  fmt::print("\n{}{}\n", kProfiledMark, words);
  std::fflush(stdout);
}

}  // namespace

std::vector<std::string> profiled_command(const std::string& program, const profiled_cell& cell) {
  return {program, std::string(kProfiledCommand), nlohmann::json(cell).dump()};
}

void check_profiled(const std::string& output, const std::string& how_ended) {
  const auto mark = output.rfind(kProfiledMark);
  if (mark == std::string::npos) {
    throw failure(verdict::crashed, "the process ended before the run was over: " + how_ended);
  }
  const auto start = mark + kProfiledMark.size();
  const std::string words = output.substr(start, output.find('\n', start) - start);
  if (words == kDone) return;
  for (const verdict v : kVerdicts) {
    const std::string name = std::string(verdict_name(v)) + ' ';
    if (words.starts_with(name)) throw failure(v, printable(words.substr(name.size())));
  }
  throw failure(verdict::error, printable(words));
}

int profiled_main(std::string_view cell) {
  worker::set_limits();
  try {
    run_profiled(nlohmann::json::parse(cell).get<profiled_cell>());
    end_with(kDone);
    return 0;
  } catch (const failure& f) {
    end_with(fmt::format("{} {}", verdict_name(f.verdict), printable(f.what())));
  } catch (const std::exception& e) {
    end_with(fmt::format("{} {}", verdict_name(verdict::error), printable(e.what())));
  }
  return 1;
}

}  // namespace kzoo::client
