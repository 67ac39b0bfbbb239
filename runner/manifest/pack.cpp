#include "manifest/pack.hpp"

#include "core/kernel_name.hpp"
#include "experiment/reader.hpp"
#include "manifest/variants.hpp"
#include "os/text.hpp"

#include <kzoo/manifest/packed_kernel.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

namespace kzoo::manifest {
namespace {

template <class T>
T at(std::string_view bytes, std::size_t offset) {
  T result{};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof result)
    std::memcpy(&result, bytes.data() + offset, sizeof result);
  return result;
}

// In a cubin only kernels have a section for their parameters.
std::vector<std::string> in_cubin(std::string_view bytes) {
  constexpr std::string_view kParameters = ".nv.constant0.";
  const auto header = at<Elf64_Ehdr>(bytes, 0);
  const auto section = [&](std::size_t i) {
    return at<Elf64_Shdr>(bytes, header.e_shoff + i * header.e_shentsize);
  };
  const std::uint64_t titles = section(header.e_shstrndx).sh_offset;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const std::uint64_t begin = titles + section(i).sh_name;
    if (begin < titles || begin >= bytes.size()) continue;
    std::string_view title = bytes.substr(begin);
    title = title.substr(0, title.find('\0'));
    if (title.starts_with(kParameters)) names.emplace_back(title.substr(kParameters.size()));
  }
  return names;
}

// A kernel may be declared before it is defined.
std::vector<std::string> in_ptx(std::string_view text) {
  constexpr std::string_view kEntry = ".entry ";
  std::vector<std::string> names;
  for (auto found = text.find(kEntry); found != text.npos; found = text.find(kEntry, found)) {
    found += kEntry.size();
    const std::string_view name = text.substr(found, text.substr(found).find_first_of(" \t\r\n(;"));
    add_once(names, name);
  }
  return names;
}

// "sgemm<64,float>" for "void sgemm<64u, float>(float*)" and "sgemm<(int)64, float>".
std::string plain(std::string name) {
  name = short_kernel_name(std::move(name));
  std::erase(name, ' ');
  std::string result;
  bool in_number = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (i == 0 || !is_in_word(name[i - 1])) in_number = std::isdigit(static_cast<unsigned char>(c));
    if (!in_number || (c != 'u' && c != 'l')) result += c;
  }
  return result;
}

constexpr input::file_kind kManifestFile{"a manifest", ".toml", 1};
constexpr input::file_kind kKernelFile{"a file of compiled kernels", ".cubin", 256};
constexpr input::file_kind kLauncherFile{"the library that launches compiled kernels", ".so", 64};
constexpr input::file_kind kPackedFile{"a library with compiled kernels", ".so", 384};

std::string shown(const std::vector<std::string>& names) {
  return joined(names, ", ", [](const std::string& name) {
    return fmt::format("'{}'", short_kernel_name(demangled(name)));
  });
}

// The mangled name of the kernel that a manifest names; `file`: for errors.
std::string mangled_entry(const std::string& entry, const std::vector<std::string>& names,
                          const std::string& file) {
  if (names.empty()) {
    if (entry.find_first_of("<:( ") == std::string::npos) return entry;
    input::refuse(file,
                  "the names in a fatbin are compressed: give '{}' as the machine code calls it "
                  "(cuobjdump -elf prints that), or name a cubin",
                  entry);
  }
  const std::vector<std::string> called = kernels_called(entry, names);
  if (called.empty())
    input::refuse(file, "has no kernel '{}'; those in it: {}", entry, shown(names));
  if (called.size() > 1) {
    input::refuse(file, "has several kernels '{}'; give one as the machine code calls it: {}",
                  entry, fmt::join(called, ", "));
  }
  return called.front();
}

}  // namespace

std::optional<std::string> flaw_in(std::string_view bytes) {
  const auto cut_short_if = [](bool is_short) {
    return is_short ? std::optional<std::string>("is cut short") : std::nullopt;
  };
  if (bytes.starts_with(ELFMAG)) {
    const auto header = at<Elf64_Ehdr>(bytes, 0);
    constexpr Elf64_Half kCuda = 190;  // EM_CUDA
    if (bytes.size() < sizeof header) return cut_short_if(true);
    if (header.e_machine != kCuda) return "is an ELF file of another machine than a GPU";
    const auto end = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
    return cut_short_if(end < header.e_shoff || end > bytes.size());
  }
  constexpr std::uint32_t kFatbin = 0xba55ed50;
  if (at<std::uint32_t>(bytes, 0) == kFatbin) {
    const std::uint64_t header = at<std::uint16_t>(bytes, 6), data = at<std::uint64_t>(bytes, 8);
    return cut_short_if(data > bytes.size() || header > bytes.size() - data);
  }
  if (bytes.find('\0') == std::string_view::npos &&
      bytes.substr(0, 4096).find(".version") != std::string_view::npos)
    return std::nullopt;
  return "is neither a cubin nor a fatbin nor PTX";
}

std::vector<std::string> kernel_names(std::string_view bytes) {
  return bytes.starts_with(ELFMAG) ? in_cubin(bytes) : in_ptx(bytes);
}

std::vector<std::string> kernels_called(const std::string& entry,
                                        const std::vector<std::string>& names) {
  if (std::ranges::count(names, entry) > 0) return {entry};
  std::vector<std::string> called;
  for (const std::string& name : names)
    if (plain(demangled(name)) == plain(entry)) called.push_back(name);
  return called;
}

kernel_manifest read(const std::filesystem::path& file, std::string_view text) {
  input::diagnostics report(file.string(), text);
  const experiment::node_table document = experiment::parse_document(text, report);
  report.throw_if_any();

  experiment::table_reader keys(document, "", report);
  kernel_manifest m;
  m.id = file.stem().string();
  keys.read("kernel", m.kernel, experiment::text);
  if (m.kernel.empty())
    report.error(report.at(1, 1),
                 "it has no kernel = \"FILE\", the file that the compiled kernels are in; where it "
                 "is about a source, name that as the plugin");
  described_kernels all = read_variants(keys, kernel_origin::compiled, report.at(1, 1), report);
  keys.finish();
  report.throw_if_any();
  m.summary = std::move(all.summary);
  m.maps = std::move(all.maps);
  for (described_variant& v : all.variants) m.variants.push_back(std::move(v.launch));
  return m;
}

std::string pack(const kernel_manifest& m, std::string_view kernels,
                 const std::filesystem::path& launcher, const std::string& where) {
  if (!std::filesystem::exists(launcher)) {
    throw no_launcher(input::error_text(
        where,
        "compiled kernels run on a GPU, and what launches them is not built: ./zoo build --device "
        "cuda builds it, with nvcc 12.8 or later"));
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
  if (const auto flaw = flaw_in(kernel)) input::refuse(file.string(), "the file " + *flaw);
  const std::vector<std::string> names = kernel_names(kernel);
  for (kernel_variant& v : read_manifest.variants)
    v.entry = mangled_entry(v.entry, names, file.string());
  read_manifest.kernel = file.filename().string();
  return pack(read_manifest, kernel, launcher, manifest.string());
}

}  // namespace kzoo::manifest
