#include "tuned.hpp"

#include "input/diagnostics.hpp"
#include "storage/field.hpp"

#include <kzoo/kzoo.h>
#include <kzoo/error.hpp>
#include <kzoo/layout.hpp>
#include <kzoo/type_names.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>

namespace kzoo::library {
namespace {

using storage::field;

[[noreturn]] void refuse(const std::string& why) { throw error(KZOO_INVALID_TABLE, why); }

// "9.0", as in kzoo_device.
std::string capability(const kzoo_device& d) {
  return std::to_string(d.compute_capability / 10) + "." +
         std::to_string(d.compute_capability % 10);
}

void require_same_device(const field& table, const kzoo_device& d, const std::string& name) {
  const field made_on = table.at("device");
  const auto require = [](const field& f, const char* what, const std::string& there,
                          const std::string& here) {
    if (there != here) {
      f.refuse("was made on another device: its " + std::string(what) + " is '" + there +
               "', here it is '" + here + "'");
    }
  };
  const std::string id = made_on.at("id").text();  // "cuda:0"
  require(made_on, "kind", id.substr(0, id.find(':')), d.kind == KZOO_CUDA ? "cuda" : "cpu");
  if (d.kind != KZOO_CUDA) return;
  require(made_on, "compute capability", table.at("compute_capability").text(), capability(d));
  require(made_on, "name", made_on.at("name").text(), name);
}

tuned_entry read_entry(const field& p, const field& best) {
  const auto size = [&](const char* key) {
    const auto number = p.at(key).integer<std::int64_t>();
    if (number < 1) p.at(key).refuse("expected a whole number from 1 on");
    return static_cast<double>(number);
  };
  const auto text = [&](const char* key, const char* otherwise) {
    const auto known = p.find(key);
    return known ? known->text() : otherwise;
  };
  return {{{size("m"), size("n"), size("k"), p.find("batch") ? size("batch") : 1},
           text("dtype", "f32"),
           text("layout", "nn")},
          best.at("plugin").text(),
          best.at("variant").text()};
}

// How to make a user's plugin known; "" if the table does not name its file.
std::string way_out(const tuned_table& table, const std::string& plugin) {
  const auto found = table.plugin_files.find(plugin);
  if (found == table.plugin_files.end() || found->second.empty()) return "";
  return "; the table was made with " + found->second +
         ": put that file first in options.plugins, or in KZOO_PLUGIN_PATH where that is not set";
}

}  // namespace

tuned_table read_tuned_table(const std::filesystem::path& file, const kzoo_device& d,
                             const std::string& device_name) {
  constexpr input::file_kind kTunedFile{"a tuned table", ".json", 64};
  const std::string name = file.string();
  tuned_table all{file, {}, {}};
  try {
    const nlohmann::ordered_json content =
        storage::parse(input::read_file(file, kTunedFile), {name, 1});
    const field table(content, name);
    table.at("schema").require_schema("kzoo.tuned/1");
    require_same_device(table, d, device_name);
    for (const field& of : table.at("problems").elements()) {
      const std::vector<field> ranked = of.at("ranked").elements();
      const field p = of.at("problem");
      const bool has_epilogue = p.find("epilogue").has_value();  // no call has an epilogue
      if (!has_epilogue && !ranked.empty()) all.entries.push_back(read_entry(p, ranked.front()));
    }
    if (const auto plugins = table.find("plugins")) {
      for (const field& p : plugins->elements()) {
        const auto made_of = p.find("file");
        all.plugin_files.emplace(p.at("name").text(), made_of ? made_of->text() : "");
      }
    }
  } catch (const input::invalid& e) {
    refuse(e.what());
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
