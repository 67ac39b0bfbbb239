#pragma once
// A folder with a CMakeLists.txt, built as its author would, in a folder of its own in the cache.

#include "compile/cache.hpp"
#include "compile/recipe.hpp"

#include <filesystem>

namespace kzoo::compile {

// Its plugins for the recipe's device. Throws does_not_compile with the whole output.
std::vector<std::filesystem::path> project_plugins(const std::filesystem::path& folder,
                                                   const recipe& how, const cache& kept);

}  // namespace kzoo::compile
