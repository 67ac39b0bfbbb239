#pragma once
// Parses JSON, into values with their paths in the file, for errors.

#include "core/location.hpp"

#include <nlohmann/json_fwd.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kzoo::storage {

class field {
 public:
  // `place`: the file, or a line of it, for errors. Both arguments must outlive the field.
  field(const nlohmann::ordered_json& value, const std::string& place)
      : value_(&value), place_(&place) {}
  // `path`: the value's path, if it is not the whole file.
  field(const nlohmann::ordered_json& value, const std::string& place, std::string path)
      : value_(&value), place_(&place), path_(std::move(path)) {}

  // The value under a key, which must exist.
  field at(const std::string& key) const;
  // Returns nothing if the value is null or missing.
  std::optional<field> find(const std::string& key) const;
  std::vector<field> elements() const;
  std::size_t size() const;  // elements of a list
  // Every key with its value.
  std::vector<std::pair<std::string, field>> entries() const;

  std::string text() const;
  bool flag() const;
  double number() const;  // null is NaN: JSON cannot write numbers that are not finite
  // The elements of a list; much faster than elements().
  std::vector<double> numbers() const;
  std::vector<int> integers() const;
  template <std::integral T>
  T integer() const {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    return static_cast<T>(integer_in(std::numeric_limits<T>::is_signed, most));
  }
  // Returns the element of `all` with the value's name.
  template <class All, class Name>
  auto one_of(const All& all, const Name& name_of) const {
    std::vector<std::string> known;
    for (const auto& each : all) known.emplace_back(name_of(each));
    return all[index_in(known)];
  }

  // Throws input::invalid unless the value is the name of this schema.
  void require_schema(std::string_view name) const;
  // Throws input::invalid: PLACE: error: cells[3].time: MESSAGE
  [[noreturn]] void refuse(const std::string& message) const;

 private:
  field below(const nlohmann::ordered_json& value, const std::string& key) const;
  std::uint64_t integer_in(bool with_sign, std::uint64_t most) const;
  std::size_t index_in(const std::vector<std::string>& known) const;
  [[noreturn]] void expected(std::string_view what) const;

  const nlohmann::ordered_json* value_;
  const std::string* place_;
  std::string path_;
};

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
