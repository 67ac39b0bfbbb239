// Documents of all kinds are as docs/schemas says.
#include "profile/ncu.hpp"
#include "results/tuned.hpp"
#include "storage/documents_json.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/stored.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace kzoo;
using test::runner;
namespace fs = std::filesystem;

namespace {

// Arguments: the folder of the schemas, and files. A line of a journal has no key "schema" after
// the first. A key that a schema does not name is a fault, too.
constexpr const char* kValidator = R"(import json, sys
from jsonschema import Draft202012Validator as draft
def closed(s):
    if isinstance(s, dict):
        s = {k: closed(v) for k, v in s.items()}
        if "required" in s: s["additionalProperties"] = False
    return [closed(v) for v in s] if isinstance(s, list) else s
known = {}
for file in sys.argv[2:]:
    text = open(file).read()
    for one in map(json.loads, text.splitlines() if file.endswith("l") else [text]):
        name = one.get("schema", "kzoo.journal/3").replace("/", "-")
        if name not in known:
            schema = json.load(open(f"{sys.argv[1]}/{name}.json"))
            draft.check_schema(schema)
            known[name] = draft(closed(schema))
        for e in known[name].iter_errors(one):
            print(file, name, e.json_path, e.message[:300])
print(" ".join(sorted(known)))
)";

std::string validated(const std::vector<std::string>& files) {
  std::string words = "-c " + test::shell_word(kValidator) + ' ' +
                      test::shell_word((test::source_folder() / "docs" / "schemas").string());
  for (const std::string& file : files) words += ' ' + test::shell_word(file);
  const auto ran = test::run_program("/usr/bin/env", "python3 " + words);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  return ran.out;
}

}  // namespace

TEST_CASE("documents of all kinds are as docs/schemas says", "[cli][.jsonschema]") {
  if (test::run_program("/usr/bin/env", "python3 -c 'import jsonschema'").code != 0)
    test::skip("python3-jsonschema is not installed");
  const test::scratch_folder folder;
  std::vector<std::string> files;
  const auto add = [&](const std::string& name, const std::string& text) {
    files.push_back(folder.write(name, text));
  };
  const auto in_folder = [&](const std::string& name) {
    return files.emplace_back((folder.path() / name).string());
  };
  for (const auto& entry : fs::directory_iterator(test::source_folder() / "docs" / "results"))
    files.push_back(entry.path().string());

  results::document made = test::made_document();
  made.peaks = roofline::peaks{"Some GPU", {{"driver", "580"}}, "2026-01-02T00:00:00Z", {}};
  made.peaks->all = {{roofline::resource::fp32, "FFMA", {1e12, 1980}, 0.01, {{1e12, 1980}}}};
  made.peaks->spread = timing::process_spread{0.001, 0.01};
  made.cells[1].same_as = 0;
  problem& p = made.experiment.problems.at(0);
  p.epilogue = epilogue_from_name("bias + relu");
  p.groups = 4;
  p.allow.add(KZOO_COMPUTE_TF32);
  add("made.json", test::document_text(made));
  add("peaks.json", storage::to_json(*made.peaks).dump());
  add("tuned.json", storage::to_text(results::tuned_of(test::made_tuning())));
  profile::profiled profiled{{"f", "8x8"}, p, profile::counters(), verdict::pass, ""};
  profiled.found->launches = {{"f", {4, 1, 1}, {32, 32, 1}, {{profile::metric::kTime, 4416}}}};
  add("profile.json", profile::to_text({"x.toml", made.device, "2025.3", {profiled}}));

  CHECK(runner(
            "run quick --device cpu --sizes 64 --plugins naive:8x8,smem:8x8 --verify full --json " +
            in_folder("run.json") + " --journal " + in_folder("run.jsonl"))
            .code == 0);
  const std::string wrong = test::hostile_plugin("cpu", "wrong_results").string();
  CHECK(runner("run quick --device cpu --sizes 64 --plugins " + test::shell_word(wrong) +
               " --show-errors --json " + in_folder("wrong.json"))
            .code == 1);
  CHECK(runner("validate naive:8x8 --device cpu --json " + in_folder("validation.json")).code == 0);
  CHECK(runner("xray quick --sizes 64 --cell smem:32x32 --json " + in_folder("xray.json")).code ==
        0);
  add("devices.json", runner("devices --device cpu --json").out);
  const std::string problems =
      folder.write("small.toml", "device = \"cpu\"\nbaseline = \"naive\"\n[problem]\nsizes = 64\n");
  const std::string judge = " --problems " + problems + " --verify quick --json";
  add("wrong_judged.json", runner("judge " + test::shell_word(wrong) + judge).out);
  add("no_plugin.json", runner("judge " + folder.write("bad.cu", "no kernel") + judge).out);
  CHECK(validated(files) ==
        "kzoo.devices-1 kzoo.journal-3 kzoo.judgement-1 kzoo.peaks-1 kzoo.profile-1 "
        "kzoo.results-3 kzoo.tuned-1 kzoo.validation-1 kzoo.xray-1\n");
}
