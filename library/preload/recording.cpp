#include "recording.hpp"

#include "os/files.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>
#include <vector>

namespace kzoo::preload {
namespace {

namespace fs = std::filesystem;

// An experiment with more would take hours.
constexpr std::size_t kMostProblems = 1000;
// A program that changes alpha with each call must not fill the memory.
constexpr std::size_t kMostKinds = 100000;
// A program that is killed leaves the file as it was so long ago at most.
constexpr auto kInterval = std::chrono::seconds(30);

// As short as it is in the type that it comes from.
std::string number(double value) {
  const auto narrow = static_cast<float>(value);
  return double(narrow) == value ? fmt::format("{}", narrow) : fmt::format("{}", value);
}

std::string table_of(const asked_product& asked) {
  const problem& p = asked.problem;
  std::string text = fmt::format("[[problem]]\nsizes = [\"{}x{}x{}\"]\ndtype = \"{}\"\n", p.m, p.n,
                                 p.k, type_names(p.dtype.a, p.dtype.b, p.dtype.c));
  const auto add = [&](const char* key, std::string_view value) {
    text += fmt::format("{} = {}\n", key, value);
  };
  add("layout", fmt::format("\"{}\"", layout_name(p.layout)));
  if (p.batch > 1) add("batch", std::to_string(p.batch));
  if (p.batch_shared != shared_operand::none)
    add("batch_shared", p.batch_shared == shared_operand::a ? "\"a\"" : "\"b\"");
  if (p.alpha != 1) add("alpha", number(p.alpha));
  if (p.beta != 0) add("beta", number(p.beta));
  if (!asked.epilogue.empty()) add("epilogue", fmt::format("\"{}\"", asked.epilogue));
  if (*asked.allow != '\0') add("allow", fmt::format("[\"{}\"]", asked.allow));
  return text;
}

std::string with_process(std::string file) {
  const std::string process = std::to_string(getpid());
  for (std::size_t at = 0; (at = file.find("%p", at)) != std::string::npos; at += process.size())
    file.replace(at, 2, process);
  return file;
}

// As a word of a comment and of a string in TOML.
std::string program_name() {
  std::string name = program_invocation_short_name;
  std::ranges::replace_if(
      name, [](unsigned char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; }, '_');
  return name;
}

}  // namespace

recording::recording(const std::string& file) : file_(file), process_(getpid()) {
  std::error_code ignored;
  folder_ = fs::current_path(ignored);
  written_ = std::chrono::steady_clock::now();
}

// A child has what its parent recorded, and did not ask for it.
void recording::begin_again_after_fork() {
  if (process_ == getpid()) return;
  process_ = getpid();
  kinds_.clear();
  others_.clear();
}

void recording::add(const asked_product& asked) {
  const bool is_problem = asked.why_not.empty();
  const std::string table = is_problem ? table_of(asked) : "";
  {
    const std::lock_guard lock(mutex_);
    begin_again_after_fork();
    if (!is_problem) {
      ++others_[asked.why_not];
    } else if (kinds_.size() < kMostKinds || kinds_.contains(table)) {
      kind& of = kinds_[table];
      ++of.calls;
      of.not_packed += asked.is_packed ? 0 : 1;
      of.flops += asked.problem.flops();
    } else {
      ++others_[fmt::format("after the first {} different products", kMostKinds)];
    }
    if (std::chrono::steady_clock::now() - written_ < kInterval) return;
    written_ = std::chrono::steady_clock::now();
  }
  write();
}

std::string recording::text() const {
  std::vector<std::pair<std::string, kind>> all(kinds_.begin(), kinds_.end());
  std::ranges::stable_sort(
      all, [](const auto& x, const auto& y) { return x.second.flops > y.second.flops; });
  std::uint64_t calls = 0;
  double flops = 0;
  for (const auto& [table, of] : all) {
    calls += of.calls;
    flops += of.flops;
  }
  const auto share = [&](double part) { return 100 * part / flops; };
  std::string text = fmt::format(
      "# What {} asked cuBLAS for: {}, {}; the most work, flops x calls, comes first.\n"
      "# cuBLAS's column-major product is here the row-major one of the transposes.\n",
      program_name(), counted(calls, "call"), counted(all.size(), "problem"));
  for (const auto& [why, count] : others_)
    text += fmt::format("# Not here: {}, {}\n", counted(count, "call"), why);
  if (all.size() > kMostProblems) {
    double left_out = 0;
    for (std::size_t i = kMostProblems; i < all.size(); ++i) left_out += all[i].second.flops;
    text += fmt::format("# Not here: {} with the least work, {:.2g} % of all\n",
                        counted(all.size() - kMostProblems, "problem"), share(left_out));
    all.resize(kMostProblems);
  }
  text += fmt::format("title = \"products of {}\"\n", program_name());
  if (all.empty()) text += "problem = []\n";
  for (const auto& [table, of] : all) {
    text += fmt::format("\n# {}, {:.3g} % of the work", counted(of.calls, "call"), share(of.flops));
    if (of.not_packed > 0)
      text += fmt::format("; {} with rows or products further apart than here",
                          of.not_packed == of.calls ? "all" : std::to_string(of.not_packed));
    text += '\n' + table;
  }
  return text;
}

void recording::write() const {
  try {
    if (process_ != getpid()) return;  // a child, in which the mutex may be locked for ever
    const std::lock_guard alone(writing_);
    std::string now;
    {
      const std::lock_guard lock(mutex_);
      if (kinds_.empty() && others_.empty()) return;
      now = text();
    }
    replace_file(folder_ / with_process(file_), now);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kzoo_blas: KZOO_BLAS_RECORD: %s\n", e.what());
  }
}

}  // namespace kzoo::preload
