// Files that earlier versions wrote, with the reports that those versions made of them.
#include "report/report.hpp"
#include "storage/read.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/stored.hpp"

#include <nlohmann/json.hpp>

using namespace kzoo;
using test::ContainsSubstring;

namespace {

const std::filesystem::path kFixtures = test::source_folder() / "tests" / "fixtures";

}  // namespace

TEST_CASE("files of schema 1 have the same report as ever", "[results]") {
  for (const char* name : {"journal-1.jsonl", "results-1.json"}) {
    INFO(name);
    const results::document d = storage::read(kFixtures / name);
    CHECK(report::full_report(d, {report::medium::text, report::kNoLimit, true}) ==
          test::read_text(kFixtures / "report-1.txt"));
    CHECK(test::csv_text(d) == test::read_text(kFixtures / "report-1.csv"));
    const results::document again = test::read_document(test::document_text(d));
    CHECK(report::full_report(again, {report::medium::text, report::kNoLimit, true}) ==
          test::read_text(kFixtures / "report-1.txt"));
    CHECK(test::document_text(again) == test::document_text(d));
  }
}

TEST_CASE("pairs of schema 1 are stored as classes", "[results]") {
  const std::string old = test::read_text(kFixtures / "results-1.json");
  const std::string now = test::document_text(storage::read(kFixtures / "results-1.json"));
  CHECK_THAT(old, ContainsSubstring("\"agreement\":[{"));
  CHECK_THAT(now, !ContainsSubstring("\"agreement\""));
  CHECK_THAT(now, ContainsSubstring("\"same_as\":\"serial:ijk\""));
}

TEST_CASE("intervals are computed once, and not by what an earlier version stored", "[results]") {
  const std::string old = test::read_text(kFixtures / "results-1.json");
  const std::string now = test::document_text(test::read_document(old));
  const auto with_interval = [](std::string text) {
    const std::size_t begin = text.find("\"speedup_interval\":[1.") + 19;
    REQUIRE(text[begin] == '[');
    text.replace(begin, text.find(']', begin) + 1 - begin, "[0.25,8]");
    return text;
  };
  CHECK_THAT(test::csv_text(test::read_document(with_interval(now))),
             ContainsSubstring(",0.25,8,"));
  CHECK(test::csv_text(test::read_document(with_interval(old))) ==
        test::csv_text(test::read_document(old)));
}

TEST_CASE("keys in another order, as other programs write them, are read too", "[results]") {
  const auto sorted = [](const std::string& text) { return nlohmann::json::parse(text).dump(1); };
  const std::string old = test::read_text(kFixtures / "results-1.json");
  const std::string now = test::document_text(test::read_document(old));
  CHECK(test::document_text(test::read_document(sorted(old))) == now);
  CHECK(test::document_text(test::read_document(sorted(now))) == now);
}
