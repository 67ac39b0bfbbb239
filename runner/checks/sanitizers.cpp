#include "checks/sanitizers.hpp"

#include "core/printable.hpp"
#include "core/verdict.hpp"
#include "process/command.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

namespace kzoo::checks {
namespace {

namespace fs = std::filesystem;

constexpr double kTimeoutSeconds = 300;  // these tools slow a kernel down by up to a hundred times
constexpr const char* kSize = "129x127x65";

// This program, validating the candidate's variant from `file` in the tool's own process.
std::vector<std::string> runner_on(const candidate& s, const std::string& file) {
  return {fs::read_symlink("/proc/self/exe").string(),
          "validate",
          fmt::format("{}:{}", file, s.variant()),
          "--in-process",
          "--tier",
          "quick",
          "--device",
          s.device(),
          "--size",
          kSize,
          "--dtype",
          std::string(type_name(s.at().dtype))};
}

// The first lines of the output that hold one of the words, without what tools put in front.
std::string lines_with(const std::string& output, std::initializer_list<std::string_view> words) {
  constexpr int kMost = 3;
  std::istringstream in(output);
  std::string found;
  int count = 0;
  for (std::string line; std::getline(in, line) && count < kMost;) {
    for (const std::string_view word : words) {
      if (line.find(word) == std::string::npos) continue;
      line.erase(0, line.find_first_not_of("= 0123456789"));
      found += (found.empty() ? "" : "; ") + line;
      ++count;
      break;
    }
  }
  return printable(found);
}

std::string judge(const process::command_result& ran, int error_code, const std::string& tool,
                  std::initializer_list<std::string_view> words) {
  if (ran.hung) {
    throw failure(verdict::hung,
                  fmt::format("no end within {:g} s under {}, killed", kTimeoutSeconds, tool));
  }
  if (ran.code == 0) return fmt::format("{} finds nothing on {}", tool, kSize);
  const std::string found = lines_with(ran.output, words);
  if (ran.code == error_code || !found.empty()) throw failed(found.empty() ? tool : found);
  throw skipped(fmt::format("{} ended with code {}: {}", tool, ran.code,
                            lines_with(ran.output, {"rror", "fail", "wrong", "crashed"})));
}

}  // namespace

bool compute_sanitizer::applies_to(const candidate& s) const { return s.device() != "cpu"; }

std::string compute_sanitizer::look(candidate& s) const {
  constexpr int kFound = 86;
  std::vector<std::string> argv{"compute-sanitizer",    "--tool",        tool_, "--error-exitcode",
                                std::to_string(kFound), "--print-limit", "3"};
  for (const std::string& word : runner_on(s, s.file())) argv.push_back(word);
  s.host().release();
  try {
    return judge(process::run_command(argv, {}, kTimeoutSeconds), kFound,
                 fmt::format("compute-sanitizer --tool {}", tool_),
                 {"Invalid", "Race reported", "Uninitialized", "Program hit", "SUMMARY"});
  } catch (const std::system_error&) {
    throw skipped("there is no compute-sanitizer in PATH; it comes with the CUDA toolkit");
  }
}

bool address_sanitizer::applies_to(const candidate& s) const { return s.device() == "cpu"; }

std::string address_sanitizer::look(candidate& s) const {
  constexpr int kFound = 87;
  const fs::path own = fs::absolute(s.file());
  const fs::path file = own.parent_path().parent_path() / "cpu-asan" / own.filename();
  if (!fs::exists(file)) {
    throw skipped(fmt::format("there is no {}: build with -D KZOO_ASAN=ON", file.string()));
  }
  const std::string runtime = KZOO_ASAN_RUNTIME;
  if (!fs::exists(runtime)) throw skipped("there is no libasan at " + runtime);
  s.host().release();
  return judge(
      process::run_command(
          runner_on(s, file.string()),
          {"LD_PRELOAD=" + runtime,
           fmt::format("ASAN_OPTIONS=exitcode={}:detect_leaks=0:abort_on_error=0", kFound)},
          kTimeoutSeconds),
      kFound, "AddressSanitizer", {"ERROR: AddressSanitizer", "READ of", "WRITE of", "#0"});
}

}  // namespace kzoo::checks
