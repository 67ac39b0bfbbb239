#pragma once
// [published]: figures that were measured elsewhere, to show beside the results.

#include "experiment/names.hpp"
#include "experiment/reader.hpp"
#include "results/experiment.hpp"

#include <vector>

namespace kzoo::experiment {

// `shapes`: those of the file itself, whatever --sizes says. If there is exactly one, figures
// without @MxNxK are for it. Empty if they could not be read.
results::published read_published(table_reader& keys, const std::vector<extents>& shapes);

}  // namespace kzoo::experiment
