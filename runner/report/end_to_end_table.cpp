#include "report/end_to_end_table.hpp"

#include "os/number_text.hpp"
#include "report/problem_table.hpp"

namespace kzoo::report {

table end_to_end_table(const results::document& d, std::size_t problem, const view& v) {
  table t;
  t.add_column("end to end", table::align::left);
  for (const char* part : {"allocate", "to device", "kernel", "to host", "total"})
    t.add_column(part);
  t.add_column("clock", table::align::left);
  for (const results::cell& c : d.cells_of(problem)) {
    if (!c.end_to_end || !c.time || !shows_time(c, v)) continue;
    const timing::end_to_end& e = *c.end_to_end;
    const bool gpu = c.time->clock == timing::clock::gpu;
    t.add_row({{c.kernel.name()},
               {time_text(e.allocate_ms)},
               {time_text(e.to_device_ms)},
               {time_text(e.kernel_ms)},
               {time_text(e.to_host_ms)},
               {time_text(e.total_ms())},
               {gpu ? "" : std::string(timing::clock_name(c.time->clock)), style::dim}});
  }
  return t;
}

}  // namespace kzoo::report
