// A function's name from its address. Reads the file's symbol table, since dladdr does not find
// kernels, which are hidden symbols. Only for error messages.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "block.hpp"

namespace kzoo::sim {
namespace {

// Types by the names that sources have for them (half.hpp).
void name_as_in_sources(std::string& name) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"kzoo::sim::small_float<kzoo::sim::fp16_format>", "__half"},
      {"kzoo::sim::small_float<kzoo::sim::bf16_format>", "__nv_bfloat16"}};
  for (const auto& [type, alias] : kTypes)
    for (std::size_t at; (at = name.find(type)) != std::string::npos;) {
      const bool spaced = name.compare(at + type.size(), 2, " >") == 0;  // part of "> >"
      name.replace(at, type.size() + (spaced ? 1 : 0), alias);
    }
}

std::string demangle(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  if (text == nullptr) return mangled;
  std::string name = text.get();
  // "void f<8>(float*)" -> "f<8>": parameters and return type only lengthen the message.
  if (const auto anonymous = name.find("(anonymous namespace)::"); anonymous != std::string::npos) {
    name.erase(anonymous, std::strlen("(anonymous namespace)::"));
  }
  int depth = 0;
  std::size_t end = name.size();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0) {
      end = i;
      break;
    }
  }
  name.resize(end);
  name_as_in_sources(name);
  return name.rfind("void ", 0) == 0 ? name.substr(5) : name;
}

template <class T>
const T* at(const std::vector<char>& file, std::size_t offset, std::size_t count = 1) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) return nullptr;
  return reinterpret_cast<const T*>(file.data() + offset);
}

// The symbol whose range holds `offset` (an address as the file counts them); empty if none.
std::string find_symbol(const std::vector<char>& file, std::size_t offset) {
  using header = ElfW(Ehdr);
  using section = ElfW(Shdr);
  using symbol = ElfW(Sym);
  const auto* h = at<header>(file, 0);
  if (h == nullptr || std::memcmp(h->e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto* sections = at<section>(file, h->e_shoff, h->e_shnum);
  if (sections == nullptr) return {};
  for (unsigned i = 0; i < h->e_shnum; ++i) {
    const section& table = sections[i];
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= h->e_shnum) continue;
    const std::size_t count = table.sh_size / sizeof(symbol);
    const auto* symbols = at<symbol>(file, table.sh_offset, count);
    const section& names = sections[table.sh_link];
    if (symbols == nullptr || at<char>(file, names.sh_offset, names.sh_size) == nullptr) continue;
    for (std::size_t s = 0; s < count; ++s) {
      const symbol& candidate = symbols[s];
      if ((candidate.st_info & 0xf) != STT_FUNC || candidate.st_value != offset) continue;
      if (candidate.st_name < names.sh_size) {
        return demangle(file.data() + names.sh_offset + candidate.st_name);
      }
    }
  }
  return {};
}

std::vector<char> contents_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  if (!stream) return {};
  std::vector<char> file(static_cast<std::size_t>(stream.tellg()));
  stream.seekg(0).read(file.data(), static_cast<std::streamsize>(file.size()));
  return file;
}

}  // namespace

std::string symbol_name(const void* function) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(function, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) {
    return "at an unknown address";
  }
  if (info.dli_sname != nullptr && info.dli_saddr == function) return demangle(info.dli_sname);
  const bool program = map->l_name == nullptr || map->l_name[0] == '\0';
  const std::string path = program ? "/proc/self/exe" : map->l_name;
  const auto offset = reinterpret_cast<std::size_t>(function) - map->l_addr;
  if (std::string found = find_symbol(contents_of(path), offset); !found.empty()) return found;
  std::ostringstream fallback;
  fallback << "at " << path << "+0x" << std::hex << offset;
  return fallback.str();
}

}  // namespace kzoo::sim
