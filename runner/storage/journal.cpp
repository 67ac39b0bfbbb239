#include "storage/journal.hpp"

#include "input/diagnostics.hpp"
#include "os/text.hpp"
#include "storage/cell_json.hpp"
#include "storage/field.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

namespace kzoo::storage {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

std::string errno_words() { return std::generic_category().message(errno); }

constexpr int kNew = O_CREAT | O_EXCL;

constexpr const char* kElsewhere = "; --journal FILE names another place, --no-journal stores none";

// Names the process that created or last resumed the journal.
std::string writer_of(const fs::path& file) {
  std::string words = "another run";
  std::ifstream in(file);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line) && !in.eof(); ++number) {
    if (number > 0 && !line.starts_with(R"({"resumed")")) continue;
    const json j = json::parse(line, nullptr, false);
    if (!j.is_object() || !j.contains("host") || !j.contains("process")) continue;
    const json since = j.value("resumed", j.value("started", json()));
    words = printable(fmt::format("another run: process {} on {}, since {}", j["process"].dump(),
                                  j["host"].dump(), since.dump()));
  }
  std::erase(words, '"');
  return words;
}

using announce = std::function<void(const std::string& words)>;

// -1 if the file exists but must be new. If another run holds the lock, calls waits() with its name
// and waits for it, or without `waits` refuses the file.
int open_locked(const fs::path& file, int flags, const announce& waits = {}) {
  constexpr mode_t kForAllToRead = 0644;
  const int fd = open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, kForAllToRead);
  if (fd < 0 && errno == EEXIST && flags == kNew) return -1;
  if (fd < 0) {
    input::refuse(file.string(), "cannot be opened for writing: " + errno_words() +
                                     (flags == kNew ? kElsewhere : ""));
  }
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  const bool is_locked = errno == EWOULDBLOCK;
  if (is_locked && waits) {
    waits(fmt::format("{} is being written by {}", file.string(), writer_of(file)));
    if (flock(fd, LOCK_EX) == 0) return fd;
  }
  const std::string why = is_locked && !waits ? "is being written by " + writer_of(file)
                                              : "cannot be locked: " + errno_words();
  close(fd);
  input::refuse(file.string(), why);
}

void make_folder_of(const fs::path& file) {
  std::error_code fault;
  if (!file.has_parent_path()) return;
  fs::create_directories(file.parent_path(), fault);
  if (!fault) return;
  input::refuse(file.parent_path().string(),
                "cannot be made, for the journal: " + fault.message() + kElsewhere);
}

// Syncs the folder: only this puts a new file's directory entry on disk.
void sync_folder_of(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.fd() >= 0) fsync(opened.fd());
}

// Reads lines that end in a line break; any rest is incomplete.
class whole_lines {
 public:
  explicit whole_lines(std::istream& in) : in_(in) {}

  bool next() {
    if (!std::getline(in_, text_) || in_.eof()) return false;
    end_ += text_.size() + 1;
    ++number_;
    return true;
  }
  const std::string& text() const { return text_; }
  unsigned number() const { return number_; }
  std::uint64_t end() const { return end_; }  // offset in the file, after the line break
  bool is_last() { return in_.peek() == std::istream::traits_type::eof(); }

 private:
  std::istream& in_;
  std::string text_;
  unsigned number_ = 0;
  std::uint64_t end_ = 0;
};

// Adds a line after the first: a note, or a cell.
void add(results::document& d, collected_cells& cells, const field& line) {
  if (line.find("resumed")) {
    d.notes.push_back(line.at("note").text());
    return;
  }
  const field cell = line.at("cell");
  const auto problem = line.find("problem");
  cells.add(cell, problem ? std::optional(problem->integer<std::size_t>()) : std::nullopt);
  d.wall_seconds = line.at("wall_seconds").number();
}

}  // namespace

json journal_line(const results::document& d, std::span<const results::cell> so_far) {
  return {{"cell", to_json(d, so_far)},
          {"wall_seconds", d.wall_seconds},
          {"problem", so_far.back().problem}};
}

json journal_schema() {
  json head = results_schema();
  const json& keys = head["properties"];
  json& required = head["required"];
  const json cell{{"cell", keys["cells"]["items"]},
                  {"wall_seconds", keys["wall_seconds"]},
                  {"problem", {{"type", "integer"}, {"minimum", 0}}}};
  const json text{{"type", "string"}}, process{{"type", "integer"}};
  const json resumed{{"resumed", text}, {"host", text}, {"process", process}, {"note", text}};
  head["properties"].update({{"schema", {{"const", kJournalSchema}}}, {"process", process}});
  for (const char* key : {"cells", "wall_seconds"}) {
    head["properties"].erase(key);
    required.erase(std::ranges::find(required, key));
  }
  required.push_back("process");
  return {{"anyOf",
           {head,
            {{"type", "object"}, {"properties", cell}, {"required", {"cell", "wall_seconds"}}},
            {{"type", "object"},
             {"properties", resumed},
             {"required", {"resumed", "host", "process", "note"}}}}}};
}

journal journal::create(const fs::path& file) {
  make_folder_of(file);
  const int fd = open_locked(file, kNew);
  if (fd < 0) {
    input::refuse(file.string(),
                  "is there already; name another file, or go on with it: --resume FILE");
  }
  sync_folder_of(file);
  return {file, fd};
}

journal journal::create_numbered(const fs::path& name) {
  make_folder_of(name);
  for (int i = 1;; ++i) {
    const fs::path file =
        fmt::format("{}{}.jsonl", name.string(), i > 1 ? fmt::format("_{}", i) : "");
    const int fd = open_locked(file, kNew);
    if (fd < 0) continue;  // another run has just created it
    sync_folder_of(file);
    return {file, fd};
  }
}

journal journal::reopen(const fs::path& file) { return {file, open_locked(file, 0)}; }

journal journal::create_or_reopen(const fs::path& file, const announce& waits) {
  make_folder_of(file);
  journal opened(file, open_locked(file, O_CREAT, waits));
  sync_folder_of(file);
  return opened;
}

void journal::cut_off(std::uint64_t whole_bytes) {
  if (ftruncate(fd_.fd(), static_cast<off_t>(whole_bytes)) == 0) return;
  input::refuse(file_.string(), "cannot be continued: " + errno_words());
}

void journal::head(const results::document& d) {
  json line = head_json(d);
  line["schema"] = kJournalSchema;
  line["process"] = getpid();
  line.erase("wall_seconds");
  write(line);
}

void journal::resumed(const std::string& when, const std::string& host, const std::string& note) {
  write({{"resumed", when}, {"host", host}, {"process", getpid()}, {"note", note}});
}

void journal::add(const results::document& d, std::span<const results::cell> so_far) {
  write(journal_line(d, so_far));
}

void journal::write(const json& line) {
  const std::string text = dumped(line, -1) + '\n';
  // Usually a single write. On a full disk the next write reports the reason.
  std::string_view rest = text;
  ssize_t written = 0;
  while (!rest.empty() && (written = ::write(fd_.fd(), rest.data(), rest.size())) > 0)
    rest.remove_prefix(static_cast<std::size_t>(written));
  if (rest.empty() && fsync(fd_.fd()) == 0) return;
  throw not_stored(
      fmt::format("{} cannot be written: {}", file_.string(),
                  errno == EFBIG ? "files may not become that large (ulimit -f)" : errno_words()));
}

results::cell read_line(const nlohmann::json& line, std::size_t problem,
                        std::span<const results::cell> earlier, const std::string& place) {
  const json ordered = line;
  const field cell = field(ordered, place).at("cell");
  stored_cell read = read_cell(cell);
  std::vector<const kernel_id*> kernels;
  for (const results::cell& c : earlier) kernels.push_back(&c.kernel);
  place_among(read, kernels, cell);
  read.cell.problem = problem;
  return std::move(read.cell);
}

bool has_head(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!in) input::refuse(file.string(), "cannot be read: " + errno_words());
  const bool whole = std::getline(in, line) && !in.eof();
  if (in.bad()) input::refuse(file.string(), "cannot be read: " + errno_words());
  constexpr std::string_view kBegin = R"({"schema":"kzoo.journal/)";  // as head() writes it
  if (!whole && line.compare(0, kBegin.size(), kBegin.substr(0, line.size())) != 0)
    input::refuse(file.string(), "is not the journal of a run");
  return whole;
}

bool is_journal_head(const std::string& line) {
  constexpr const char* kAnyVersion = "kzoo.journal/";
  if (line.find(kAnyVersion) == std::string::npos) return false;  // before a long line is parsed
  const json head = json::parse(line, nullptr, false);
  if (!head.is_object() || !head.contains("schema") || !head["schema"].is_string()) return false;
  return head["schema"].get<std::string>().starts_with(kAnyVersion);
}

journal_content read_journal(std::istream& in, const std::string& file) {
  whole_lines lines(in);
  if (!lines.next()) input::refuse(file, "its first line is incomplete");
  json head = parse(lines.text(), {file, 1});
  field(head, file).at("schema").require_schema(kJournalSchema);
  head["wall_seconds"] = 0;

  journal_content content;
  content.results = read_head(head, file);
  content.whole_bytes = lines.end();
  collected_cells cells;
  while (lines.next()) {
    // After a crash of the machine, the end of a file may hold anything.
    if (lines.is_last() && !json::accept(lines.text())) break;
    const json line = parse(lines.text(), {file, lines.number()});
    const std::string place = fmt::format("{}:{}", file, lines.number());
    add(content.results, cells, field(line, place));
    content.whole_bytes = lines.end();
  }
  if (in.bad()) input::refuse(file, "cannot be read to its end");
  cells.move_into(content.results);
  return content;
}

}  // namespace kzoo::storage
