// The JSON Schemas in docs/schemas are those of this program.
#include "profile/ncu.hpp"
#include "storage/documents_json.hpp"
#include "storage/journal.hpp"
#include "storage/results_json.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "xray/analysis.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>

using namespace kzoo;
using json = nlohmann::ordered_json;
using test::ContainsSubstring;

TEST_CASE("docs/schemas has the schema of each document, and docs/formats.md names it",
          "[results]") {
  const std::map<std::string, json> all{
      {"results-3", storage::results_schema()},     {"journal-3", storage::journal_schema()},
      {"judgement-1", storage::judgement_schema()}, {"validation-1", storage::validation_schema()},
      {"tuned-1", storage::tuned_schema()},         {"peaks-1", storage::peaks_schema()},
      {"devices-1", storage::devices_schema()},     {"profile-1", json::parse(profile::schema())},
      {"xray-1", json::parse(xray::schema())}};
  const std::filesystem::path docs = test::source_folder() / "docs";
  const std::string formats = test::read_text(docs / "formats.md");
  for (const auto& [name, schema] : all) {
    json whole{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "kzoo." + name}};
    whole.at("title").get_ref<std::string&>().replace(5 + name.rfind('-'), 1, "/");
    whole.update(schema);
    const std::filesystem::path file = docs / "schemas" / ("kzoo." + name + ".json");
    const std::string text = whole.dump(1) + '\n';
    if (std::getenv("KZOO_UPDATE_DOCS") != nullptr) std::ofstream(file) << text;
    INFO(file << " is not what the program writes; KZOO_UPDATE_DOCS=1 ./zoo test -R schemas writes "
              << "it anew");
    CHECK((test::read_text(file) == text));
    CHECK_THAT(formats, ContainsSubstring("(schemas/kzoo." + name + ".json)"));
  }
}
