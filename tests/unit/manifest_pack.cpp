// Manifests of compiled kernels: what is read, what is refused and where, and the launch that
// follows.

#include "core/operands.hpp"
#include "input/diagnostics.hpp"
#include "manifest/pack.hpp"
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

#include <kzoo/error.hpp>
#include <kzoo/manifest/launch_plan.hpp>
#include <kzoo/manifest/packed_kernel.hpp>

#include <elf.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

using namespace kzoo;
using test::ContainsSubstring;

namespace {

const std::string kWhole = R"toml(kernel = "k.cubin"
entry = "gemm"
summary = "one sentence"
types = "bf16->f32"
layouts = "nt"
grid = ["ceil_div(N, 64)", "ceil_div(M, 128)"]
block = 256
cluster = 2
shared = "48 * 1024"
workspace = "4 * M * N"
granularity = [16, 1, 8]
row_bytes = 32
compute_capability = 90
nondeterministic = true
arguments = ["A", "map_b", "C", "M", "K:i64", "lda", "ldc", "alpha", "beta:f64", "workspace", "null", 7]

[[tensor_map]]
name = "map_b"
matrix = "B"
box = [64, 128]
swizzle = 128
)toml";

manifest::kernel_manifest read(const std::string& text) { return manifest::read("k.toml", text); }

std::string refusal(const std::string& text) {
  return test::refusal_of([&] { read(text); });
}

// kWhole with one line replaced by another.
std::string with(const std::string& key, const std::string& line) {
  const auto begin = kWhole.find("\n" + key + " =") + 1;
  return kWhole.substr(0, begin) + line + kWhole.substr(kWhole.find('\n', begin));
}

kzoo_problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  kzoo_problem p{};
  p.struct_size = sizeof p;
  p.m = m, p.n = n, p.k = k;
  p.lda = k, p.ldb = k, p.ldc = n;
  p.type_a = p.type_b = KZOO_BF16, p.type_c = KZOO_F32;
  p.layout_b = KZOO_COLUMN_MAJOR;
  p.alpha = 1;
  return p;
}

std::string declined(const manifest::kernel_variant& v, const kzoo_problem& p) {
  try {
    manifest::plan_launch(v, p, {});
  } catch (const error& fault) {
    CHECK(fault.status == KZOO_UNSUPPORTED);
    return fault.what();
  }
  return "taken";
}

}  // namespace

TEST_CASE("manifest: everything that it may say") {
  const auto m = read(kWhole);
  CHECK(m.id == "k");
  REQUIRE(m.variants.size() == 1);
  const manifest::kernel_variant& v = m.variants[0];
  CHECK(v.id == "gemm");
  CHECK(v.precision == KZOO_COMPUTE_BF16);
  CHECK(v.multiples == std::array<std::uint32_t, 3>{16, 1, 8});
  CHECK(v.row_bytes == 32);
  CHECK(v.block == std::array<std::string, 3>{"256", "1", "1"});
  CHECK(v.cluster == std::array<std::uint32_t, 3>{2, 1, 1});
  CHECK(v.nondeterministic);
  REQUIRE(v.arguments.size() == 12);
  CHECK(v.arguments[1].kind == manifest::argument_kind::tensor_map);
  CHECK(v.arguments[4].type == manifest::number_type::i64);
  CHECK(v.arguments[11].expression == "7");

  const auto plan = manifest::plan_launch(v, problem_of(300, 130, 64), {});
  CHECK(plan.grid == std::array<std::uint32_t, 3>{3, 3, 1});
  CHECK(plan.dynamic_shared == 49152);
  CHECK(plan.workspace == 4 * 300 * 130);
  CHECK(plan.values[4] == 64);

  // What is packed is read again as it was.
  const nlohmann::json packed(m);
  CHECK(nlohmann::json(packed.get<manifest::kernel_manifest>()) == packed);
}

TEST_CASE("manifest: variants take over what the file says") {
  const auto m = read(kWhole.substr(0, kWhole.find("\n[[tensor_map")) + R"(
[[variant]]
id = "small"
arguments = ["A"]
[[variant]]
entry = "other"
block = [16, 16]
arguments = ["B"]
[[tensor_map]]
name = "map_b"
matrix = "B"
box = [64, 128]
)");
  REQUIRE(m.variants.size() == 2);
  CHECK(m.variants[0].id == "small");
  CHECK(m.variants[0].entry == "gemm");
  CHECK(m.variants[1].id == "other");
  CHECK(m.variants[1].block[1] == "16");
  CHECK(m.variants[1].type_c == KZOO_F32);
}

TEST_CASE("manifest: a variant without an id is called as its kernel, demangled and short") {
  const auto id = [](const std::string& entry) {
    return read(with("entry", "entry = \"" + entry + "\"")).variants.at(0).id;
  };
  CHECK(id("gemm") == "gemm");
  CHECK(id("_Z5sgemmILi64ELi64ELi8EEvPKfS1_Pf") == "sgemm_64_64_8");
  CHECK(id("_ZN12_GLOBAL__N_15sgemmIfEEvPKT_") == "sgemm_float");
  CHECK(id(std::string(65, 'x')) == std::string(40, 'x'));
}

TEST_CASE("manifest: errors name their place") {
  CHECK_THAT(refusal("entry = \"e\""), ContainsSubstring("k.toml:1:1: error: it has no kernel"));
  CHECK_THAT(refusal(with("grid", "grid = 0")),
             ContainsSubstring("k.toml:6:8") && ContainsSubstring("grid: 0, not 1 to 2147483647"));
  CHECK_THAT(refusal(with("grid", "grid = [1, 2, 3, 4]")), ContainsSubstring("4 dimensions"));
  CHECK_THAT(refusal(with("grid", "grid = \"M / (3 - 3\"")), ContainsSubstring("column 11"));
  CHECK_THAT(refusal(with("grid", "grid = \"1 / (3 - 3)\"")),
             ContainsSubstring("division by zero"));
  CHECK_THAT(refusal(with("grid", "grid = \"9223372036854775807 + 1\"")),
             ContainsSubstring("overflow"));
  CHECK_THAT(refusal(with("grid", "grid = \"Q\"")), ContainsSubstring("'Q'"));
  CHECK_THAT(refusal(with("shared", "shared = -1")), ContainsSubstring("shared: -1, not 0 to"));
  CHECK_THAT(refusal(with("arguments", "arguments = [\"A:f32\"]")),
             ContainsSubstring("has no type"));
  CHECK_THAT(refusal(with("arguments", "arguments = [\"M:f32\"]")),
             ContainsSubstring("i32 or i64"));
  CHECK_THAT(refusal(with("arguments", "arguments = [\"M:int\"]")),
             ContainsSubstring("ends in no type"));
  CHECK_THAT(refusal(with("arguments", "arguments = [\"5000000000\"]")),
             ContainsSubstring("2147483647"));
  CHECK_THAT(refusal(with("arguments", "arguments = [\"map_a\"]")), ContainsSubstring("'map_a'"));
  CHECK_THAT(refusal(with("entry", "entri = \"gemm\"")),
             ContainsSubstring("did you mean 'entry'") && ContainsSubstring("has no entry"));
  CHECK_THAT(
      refusal(with("entry", "entry = \"f; g\"")),
      ContainsSubstring("k.toml:2:9: error: entry: expected the name of a kernel in the file"));
  CHECK_THAT(refusal(with("block", "block = \"2 * 1024\"")),
             ContainsSubstring("block: 2 * 1024 is 2048, not 1 to 1024"));
  CHECK_THAT(refusal(with("block", "")),
             ContainsSubstring("variant 'gemm' has no block: how many threads"));
  const std::string variant = "\n[[variant]]\nid = \"a b\"\n";
  CHECK_THAT(refusal(kWhole + variant), ContainsSubstring("variant.id: expected 1 to 100 letters"));
  CHECK_THAT(refusal(with("swizzle", "swizzle = 96")), ContainsSubstring("0, 32, 64 or 128"));
  CHECK_THAT(refusal(with("name", "name = \"lda\"")), ContainsSubstring("no other argument"));
  CHECK_THAT(refusal(with("granularity", "granularity = [8, 8]")),
             ContainsSubstring("three numbers"));
  CHECK_THAT(refusal(with("types", "types = [\"f32\", \"f16\"]")), ContainsSubstring("has one"));
  CHECK_THAT(refusal(with("box", "box = [64]")), ContainsSubstring("two sizes"));
}

TEST_CASE("manifest: a kernel declines what its arguments cannot express") {
  manifest::kernel_variant v = read(kWhole).variants[0];
  CHECK(declined(v, problem_of(64, 64, 64)) == "taken");
  kzoo_problem p = problem_of(64, 64, 64);
  p.type_c = KZOO_BF16;
  CHECK(declined(v, p) == "it computes bf16->f32, not bf16");
  p = problem_of(64, 64, 64);
  p.layout_b = KZOO_ROW_MAJOR;
  CHECK(declined(v, p) == "it takes layout nt, not nn");
  p = problem_of(64, 64, 64);
  p.batch = 3;
  CHECK_THAT(declined(v, p), ContainsSubstring("batch is not in its grid or arguments"));
  v.grid[2] = "batch";
  CHECK_THAT(declined(v, p), ContainsSubstring("tensor maps are of one product"));
  const auto arguments = v.arguments;
  v.arguments = read(with("arguments", "arguments = [\"A\", \"B\", \"C\", \"stride_a\"]"))
                    .variants[0]
                    .arguments;
  p.stride_b = p.stride_c = 64 * 64;  // and A is shared
  CHECK(declined(v, p) == "taken");
  CHECK(manifest::plan_launch(v, p, {}).grid[2] == 3);
  p.stride_c += 8;
  CHECK(declined(v, p) ==
        "its arguments do not have stride_c, so it needs C that follow each other without a gap");
  p.batch = 0;
  CHECK(manifest::plan_launch(v, p, {}).grid[2] == 1);
  v.arguments = arguments;

  // B is known by its map alone, which has its leading dimension.
  p = problem_of(64, 64, 64);
  p.lda = p.ldb = p.ldc = 80;
  CHECK(declined(v, p) == "taken");
  v.arguments =
      read(with("arguments", "arguments = [\"A\", \"C\", \"ldc\"]")).variants[0].arguments;
  CHECK_THAT(declined(v, p), ContainsSubstring("do not have lda"));
  p.lda = 64;
  CHECK(declined(v, p) == "taken");
  p.alpha = 2;
  CHECK(declined(v, p) == "it has no alpha");
  p.alpha = 1, p.beta = 1;
  CHECK(declined(v, p) == "it has no beta");
  p.beta = 0, p.scale_a = 0.5;
  CHECK(declined(v, p) == "it has no alpha");

  const auto with_line = [](const std::string& key, const std::string& line) {
    return declined(read(with(key, line)).variants[0], problem_of(64, 64, 64));
  };
  CHECK(with_line("grid", "grid = \"M / 128\"") == "grid.x = M / 128 is 0, not 1 to 2147483647");
  CHECK_THAT(with_line("grid", "grid = \"8 / (M - N)\""), ContainsSubstring("division by zero"));
  CHECK_THAT(with_line("block", "block = [\"M\", \"N\"]"),
             ContainsSubstring("taken"));  // the launch refuses it
  CHECK_THAT(with_line("block", "block = \"M * N\""), ContainsSubstring("is 4096, not 1 to 1024"));
  CHECK_THAT(with_line("arguments", "arguments = [\"M * 100000000\"]"),
             ContainsSubstring("2147483647"));
  CHECK_THAT(with_line("workspace", "workspace = \"M - 65\""), ContainsSubstring("is -1"));
}

TEST_CASE("manifest: a kernel with an epilogue takes problems with that one alone") {
  const auto text = with("arguments",
                         "arguments = [\"A\", \"map_b\", \"C\", \"lda\", \"ldc\", \"residual\"]\n"
                         "epilogue = \"bias:f32 + clamp(-1, 1) + residual\"");
  const manifest::kernel_variant v = read(text).variants[0];
  REQUIRE(v.arguments.size() == 6);
  CHECK(v.arguments[5].kind == manifest::argument_kind::operand);
  CHECK(v.arguments[5].map == 1);
  const auto said = [&](const char* epilogue, std::int64_t padding = 0) {
    problem p = sized(64, 64, 64, {KZOO_BF16, KZOO_BF16, KZOO_F32});
    p.layout = layout::nt;
    p.padding = padding;
    p.epilogue = epilogue_from_name(epilogue);
    return declined(v, to_abi(p));
  };
  CHECK(said("bias:f32 + clamp(-1, 1) + residual") == "taken");
  CHECK(said("bias + clamp(-1, 1) + residual:f32") == "taken");  // the type of C
  for (const char* other :
       {"", "bias", "bias + clamp(-1, 2) + residual", "bias:f16 + clamp(-1, 1) + residual",
        "residual + clamp(-1, 1) + bias", "row_bias + clamp(-1, 1) + residual"})
    CHECK(said(other) == "it computes a product with another epilogue");
  CHECK(said("bias + clamp(-1, 1) + residual", 8) ==
        "it needs a residual whose rows follow without a gap");
  CHECK(declined(read(kWhole).variants[0], to_abi([] {
                   problem p = sized(64, 64, 64, {KZOO_BF16, KZOO_BF16, KZOO_F32});
                   p.layout = layout::nt;
                   p.epilogue = epilogue_from_name("relu");
                   return p;
                 }())) == "it computes alpha A B + beta C, and nothing after it");
}

TEST_CASE("manifest: only whole files of kernels are packed") {
  const test::scratch_folder scratch;
  const std::filesystem::path folder = scratch.path();
  const auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  write("launcher.so", "launcher");
  write("k.toml", kWhole);
  const auto packing = [&](const std::string& kernel) -> std::string {
    write("k.cubin", kernel);
    try {
      return manifest::pack(folder / "k.toml", folder / "launcher.so");
    } catch (const input::invalid& fault) {
      return fault.what();
    }
  };
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_machine = 190;
  header.e_shoff = sizeof header;
  header.e_shnum = 2;
  header.e_shentsize = 64;
  const std::string start(reinterpret_cast<const char*>(&header), sizeof header);
  const std::string whole = start + std::string(128, 'x');

  CHECK_THAT(packing("not a kernel"),
             ContainsSubstring("k.cubin") && ContainsSubstring("neither a cubin nor"));
  CHECK_THAT(packing(start.substr(0, 40)), ContainsSubstring("is cut short"));
  CHECK_THAT(packing(whole.substr(0, whole.size() - 1)), ContainsSubstring("is cut short"));
  CHECK_THAT(packing(std::string("\x50\xed\x55\xba\0\0\x10\0\0\1\0\0\0\0\0\0", 16)),
             ContainsSubstring("is cut short"));
  header.e_machine = EM_X86_64;
  CHECK_THAT(packing(std::string(reinterpret_cast<const char*>(&header), sizeof header)),
             ContainsSubstring("another machine than a GPU"));
  std::filesystem::remove(folder / "k.cubin");
  CHECK_THROWS_AS(manifest::pack(folder / "k.toml", folder / "launcher.so"), input::invalid);

  std::filesystem::rename(folder / "launcher.so", folder / "no-launcher.so");
  CHECK_THAT(packing(whole), ContainsSubstring("./zoo build --device cuda"));
  CHECK_THROWS_AS(manifest::pack(folder / "k.toml", folder / "launcher.so"), manifest::no_launcher);
  std::filesystem::rename(folder / "no-launcher.so", folder / "launcher.so");

  const std::string packed = packing(whole);
  REQUIRE(packed.starts_with("launcher" + whole));
  manifest::footer end{};
  std::memcpy(&end, packed.data() + packed.size() - sizeof end, sizeof end);
  CHECK(end.kernel_bytes == whole.size());
  CHECK(8 + end.kernel_bytes + end.manifest_bytes + sizeof end == packed.size());
}

TEST_CASE("a library is packed if what is loaded of it is the launcher") {
  const test::scratch_folder scratch;
  const std::filesystem::path launcher = scratch.path() / "launcher.so";
  std::ofstream(launcher) << "launcher";
  const std::string packed = manifest::pack({}, "kernels", launcher, "k.toml");
  const auto is_packed = [&](const std::string& bytes) {
    scratch.write("library.so", bytes);
    return manifest::is_packed(scratch.path() / "library.so", launcher);
  };
  CHECK(is_packed(packed));
  std::string other = packed;
  other[3] = 'x';
  CHECK_FALSE(is_packed(other));
  CHECK_FALSE(is_packed("launcher"));
  CHECK_FALSE(is_packed("x" + packed));
  CHECK_FALSE(is_packed(packed.substr(0, packed.size() - 1)));
  std::filesystem::remove(launcher);
  CHECK_FALSE(is_packed(packed));
}

TEST_CASE("a kernel that names no precision has that of a plugin with its types", "[manifest]") {
  const auto precision = [](const std::string& types) {
    return read(with("types", "types = \"" + types + "\"")).variants.at(0).precision;
  };
  CHECK(precision("f32") == KZOO_COMPUTE_FP32);
  CHECK(precision("f64") == KZOO_COMPUTE_FP64);
  CHECK(precision("f16->f32") == KZOO_COMPUTE_FP16);
  CHECK(precision("bf16") == KZOO_COMPUTE_BF16);
  CHECK(precision("i8->i32") == KZOO_COMPUTE_INT32);
  CHECK(precision("e4m3->bf16") == KZOO_COMPUTE_FP32);
}
