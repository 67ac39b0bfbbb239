#include "storage/peaks_json.hpp"

#include "core/version.hpp"
#include "input/diagnostics.hpp"
#include "input/read_file.hpp"
#include "storage/parse.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <system_error>

namespace kzoo::storage {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

json to_json(const roofline::pace& p) { return {{"rate", p.rate}, {"clock_mhz", p.clock_mhz}}; }

roofline::pace read_pace(const field& f) {
  const field rate = f.at("rate");
  const roofline::pace p{rate.number(), f.at("clock_mhz").number()};
  if (!(p.rate > 0) || !std::isfinite(p.rate)) rate.refuse("expected a number above 0");
  return p;
}

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw input::invalid(input::error_text(file.string(), why));
}

}  // namespace

json to_json(const roofline::peaks& c, detail much) {
  json all = json::array();
  for (const roofline::measured_peak& one : c.all) {
    json j{{"resource", roofline::resource_name(one.resource)},
           {"unit", fmt::format("{}/s", roofline::unit_of(one.resource))},
           {"kernel", one.kernel},
           {"best", to_json(one.best)},
           {"spread", one.spread}};
    if (much == detail::all) {
      json paces = json::array();
      for (const roofline::pace& p : one.samples) paces.push_back(to_json(p));
      j["samples"] = std::move(paces);
    }
    all.push_back(std::move(j));
  }
  return {{"schema", kPeaksSchema},
          {"runner", {{"version", kVersion}}},
          {"device", {{"name", c.device}, {"facts", c.facts}}},
          {"measured", c.measured},
          {"ceilings", std::move(all)}};
}

roofline::peaks read_peaks(const field& f) {
  const field schema = f.at("schema");
  if (schema.text() != kPeaksSchema) {
    schema.refuse(fmt::format("this kernel-zoo reads {}, and not {}", kPeaksSchema, schema.text()));
  }
  roofline::peaks c;
  c.device = f.at("device").at("name").text();
  for (const auto& [name, fact] : f.at("device").at("facts").entries()) c.facts[name] = fact.text();
  c.measured = f.at("measured").text();
  for (const field& one : f.at("ceilings").elements()) {
    roofline::measured_peak& added = c.all.emplace_back();
    added.resource = one.at("resource").one_of(roofline::kResources, roofline::resource_name);
    added.kernel = one.at("kernel").text();
    added.best = read_pace(one.at("best"));
    added.spread = one.at("spread").number();
    if (const auto samples = one.find("samples")) {
      for (const field& sample : samples->elements()) added.samples.push_back(read_pace(sample));
    }
  }
  return c;
}

roofline::peaks load_peaks(const fs::path& path) try {
  constexpr input::file_kind kCeilings{"a file of ceilings", ".json", 1};
  const std::string file = path.string();
  const json content = parse(input::read_file(path, kCeilings), {file, 1});
  return read_peaks(field(content, file));
} catch (const input::invalid& e) {
  throw input::invalid(fmt::format(
      "{}\n  It holds the ceilings of this device: measure them again with `runner devices "
      "--measure`, or remove it.",
      e.what()));
}

void store_peaks(const roofline::peaks& c, const fs::path& file) {
  std::error_code fault;
  fs::create_directories(file.parent_path(), fault);
  if (fault) refuse(file.parent_path(), "cannot be made, for the ceilings: " + fault.message());
  const fs::path part = fmt::format("{}.{}.part", file.string(), getpid());
  std::ofstream out(part);
  out << dumped(to_json(c, detail::all), 2) << '\n';
  out.close();
  if (out) fs::rename(part, file, fault);
  if (out && !fault) return;
  fs::remove(part, fault);
  refuse(file, "cannot be written; KZOO_CEILINGS names another folder");
}

}  // namespace kzoo::storage
