#include "tuned.hpp"

#include <kzoo/kzoo.h>
#include <kzoo/error.hpp>
#include <kzoo/layout.hpp>
#include <kzoo/type_names.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace kzoo::library {
namespace {

using json = nlohmann::json;

[[noreturn]] void refuse(const std::string& why) { throw error(KZOO_INVALID_TABLE, why); }

// "9.0", as in kzoo_device.
std::string capability(const kzoo_device& d) {
  return std::to_string(d.compute_capability / 10) + "." +
         std::to_string(d.compute_capability % 10);
}

void require_same_device(const json& table, const kzoo_device& d, const std::string& name) {
  const auto require = [&](const char* what, const std::string& there, const std::string& here) {
    if (there != here) {
      refuse("was made on another device: its " + std::string(what) + " is '" + there +
             "', here it is '" + here + "'");
    }
  };
  const json& made_on = table.at("device");
  const auto id = made_on.at("id").get<std::string>();  // "cuda:0"
  require("kind", id.substr(0, id.find(':')), d.kind == KZOO_CUDA ? "cuda" : "cpu");
  if (d.kind != KZOO_CUDA) return;
  require("compute capability", table.at("compute_capability"), capability(d));
  require("name", made_on.at("name"), name);
}

// Not of anything else: what null or an object has would be passed over.
const json& list(const json& of, const char* key) {
  const json& found = of.at(key);
  if (!found.is_array()) refuse('"' + std::string(key) + "\" is " + found.dump() + ", and no list");
  return found;
}

tuned_entry read_entry(const json& p, const json& best) {
  const auto size = [&](const char* key) {
    const json& value = p.at(key);
    // One beyond 2^63 becomes a negative number.
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1) {
      refuse(std::string(key) + " is " + value.dump() + ", and no whole number from 1 to 2^63 - 1");
    }
    return value.get<double>();
  };
  return {{{size("m"), size("n"), size("k"), p.contains("batch") ? size("batch") : 1},
           p.value("dtype", "f32"),
           p.value("layout", "nn")},
          best.at("plugin"),
          best.at("variant")};
}

// How a plugin of the user's own is found; "" where the table does not know.
std::string way_out(const tuned_table& table, const std::string& plugin) {
  const auto found = table.plugin_files.find(plugin);
  if (found == table.plugin_files.end() || found->second.empty()) return "";
  return "; the table was made with " + found->second +
         ": put that file first in options.plugins, or in KZOO_PLUGIN_PATH where that is not set";
}

}  // namespace

tuned_table read_tuned_table(const std::filesystem::path& file, const kzoo_device& d,
                             const std::string& device_name) {
  tuned_table all{file, {}, {}};
  try {
    std::ifstream text(file);
    if (!text) refuse("cannot be read");
    const json table = json::parse(text);
    if (table.value("schema", "") != "kzoo.tuned/1") {
      refuse("is no tuned table: its key \"schema\" is not \"kzoo.tuned/1\"");
    }
    require_same_device(table, d, device_name);
    for (const json& of : list(table, "problems")) {
      const json& ranked = list(of, "ranked");
      const bool has_epilogue = of.at("problem").contains("epilogue");  // no call asks for one
      if (!has_epilogue && !ranked.empty())
        all.entries.push_back(read_entry(of.at("problem"), ranked.at(0)));
    }
    if (table.contains("plugins")) {
      for (const json& p : list(table, "plugins"))
        all.plugin_files.emplace(p.at("name"), p.value("file", ""));
    }
  } catch (const error& e) {
    refuse(file.string() + ": " + e.what());
  } catch (const json::exception& e) {
    refuse(file.string() + ": is no tuned table: " + e.what());
  } catch (const std::ios_base::failure& e) {  // such as a folder
    refuse(file.string() + ": cannot be read: " + e.code().message());
  }
  return all;
}

tuned_choice::tuned_choice(const tuned_table& table, const kernel_names& names,
                           const allowance& allowed, std::unique_ptr<chooser> otherwise)
    : allowed_(allowed), otherwise_(std::move(otherwise)) {
  for (const tuned_entry& e : table.entries) {
    const std::string name = e.plugin + ':' + e.variant;
    try {
      entries_.push_back({e.problem, names.resolve(name).front()});
    } catch (const error& fault) {
      const bool is_missing = fault.status == KZOO_UNAVAILABLE;
      refuse(table.file.string() + ": names " + name + ", and " + fault.what() +
             (is_missing ? way_out(table, e.plugin) : ""));
    }
  }
}

kernel tuned_choice::choose(const kzoo_problem& p, const kzoo_device& d) const {
  const tuned_problem wanted{
      {static_cast<double>(p.m), static_cast<double>(p.n), static_cast<double>(p.k),
       static_cast<double>(std::max<std::int64_t>(1, p.batch))},
      type_names(p.type_a, p.type_b, p.type_c),
      std::string(layout_name(layout_of(p)))};
  std::vector<const entry*> near;
  for (const entry& e : entries_) {
    if (e.problem.dtype == wanted.dtype && e.problem.layout == wanted.layout) near.push_back(&e);
  }
  std::ranges::stable_sort(near, {}, [&](const entry* e) { return distance(e->problem, wanted); });
  for (const entry* e : near) {
    if (!e->best.what) return accept(e->best);
    if (objection(*e->best.what, p, d, allowed_).empty()) return *e->best.what;
  }
  return otherwise_->choose(p, d);
}

}  // namespace kzoo::library
