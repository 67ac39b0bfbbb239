#include "profile/profile_json.hpp"

#include "core/version.hpp"
#include "storage/archive.hpp"
#include "storage/results_json.hpp"

namespace kzoo::storage {

void map(auto& io, const profile::launch& l) {
  io("kernel", l.kernel);
  io("grid", l.grid);
  io("block", l.block);
  io("metrics", l.metrics);
}

void map(auto& io, const profile::profiled& c) {
  const profile::counters found = c.found.value_or(profile::counters());
  io("plugin", c.kernel.plugin);
  io("variant", c.kernel.variant);
  io("problem", problem_name(c.problem));
  io("verdict", c.found ? "profiled" : verdict_name(c.verdict));
  io("reason", c.reason);
  io("launches", found.launches);
  io("missing", found.missing);
  io("report", found.report);
}

constexpr as kDevice{[](const results::device& d) { return to_json(d); },
                     [](const auto&, auto&) {}};

void map(auto& io, const profile::document& d) {
  io.schema("kzoo.profile/1");
  io.object("runner", [](auto& runner) { runner("version", kVersion); });
  io.object("ncu", [&](auto& ncu) { ncu("version", d.ncu_version); });
  io.object("experiment", [&](auto& experiment) { experiment("file", d.experiment); });
  io("device", d.device, kDevice);
  io("cells", d.cells);
}

}  // namespace kzoo::storage

namespace kzoo::profile {

std::string to_text(const document& d) { return storage::dumped(storage::to_value(d), 2) + '\n'; }

}  // namespace kzoo::profile
