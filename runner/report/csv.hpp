#pragma once

#include "core/text_sink.hpp"
#include "results/document.hpp"

namespace kzoo::report {

// One line for each cell, below a line with the columns' names: RFC 4180, but with \n as line end.
// Numbers are written with enough digits to be read back exactly; unknown values are empty.
void write_csv(const results::document& d, const text_sink& out);

}  // namespace kzoo::report
