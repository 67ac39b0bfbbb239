#include "worker/loaded_libraries.hpp"

#include <link.h>

#include <array>
#include <filesystem>
#include <string_view>

namespace kzoo::worker {

std::set<std::string> loaded_libraries() {
  std::set<std::string> files;
  const auto add = [](dl_phdr_info* library, std::size_t, void* to) {
    const std::string file = library->dlpi_name;
    if (!file.empty()) static_cast<std::set<std::string>*>(to)->insert(file);
    return 0;
  };
  dl_iterate_phdr(add, &files);
  return files;
}

std::set<std::string> product_libraries() {
  constexpr std::array<std::string_view, 13> kNames{
      "blas",    "blis", "cblas", "cublas", "cudnn",    "cusparse", "cutensor",
      "cutlass", "dnnl", "mkl",   "nvblas", "openblas", "torch"};
  std::set<std::string> found;
  for (const std::string& path : loaded_libraries()) {
    const std::string file = std::filesystem::path(path).filename();
    for (const std::string_view name : kNames)
      if (file.starts_with("lib" + std::string(name))) found.emplace(name);
  }
  return found;
}

}  // namespace kzoo::worker
