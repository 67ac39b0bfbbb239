#include "cli/output_files.hpp"

#include "input/diagnostics.hpp"
#include "report/report.hpp"
#include "results/experiment.hpp"
#include "results/tuned.hpp"
#include "storage/documents_json.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <regex>
#include <sstream>
#include <system_error>

namespace kzoo::cli {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const std::string& flag, const std::string& name, const std::string& why) {
  input::refuse(fmt::format("{} {}", flag, name), "cannot be written: " + why);
}

// Devices and pipes cannot be replaced by renaming, so they are written directly.
bool is_written_in_place(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored) && !fs::is_regular_file(file, ignored);
}

// Whether both names mean one file, which need not exist yet.
bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code fault;
  if (fs::equivalent(one, other, fault)) return true;
  const auto whole = [&](const fs::path& file) {
    return fs::weakly_canonical(fs::absolute(file, fault), fault);
  };
  const fs::path path = whole(one);
  return !path.empty() && path == whole(other);
}

// Existing files stay.
void remove_files(const fs::path& folder, const file_texts& files) {
  std::error_code ignored;
  for (const auto& [path, text] : files)
    for (fs::path at = path; !at.empty(); at = at.parent_path()) fs::remove(folder / at, ignored);
}

void write_files(const fs::path& folder, const file_texts& files) {
  for (const auto& [path, text] : files) {
    std::error_code fault;
    fs::create_directories((folder / path).parent_path(), fault);
    if (fault) {
      input::refuse(folder.string(), "cannot be made: {}; choose another place with --out DIR",
                    fault.message());
    }
    write_file(folder / path, text);
  }
}

}  // namespace

output_file::output_file(std::string flag, std::string name)
    : flag_(std::move(flag)), name_(std::move(name)) {
  if (name_ == "-") return;
  written_ = is_written_in_place(name_)
                 ? name_
                 : (fs::path(name_).parent_path() / fmt::format("kzoo-{}{}.part", getpid(), flag_))
                       .string();
  file_ = std::fopen(written_.c_str(), "w");
  if (file_ == nullptr) refuse(flag_, name_, std::strerror(errno));
}

output_file::~output_file() {
  if (file_ != nullptr) std::fclose(file_);
  if (!written_.empty() && written_ != name_) std::remove(written_.c_str());
}

// Errors stay with the stream.
void output_file::append(std::string_view text) {
  write_text(file_ == nullptr ? stdout : file_, text);
}

void output_file::finish() {
  std::FILE* out = file_ == nullptr ? stdout : file_;
  const bool complete =
      std::fflush(out) == 0 && std::ferror(out) == 0 &&
      (written_ == name_ || written_.empty() || std::rename(written_.c_str(), name_.c_str()) == 0);
  if (!complete) throw not_written(fmt::format("{} {}: {}", flag_, name_, std::strerror(errno)));
}

output_files::output_files(const std::vector<fs::path>& inputs, const fs::path& journal) {
  for (const fs::path& file : inputs) taken_.push_back({file, "it is the input file"});
  if (!journal.empty()) taken_.push_back({journal, "it is the journal"});
}

output_file* output_files::add(const std::string& flag, const std::optional<std::string>& given) {
  if (!given) return nullptr;
  const std::string& name = *given;
  if (name == "-" && on_stdout_)
    input::refuse(flag + " -", "only one export can go to stdout; name a file");
  on_stdout_ = on_stdout_ || name == "-";
  if (name != "-" && !is_written_in_place(name)) {
    for (const taken_file& t : taken_)
      if (is_same_file(name, t.file)) refuse(flag, name, t.what);
    taken_.push_back({name, fmt::format("{} is written there", flag)});
  }
  return files_.emplace_back(std::make_unique<output_file>(flag, name)).get();
}

void render(const results::document& d, format f, const report::shown_options& shown,
            const text_sink& out) {
  switch (f) {
    case format::json: return storage::write(d, out);
    case format::csv: return report::write_csv(d, shown.sort, out);
    case format::junit: return report::write_junit(d, out);
    case format::markdown:
      return out(report::full_report(
          d, {report::medium::markdown, report::kNoLimit, shown.simulator_times, shown.sort}));
  }
}

result_files::result_files(const output_options& options, const std::vector<fs::path>& inputs,
                           const fs::path& journal)
    : output_files(inputs, journal), shown_(options.shown) {
  const auto write_to = [&](const char* flag, const std::optional<std::string>& name, format f) {
    if (output_file* file = add(flag, name)) entries_.push_back({f, file});
  };
  write_to("--json", options.json, format::json);
  write_to("--csv", options.csv, format::csv);
  write_to("--md", options.markdown, format::markdown);
  write_to("--junit", options.junit, format::junit);
}

void result_files::write(const results::document& d) {
  for (const entry& e : entries_) {
    if (e.format == format::json && d.experiment.overridden.tune)
      e.file->append(storage::to_text(results::tuned_of(d)));
    else
      render(d, e.format, shown_, [&](std::string_view text) { e.file->append(text); });
    e.file->finish();
  }
}

void require_new_folder(const fs::path& folder) {
  std::error_code fault;
  const fs::file_status status = fs::status(folder, fault);
  if (!fs::exists(status) || (fs::is_directory(status) && fs::is_empty(folder, fault))) return;
  input::refuse(folder.string(),
                "is there already, and nothing in it is changed; choose another name, or another "
                "folder with --out");
}

void write_folder(const fs::path& folder, const file_texts& files) {
  const bool is_new = !fs::exists(folder);
  try {
    write_files(folder, files);
  } catch (...) {
    remove_files(folder, files);
    std::error_code ignored;
    if (is_new) fs::remove(folder, ignored);
    throw;
  }
}

source::build_settings zoo_settings(const fs::path& source) {
  source::build_settings settings;
  const fs::path file = source.parent_path() / "CMakeLists.txt";
  if (!fs::exists(file)) return settings;
  const auto refuse = [&] {
    input::refuse(file.string(),
                  "the plugin is built with more than its source and CUDA's libraries, so that it "
                  "cannot be copied");
  };
  static const std::regex kCall(R"(kzoo_add_plugin\(NAME\s+\S+\s+SOURCES\s+\S+([^)]*)\))");
  const std::string text = input::read_file(file);
  std::smatch call;
  if (!std::regex_search(text, call, kCall)) refuse();
  std::istringstream words(call[1].str());
  std::string keyword;
  for (std::string word; words >> word;) {
    constexpr std::string_view kCuda = "CUDA::";
    if (word == "NATIVE")
      settings.native = true;
    else if (word == "ARCH" || word == "LINK" || word == "DEVICES")
      keyword = word;
    else if (std::isupper(static_cast<unsigned char>(word[0])) != 0 && !word.starts_with(kCuda))
      refuse();  // another keyword
    else if (keyword == "ARCH")
      settings.architectures.push_back(word);
    else if (keyword == "LINK" && word.starts_with(kCuda))
      settings.libraries.push_back(word.substr(kCuda.size()));
    else if (keyword != "DEVICES")
      refuse();
  }
  return settings;
}

}  // namespace kzoo::cli
