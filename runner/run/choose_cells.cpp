#include "run/choose_cells.hpp"

#include "core/kernel_name.hpp"
#include "input/diagnostics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace kzoo::run {
namespace {

// Limit without --cell.
constexpr std::size_t kMaxCells = 16;

constexpr const char* kFlag = "--cell";

std::string kernel_of(const loaded_plugin& plugin, const selected_variant& variant) {
  return kernel_id{plugin.record.name, variant.description.id}.name();
}

// Returns the first problem of the named size with an element type that the variant supports.
const problem& problem_for(const plan& plan, const cell_name& name,
                           const selected_variant& variant) {
  const auto& problems = plan.experiment.problems;
  if (!name.size) return problems.front();
  const problem* of_other_type = nullptr;
  std::vector<std::string> sizes;
  for (const problem& p : problems) {
    if (std::ranges::find(sizes, shape_name(p)) == sizes.end()) sizes.push_back(shape_name(p));
    if (experiment::extents{p.m, p.n, p.k} != *name.size) continue;
    if (variant.description.declared(p.dtype) != 0) return p;
    of_other_type = &p;
  }
  if (of_other_type != nullptr) return *of_other_type;
  const std::string asked = experiment::shape_text(*name.size);
  input::refuse(kFlag, "the experiment has no problem {}{}; --sizes {} adds it\n  sizes: {}", asked,
                input::did_you_mean(asked, sizes), asked, fmt::join(sizes, ", "));
}

chosen_cell find(const plan& plan, const cell_name& name) {
  const std::string plugin_name = name.kernel.substr(0, name.kernel.find(':'));
  for (const loaded_plugin& plugin : plan.plugins) {
    if (plugin.record.name != plugin_name) continue;
    if (!plugin.client)
      input::refuse(kFlag, "{} cannot be used: {}", plugin_name, plugin.record.problem);
    std::vector<std::string> kernels;
    const selected_variant* found = nullptr;
    for (const selected_variant& variant : plugin.variants) {
      if (!matches(name.kernel, plugin_name, variant.description.id)) continue;
      kernels.push_back(kernel_of(plugin, variant));
      found = &variant;
    }
    if (kernels.size() == 1 && !found->obstacle.empty())
      input::refuse(kFlag, "{} {}", kernels.front(), found->obstacle);
    if (kernels.size() == 1) return {&plugin, found, &problem_for(plan, name, *found)};
    input::refuse(kFlag, "{} has {} variants; name one\n  variants: {}", plugin_name,
                  kernels.size(), fmt::join(kernels, ", "));
  }
  throw std::logic_error("make_plan() took " + name.kernel);  // it rejects names without a plugin
}

std::vector<chosen_cell> first_problem(const plan& plan) {
  std::vector<chosen_cell> cells;
  std::vector<std::string> names;
  const problem& p = plan.experiment.problems.front();
  for (const loaded_plugin& plugin : plan.plugins) {
    for (const selected_variant& variant : plugin.variants) {
      if (!plugin.client || variant.description.declared(p.dtype) == 0) continue;
      cells.push_back({&plugin, &variant, &p});
      names.push_back(fmt::format("{}@{}", kernel_of(plugin, variant), shape_name(p)));
    }
  }
  const std::string file = plan.experiment.file.filename().string();
  if (cells.empty()) {
    throw input::invalid(fmt::format("{}: error: none of its plugins has a kernel for {} on {}",
                                     file, problem_name(p), plan.device.id));
  }
  if (cells.size() > kMaxCells) {
    throw input::invalid(
        fmt::format("{}: error: {} kernels are too many, at most {} without --cell; choose cells "
                    "with --cell, or plugins with --plugins\n  cells: {}",
                    file, cells.size(), kMaxCells, fmt::join(names, ", ")));
  }
  return cells;
}

}  // namespace

std::vector<cell_name> parse_cells(const std::vector<std::string>& names) {
  std::vector<cell_name> parsed;
  for (const std::string& text : names) {
    const auto at = text.find('@');
    cell_name name{text, text.substr(0, at), {}};
    if (!is_kernel_name(name.kernel) && !as_file(name.kernel)) {
      input::refuse(kFlag, "expected a cell such as \"smem:32x32@1024x1024x1024\", found {}",
                    input::in_quotes(text));
    }
    if (at != std::string::npos) {
      name.size = experiment::parse_shape(text.substr(at + 1));
      if (!name.size) {
        input::refuse(kFlag, "after the @ in {}: expected {}", input::in_quotes(text),
                      experiment::kShapeForm);
      }
    }
    parsed.push_back(std::move(name));
  }
  return parsed;
}

std::vector<chosen_cell> choose(const plan& plan, const std::vector<cell_name>& names) {
  if (names.empty()) return first_problem(plan);
  std::vector<chosen_cell> cells;
  for (const cell_name& name : names) cells.push_back(find(plan, name));
  return cells;
}

}  // namespace kzoo::run
