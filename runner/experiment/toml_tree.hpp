#pragma once
// A TOML file as a tree of values with their positions, in the order of the file.

#include "input/diagnostics.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace kzoo::experiment {

struct node;
struct table_entry;
using node_list = std::vector<node>;
using node_table = std::vector<table_entry>;
struct date_and_time {};  // part of TOML, but no key here takes it

struct node {
  location where;
  std::variant<std::string, std::int64_t, double, bool, node_list, node_table, date_and_time> value;
};

struct table_entry {
  std::string key;
  location where;  // of the key
  node content;
};

// A syntax error is added to `report`, and the table is then empty.
node_table parse_document(std::string_view text, input::diagnostics& report);

// For messages: `the string "x"`, "0", "a list", "a table".
std::string describe(const node& n);

}  // namespace kzoo::experiment
