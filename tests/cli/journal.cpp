// Runs that are interrupted, resumed and repeated.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process_log.hpp"
#include "support/program.hpp"
#include "support/verdicts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <signal.h>

#include <filesystem>
#include <fstream>

using namespace kzoo::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// Two problems of three cells, of which the second hangs until the timeout. If cells are not timed,
// each is finished as soon as it is judged.
std::string hanging(double timeout, bool timed = false) {
  return fmt::format(
      "plugins = ['serial:ikj', 'launches:never_returns', 'naive:8x8']\n[problem]\nsizes = [8, 16]\n"
      "[timing]\nenabled = {}\nrounds = 3\nmin_samples = 3\n[verify]\ntimeout_seconds = {}\n",
      timed, timeout);
}
constexpr const char* kQuick =
    "plugins = ['serial', 'naive:8x8']\n[problem]\nsizes = [8, 16]\n[timing]\nrounds = 3\nmin_samples = 3\n";

std::vector<fs::path> journals(const scratch_folder& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder.path() / "results", ignored)) {
    files.push_back(entry.path());
  }
  return files;
}

void keep_lines(const fs::path& file, std::size_t count) {
  const auto lines = lines_of(file);
  std::ofstream out(file, std::ios::trunc);
  for (std::size_t i = 0; i < count; ++i) out << lines.at(i) << '\n';
}

// "plugin:variant on problem" for each line that holds a cell.
std::vector<std::string> cells_of(const fs::path& file) {
  std::vector<std::string> cells;
  for (const std::string& line : lines_of(file)) {
    const json j = json::parse(line);
    if (!j.contains("cell")) continue;
    const json& c = j["cell"];
    cells.push_back(c["plugin"].get<std::string>() + ":" + c["variant"].get<std::string>() +
                    " on " + c["problem"]["name"].get<std::string>());
  }
  return cells;
}

// Waits until the first cell is stored, while the second one hangs; returns the journal.
fs::path wait_for_first_cell(const scratch_folder& folder) {
  REQUIRE(eventually([&] {
    const auto files = journals(folder);
    return !files.empty() && lines_of(files[0]).size() == 2;
  }));
  return journals(folder)[0];
}

}  // namespace

TEST_CASE("each run writes a journal with a readable name, whose report is the run's", "[cli]") {
  const scratch_folder folder;
  folder.write("small.toml", kQuick);
  const auto ran =
      runner("small.toml --device cpu --json r.json --md r.md --csv r.csv", in(folder));
  INFO(ran.out << ran.err);
  REQUIRE(ran.code == 0);
  REQUIRE(journals(folder).size() == 1);
  const fs::path journal = journals(folder)[0];
  const std::string name = journal.filename().string();
  CHECK(name.ends_with("_small_cpu.jsonl"));
  CHECK(name.size() == std::string("2026-11-20T23-41-07_small_cpu.jsonl").size());
  CHECK_THAT(ran.out, ContainsSubstring("stored in results/" + name));
  CHECK(cells_of(journal).size() == 6);

  for (const char* file : {"r.json", "results/"}) {
    const std::string stored = file == std::string("results/") ? "results/" + name : file;
    CHECK(runner("report --json " + stored, in(folder)).out == read_text(folder.path() / "r.json"));
    CHECK(runner("report --md " + stored, in(folder)).out == read_text(folder.path() / "r.md"));
    CHECK(runner("report --csv " + stored, in(folder)).out == read_text(folder.path() / "r.csv"));
  }
  CHECK(runner("report --md --csv r.json", in(folder)).code == 2);

  // The journal holds what is needed to repeat the run.
  const json head = json::parse(lines_of(journal)[0]);
  CHECK(head.at("schema") == "kzoo.journal/3");
  CHECK(head.at("experiment").at("text") == kQuick);
  CHECK(head.at("experiment").at("overrides").at("device") == "cpu");
  CHECK_FALSE(head.at("host").get<std::string>().empty());
  for (const json& plugin : head.at("plugins")) {
    CHECK(plugin.at("sha256").get<std::string>().size() == 64);
  }
}

TEST_CASE("a journal is written where asked, and replaces no file", "[cli]") {
  const scratch_folder folder;
  folder.write("small.toml", kQuick);
  CHECK(runner("small.toml --device cpu --no-journal", in(folder)).code == 0);
  CHECK(journals(folder).empty());
  CHECK(runner("small.toml --device cpu --journal x/j.jsonl", in(folder)).code == 0);
  const std::string before = read_text(folder.path() / "x" / "j.jsonl");
  CHECK(before.size() > 1000);
  check_refused("small.toml --device cpu --journal x/j.jsonl",
                {"x/j.jsonl: error: is there already"}, in(folder));
  CHECK(read_text(folder.path() / "x" / "j.jsonl") == before);
  CHECK(runner("small.toml --no-journal --journal y", in(folder)).code == 2);
  check_refused("small.toml --device cpu --json - --csv -", {"stdout"}, in(folder));
  folder.write("results", "no folder");
  for (const char* place : {"", " --journal results/j.jsonl"})
    check_refused(std::string("small.toml --device cpu") + place, {"--no-journal stores none"},
                  in(folder));
}

TEST_CASE("Ctrl-C ends the workers, keeps finished cells and says how to resume", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", hanging(60));
  const std::vector<std::string> words{"e.toml",         "--device", "cpu",   "--plugin-dir",
                                       hostile_folder(), "--json",   "r.json"};
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}}) {
    fs::remove_all(folder.path() / "results");
    background_run run(words, folder.path());
    const fs::path journal = wait_for_first_cell(folder);
    const std::vector<int> workers = children_of(run.pid());
    CHECK(workers.size() >= 2);
    run.send(signal);
    const run_result ended = run.wait();
    INFO(ended.out << ended.err);
    CHECK(ended.code == code);
    for (const int worker : workers) CHECK(kill(worker, 0) != 0);
    CHECK(cells_of(journal) == std::vector<std::string>{"serial:ikj on 8x8x8 f32"});
    CHECK_THAT(ended.out, ContainsSubstring("serial:ikj"));
    CHECK_THAT(ended.out, ContainsSubstring("INTERRUPTED: 1 pass, 5 of 6 cells not run"));
    CHECK_THAT(ended.out, ContainsSubstring("run --resume results/" + journal.filename().string()));
    CHECK_FALSE(fs::exists(folder.path() / "r.json"));
    const auto report = runner("report results/" + journal.filename().string(), in(folder));
    CHECK(report.code == 0);
    CHECK_THAT(report.out, ContainsSubstring("INTERRUPTED: 1 pass"));
  }
}

TEST_CASE("an interrupted run without a journal writes what there is", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", hanging(60));
  const process_log hangs;
  background_run run({"e.toml", "--device", "cpu", "--plugin-dir", hostile_folder(), "--no-journal",
                      "--json", "r.json"},
                     folder.path());
  REQUIRE(hangs.wait_for_entry());  // so the first cell is finished
  run.send(SIGINT);
  CHECK(run.wait().code == 130);
  CHECK_THAT(runner("report r.json", in(folder)).out,
             ContainsSubstring("INTERRUPTED: 1 pass, 5 of 6 cells not run"));
}

TEST_CASE("a cell that still has to be timed is not finished", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", hanging(60, true));
  {
    const process_log hanging;
    background_run run({"e.toml", "--device", "cpu", "--plugin-dir", hostile_folder()},
                       folder.path());
    REQUIRE(hanging.wait_for_entry());  // so the first cell is judged
    run.send(SIGINT);
    const run_result ended = run.wait();
    CHECK(ended.code == 130);
    CHECK_THAT(ended.out, ContainsSubstring("INTERRUPTED: 0 pass, 6 of 6 cells not run"));
  }
  REQUIRE(journals(folder).size() == 1);
  CHECK(cells_of(journals(folder)[0]).empty());
  CHECK_THAT(runner("report results/*", in(folder)).out, ContainsSubstring("INTERRUPTED: 0 pass"));

  // A wrong cell is stored at once, unless an earlier cell still has to be timed.
  const auto ran = run_hostile(
      "e.toml --device cpu --sizes 8 --plugins launches:never_returns,serial:ikj,wrong_results:one_unwritten "
      "--journal j.jsonl",
      "cd '" + folder.path().string() +
          "' && sed -i 's/timeout_seconds = .*/timeout_seconds = 1/' e.toml &&");
  CHECK(ran.code == 1);
  CHECK(cells_of(folder.path() / "j.jsonl") ==
        std::vector<std::string>{"launches:never_returns on 8x8x8 f32", "serial:ikj on 8x8x8 f32",
                                 "wrong_results:one_unwritten on 8x8x8 f32"});
}

TEST_CASE("a killed run can be resumed, and no finished cell is run again", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", hanging(2));
  fs::path journal;
  {
    background_run run({"e.toml", "--device", "cpu", "--plugin-dir", hostile_folder()},
                       folder.path());
    journal = wait_for_first_cell(folder);
    run.send(SIGKILL);
    CHECK(run.wait().code == 128 + SIGKILL);
  }
  const std::string before = read_text(journal);
  std::ofstream(journal, std::ios::app) << "{\"cell\": {\"plugin\": \"nev";  // a torn line

  const auto on = runner("--resume --trust-folders --json r.json", in(folder));
  INFO(on.out << on.err);
  CHECK(on.code == 1);  // one hangs
  CHECK(read_text(journal).starts_with(before));
  CHECK(cells_of(journal) ==
        std::vector<std::string>{"serial:ikj on 8x8x8 f32", "launches:never_returns on 8x8x8 f32",
                                 "naive:8x8 on 8x8x8 f32", "serial:ikj on 16x16x16 f32",
                                 "launches:never_returns on 16x16x16 f32",
                                 "naive:8x8 on 16x16x16 f32"});
  CHECK_THAT(on.out, ContainsSubstring("4 pass, 2 hung"));
  CHECK_THAT(on.out, ContainsSubstring("not tried again"));
  CHECK_THAT(on.out, ContainsSubstring("continued later; on 8x8x8 f32, results from before"));
  CHECK(runner("report --json results/" + journal.filename().string(), in(folder)).out ==
        read_text(folder.path() / "r.json"));

  // Nothing is left to run now.
  check_refused("--resume", {"no journal of an interrupted run"}, in(folder));
}

TEST_CASE("times from before and after an interruption are not paired", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", kQuick);
  REQUIRE(runner("e.toml --device cpu --journal j.jsonl", in(folder)).code == 0);
  keep_lines(folder.path() / "j.jsonl", 2);  // the head and one cell of the first problem
  REQUIRE(runner("--resume j.jsonl --json r.json", in(folder)).code == 0);
  const json cells = json::parse(read_text(folder.path() / "r.json")).at("cells");
  const int last_before = cells.at(0).at("time").at("rounds").back();
  CHECK(cells.at(1).at("time").at("rounds").front() == last_before + 1);
  CHECK(cells.back().at("time").at("rounds").front() == 0);  // of the next problem
}

TEST_CASE("an interrupted run cannot be resumed after relevant changes", "[cli]") {
  const scratch_folder folder;
  const fs::path plugin = folder.path() / "plugins" / "mine.so";
  fs::create_directory(plugin.parent_path());
  fs::copy(plugin_folder("cpu") / "naive.so", plugin);
  const std::string text =
      "plugins = ['serial:ikj', 'mine:8x8']\n[problem]\nsizes = [8, 16]\n[timing]\nrounds = 3\nmin_samples = 3\n";
  folder.write("e.toml", text);
  REQUIRE(runner("e.toml --device cpu --plugin-dir plugins --journal j.jsonl", in(folder)).code ==
          0);
  const fs::path journal = folder.path() / "j.jsonl";
  keep_lines(journal, 3);
  const std::string before = read_text(journal);

  const auto refused = [&](const std::string& words, const std::string& options = "") {
    const auto ran = runner("run --resume j.jsonl --trust-folders " + options, in(folder));
    INFO(ran.out << ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, ContainsSubstring("j.jsonl: error: cannot be continued"));
    CHECK_THAT(ran.err, ContainsSubstring(words));
  };
  folder.write("e.toml", text + "# longer\n");
  refused("the text of e.toml changed", "e.toml");
  folder.write("e.toml", text);
  refused("--sizes: none then, 24 now", "--sizes 24");
  refused("--layouts: none then, nt now", "--layouts nt");
  refused("--batches: none then, 2 now", "--batches 2");
  refused("--problems: none then, 1 now", "--problems 1");
  refused("--verify: none then, full now", "--verify full");
  std::ofstream(plugin, std::ios::app) << "another";
  refused("the file of the plugin mine changed");
  fs::remove(plugin);
  fs::copy(plugin_folder("cpu") / "naive.so", plugin);
  CHECK(read_text(journal) == before);

  std::string elsewhere = before;
  const std::string name = json::parse(lines_of(journal)[0])["device"]["name"].get<std::string>();
  elsewhere.replace(elsewhere.find(name), name.size(), "Another machine");
  folder.write("j.jsonl", elsewhere);
  refused("the device: cpu (Another machine) then");

  folder.write("j.jsonl", before);
  const auto on = runner("run --resume j.jsonl --quiet --plugin-dir plugins", in(folder));
  CHECK(on.code == 0);
  CHECK_THAT(on.out, ContainsSubstring("ok: 4 pass"));
  CHECK(cells_of(journal).size() == 4);
  CHECK(runner("--resume e.toml", in(folder)).code == 2);
}

TEST_CASE("a run is resumed anywhere, and without the experiment's file", "[cli]") {
  const scratch_folder folder, elsewhere;
  folder.write("e.toml", kQuick);
  REQUIRE(runner("e.toml --device cpu --sizes 8,16 --journal j.jsonl", in(folder)).code == 0);
  const fs::path journal = folder.path() / "j.jsonl";
  keep_lines(journal, 3);
  elsewhere.write("e.toml", "plugins = ['smem']\n");
  const auto changed = runner("run --resume " + journal.string(), in(elsewhere));
  INFO(changed.out << changed.err);
  CHECK(changed.code == 0);
  CHECK_THAT(changed.err, ContainsSubstring("note: e.toml has changed; the run continues"));
  CHECK(cells_of(journal).size() == 6);

  keep_lines(journal, 3);
  fs::remove(folder.path() / "e.toml");
  const auto gone = runner("run --resume j.jsonl", in(folder));
  CHECK(gone.code == 0);
  CHECK_THAT(gone.err, !ContainsSubstring("has changed"));
  CHECK(cells_of(journal).size() == 6);
}

TEST_CASE("code is loaded from a stored run's folders only if they are trusted", "[cli]") {
  const scratch_folder folder;
  const fs::path plugins = folder.path() / "plugins";
  fs::create_directory(plugins);
  fs::copy(fs::path(hostile_folder()) / "cpu" / "native.so", plugins / "naive.so");
  folder.write("e.toml", "plugins = ['naive']\nproblem.sizes = [8]\n[timing]\nenabled = false\n");
  runner("e.toml --device cpu --plugin-dir plugins --journal j.jsonl", in(folder));
  for (const char* command : {"rerun j.jsonl --no-journal", "run --resume j.jsonl"}) {
    const process_log ran_code;
    const auto ran =
        runner(command, in(folder));  // a plugin of that name is among the built-in ones
    INFO(command << ran.out << ran.err);
    CHECK_THAT(ran.err,
               ContainsSubstring("note: j.jsonl names plugin folders, which are not used"));
    CHECK_THAT(ran.err, ContainsSubstring(plugins.string()));
    CHECK(ran_code.processes().empty());
    const auto trusting = runner(command + std::string(" --trust-folders"), in(folder));
    CHECK_THAT(trusting.err, !ContainsSubstring("note: "));
    CHECK(trusting.code != 2);
  }
}

TEST_CASE("runs that start at once have a journal each", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", "plugins = ['serial:ikj']\nproblem.sizes = [8]\ntiming.enabled = false\n");
  runner("e.toml --device cpu >>out 2>>err & done; wait; true",
         in(folder) + " for i in 1 2 3 4 5 6 7 8; do");
  INFO(read_text(folder.path() / "err"));
  CHECK(journals(folder).size() == 8);
  for (const fs::path& journal : journals(folder)) CHECK(cells_of(journal).size() == 1);
}

namespace {

// In blocks of 512 bytes: room for the matrices, which are in memory, for the journal's head, and
// for some of the cells of so many sizes.
constexpr const char* kSmallDisk = " ulimit -f 160 &&";
std::string many_sizes() {
  constexpr int kFirst = 4, kCount = 40;
  std::string list = "[";
  for (int i = 0; i < kCount; ++i) list += fmt::format("{}, ", kFirst + i);
  return list + "]\n";
}

}  // namespace

TEST_CASE("a run with a plugin given by its file says how to go on with that file", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", "timing.enabled = false\nproblem.sizes = " + many_sizes());
  const std::string library = (plugin_folder("cpu") / "naive.so").string();
  const auto full = runner("e.toml --device cpu --journal j.jsonl --plugins " + shell_word(library),
                           in(folder) + kSmallDisk);
  INFO(full.out << full.err);
  CHECK(full.code == 5);
  CHECK_THAT(full.out, ContainsSubstring("run --resume j.jsonl --trust-folders\n"));
  CHECK(runner("run --resume j.jsonl --trust-folders", in(folder)).code == 0);
}

TEST_CASE("a run that cannot store more says what is stored and how to go on", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml",
               "timing.enabled = false\nplugins = ['serial', 'naive']\n"
               "problem.sizes = " +
                   many_sizes());
  const auto full = runner("e.toml --device cpu --journal j.jsonl", in(folder) + kSmallDisk);
  INFO(full.out << full.err);
  CHECK(full.code == 5);
  CHECK_THAT(full.err,
             ContainsSubstring("error: j.jsonl cannot be written: files may not become that "
                               "large (ulimit -f)"));
  CHECK_THAT(full.out, ContainsSubstring("run --resume j.jsonl"));
  const auto report = runner("report j.jsonl", in(folder));
  CHECK(report.code == 0);
  CHECK_THAT(report.out, ContainsSubstring("INTERRUPTED: "));
  const auto on = runner("run --resume j.jsonl", in(folder));
  CHECK(on.code == 0);
  CHECK_THAT(on.out, ContainsSubstring("ok: 200 pass"));
  CHECK(cells_of(folder.path() / "j.jsonl").size() == 200);
}

TEST_CASE("when nobody reads its tables any more, a run says on stderr where it stopped", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", kQuick);
  const auto closed = runner(
      "e.toml --device cpu --journal j.jsonl 2>err; echo $? >code; } | { exec <&-; sleep 1; }",
      in(folder) + " { sleep 1;");
  CHECK(read_text(folder.path() / "code") == "5\n");
  const std::string err = read_text(folder.path() / "err");
  INFO(err);
  CHECK_THAT(err, ContainsSubstring("INTERRUPTED: "));
  CHECK_THAT(err, ContainsSubstring("run --resume j.jsonl"));
  CHECK(runner("run --resume j.jsonl", in(folder)).code == 0);

  // A full disk under the tables is no reason to stop.
  const auto full = runner(
      "e.toml --device cpu --journal k.jsonl >/dev/full 2>err; echo $? >code; true", in(folder));
  CHECK(read_text(folder.path() / "code") == "5\n");
  CHECK_THAT(read_text(folder.path() / "err"), ContainsSubstring("ok: 6 pass"));
  CHECK_THAT(read_text(folder.path() / "err"), ContainsSubstring("stored in k.jsonl"));
  CHECK(cells_of(folder.path() / "k.jsonl").size() == 6);
}

TEST_CASE("a resumed run keeps its tier", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", kQuick);
  REQUIRE(
      runner("e.toml --device cpu --plugins serial:ikj --verify full --journal j.jsonl", in(folder))
          .code == 0);
  keep_lines(folder.path() / "j.jsonl", 2);
  const auto on = runner("--resume j.jsonl --json -", in(folder));
  INFO(on.err);
  REQUIRE(on.code == 0);
  const json results = on.json();
  CHECK(results.at("experiment").at("overrides").at("tier") == "full");
  CHECK(results.at("experiment").at("verify").at("tier") == "full");
  REQUIRE(results.at("cells").size() == 2);
  for (const json& cell : results.at("cells")) CHECK(cell.at("checks").size() == 15);
}

TEST_CASE("rerun repeats stored results, without the experiment's file", "[cli]") {
  const scratch_folder folder;
  folder.write("e.toml", kQuick);
  REQUIRE(runner("e.toml --device cpu --sizes 5,7 --plugins serial:ikj --verify full --json r.json "
                 "--no-journal",
                 in(folder))
              .code == 0);
  fs::remove(folder.path() / "e.toml");
  const auto ran = runner("rerun r.json --json -", in(folder));
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  const json then = json::parse(read_text(folder.path() / "r.json")), now = ran.json();
  CHECK(now.at("experiment") == then.at("experiment"));
  REQUIRE(now.at("cells").size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(now["cells"][i]["problem"] == then["cells"][i]["problem"]);
    CHECK(now["cells"][i]["variant"] == then["cells"][i]["variant"]);
    CHECK(now["cells"][i]["checks"].size() == then["cells"][i]["checks"].size());
  }
  CHECK_THAT(now.at("notes").dump(), ContainsSubstring("repeats the run of"));
  CHECK(journals(folder).size() == 1);
  CHECK(runner("rerun " + journals(folder)[0].string() + " --no-journal", in(folder)).code == 0);
  CHECK(runner("rerun gone.json", in(folder)).code == 2);
}
