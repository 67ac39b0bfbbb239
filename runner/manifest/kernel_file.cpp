#include "manifest/kernel_file.hpp"

#include "core/kernel_name.hpp"
#include "os/text.hpp"

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstring>

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

}  // namespace

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

std::vector<std::string> kernel_names(std::string_view bytes) {
  return bytes.starts_with(ELFMAG) ? in_cubin(bytes) : in_ptx(bytes);
}

std::vector<std::string> kernels_called(const std::string& entry,
                                        const std::vector<std::string>& names) {
  if (std::ranges::count(names, entry) > 0) return {entry};
  std::vector<std::string> found;
  for (const std::string& name : names)
    if (plain(demangled(name)) == plain(entry)) found.push_back(name);
  return found;
}

}  // namespace kzoo::manifest
