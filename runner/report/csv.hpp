#pragma once

#include "os/output.hpp"
#include "report/csv_line.hpp"
#include "results/document.hpp"

namespace kzoo::report {

// Everything of a cell that has a column.
csv_line line_of(const results::document& d, const results::cell& c);

// One line for each cell, below a line with the columns' names: RFC 4180, but with \n as line end.
// Numbers are written with enough digits to be read back exactly; unknown values are empty.
void write_csv(const results::document& d, const text_sink& out);

}  // namespace kzoo::report
