#include "storage/journal.hpp"

#include "input/diagnostics.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace kzoo::storage {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

std::string errno_words() { return std::generic_category().message(errno); }

int open_locked(const fs::path& file, int flags) {
  constexpr mode_t kForAllToRead = 0644;
  const int fd = open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, kForAllToRead);
  if (fd < 0 && errno == EEXIST) {
    input::refuse(file.string(),
                  "is there already; name another file, or go on with it: --resume FILE");
  }
  if (fd < 0) input::refuse(file.string(), "cannot be opened for writing: " + errno_words());
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    input::refuse(file.string(), "is being written by another run");
  }
  return fd;
}

}  // namespace

json journal_line(const results::document& d, const results::cell& c,
                  std::span<const results::agreement> with_others) {
  json agreements = json::array();
  for (const results::agreement& a : with_others) agreements.push_back(to_json(d, a));
  return {{"cell", to_json(d, c)},
          {"agreement", agreements},
          {"wall_seconds", d.wall_seconds},
          {"problem", c.problem}};
}

journal::journal(fs::path file, int fd) : file_(std::move(file)), fd_(fd) {}
journal::journal(journal&& other) noexcept
    : file_(std::move(other.file_)), fd_(std::exchange(other.fd_, -1)) {}
journal::~journal() {
  if (fd_ >= 0) close(fd_);
}

journal journal::create(const fs::path& file) {
  std::error_code fault;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  fs::create_directories(folder, fault);
  if (fault) input::refuse(folder.string(), "cannot be made, for the journal: " + fault.message());
  journal made(file, open_locked(file, O_CREAT | O_EXCL));
  // Only this puts the directory entry of the new file on disk.
  if (const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); fd >= 0) {
    fsync(fd);
    close(fd);
  }
  return made;
}

journal journal::reopen(const fs::path& file, std::uint64_t whole_bytes) {
  journal opened(file, open_locked(file, 0));
  if (ftruncate(opened.fd_, static_cast<off_t>(whole_bytes)) != 0) {
    input::refuse(file.string(), "cannot be continued: " + errno_words());
  }
  return opened;
}

void journal::head(const results::document& d) {
  json line = to_json(d);
  line["schema"] = kJournalSchema;
  for (const char* later : {"cells", "agreement", "wall_seconds"}) line.erase(later);
  write(line);
}

void journal::resumed(const std::string& when, const std::string& note) {
  write({{"resumed", when}, {"note", note}});
}

void journal::add(const results::document& d, const results::cell& c,
                  std::span<const results::agreement> with_others) {
  write(journal_line(d, c, with_others));
}

void journal::write(const json& line) {
  const std::string text = dumped(line, -1) + '\n';
  const ssize_t written = ::write(fd_, text.data(), text.size());
  if (written < 0 || static_cast<std::size_t>(written) != text.size() || fsync(fd_) != 0) {
    throw std::runtime_error(fmt::format("{} cannot be written: {}", file_.string(),
                                         written >= 0 ? "the disk is full" : errno_words()));
  }
}

}  // namespace kzoo::storage
