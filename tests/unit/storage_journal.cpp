// Journals: complete ones, and those that an interrupted run leaves.
#include "input/diagnostics.hpp"
#include "results/experiment.hpp"
#include "storage/journal.hpp"
#include "storage/results_json.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/program.hpp"
#include "support/stored.hpp"
#include "support/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <filesystem>
#include <future>
#include <set>
#include <sstream>
#include <vector>

using namespace kzoo;
using storage::journal;
using test::ContainsSubstring;
using test::read_text;
using test::scratch_folder;

namespace {

std::string stored_journal(const results::document& d) {
  return storage::dumped(storage::to_json(d), 1);
}

void write(journal& j, const results::document& d) {
  j.head(d);
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    const auto cells = d.cells_of(i);
    for (std::size_t count = 1; count <= cells.size(); ++count) j.add(d, cells.first(count));
  }
}

std::string journal_text(const scratch_folder& folder) {
  const auto file = folder.path() / "new" / "folder" / "j.jsonl";
  journal j = journal::create(file);
  write(j, test::made_document());
  return read_text(file);
}

std::string journal_refusal(const std::string& text) {
  return test::refusal_of([&] { test::read_journal(text); });
}

}  // namespace

TEST_CASE("a complete journal holds the same as the results", "[journal]") {
  const scratch_folder folder;
  const std::string text = journal_text(folder);
  CHECK(std::count(text.begin(), text.end(), '\n') == 7);
  CHECK(storage::is_journal_head(text.substr(0, text.find('\n'))));
  CHECK_FALSE(storage::is_journal_head(storage::to_json(test::made_document()).dump()));
  CHECK_FALSE(storage::is_journal_head("title = 'kzoo.journal/3'"));
  const auto read = test::read_journal(text);
  CHECK(stored_journal(read.results) == stored_journal(test::made_document()));
  CHECK(read.whole_bytes == text.size());
  CHECK(read.results.complete());
}

TEST_CASE("a journal that is cut off anywhere keeps its complete lines", "[journal]") {
  const scratch_folder folder;
  const std::string text = journal_text(folder);
  const std::size_t head = text.find('\n') + 1;
  for (std::size_t length = head; length < text.size(); length += 37) {
    const std::string torn = text.substr(0, length);
    const auto read = test::read_journal(torn);
    CHECK(read.results.cells.size() + 1 == std::size_t(std::count(torn.begin(), torn.end(), '\n')));
    CHECK(read.whole_bytes == torn.rfind('\n') + 1);
    CHECK_FALSE(read.results.complete());
  }
  // What a file system may leave after a crash.
  const auto read = test::read_journal(text + std::string(100, '\0') + '\n');
  CHECK(read.results.cells.size() == 6);
  CHECK(read.whole_bytes == text.size());
}

TEST_CASE("an invalid journal is refused with the number of the line", "[journal]") {
  const scratch_folder folder;
  const std::string text = journal_text(folder);
  const std::size_t head = text.find('\n') + 1;
  CHECK_THAT(journal_refusal(text.substr(0, head - 1)),
             ContainsSubstring("its first line is incomplete"));
  CHECK_THAT(journal_refusal(text.substr(0, head) + "{\"cell\"\n" + text.substr(head)),
             ContainsSubstring("j.jsonl:2:"));
  CHECK_THAT(journal_refusal(text.substr(0, head) + "{\"cell\": {}}\n" + text.substr(head)),
             ContainsSubstring("j.jsonl:2: error: cell: the key \"plugin\" is missing"));
  std::string newer = text;
  newer.replace(newer.find("journal/3"), 9, "journal/7");
  CHECK_THAT(journal_refusal(newer), ContainsSubstring("kzoo.journal/3, and not kzoo.journal/7"));
}

TEST_CASE("problems finished in any order are read in the order of the experiment", "[journal]") {
  const scratch_folder folder;
  std::istringstream in_order(journal_text(folder));
  std::string head, first, second;
  std::getline(in_order, head);
  for (std::string line; std::getline(in_order, line);) {
    (line.ends_with("\"problem\":0}") ? first : second) += line + '\n';
  }
  REQUIRE_FALSE(first.empty());
  const auto read = test::read_journal(head + '\n' + second + first);
  CHECK(stored_journal(read.results) == stored_journal(test::made_document()));
}

TEST_CASE("a resumed journal continues after its last complete line", "[journal]") {
  const scratch_folder folder;
  const std::string text = journal_text(folder);
  const std::size_t whole = text.rfind('\n', text.size() - 2) + 1;
  const auto file = folder.write("j.jsonl", text.substr(0, whole + 10));
  {
    journal j = journal::reopen(file);
    CHECK_THROWS_WITH(journal::reopen(file), ContainsSubstring(fmt::format(
                                                 "is being written by another run: process {} on "
                                                 "machine, since 2026-01-02T03:04:05Z",
                                                 getpid())));
    j.cut_off(whole);
    j.resumed("2026-01-03T00:00:00Z", "elsewhere", "in two parts");
    CHECK_THROWS_WITH(
        journal::reopen(file),
        ContainsSubstring(fmt::format("process {} on elsewhere, since 2026-01-03", getpid())));
    const results::document d = test::made_document();
    j.add(d, d.cells_of(1));
  }
  const auto read = test::read_journal(read_text(file)).results;
  CHECK(read.cells.size() == 6);
  CHECK(read.notes.back() == "in two parts");
  CHECK_THROWS_WITH(journal::create(file), ContainsSubstring("is there already"));
}

TEST_CASE("journals that are created at once each get a name", "[journal]") {
  constexpr int kThreads = 16;
  for (int round = 0; round < 20; ++round) {
    const scratch_folder folder;
    const std::filesystem::path name = folder.path() / "results" / "run";
    std::vector<std::future<std::filesystem::path>> created;
    for (int i = 0; i < kThreads; ++i) {
      created.push_back(std::async(std::launch::async, [&] {
        const journal j = journal::create_numbered(name);
        return j.file();
      }));
    }
    std::set<std::filesystem::path> names;
    for (auto& file : created) names.insert(file.get());
    CHECK(names.size() == kThreads);
    CHECK(names.contains(name.string() + ".jsonl"));
    CHECK(names.contains(name.string() + "_16.jsonl"));
  }
}

TEST_CASE("a journal with cells that no run can have is refused", "[journal]") {
  const scratch_folder folder;
  const std::string text = journal_text(folder);
  const std::string last = text.substr(text.rfind('\n', text.size() - 2) + 1);
  CHECK_THAT(journal_refusal(text + last), ContainsSubstring("j.jsonl:8: error: cell: gone on ") &&
                                               ContainsSubstring("is there twice"));
  std::string other = text;
  other.replace(other.rfind("\"problem\":1"), 11, "\"problem\":0");
  CHECK_THAT(journal_refusal(other), ContainsSubstring("is problem 0, and so is"));
}
