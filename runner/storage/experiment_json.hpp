#pragma once

#include "results/experiment.hpp"

namespace kzoo::storage {

class writer;
class reader;

// An experiment as it stands in results, both ways; archive.hpp says how. Its problems stand in
// the cells.
void map(writer& io, const results::experiment& e);
void map(reader& io, results::experiment& e);

}  // namespace kzoo::storage
