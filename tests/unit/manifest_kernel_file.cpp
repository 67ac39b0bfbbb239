// Which kernels a cubin or PTX has, and which of them an entry names.

#include "manifest/pack.hpp"
#include "support/catch.hpp"

#include <elf.h>

#include <string>
#include <vector>

using namespace kzoo::manifest;
using names = std::vector<std::string>;

namespace {

const std::string kSmall = "_ZN2ns5sgemmILj64ELi32EfEEviPKT1_PS1_",
                  kLarge = "_ZN2ns5sgemmILj128ELi32EfEEviPKT1_PS1_";

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// An ELF file whose sections have these titles, and no content.
std::string elf_with(const names& titles) {
  std::string table(1, '\0');
  std::vector<Elf64_Shdr> sections(1);
  for (const std::string& title : titles) {
    sections.emplace_back().sh_name = static_cast<Elf64_Word>(table.size());
    table += title + '\0';
  }
  sections.front().sh_offset = sizeof(Elf64_Ehdr);
  Elf64_Ehdr header{};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_machine = 190;
  header.e_shoff = sizeof header + table.size();
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  header.e_shentsize = sizeof(Elf64_Shdr);
  std::string bytes;
  append(bytes, header);
  bytes += table;
  for (const Elf64_Shdr& s : sections) append(bytes, s);
  return bytes;
}

}  // namespace

TEST_CASE("the kernels of a cubin are those with a section of parameters") {
  const std::string cubin = elf_with(
      {".text._Z6helperf", ".nv.constant0." + kSmall, ".nv.info.plain", ".nv.constant0.plain"});
  CHECK(kernel_names(cubin) == names{kSmall, "plain"});
  for (std::size_t length = 4; length < cubin.size(); ++length)
    CHECK(kernel_names(cubin.substr(0, length)).size() <= 2);
}

TEST_CASE("the kernels of PTX are its entries, once each") {
  CHECK(kernel_names("//\n.version 9.0\n.weak .entry " + kSmall + "(\n);\n.visible .func f(\n)\n" +
                     ".entry plain\n;\n.visible .entry plain(\n)\n{ ret; }\n") ==
        names{kSmall, "plain"});
  CHECK(kernel_names("\x50\xed\x55\xba").empty());
}

TEST_CASE("an entry is a name in machine code, or as C++ has it") {
  const names all{kSmall, kLarge, "plain", "_Z6othersPf", "_Z3twoPf", "_Z3twoi"};
  const auto called = [&](const std::string& entry) { return kernels_called(entry, all); };
  CHECK(called(kSmall) == names{kSmall});
  CHECK(called("ns::sgemm<64u, 32, float>") == names{kSmall});
  CHECK(called("ns::sgemm<128,32,float>") == names{kLarge});
  CHECK(called("void ns::sgemm<(unsigned int)64, (int)32, float>(int, float const*, float*)") ==
        names{kSmall});
  CHECK(called("plain") == names{"plain"});
  CHECK(called("others") == names{"_Z6othersPf"});
  CHECK(called("two") == names{"_Z3twoPf", "_Z3twoi"});
  for (const char* other : {"sgemm<64, 32, float>", "ns::sgemm<6, 432, float>", "ns::sgemm", "ls"})
    CHECK(called(other).empty());
}
