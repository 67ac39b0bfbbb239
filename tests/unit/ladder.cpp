// The ladders in plugins/ can be read step by step: how much of a step differs from the one before
// it. The site shows the tables of tests/fixtures in docs/ladder.md; where they are old, this test
// says so, and writes them if KZOO_UPDATE_DOCS is set.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using kzoo::test::lines_of;
using kzoo::test::read_text;

const fs::path kPlugins = kzoo::test::source_folder() / "plugins";

// Lines of code that may change from one step to the next.
constexpr int kLimit = 40;
// A step that is a new machine: other instructions, another main loop, another schedule.
constexpr int kMachineLimit = 60;
const std::set<std::string> kMachines{"warp_specialized"};
// Lines of code in headers that no earlier step had.
constexpr int kHeaderLimit = 110;
const std::map<std::string, int> kHeaderLimits{{"cp_async", 145}, {"stream_k", 140}, {"tma", 215}};

struct step {
  std::string name;
  fs::path folder;
  std::vector<std::string> code;    // of NAME.cu, after that of NAME.hpp
  std::map<fs::path, int> to_read;  // the files of plugins/ that it consists of, with their lines
};

// What a file includes from plugins/.
std::vector<fs::path> plugin_headers_of(const fs::path& file) {
  static const std::regex kInclude(R"(^#include [<"]([^>"]+)[>"])");
  std::vector<fs::path> all;
  for (const std::string& line : lines_of(file)) {
    std::smatch match;
    if (!std::regex_search(line, match, kInclude)) continue;
    for (const fs::path& base : {file.parent_path(), kPlugins}) {
      if (const fs::path header = base / match[1].str(); fs::exists(header)) all.push_back(header);
    }
  }
  return all;
}

bool add_file(const fs::path& file, std::map<fs::path, int>& all) {
  return all.emplace(file.lexically_normal(), static_cast<int>(lines_of(file).size())).second;
}

void add_to_read(const fs::path& file, step& s) {
  if (!add_file(file, s.to_read)) return;
  for (const fs::path& header : plugin_headers_of(file)) add_to_read(header, s);
}

std::string amount(const std::map<fs::path, int>& files) {
  int lines = 0;
  for (const auto& [file, in_it] : files) lines += in_it;
  return fmt::format("{} / {}", files.size(), lines);
}

// Without comments, indentation, includes, the step's own name and its table of variants.
void add_code(const fs::path& file, const std::string& name, std::vector<std::string>& code) {
  static const std::regex kLeftOut(R"(\s*//.*$|^\s+|^#include.*|^#pragma once)");
  for (const std::string& line : lines_of(file)) {
    if (line.starts_with("KZOO_PLUGIN")) return;
    const std::string rest = std::regex_replace(
        std::regex_replace(line, std::regex("\\b" + name + "(?=\\b|_kernel)"), "step"), kLeftOut,
        "");
    if (!rest.empty()) code.push_back(rest);
  }
}

std::vector<step> steps_of(const std::string& ladder) {
  std::map<int, step> numbered;
  static const std::regex kStep(R"((\d+)_(\w+))");
  for (const auto& entry : fs::directory_iterator(kPlugins / ladder)) {
    std::smatch match;
    const std::string folder = entry.path().filename();
    if (!std::regex_match(folder, match, kStep)) continue;
    step s{match[2], entry.path(), {}, {}};
    for (const char* kind : {".hpp", ".cu"}) {
      if (const fs::path file = s.folder / (s.name + kind); fs::exists(file))
        add_code(file, s.name, s.code);
    }
    add_to_read(s.folder / (s.name + ".cu"), s);
    CHECK(numbered.emplace(std::stoi(match[1]), s).second);
  }
  std::vector<step> steps;
  for (auto& [number, s] : numbered) {
    CHECK(number == static_cast<int>(steps.size()) + 1);
    steps.push_back(std::move(s));
  }
  return steps;
}

// The length of the longest common subsequence.
int common_lines(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<int> above(b.size() + 1), row(b.size() + 1);
  for (const std::string& line : a) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = line == b[j] ? above[j] + 1 : std::max(above[j + 1], row[j]);
    }
    std::swap(above, row);
  }
  return above.back();
}

struct change {
  int removed, added;
  std::vector<std::string> new_headers;  // which no step before it had
  int included;                          // those of them that NAME.cu itself includes
  int header_code;                       // lines of code in the new headers
};

bool any_of_before(const std::vector<step>& steps, std::size_t i, auto has) {
  return std::any_of(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(i), has);
}

change between(const std::vector<step>& steps, std::size_t i) {
  const int same = common_lines(steps[i - 1].code, steps[i].code);
  change c{static_cast<int>(steps[i - 1].code.size()) - same,
           static_cast<int>(steps[i].code.size()) - same,
           {},
           0,
           0};
  std::set<fs::path> direct;
  for (const fs::path& header : plugin_headers_of(steps[i].folder / (steps[i].name + ".cu")))
    direct.insert(header.lexically_normal());
  for (const auto& [file, lines] : steps[i].to_read) {
    const bool seen =
        any_of_before(steps, i, [&](const step& before) { return before.to_read.contains(file); });
    const bool counted = file.parent_path() == steps[i].folder && file.stem() == steps[i].name;
    if (seen || counted) continue;
    c.new_headers.push_back(file.filename());
    c.included += direct.contains(file);
    std::vector<std::string> code;
    add_code(file, steps[i].name, code);
    c.header_code += static_cast<int>(code.size());
  }
  return c;
}

std::string table(const std::vector<step>& steps) {
  std::string text =
      "| step | lines of code | removed, added | to read | new headers |\n"
      "|---|---:|---:|---:|---|\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const change c = i > 0 ? between(steps, i) : change{};
    text += fmt::format("| {} | {} | {} | {} | {} |\n", steps[i].name, steps[i].code.size(),
                        i > 0 ? fmt::format("−{} +{}", c.removed, c.added) : "",
                        amount(steps[i].to_read), fmt::join(c.new_headers, ", "));
  }
  return text;
}

TEST_CASE("a step of a ladder differs from the one before it by its idea") {
  for (const char* ladder : {"fp32", "tensor_cores"}) {
    const std::vector<step> steps = steps_of(ladder);
    REQUIRE(steps.size() > 5);
    const bool fp32 = ladder == std::string_view("fp32");
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const change c = between(steps, i);
      INFO(ladder << ": " << steps[i].name << " -" << c.removed << " +" << c.added);
      CHECK(std::max(c.removed, c.added) <=
            (kMachines.contains(steps[i].name) ? kMachineLimit : kLimit));
      CHECK(c.included <= 1);
      const auto more = kHeaderLimits.find(steps[i].name);
      CHECK(c.header_code <= (more != kHeaderLimits.end() ? more->second : kHeaderLimit));
      if (fp32) CHECK(c.new_headers.size() <= 1);
      for (const auto& [file, lines] : steps[i].to_read) {
        const fs::path folder = file.parent_path();
        INFO(file << " is of another step: what several use is in common/");
        CHECK((folder == steps[i].folder || folder.filename() == "common"));
      }
    }
  }
}

TEST_CASE("a step of the fp32 ladder is for fp32 alone") {
  for (const step& s : steps_of("fp32")) {
    INFO(s.name);
    const auto has = [&](const char* words) {
      return std::any_of(s.code.begin(), s.code.end(), [&](const std::string& line) {
        return line.find(words) != std::string::npos;
      });
    };
    CHECK(has("(kzoo::gemm<float> g"));
    for (const char* general : {"class Gemm", "kzoo::types", "layouts", "batches"})
      CHECK_FALSE(has(general));
  }
}

TEST_CASE("the tables of the steps are what the steps are") {
  for (const std::string ladder : {"fp32", "tensor_cores"}) {
    const fs::path file =
        kzoo::test::source_folder() / "tests" / "fixtures" / ("steps-" + ladder + ".txt");
    const std::string right = table(steps_of(ladder));
    if (std::getenv("KZOO_UPDATE_DOCS") != nullptr) std::ofstream(file) << right;
    INFO(file << ": KZOO_UPDATE_DOCS=1 ./zoo test -R ladder writes it anew");
    CHECK((read_text(file) == right));
  }
}

}  // namespace
