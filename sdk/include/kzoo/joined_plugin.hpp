// A plugin from several libraries: builds of one source with different parameter values. The
// runner writes it for a tuned source:
//
//   #include <kzoo/joined_plugin.hpp>
//   KZOO_JOINED_PLUGIN("mine", {"BM64_BN64", "../3f2a…/mine.so"},
//                      {"BM64_BN128", "../9c01…/mine.so"});
//
// Each library is a plugin itself, loaded with this plugin, so that all variants run in one
// process. File names are relative to this plugin's folder.
#pragma once

#include <kzoo/abi.h>

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

namespace kzoo {

struct point_library {
  const char *point, *file;
};

class joined_plugin {
 public:
  // Describes itself in `plugin`, a symbol of this library. Ends the process if a library cannot be
  // loaded: it existed when this plugin was written.
  joined_plugin(kzoo_plugin& plugin, const char* id,
                std::initializer_list<point_library> libraries) {
    for (const point_library& each : libraries) add(each, *load(&plugin, each.file), plugin);
    plugin.id = id;
    plugin.variants = variants_.data();
    plugin.variant_count = static_cast<std::uint32_t>(variants_.size());
    plugin.variant_stride = sizeof(kzoo_variant);
  }

 private:
  static const kzoo_plugin* load(const void* self, const char* file) {
    Dl_info here{};
    dladdr(self, &here);
    const std::string own = here.dli_fname;
    const std::string path = own.substr(0, own.rfind('/') + 1) + file;
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const found = library == nullptr ? nullptr : dlsym(library, KZOO_PLUGIN_SYMBOL_NAME);
    if (found == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::abort();
    }
    return static_cast<const kzoo_plugin*>(found);
  }

  void add(const point_library& from, const kzoo_plugin& its, kzoo_plugin& plugin) {
    if (variants_.empty()) plugin = its;  // all libraries have this summary, device etc.
    for (std::uint32_t i = 0; i < its.variant_count; ++i) {
      kzoo_variant v = *reinterpret_cast<const kzoo_variant*>(
          reinterpret_cast<const char*>(its.variants) + std::size_t(i) * its.variant_stride);
      ids_.push_back(its.variant_count == 1 ? from.point : std::string(v.id) + '_' + from.point);
      v.struct_size = sizeof v;
      v.id = ids_.back().c_str();
      variants_.push_back(v);
    }
  }

  std::deque<std::string> ids_;
  std::vector<kzoo_variant> variants_;
};

}  // namespace kzoo

#define KZOO_JOINED_PLUGIN(id, ...)                                                   \
  extern "C" __attribute__((visibility("default"))) kzoo_plugin KZOO_PLUGIN_SYMBOL{}; \
  static const kzoo::joined_plugin kzoo_joined(KZOO_PLUGIN_SYMBOL, id, {__VA_ARGS__})
