#pragma once
// The files of assets/, as they were when the runner was built.

#include <string_view>

namespace kzoo::html::assets {

extern const std::string_view kCharts, kScript, kStyle, kSvgProgram;

}  // namespace kzoo::html::assets
