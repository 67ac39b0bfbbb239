#pragma once
// [published]: figures from elsewhere.

#include "experiment/names.hpp"
#include "experiment/reader.hpp"
#include "results/experiment.hpp"

#include <vector>

namespace kzoo::experiment {

// `shapes` are those that the file itself asks for, whatever --sizes says: a figure without @MxNxK
// is about them. Empty when they could not be read.
results::published read_published(table_reader& keys, const std::vector<extents>& shapes);

}  // namespace kzoo::experiment
