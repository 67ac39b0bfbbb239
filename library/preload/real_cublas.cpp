#include "real_cublas.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::preload {
namespace {

// The paths of libcublas.so and libcublasLt.so where they are loaded, whichever version the program
// has brought along.
std::vector<std::string> loaded_cublas() {
  std::vector<std::string> paths;
  const auto look = [](dl_phdr_info* object, std::size_t, void* found) {
    const std::string_view path = object->dlpi_name;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (name.starts_with("libcublas.so") || name.starts_with("libcublasLt.so"))
      static_cast<std::vector<std::string>*>(found)->emplace_back(path);
    return 0;
  };
  dl_iterate_phdr(look, &paths);
  return paths;
}

}  // namespace

void* find_real(const char* name) {
  // What the program is linked to comes after this library. One that a module of the program is
  // linked to, as in Python, is not in that order.
  if (void* function = dlsym(RTLD_NEXT, name)) return function;
  for (const std::string& path : loaded_cublas()) {
    void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    if (void* function = dlsym(library, name)) return function;
  }
  return nullptr;
}

}  // namespace kzoo::preload
