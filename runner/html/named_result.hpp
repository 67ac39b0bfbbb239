#pragma once
// What a page shows.

#include "results/document.hpp"

#include <map>
#include <string>

namespace kzoo::html {

// A result, and what the page calls it.
struct named_result {
  std::string label;
  const results::document* document = nullptr;
  // An earlier one of the same device, and its file's name; null: there is none.
  const results::document* before = nullptr;
  std::string before_file{};
  // The plugins that are steps of a ladder, with the ladder of each.
  std::map<std::string, std::string> steps{};
};

}  // namespace kzoo::html
