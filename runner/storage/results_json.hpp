#pragma once
// Results as JSON, schema kzoo.results/1: docs/results.md describes every field.

#include "results/document.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace kzoo::storage {

inline constexpr const char* kSchema = "kzoo.results/1";

nlohmann::ordered_json to_json(const results::document& d);
nlohmann::ordered_json to_json(const results::document& d, const results::cell& c);
nlohmann::ordered_json to_json(const results::document& d, const results::agreement& a);
// As text. Bytes that are not UTF-8, which texts from plugins may hold, are replaced. indent -1:
// all in one line.
std::string dumped(const nlohmann::ordered_json& j, int indent);
// Reads everything that reports need. Throws input::invalid for anything that to_json() does not
// write; errors refer to the JSON as `place`.
results::document from_json(const nlohmann::ordered_json& j, const std::string& place);

// The same with the text of a file.
std::string to_text(const results::document& d);
results::document from_text(const std::string& text, const std::string& file);

// Parts of a document that validations have too.
nlohmann::ordered_json to_json(const results::device& d);
nlohmann::ordered_json to_json(const results::plugin_record& p);
nlohmann::ordered_json to_json(const std::vector<results::finding>& findings);

}  // namespace kzoo::storage
