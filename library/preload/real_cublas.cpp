#include "real_cublas.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <string_view>

namespace kzoo::preload {
namespace {

// The path of a loaded libcublas.so, whichever version the program has brought along.
std::string loaded_cublas() {
  std::string path;
  const auto look = [](dl_phdr_info* object, std::size_t, void* found) {
    const std::string_view name = object->dlpi_name;
    if (name.substr(name.rfind('/') + 1).starts_with("libcublas.so")) {
      *static_cast<std::string*>(found) = name;
      return 1;
    }
    return 0;
  };
  dl_iterate_phdr(look, &path);
  return path;
}

}  // namespace

void* find_real(const char* name) {
  // What the program is linked to comes after this library. One that a module of the program is
  // linked to, as in Python, is not in that order.
  if (void* function = dlsym(RTLD_NEXT, name)) return function;
  const std::string path = loaded_cublas();
  if (path.empty()) return nullptr;
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

}  // namespace kzoo::preload
