// Kernels that are no plugins in C++: those of examples/, and what is said of files that are none.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>

using namespace kzoo::test;
namespace fs = std::filesystem;

namespace {

const fs::path kExamples = source_folder() / "examples";

std::string copied(const scratch_folder& to, const fs::path& from) {
  const fs::path file = to.path() / from.filename();
  fs::copy_file(from, file);
  return file.string();
}

}  // namespace

TEST_CASE("a manifest without its kernels, and kernels without a manifest", "[cli]") {
  const scratch_folder folder;
  const std::string manifest = copied(folder, kExamples / "nvrtc" / "sgemm.toml");
  const std::string run = "quick --device cpu --no-journal --sizes 8 --plugins serial,";
  check_refused(run + manifest, {"sgemm.cubin: error: there is no such file"});

  const std::string kernels = folder.write("sgemm.cubin", "no kernel");
  check_refused(run + manifest, {"neither a cubin nor a fatbin nor PTX"});
  check_refused(run + kernels, {"docs/compiled-kernels.md"});

  check_refused(
      run + folder.write("wrong.toml", "kernel = \"sgemm.cubin\"\ngrid = \"1 / (2 - 2)\"\n"),
      {"wrong.toml:2:8: error: grid: division by zero"});
}

TEST_CASE("a library's C function is a plugin without the SDK", "[cli][.openblas]") {
  if (std::string(KZOO_OPENBLAS_INCLUDE).empty()) skip("there is no OpenBLAS here");
  const scratch_folder folder;
  const std::string library = (folder.path() / "openblas_c.so").string();
  REQUIRE(std::system(
              fmt::format("cc -O2 -Wall -Werror -shared -fPIC -I {} -I {} {} -lopenblas -o {}",
                          shell_word(source_folder() / "sdk" / "include"), KZOO_OPENBLAS_INCLUDE,
                          shell_word(kExamples / "c_function" / "openblas.c"), library)
                  .c_str()) == 0);
  const auto checked = runner("validate " + library + " --device cpu --tier quick");
  INFO(checked.out << checked.err);
  CHECK(checked.code == 0);
  const auto ran = runner(
      "quick --device cpu --no-journal --sizes 33 --layouts nn,tt --plugins serial," + library);
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("openblas_c:sgemm"));
}

TEST_CASE("a compiled kernel is judged by its manifest", "[cli][.gpu]") {
  needs_gpu();
  const scratch_folder folder;
  const std::string manifest = copied(folder, kExamples / "nvrtc" / "sgemm.toml");
  const std::string source = shell_word(kExamples / "nvrtc" / "sgemm.cu");
  REQUIRE(std::system(fmt::format("nvcc -cubin -arch=native {} -o {}", source,
                                  (folder.path() / "sgemm.cubin").string())
                          .c_str()) == 0);
  const auto ran = runner("quick --device cuda --no-journal --plugins naive:32x32," + manifest);
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("sgemm:sgemm"));
  const auto checked = runner("validate --device cuda --tier full " + manifest);
  INFO(checked.out << checked.err);
  CHECK_THAT(checked.out, ContainsSubstring("\nok: ") && !ContainsSubstring("skipped"));
}
