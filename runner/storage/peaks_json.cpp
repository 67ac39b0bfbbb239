#include "storage/peaks_json.hpp"

#include "core/version.hpp"
#include "input/diagnostics.hpp"
#include "input/read_file.hpp"
#include "os/files.hpp"
#include "storage/archive.hpp"
#include "storage/field.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <string>
#include <system_error>

namespace kzoo::storage {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

}  // namespace

void map(auto& io, is<roofline::pace> auto& p) {
  io("rate", p.rate);
  io("clock_mhz", p.clock_mhz);
  io.require("rate", p.rate > 0 && std::isfinite(p.rate), "expected a number above 0");
}

void map(auto& io, is<roofline::measured_peak> auto& p) {
  io("resource", p.resource);
  io.derived("unit", fmt::format("{}/s", roofline::unit_of(p.resource)));
  io("kernel", p.kernel);
  io("best", p.best);
  io("spread", p.spread);
  io.later("samples", p.samples);
}

void map(auto& io, is<timing::process_spread> auto& s) {
  io("ms", s.ms);
  io("share", s.share);
  io.require("ms", s.ms >= 0 && std::isfinite(s.ms), "expected a number from 0");
  io.require("share", s.share >= 0 && std::isfinite(s.share), "expected a number from 0");
}

void map(auto& io, is<roofline::peaks> auto& c) {
  io.schema(kPeaksSchema);
  io.derived("runner", std::map<std::string, std::string>{{"version", kVersion}});
  io.object("device", [&](auto& device) {
    device("name", c.device);
    device("facts", c.facts);
  });
  io("measured", c.measured);
  io("peaks", c.all);
  if (io.has("process_to_process", c.spread.has_value())) io("process_to_process", c.spread);
}

json to_json(const roofline::peaks& c, detail much) {
  json j = to_value(c);
  if (much == detail::summary) {
    for (json& one : j["peaks"]) one.erase("samples");
  }
  return j;
}

roofline::peaks read_peaks(const field& f) {
  roofline::peaks c;
  from_value(f, c);
  return c;
}

roofline::peaks load_peaks(const fs::path& path) try {
  constexpr input::file_kind kPeaksFile{"a file of peaks", ".json", 1};
  const std::string file = path.string();
  const json content = parse(input::read_file(path, kPeaksFile), {file, 1});
  return read_peaks(field(content, file));
} catch (const input::invalid& e) {
  throw input::invalid(fmt::format(
      "{}\n  It holds the measured peaks of this device: measure them again with `runner devices "
      "--measure`, or remove it.",
      e.what()));
}

void store_peaks(const roofline::peaks& c, const fs::path& file) {
  constexpr const char* kElsewhere = "KZOO_PEAKS names another folder for the measured peaks";
  std::error_code fault;
  fs::create_directories(file.parent_path(), fault);
  if (fault) {
    throw not_written(fmt::format("{} cannot be made: {}; {}", file.parent_path().string(),
                                  fault.message(), kElsewhere));
  }
  try {
    replace_file(file, dumped(to_json(c, detail::all), 2) + '\n');
  } catch (const not_written& e) {
    throw not_written(fmt::format("{}; {}", e.what(), kElsewhere));
  }
}

}  // namespace kzoo::storage
