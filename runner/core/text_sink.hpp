#pragma once

#include <functional>
#include <string_view>

namespace kzoo {

// Takes a long text piece by piece.
using text_sink = std::function<void(std::string_view)>;

}  // namespace kzoo
