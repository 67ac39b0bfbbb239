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

tuned_entry read_entry(const json& p, const json& best) {
  const auto size = [&](const char* key) {
    const auto value = p.at(key).get<std::int64_t>();
    if (value < 1) refuse(std::string(key) + " is " + std::to_string(value) + ", and not above 0");
    return static_cast<double>(value);
  };
  return {{{size("m"), size("n"), size("k"), p.contains("batch") ? size("batch") : 1},
           p.value("dtype", "f32"),
           p.value("layout", "nn")},
          best.at("plugin").get<std::string>() + ':' + best.at("variant").get<std::string>()};
}

}  // namespace

std::vector<tuned_entry> read_tuned_table(const std::filesystem::path& file, const kzoo_device& d,
                                          const std::string& device_name) {
  std::vector<tuned_entry> all;
  try {
    std::ifstream text(file);
    if (!text) refuse("cannot be read");
    const json table = json::parse(text);
    if (table.value("schema", "") != "kzoo.tuned/1") {
      refuse("is no tuned table: its key \"schema\" is not \"kzoo.tuned/1\"");
    }
    require_same_device(table, d, device_name);
    for (const json& of : table.at("problems")) {
      const json& ranked = of.at("ranked");
      const bool has_epilogue = of.at("problem").contains("epilogue");  // no call asks for one
      if (!has_epilogue && !ranked.empty())
        all.push_back(read_entry(of.at("problem"), ranked.at(0)));
    }
  } catch (const error& e) {
    refuse(file.string() + ": " + e.what());
  } catch (const json::exception& e) {
    refuse(file.string() + ": is no tuned table: " + e.what());
  }
  return all;
}

tuned_choice::tuned_choice(std::vector<tuned_entry> table, const kernel_names& names,
                           const allowance& allowed, std::unique_ptr<chooser> otherwise)
    : allowed_(allowed), otherwise_(std::move(otherwise)) {
  for (tuned_entry& e : table) {
    try {
      entries_.push_back({std::move(e.problem), names.resolve(e.kernel).front()});
    } catch (const error& fault) {
      refuse("the tuned table names " + e.kernel + ", and " + fault.what());
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
