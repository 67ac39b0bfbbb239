#include "checks/sanitizers.hpp"

#include "core/verdict.hpp"
#include "os/printable.hpp"
#include "process/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace kzoo::checks {
namespace {

namespace fs = std::filesystem;

constexpr double kTimeoutSeconds = 300;  // these tools slow a kernel down by up to a hundred times

// As many products show what goes wrong between two of them.
std::int64_t products_for(const candidate& c) {
  return std::min<std::int64_t>(c.current_problem().batch, 3);
}

// What the tool watches: a small problem that the variant takes.
std::string size_for(candidate& c) {
  constexpr std::int64_t kM = 129, kN = 127, kK = 65;
  problem usual = sized(kM, kN, kK, c.current_problem().dtype);
  usual.layout = c.current_problem().layout;
  usual.batch = products_for(c);
  const fitted_problem small = c.fit(usual);
  if (!small.taken) throw skipped("declined: " + small.objection);
  return shape_name(*small.taken);
}

// The command line that validates the candidate's variant, loaded from `file`, in one process.
std::vector<std::string> runner_on(const candidate& c, const std::string& file,
                                   const std::string& size) {
  return {fs::read_symlink("/proc/self/exe").string(),
          "validate",
          fmt::format("{}:{}", file, c.variant()),
          "--in-process",
          "--tier",
          "quick",
          "--device",
          c.device(),
          "--size",
          size,
          "--dtype",
          types_name(c.current_problem().dtype),
          "--layout",
          std::string(layout_name(c.current_problem().layout)),
          "--batch",
          std::to_string(products_for(c))};
}

// The first lines of the output that contain one of the words, without the tool's prefix.
std::string lines_with(const std::string& output, std::initializer_list<std::string_view> words) {
  constexpr int kMaxLines = 3;
  std::istringstream in(output);
  std::string found;
  int count = 0;
  for (std::string line; std::getline(in, line) && count < kMaxLines;) {
    for (const std::string_view word : words) {
      if (line.find(word) == std::string::npos) continue;
      line.erase(0, line.find_first_not_of("= 0123456789"));
      found += (found.empty() ? "" : "; ") + line;
      ++count;
      break;
    }
  }
  return printable(found, kLongestText);
}

covered judge(const process::command_result& ran, int error_code, const std::string& tool,
              const std::string& size, std::initializer_list<std::string_view> words) {
  if (ran.hung) {
    throw failure(verdict::hung,
                  fmt::format("did not end within {:g} s under {}, killed", kTimeoutSeconds, tool));
  }
  if (ran.code == 0) return {fmt::format("{} finds no error on {}", tool, size)};
  const std::string found = lines_with(ran.output, words);
  if (ran.code == error_code || !found.empty()) throw failed(found.empty() ? tool : found);
  throw skipped(fmt::format("{} ended with exit code {}: {}", tool, ran.code,
                            lines_with(ran.output, {"rror", "fail", "wrong", "crashed"})));
}

}  // namespace

bool compute_sanitizer::applies_to(const candidate& c) const { return c.device() != "cpu"; }

covered compute_sanitizer::run(candidate& c) const {
  constexpr int kFound = 86;
  std::vector<std::string> argv{"compute-sanitizer",    "--tool",        tool_, "--error-exitcode",
                                std::to_string(kFound), "--print-limit", "3"};
  const std::string size = size_for(c);
  for (const std::string& word : runner_on(c, c.file(), size)) argv.push_back(word);
  c.client().release();
  try {
    return judge(process::run_command(argv, {}, kTimeoutSeconds), kFound,
                 fmt::format("compute-sanitizer --tool {}", tool_), size,
                 {"Invalid", "Race reported", "Uninitialized", "Program hit", "SUMMARY"});
  } catch (const std::system_error&) {
    throw skipped("there is no compute-sanitizer in PATH; it comes with the CUDA toolkit");
  }
}

bool address_sanitizer::applies_to(const candidate& c) const { return c.device() == "cpu"; }

covered address_sanitizer::run(candidate& c) const {
  constexpr int kFound = 87;
  const fs::path own = fs::absolute(c.file());
  const fs::path file = own.parent_path().parent_path() / "cpu-asan" / own.filename();
  if (!fs::exists(file)) {
    throw skipped(fmt::format("there is no {}: build with -D KZOO_ASAN=ON", file.string()));
  }
  const std::string runtime = KZOO_ASAN_RUNTIME;
  if (!fs::exists(runtime)) throw skipped("there is no libasan at " + runtime);
  const std::string size = size_for(c);
  c.client().release();
  return judge(
      process::run_command(
          runner_on(c, file.string(), size),
          {"LD_PRELOAD=" + runtime,
           fmt::format("ASAN_OPTIONS=exitcode={}:detect_leaks=0:abort_on_error=0", kFound)},
          kTimeoutSeconds),
      kFound, "AddressSanitizer", size, {"ERROR: AddressSanitizer", "READ of", "WRITE of", "#0"});
}

}  // namespace kzoo::checks
