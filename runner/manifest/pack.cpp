#include "manifest/pack.hpp"

#include "input/diagnostics.hpp"
#include "input/read_file.hpp"
#include "manifest/read.hpp"

#include <kzoo/manifest/packed_kernel.hpp>

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace kzoo::manifest {
namespace {

constexpr input::file_kind kManifestFile{"a manifest", ".toml", 1};
constexpr input::file_kind kKernelFile{"a file of compiled kernels", ".cubin", 256};
constexpr input::file_kind kLauncherFile{"the library that launches compiled kernels", ".so", 64};

template <class T>
T at(std::string_view bytes, std::size_t offset) {
  T result{};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof result)
    std::memcpy(&result, bytes.data() + offset, sizeof result);
  return result;
}

// Why the file holds no kernels that CUDA could load, as far as its first bytes and its length
// tell; "" if it may. The driver checks the rest.
std::string flaw_in(std::string_view bytes) {
  const char* const cut_short = "is cut short";
  if (bytes.starts_with(ELFMAG)) {
    const auto header = at<Elf64_Ehdr>(bytes, 0);
    constexpr Elf64_Half kCuda = 190;  // EM_CUDA
    if (bytes.size() < sizeof header) return cut_short;
    if (header.e_machine != kCuda) return "is an ELF file of another machine than a GPU";
    const auto end = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
    return end < header.e_shoff || end > bytes.size() ? cut_short : "";
  }
  constexpr std::uint32_t kFatbin = 0xba55ed50;
  if (at<std::uint32_t>(bytes, 0) == kFatbin) {
    const std::uint64_t header = at<std::uint16_t>(bytes, 6), data = at<std::uint64_t>(bytes, 8);
    return data > bytes.size() || header > bytes.size() - data ? cut_short : "";
  }
  if (bytes.find('\0') == std::string_view::npos &&
      bytes.substr(0, 4096).find(".version") != std::string_view::npos)
    return "";
  return "is neither a cubin nor a fatbin nor PTX";
}

void append(std::string& library, std::uint64_t kernel_bytes, std::string_view manifest) {
  footer end{kernel_bytes, manifest.size(), {}};
  std::ranges::copy(kFooterMagic, end.magic);
  library.append(manifest);
  library.append(reinterpret_cast<const char*>(&end), sizeof end);
}

}  // namespace

std::string pack(const std::filesystem::path& manifest, const std::filesystem::path& launcher) {
  kernel_manifest read_manifest = read(manifest, input::read_file(manifest, kManifestFile));
  const std::filesystem::path file = manifest.parent_path() / read_manifest.kernel;
  const std::string kernel = input::read_file(file, kKernelFile);
  if (const std::string flaw = flaw_in(kernel); !flaw.empty())
    input::refuse(file.string(), "the file " + flaw);
  read_manifest.kernel = file.filename().string();
  if (!std::filesystem::exists(launcher)) {
    input::refuse(
        manifest.string(),
        "compiled kernels run on a GPU, and what launches them is not built: ./zoo build --device "
        "cuda builds it, with nvcc 12.8 or later");
  }
  std::string library = input::read_file(launcher, kLauncherFile);
  library.append(kernel);
  append(library, kernel.size(), nlohmann::json(read_manifest).dump());
  return library;
}

}  // namespace kzoo::manifest
