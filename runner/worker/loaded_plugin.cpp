#include "worker/loaded_plugin.hpp"

#include "core/operands.hpp"
#include "worker/plugin.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace kzoo::worker {
namespace {

results::plugin_description describe(const library& lib) {
  const kzoo_plugin& p = lib.plugin();
  const auto text = [](const char* s) { return std::string(s == nullptr ? "" : s); };
  results::plugin_description d{
      text(p.id), text(p.summary), text(p.build_info), p.device, p.native != 0, {}, {}};
  for (std::uint32_t i = 0; i < p.variant_count; ++i) {
    const kzoo_variant& v = lib.variant(i);
    results::variant_description out;
    out.id = text(v.id);
    out.summary = text(v.summary);
    out.compute_capability = v.compute_capability;
    out.nondeterministic = v.nondeterministic != 0;
    const auto multiple = [](std::uint32_t x) { return std::max<std::int64_t>(1, x); };
    out.granularity = {multiple(v.multiple_m), multiple(v.multiple_n), multiple(v.multiple_k),
                       multiple(v.row_alignment)};
    for (std::uint32_t s = 0; s < v.signature_count; ++s) {
      const kzoo_signature& sig = v.signatures[s];
      out.signatures.push_back({{sig.type_a, sig.type_b, sig.type_c}, sig.compute});
    }
    d.variants.push_back(std::move(out));
  }
  return d;
}

results::launch describe(const kzoo_launch& l) {
  constexpr std::size_t kLongestSymbol = 4096;
  return {{l.grid[0], l.grid[1], l.grid[2]},
          {l.block[0], l.block[1], l.block[2]},
          l.dynamic_shared,
          l.static_shared,
          l.local_bytes,
          l.registers,
          l.resident_warps,
          l.most_warps,
          l.kernel == nullptr ? "" : std::string(l.kernel, strnlen(l.kernel, kLongestSymbol))};
}

}  // namespace

results::plugin_description loaded_plugin::open(const std::filesystem::path& file) {
  const std::set<std::string> before = loaded_libraries();
  library_.emplace(file);
  results::plugin_description d = describe(*library_);
  std::set<std::string> after = loaded_libraries();
  after.erase(std::filesystem::absolute(file).string());
  std::ranges::set_difference(after, before, std::back_inserter(d.libraries));
  return d;
}

void loaded_plugin::ask_support(std::uint32_t variant, const problem& p, const kzoo_device& on) {
  worker::ask_support(library_->variant(variant), to_abi(p), on);
}

std::uint64_t loaded_plugin::workspace_bytes(std::uint32_t variant, const problem& p,
                                             const kzoo_device& on) {
  const kzoo_variant& v = library_->variant(variant);
  const kzoo_problem abi = to_abi(p);
  return v.workspace_bytes(&v, &abi, &on);
}

void loaded_plugin::create(int slot, std::uint32_t variant, const problem& p,
                           const kzoo_device& on) {
  const kzoo_variant& v = library_->variant(variant);
  void* const made = create_instance(v, to_abi(p), on);
  instances_[slot] = {&v, made, {}, nullptr};
}

void loaded_plugin::place(int slot, const placement& where, void* stream) {
  instance& of = instances_.at(slot);
  of.where = where;
  of.stream = stream;
}

void loaded_plugin::run(int slot) {
  const instance& of = instances_.at(slot);
  kzoo_arguments arguments = arguments_of(of.where.inputs, of.where.c, of.where.workspace);
  arguments.stream = of.stream;
  launches_ = {};
  launch_list_.count = 0;
  arguments.launches = &launch_list_;
  run_instance(*of.variant, of.made, arguments);
}

std::vector<results::launch> loaded_plugin::launches(int) {
  std::vector<results::launch> all;
  const std::uint32_t count = std::min({launch_list_.count, launch_list_.capacity, kMaxLaunches});
  for (std::uint32_t i = 0; i < count; ++i) all.push_back(describe(launches_[i]));
  return all;
}

void loaded_plugin::destroy(int slot) {
  const auto found = instances_.extract(slot);
  if (found) found.mapped().variant->destroy(found.mapped().variant, found.mapped().made);
}

std::int64_t loaded_plugin::heap_in_use() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
}

std::vector<std::string> loaded_plugin::product_libraries() {
  std::vector<std::string> new_ones;
  std::ranges::set_difference(worker::product_libraries(), libraries_before_,
                              std::back_inserter(new_ones));
  return new_ones;
}

}  // namespace kzoo::worker
