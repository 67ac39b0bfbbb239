#pragma once
// The results of one plugin in one line, beside those of the run before.

#include "results/document.hpp"

#include <string>

namespace kzoo::report {

// "mine: 4 pass, 1 unsupported; 256x256x256 f32 12.1 ms, 16.0 % less time than before". `before`:
// null where there is none. The time is that of the problem that takes longest; the change is the
// geometric mean of the cells that both have timed. Simulated kernels have none.
std::string change_line(const results::document& now, const results::document* before,
                        const std::string& plugin);

// Whether no cell of the plugin failed, and one passed.
bool all_right(const results::document& d, const std::string& plugin);

}  // namespace kzoo::report
