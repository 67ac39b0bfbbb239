#include "cli/commands.hpp"
#include "devices/devices.hpp"
#include "devices/nvml.hpp"
#include "experiment/names.hpp"
#include "os/output.hpp"
#include "report/page.hpp"
#include "report/terminal.hpp"
#include "results/experiment.hpp"
#include "roofline/roofline.hpp"
#include "setup/peaks.hpp"
#include "storage/peaks_json.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace kzoo::cli {
namespace {

using report::style;
using report::table;

std::vector<results::device> chosen(const devices_options& options) {
  if (options.device.empty()) return devices::list();
  experiment::check_device_name(options.device, "--device");
  return {devices::find(options.device)};
}

void print(const results::device& d, const std::optional<roofline::peaks>& peaks, bool colour) {
  print_to(stdout, "{}  {}, {:.1f} GB\n", report::styled(d.id, style::bold, colour), d.name,
           static_cast<double>(d.memory_bytes) / 1e9);
  const auto line = [](std::string_view name, const std::string& value) {
    print_to(stdout, "    {:<22} {}\n", name, value);
  };
  for (const auto& [name, value] : d.facts) line(name, value);
  if (d.abi.kind == KZOO_CUDA) {
    const devices::nvml monitor(d.pci_bus_id);
    line("now", monitor.absent().empty() ? to_string(monitor.read()) : monitor.absent());
  }
  if (!peaks) return line("peaks", "not measured: runner devices --measure --device " + d.id);
  line("peaks", fmt::format("measured {}, {}", peaks->measured, setup::peaks_file(d).string()));
  table t;
  for (const roofline::measured_peak& c : peaks->all) {
    const std::string clock =
        c.best.clock_mhz > 0 ? fmt::format("{:.0f} MHz", c.best.clock_mhz) : "";
    t.add_entries({{"resource", std::string(name_of(c.resource)), table::align::left},
                   {"peak", rate_text(c.resource, c.best.rate)},
                   {"spread", {fmt::format("-{:.1f}%", 100 * c.spread), style::dim}},
                   {"clock", clock},
                   {"by", {c.kernel, style::dim}, table::align::left}});
  }
  print_to(stdout, "{}", t.str(colour, "      "));
  if (peaks->spread) {
    line("process to process", fmt::format("medians differ by {:.2f} us and {:.3f} % (one standard "
                                           "deviation)",
                                           1e3 * peaks->spread->ms, 100 * peaks->spread->share));
  }
}

void print_json(const std::vector<results::device>& all) {
  std::vector<storage::described_device> described;
  for (const results::device& d : all) described.push_back({d, setup::known_peaks(d)});
  write_text(stdout, storage::to_text(described));
}

}  // namespace

int devices(const devices_options& options) {
  std::vector<results::device> all = chosen(options);
  for (results::device& d : all)
    if (d.abi.kind == KZOO_CUDA) d.facts["clocks"] = setup::measure_clock_lock(d).words;
  if (options.measure)
    for (const results::device& d : all) setup::measure_peaks(d);
  if (options.json) {
    print_json(all);
    return kOk;
  }
  const bool colour = report::wants_colour(stdout);
  for (const results::device& d : all) print(d, setup::known_peaks(d), colour);
  const std::string why = options.device.empty() ? devices::why_no_cuda() : "";
  if (why.empty()) return kOk;
  report::page page(report::view_of(stdout, {}));
  page.line(why, report::style::plain);
  print_to(stdout, "{}", page.take());
  return kOk;
}

}  // namespace kzoo::cli
