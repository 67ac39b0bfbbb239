#include "cluster/submission.hpp"

#include "input/diagnostics.hpp"
#include "os/files.hpp"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

namespace kzoo::cluster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "submitted";

// Several tasks of a job may note its id at once.
void add_id(std::string& list, const std::string& id) {
  if ((',' + list + ',').find(',' + id + ',') != std::string::npos) return;
  list += (list.empty() ? "" : ",") + id;
}

}  // namespace

fs::path submission::journal_of(std::size_t shard) const {
  return folder / fmt::format("shard-{}.jsonl", shard);
}
fs::path submission::log_of(std::size_t shard) const {
  return folder / fmt::format("shard-{}.log", shard);
}

void make_shared_folder(const fs::path& folder) {
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (fault) input::refuse(folder.string(), "cannot be made: " + fault.message());
  if (!fs::is_empty(folder, fault)) {
    input::refuse(folder.string(),
                  "is not empty; name another folder with --journal-dir, or go on with what is "
                  "there: runner status, runner merge");
  }
}

void write(const submission& s) {
  replace_file(s.folder / kFile,
               fmt::format("shards {}\njob {}\nmerge {}\n", s.shards, s.job, s.merge_job));
}

submission read_submission(const fs::path& folder) {
  submission s;
  s.folder = fs::absolute(folder).lexically_normal();
  std::ifstream in(folder / kFile);
  std::string word;
  in >> word >> s.shards;
  if (!in || word != "shards" || s.shards == 0) {
    std::error_code ignored;
    input::refuse(folder.string(),
                  fs::is_directory(folder, ignored)
                      ? "is no folder of `runner submit`: it has no file called submitted"
                      : "there is no such folder here; is it on a file system of another machine?");
  }
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("job ")) add_id(s.job, line.substr(4));
    if (line.starts_with("merge ")) s.merge_job = line.substr(6);
  }
  return s;
}

}  // namespace kzoo::cluster
