#include "checks/check.hpp"

#include "core/verdict.hpp"
#include "os/text.hpp"
#include "process/command.hpp"
#include "worker/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace kzoo::checks {
namespace {

namespace fs = std::filesystem;

constexpr double kTimeoutSeconds = 300;  // these tools slow a kernel down by up to a hundred times

// A batch large enough to show errors between two of its GEMMs.
std::int64_t batch_for(const candidate& c) {
  return std::min<std::int64_t>(c.current_problem().batch, 3);
}

// A small problem that the variant takes.
std::string size_for(candidate& c) {
  constexpr std::int64_t kM = 129, kN = 127, kK = 65;
  problem usual = resized(c.current_problem(), kM, kN, kK);
  usual.batch = batch_for(c);
  const fitted_problem small = fit(c, usual);
  if (!small.taken) throw skipped("declined: " + small.objection);
  return shape_name(*small.taken);
}

// The tools map endless address space, so only held memory is limited.
process::confinement confined_tool() {
  process::confinement c = worker::of_plugins();
  c.held_bytes = std::exchange(c.data_bytes, 0);
  return c;
}

// The command line that validates the candidate's variant, loaded from `file`, in one process.
std::vector<std::string> runner_on(const candidate& c, const std::string& file,
                                   const std::string& size) {
  const problem& own = c.current_problem();
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe").string(),
                                 "validate",
                                 fmt::format("{}:{}", file, c.who().description.id),
                                 "--in-process",
                                 "--tier",
                                 "quick",
                                 "--device",
                                 c.who().device,
                                 "--size",
                                 size,
                                 "--dtype",
                                 types_name(own.dtype),
                                 "--layout",
                                 std::string(layout_name(own.layout)),
                                 "--epilogue",
                                 epilogue_name(own.epilogue),
                                 "--batch",
                                 std::to_string(batch_for(c))};
  if (own.groups > 0) words.insert(words.end(), {"--groups", std::to_string(own.groups)});
  const auto name = [](const scale_block& block) {
    return block.empty() ? std::string("none") : scale_block_name(block);
  };
  if (own.has_block_scales())
    words.insert(words.end(),
                 {"--scale-blocks", name(own.scale_block_a) + "," + name(own.scale_block_b)});
  return words;
}

// The first lines of the output that contain one of the words, without the tool's prefix.
std::string lines_with(const std::string& output, std::initializer_list<std::string_view> words) {
  constexpr std::size_t kMaxLines = 3;
  std::vector<std::string> chosen;
  for (std::string& line : lines_of(output)) {
    const auto is_in_it = [&](std::string_view word) { return has_part(line, word); };
    if (chosen.size() == kMaxLines || std::ranges::none_of(words, is_in_it)) continue;
    line.erase(0, line.find_first_not_of("= 0123456789"));
    chosen.push_back(std::move(line));
  }
  return printable(joined(chosen, "; "), kLongestText);
}

covered outcome_of(const process::command_result& ran, int error_code, const std::string& tool,
                   const std::string& size, std::initializer_list<std::string_view> words) {
  if (ran.hung) {
    throw failure(verdict::hung,
                  fmt::format("did not end within {:g} s under {}, killed", kTimeoutSeconds, tool));
  }
  if (!ran.exceeded.empty())
    throw skipped(fmt::format("{} {} and was given up", tool, ran.exceeded));
  if (ran.code == 0) return {fmt::format("{} finds no error on {}", tool, size)};
  const std::string findings = lines_with(ran.output, words);
  if (ran.code == error_code || !findings.empty()) throw failed(findings.empty() ? tool : findings);
  throw skipped(fmt::format("{} ended with exit code {}: {}", tool, ran.code,
                            lines_with(ran.output, {"rror", "fail", "wrong", "crashed"})));
}

covered run_compute_sanitizer(candidate& c, const std::string& tool) {
  constexpr int kFound = 86;
  std::vector<std::string> argv{"compute-sanitizer",    "--tool",        tool, "--error-exitcode",
                                std::to_string(kFound), "--print-limit", "3"};
  const std::string size = size_for(c);
  for (const std::string& word : runner_on(c, c.who().file.string(), size)) argv.push_back(word);
  c.client().free_memory();
  process::confinement confined = confined_tool();
  confined.most_processes = process::enough_processes();  // it starts the runner, and talks to it
  confined.network = confined.writes_in_proc = true;
  try {
    return outcome_of(process::run_confined(argv, {}, confined, kTimeoutSeconds), kFound,
                      fmt::format("compute-sanitizer --tool {}", tool), size,
                      {"Invalid", "Race reported", "Uninitialized", "Program hit", "SUMMARY"});
  } catch (const std::system_error&) {
    throw skipped("there is no compute-sanitizer in PATH; it comes with the CUDA toolkit");
  }
}

// A build of the plugin with AddressSanitizer, from the folder cpu-asan next to the plugin's own.
// Also detects reads from the redzones around A, B, C and the workspace.
fs::path build_with_address_sanitizer(const candidate& c) {
  const fs::path own = fs::absolute(c.who().file);
  return own.parent_path().parent_path() / "cpu-asan" / own.filename();
}
covered run_address_sanitizer(candidate& c) {
  constexpr int kFound = 87;
  const fs::path file = build_with_address_sanitizer(c);
  if (!fs::exists(file)) {
    throw skipped(fmt::format("there is no {}: build with -D KZOO_ASAN=ON", file.string()));
  }
  const std::string runtime = KZOO_ASAN_RUNTIME;
  if (!fs::exists(runtime)) throw skipped("there is no libasan at " + runtime);
  const std::string size = size_for(c);
  c.client().free_memory();
  return outcome_of(
      process::run_confined(
          runner_on(c, file.string(), size),
          {"LD_PRELOAD=" + runtime,
           fmt::format("ASAN_OPTIONS=exitcode={}:detect_leaks=0:abort_on_error=0", kFound)},
          confined_tool(), kTimeoutSeconds),
      kFound, "AddressSanitizer", size, {"ERROR: AddressSanitizer", "READ of", "WRITE of", "#0"});
}

bool is_on_cpu(const candidate& c) { return c.who().device == "cpu"; }
bool is_on_gpu(const candidate& c) { return !is_on_cpu(c); }
// Simulated kernels' accesses are analysed in run/judging.hpp.
bool has_address_sanitizer(const candidate& c) {
  return is_on_cpu(c) && (!c.who().simulated || fs::exists(build_with_address_sanitizer(c)));
}

}  // namespace

std::vector<check> sanitizers() {
  return {
      {.name = "memcheck",
       .run = [](candidate& c) { return run_compute_sanitizer(c, "memcheck"); },
       .applies_to = is_on_gpu,
       .from = tier::paranoid},
      {.name = "racecheck",
       .run = [](candidate& c) { return run_compute_sanitizer(c, "racecheck"); },
       .applies_to = is_on_gpu,
       .from = tier::paranoid},
      {.name = "AddressSanitizer",
       .run = run_address_sanitizer,
       .applies_to = has_address_sanitizer,
       .from = tier::paranoid},
  };
}

}  // namespace kzoo::checks
