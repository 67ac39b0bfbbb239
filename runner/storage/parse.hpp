#pragma once
// Parses JSON and reports errors with their position.

#include "core/location.hpp"
#include "storage/field.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace kzoo::storage {

// Limit of nested lists and objects: the library recurses for each level.
inline constexpr int kDeepestNesting = 64;

// Parses JSON that begins in a file at `start`; throws input::invalid with the error's position.
nlohmann::ordered_json parse(std::string_view text, const location& start);

// Called with each object of a list in the root, and the list's key. Returns whether to keep it.
using element_taker = std::function<bool(const std::string& key, const field& element)>;
// Called with each member of the root that is a string, as soon as it is read.
using string_watcher = std::function<void(const std::string& key, const field& value)>;

// Parses a stream without ever holding the elements that `take` rejects.
nlohmann::ordered_json parse(std::istream& in, const std::string& file, const string_watcher& watch,
                             const element_taker& take);

}  // namespace kzoo::storage
