#include "storage/peaks_json.hpp"

#include "input/diagnostics.hpp"
#include "input/read_file.hpp"
#include "os/files.hpp"
#include "storage/field.hpp"
#include "storage/parts_json.hpp"
#include "storage/results_json.hpp"
#include "storage/schema.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <system_error>

namespace kzoo::storage {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

void describe(auto& fields, const described_device& d) {
  describe(fields, d.device);
  fields(KZOO_MEMBERS(d, peaks));
}

namespace {

struct device_list {
  const std::vector<described_device>& devices;
};

}  // namespace

void describe(auto& fields, const device_list& l) {
  fields.schema("kzoo.devices/1");
  fields(KZOO_MEMBERS(l, devices));
}

std::string to_text(const std::vector<described_device>& all) {
  return dumped(to_value(device_list{all}), 2) + '\n';
}

json devices_schema() { return record_schema(device_list{{}}); }

json peaks_schema() { return record_schema(roofline::peaks()); }

json to_json(const roofline::peaks& c) { return to_value(c); }

roofline::peaks load_peaks(const fs::path& path) try {
  constexpr input::file_kind kPeaksFile{"a file of peaks", ".json", 1};
  const std::string file = path.string();
  const json content = parse(input::read_file(path, kPeaksFile), {file, 1});
  roofline::peaks c;
  from_value(field(content, file), c);
  return c;
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
    replace_file(file, dumped(to_json(c), 2) + '\n');
  } catch (const not_written& e) {
    throw not_written(fmt::format("{}; {}", e.what(), kElsewhere));
  }
}

}  // namespace kzoo::storage
