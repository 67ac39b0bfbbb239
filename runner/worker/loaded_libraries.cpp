#include "worker/loaded_libraries.hpp"

#include <link.h>

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

}  // namespace kzoo::worker
