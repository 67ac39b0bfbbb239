// Measured peaks in files, in results, and in reports.
#include "input/diagnostics.hpp"
#include "os/files.hpp"
#include "storage/documents_json.hpp"

#include "report/report.hpp"
#include "results/experiment.hpp"
#include "storage/results_json.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/program.hpp"
#include "support/stored.hpp"
#include "support/text.hpp"

#include <nlohmann/json.hpp>

using namespace kzoo;
using json = nlohmann::ordered_json;
using roofline::resource;
using test::ContainsSubstring;

namespace {

roofline::peaks made_peaks() {
  roofline::peaks c{"Some GPU", {{"driver", "580.1"}}, "2026-01-02T00:00:00Z", {}};
  c.all = {{resource::fp32, "FFMA", {1e12, 1980}, 0.01, {{1e12, 1980}, {0.99e12, 1970}}},
           {resource::read, "loads", {1e11, 0}, 0.02, {}}};
  return c;
}

results::document made_document() {
  results::document d = test::made_document();
  d.peaks = made_peaks();
  return d;
}

json stored_peaks_of(const results::document& d) { return json::parse(storage::to_json(d).dump()); }

// The error of load_peaks() for a file with this text; "": none.
std::string peaks_refusal(const std::string& text) {
  const test::scratch_folder folder;
  return test::refusal_of([&] { storage::load_peaks(folder.write("c.json", text)); });
}

}  // namespace

TEST_CASE("peaks are read from their file as they were stored", "[roofline]") {
  const test::scratch_folder folder;
  const auto file = folder.path() / "new" / "c.json";
  storage::store_peaks(made_peaks(), file);
  const auto as_json = [](const auto& c) { return storage::to_json(c); };
  CHECK(as_json(storage::load_peaks(file)) == as_json(made_peaks()));
  CHECK(as_json(made_peaks()).at("peaks").at(0).at("samples").size() == 2);
  CHECK_THROWS_AS(storage::store_peaks(made_peaks(), file / "c.json"), not_written);
}

TEST_CASE("a file that is not of measured peaks is refused, with what to do", "[roofline]") {
  json j = storage::to_json(made_peaks());
  CHECK(peaks_refusal(j.dump()).empty());
  for (const char* pointer : {"/peaks/0/best/rate", "/peaks/0/samples/1/rate"}) {
    json bad = j;
    bad[json::json_pointer(pointer)] = 0;
    CHECK_THAT(peaks_refusal(bad.dump()), ContainsSubstring("rate: expected a number above 0"));
  }
  j["peaks"][0]["resource"] = "fp8";
  CHECK_THAT(peaks_refusal(j.dump()), ContainsSubstring("c.json: error: peaks[0].resource: ") &&
                                          ContainsSubstring("--measure"));
  j["schema"] = "kzoo.peaks/2";
  CHECK_THAT(peaks_refusal(j.dump()), ContainsSubstring("kzoo.peaks/1, and not kzoo.peaks/2"));
  CHECK_THAT(peaks_refusal("{"),
             ContainsSubstring("c.json:1:2: error: ") && ContainsSubstring("or remove it"));
}

TEST_CASE("results hold the peaks that they were judged by", "[roofline]") {
  results::document d = made_document();
  d.experiment.verify.impossible_time = results::impossible_time::report;
  d.cells[1].verdict = verdict::impossible_time;
  d.cells[1].time.reset();
  d.cells[1].hot_time.reset();
  d.cells[1].sustained.reset();
  const json j = stored_peaks_of(d);
  CHECK(stored_peaks_of(test::read_document(j.dump())) == j);
  CHECK(j.at("peaks").at("peaks").at(0).contains("samples") == false);
  CHECK(j.at("cells").at(1).at("verdict") == "impossible time");
  // 2 * 512^3 operations in 1 ms are 0.268 TFLOP/s.
  CHECK(j.at("cells").at(0).at("share_of_peak").get<double>() == Approx(0.268435));
  CHECK(j.at("cells").at(0).at("floor").at("ms").get<double>() == Approx(0.268435));
  CHECK(j.at("cells").at(0).at("floor").at("resource") == "fp32");
  CHECK(results::exit_code(d) == 1);

  json without = j;
  without["peaks"] = nullptr;
  const results::document unmeasured = test::read_document(without.dump());
  CHECK_FALSE(unmeasured.peaks);
  CHECK(stored_peaks_of(unmeasured).at("cells").at(0).at("share_of_peak").is_null());
}

TEST_CASE("a report shows the share of the peak, and the floor", "[roofline]") {
  results::document d = made_document();
  const std::string text = report::full_report(d, report::medium::markdown);
  CHECK_THAT(text, ContainsSubstring("% of peak"));
  CHECK_THAT(text, ContainsSubstring("26.8%"));
  CHECK_THAT(text, ContainsSubstring(
                       "roofline floor of fp32: 268 us, 268 MFLOP at the measured 1.00 TFLOP/s"));
  CHECK_THAT(text, ContainsSubstring("peaks, measured 2026-01-02T00:00:00Z: fp32 1.00 TFLOP/s, "
                                     "read 100 GB/s"));
  CHECK_THAT(test::csv_text(d), ContainsSubstring("share_of_peak,floor_ms,floor_resource"));
  CHECK_THAT(test::csv_text(d), ContainsSubstring(",fp32,"));

  for (results::cell& c : d.cells) {
    if (c.time) c.time->clock = timing::clock::simulator;
  }
  const std::string simulated = report::full_report(d, report::medium::markdown);
  CHECK_THAT(simulated, !ContainsSubstring("% of peak"));
  CHECK_THAT(simulated, !ContainsSubstring("roofline floor"));
}
