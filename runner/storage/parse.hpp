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

// Lists and objects within each other; the library would use the stack for each.
inline constexpr int kDeepestNesting = 64;

// Parses JSON that begins in a file at `start`; throws input::invalid with the position of the
// error.
nlohmann::ordered_json parse(std::string_view text, const location& start);

// Called with each object in a list that is a member of the root, and the key of that list. Returns
// whether it is to be kept.
using element_taker = std::function<bool(const std::string& key, const field& element)>;
// Called with each member of the root that is a string, as soon as it is read.
using string_watcher = std::function<void(const std::string& key, const field& value)>;

// The same from a stream, without ever holding the elements that `take` does not keep.
nlohmann::ordered_json parse(std::istream& in, const std::string& file, const string_watcher& watch,
                             const element_taker& take);

}  // namespace kzoo::storage
