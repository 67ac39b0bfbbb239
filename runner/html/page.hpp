#pragma once
// Results as one HTML page that needs no other file and no network.

#include "html/library.hpp"
#include "html/tables.hpp"
#include "os/output.hpp"
#include "report/page.hpp"

#include <optional>
#include <span>

namespace kzoo::html {

// Charts of all results, then the complete report of each. Without the library it has no charts,
// and says how to get them.
void write_page(std::span<const named_result> all, const std::optional<charting_library>& library,
                bool simulator_times, const text_sink& out);

}  // namespace kzoo::html
