#include "worker/loaded_code.hpp"

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>

namespace kzoo::worker {
namespace {

// A segment is read as a whole, and AddressSanitizer allows no reading between variables.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kMayRead = false;
#else
constexpr bool kMayRead = true;
#endif

bool is_constant(const ElfW(Phdr) & segment) {
  const bool is_code = segment.p_type == PT_LOAD && (segment.p_flags & (PF_X | PF_W)) == PF_X;
  return kMayRead && (is_code || segment.p_type == PT_GNU_RELRO);
}

}  // namespace

loaded_code::loaded_code() {
  const auto add = [](dl_phdr_info* library, std::size_t, void* to) {
    auto& parts = *static_cast<std::vector<part>*>(to);
    const std::string file = std::filesystem::path(library->dlpi_name).filename();
    for (const ElfW(Phdr) & segment : std::span(library->dlpi_phdr, library->dlpi_phnum)) {
      if (!is_constant(segment)) continue;
      const auto address = static_cast<std::uintptr_t>(library->dlpi_addr + segment.p_vaddr);
      const auto* begin = reinterpret_cast<const std::byte*>(address);  // NOLINT: the loader's
      parts.push_back(
          {file.empty() ? "the runner" : file, begin, {begin, begin + segment.p_memsz}});
    }
    return 0;
  };
  dl_iterate_phdr(add, &parts_);
}

std::string loaded_code::changed() const {
  const auto differs = [](const part& p) {
    return std::memcmp(p.copy.data(), p.begin, p.copy.size()) != 0;
  };
  const auto found = std::ranges::find_if(parts_, differs);
  return found == parts_.end() ? "" : found->library;
}

}  // namespace kzoo::worker
