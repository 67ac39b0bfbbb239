#include "plugins.hpp"

#include <kzoo/kzoo.h>
#include <kzoo/error.hpp>

#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>

#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <optional>

namespace kzoo::library {
namespace {

namespace fs = std::filesystem;

const char* folder_of(kzoo_device_kind kind) { return kind == KZOO_CUDA ? "cuda" : "cpu"; }

// Why a descriptor cannot be used, if it cannot.
std::optional<std::string> flaw_in(const kzoo_plugin& p, kzoo_device_kind kind) {
  if (p.struct_size < sizeof(kzoo_plugin)) return "its kzoo_plugin is too small";
  if (p.device != kind) return "it is built for the other kind of device";
  if (p.variants == nullptr || p.variant_count == 0) return "it offers no variant";
  if (p.variant_stride < sizeof(kzoo_variant)) return "its variant_stride is too small";
  for (std::uint32_t i = 0; i < p.variant_count; ++i) {
    const auto& v = *reinterpret_cast<const kzoo_variant*>(
        reinterpret_cast<const char*>(p.variants) + std::size_t{i} * p.variant_stride);
    if (v.struct_size < sizeof(kzoo_variant)) return "one of its variants is too small";
    if (v.id == nullptr || v.signatures == nullptr || v.signature_count == 0 || !v.supports ||
        !v.workspace_bytes || !v.create || !v.run || !v.destroy) {
      return "one of its variants is not complete";
    }
  }
  return std::nullopt;
}

std::unique_ptr<plugin> load(const fs::path& file, kzoo_device_kind kind) {
  namespace dll = boost::dll;
  // Never unloaded, even if rejected, since its code has run. Leak checkers see the list.
  static auto& libraries = *new std::list<dll::shared_library>;
  dll::shared_library& library = libraries.emplace_back();
  const auto refuse = [&](const std::string& why) {
    throw error(KZOO_UNAVAILABLE, file.string() + ": " + why);
  };
  try {
    library.load(file, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
  } catch (const std::exception& e) {
    refuse(std::string("cannot be loaded: ") + e.what());
  }
  if (!library.has(KZOO_PLUGIN_SYMBOL_NAME)) {
    refuse("is no plugin of version " + std::to_string(KZOO_ABI_MAJOR) +
           " of kernel-zoo's ABI: it has no symbol " KZOO_PLUGIN_SYMBOL_NAME);
  }
  auto loaded = std::make_unique<plugin>();
  loaded->name = file.stem().string();
  loaded->descriptor = &library.get<const kzoo_plugin>(KZOO_PLUGIN_SYMBOL_NAME);
  if (const auto flaw = flaw_in(*loaded->descriptor, kind)) refuse(*flaw);
  return loaded;
}

// A plugin has one lock in a process: calls of all handles on a plugin take turns.
plugin& load_once(const fs::path& file, kzoo_device_kind kind) {
  static auto& loaded = *new std::map<fs::path, std::unique_ptr<plugin>>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::unique_ptr<plugin>& known = loaded[fs::canonical(file)];
  if (!known) known = load(fs::canonical(file), kind);
  return *known;
}

// The plugins next to this library, in a build tree or an installed tree.
std::vector<fs::path> default_places() {
  std::vector<fs::path> places;
  if (const char* path = std::getenv("KZOO_PLUGIN_PATH")) {
    for (const std::string& place : split(path, ':')) places.emplace_back(place);
  }
  const fs::path folder = fs::path(boost::dll::this_line_location().string()).parent_path();
  places.push_back(folder.parent_path() / "plugins");
  for (fs::path above = folder; above.has_relative_path(); above = above.parent_path()) {
    const fs::path installed = above / "lib" / "kernel-zoo" / "plugins";
    if (!fs::is_directory(installed)) continue;
    places.push_back(installed);
    break;
  }
  return places;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

const kzoo_variant& plugin::variant(std::uint32_t index) const {
  return *reinterpret_cast<const kzoo_variant*>(
      reinterpret_cast<const char*>(descriptor->variants) +
      std::size_t{index} * descriptor->variant_stride);
}

plugin_finder::plugin_finder(std::string_view places, kzoo_device_kind kind) : kind_(kind) {
  for (const std::string& place : split(places, ':')) {
    if (!fs::exists(place)) {
      throw error(KZOO_UNAVAILABLE, "there is no folder or file with plugins called " + place);
    }
    places_.emplace_back(place);
  }
  if (places_.empty()) places_ = default_places();
}

plugin* plugin_finder::find(const std::string& name) const {
  for (const fs::path& file : files(name)) {
    if (fs::is_regular_file(file)) return &load_once(file, kind_);
  }
  return nullptr;
}

std::vector<fs::path> plugin_finder::files(const std::string& name) const {
  std::vector<fs::path> all;
  for (const fs::path& place : places_) {
    if (place.extension() == ".so") {
      if (place.stem() == name) all.push_back(place);
      continue;
    }
    all.push_back(place / folder_of(kind_) / (name + ".so"));
    all.push_back(place / (name + ".so"));
  }
  return all;
}

std::string plugin_finder::places() const {
  std::string all;
  for (const fs::path& place : places_) all += (all.empty() ? "" : ", ") + place.string();
  return all;
}

}  // namespace kzoo::library
