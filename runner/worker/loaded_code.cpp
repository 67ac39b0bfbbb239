#include "worker/loaded_code.hpp"

#include "os/posix.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>

namespace kzoo::worker {
namespace {

// Segments are read whole, but AddressSanitizer forbids reading between variables.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kMayRead = false;
#else
constexpr bool kMayRead = true;
#endif

bool is_code(const ElfW(Phdr) & segment) {
  return segment.p_type == PT_LOAD && (segment.p_flags & (PF_X | PF_W)) == PF_X;
}

// The segment's contents in its file, mapped for the process's lifetime; empty on failure.
std::span<const std::byte> mapped(int fd, const ElfW(Phdr) & segment) {
  if (fd < 0 || segment.p_filesz != segment.p_memsz) return {};
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t before = segment.p_offset % page;
  void* const all = mmap(nullptr, segment.p_filesz + before, PROT_READ, MAP_PRIVATE, fd,
                         static_cast<off_t>(segment.p_offset - before));
  if (all == MAP_FAILED) return {};
  return {static_cast<const std::byte*>(all) + before, segment.p_filesz};
}

}  // namespace

loaded_code::loaded_code() {
  const auto one = [](dl_phdr_info* library, std::size_t, void* to) {
    const std::string file = library->dlpi_name;
    static_cast<loaded_code*>(to)->add(file.empty() ? "/proc/self/exe" : file, *library);
    return 0;
  };
  if (kMayRead) dl_iterate_phdr(one, this);
}

void loaded_code::add(const std::string& file, const dl_phdr_info& library) {
  const descriptor opened(file.starts_with('/') ? open(file.c_str(), O_RDONLY | O_CLOEXEC) : -1);
  const std::string name =
      file == "/proc/self/exe" ? "the runner" : std::filesystem::path(file).filename();
  for (const ElfW(Phdr) & segment : std::span(library.dlpi_phdr, library.dlpi_phnum)) {
    if (!is_code(segment) && segment.p_type != PT_GNU_RELRO) continue;
    const auto address = static_cast<std::uintptr_t>(library.dlpi_addr + segment.p_vaddr);
    const std::span loaded(reinterpret_cast<const std::byte*>(address),  // NOLINT: the loader's
                           segment.p_memsz);
    std::span<const std::byte> original;
    if (is_code(segment)) original = mapped(opened.fd(), segment);
    // Earlier changes, by a debugger or an injected library, are not a plugin's.
    if (original.empty() || std::memcmp(loaded.data(), original.data(), loaded.size()) != 0)
      original = copies_.emplace_back(loaded.begin(), loaded.end());
    parts_.push_back({name, loaded, original});
  }
}

std::string loaded_code::changed() const {
  const auto differs = [](const part& p) {
    return std::memcmp(p.loaded.data(), p.original.data(), p.loaded.size()) != 0;
  };
  const auto found = std::ranges::find_if(parts_, differs);
  return found == parts_.end() ? "" : found->library;
}

}  // namespace kzoo::worker
