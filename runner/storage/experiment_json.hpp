#pragma once

#include "results/experiment.hpp"

namespace kzoo::storage {

class writer;
class reader;

// An experiment as a part of results (archive.hpp). JSON keeps its problems in the cells.
void map(writer& io, const results::experiment& e);
void map(reader& io, results::experiment& e);

}  // namespace kzoo::storage
