#include "manifest/pack.hpp"

#include "core/kernel_name.hpp"
#include "input/diagnostics.hpp"
#include "input/read_file.hpp"
#include "manifest/kernel_file.hpp"
#include "manifest/read.hpp"

#include <kzoo/manifest/packed_kernel.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace kzoo::manifest {
namespace {

constexpr input::file_kind kManifestFile{"a manifest", ".toml", 1};
constexpr input::file_kind kKernelFile{"a file of compiled kernels", ".cubin", 256};
constexpr input::file_kind kLauncherFile{"the library that launches compiled kernels", ".so", 64};
constexpr input::file_kind kPackedFile{"a library with compiled kernels", ".so", 384};

std::string shown(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names)
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", short_kernel_name(demangled(name)));
  return list;
}

// The mangled name of the kernel that a manifest names; `file`: for errors.
std::string mangled_entry(const std::string& entry, const std::vector<std::string>& names,
                          const std::string& file) {
  if (names.empty()) {
    if (entry.find_first_of("<:( ") == std::string::npos) return entry;
    input::refuse(file,
                  fmt::format("the names in a fatbin are compressed: give '{}' as the machine "
                              "code calls it (cuobjdump -elf prints that), or name a cubin",
                              entry));
  }
  const std::vector<std::string> called = kernels_called(entry, names);
  if (called.empty())
    input::refuse(file, fmt::format("has no kernel '{}'; those in it: {}", entry, shown(names)));
  if (called.size() > 1) {
    input::refuse(file, fmt::format("has several kernels '{}'; give one as the machine code calls "
                                    "it: {}",
                                    entry, fmt::join(called, ", ")));
  }
  return called.front();
}

}  // namespace

std::string pack(const kernel_manifest& m, std::string_view kernels,
                 const std::filesystem::path& launcher, const std::string& where) {
  if (!std::filesystem::exists(launcher)) {
    input::refuse(
        where,
        "compiled kernels run on a GPU, and what launches them is not built: ./zoo build --device "
        "cuda builds it, with nvcc 12.8 or later");
  }
  const std::string described = nlohmann::json(m).dump();
  footer end{kernels.size(), described.size(), {}};
  std::ranges::copy(kFooterMagic, end.magic);
  std::string library = input::read_file(launcher, kLauncherFile);
  library.append(kernels).append(described);
  return library.append(reinterpret_cast<const char*>(&end), sizeof end);
}

bool is_packed(const std::filesystem::path& library, const std::filesystem::path& launcher) {
  if (!std::filesystem::exists(launcher)) return false;
  const std::string own = input::read_file(launcher, kLauncherFile);
  const std::string all = input::read_file(library, kPackedFile);
  return all.size() > own.size() && all.starts_with(own) &&
         all.ends_with(std::string_view(kFooterMagic, sizeof kFooterMagic));
}

std::string pack(const std::filesystem::path& manifest, const std::filesystem::path& launcher) {
  kernel_manifest read_manifest = read(manifest, input::read_file(manifest, kManifestFile));
  const std::filesystem::path file = manifest.parent_path() / read_manifest.kernel;
  const std::string kernel = input::read_file(file, kKernelFile);
  if (const std::string flaw = flaw_in(kernel); !flaw.empty())
    input::refuse(file.string(), "the file " + flaw);
  const std::vector<std::string> names = kernel_names(kernel);
  for (kernel_variant& v : read_manifest.variants)
    v.entry = mangled_entry(v.entry, names, file.string());
  read_manifest.kernel = file.filename().string();
  return pack(read_manifest, kernel, launcher, manifest.string());
}

}  // namespace kzoo::manifest
