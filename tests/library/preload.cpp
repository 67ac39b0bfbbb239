// libkzoo_blas before a program that calls cuBLAS, on the cpu device and with a fake of cuBLAS.
// The cases are what users of other such libraries ran into: pointer modes, math modes, several
// handles, streams and workspaces, small and unaligned matrices, modules that are loaded later,
// kernels that call cuBLAS themselves.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"

#include <filesystem>
#include <iterator>
#include <string>

using kzoo::test::ContainsSubstring;
using kzoo::test::library_stand_in;
using kzoo::test::run_result;
using kzoo::test::shell_word;

namespace {

const std::filesystem::path kCaller = library_stand_in("cublas/kzoo_cublas_caller");

bool has_cublas() { return std::filesystem::exists(kCaller); }  // else built without CUDA

// A path in LD_PRELOAD cannot have spaces; a name is looked for in LD_LIBRARY_PATH.
std::string preloaded(const std::string& variables) {
  return "LD_PRELOAD=libkzoo_blas.so LD_LIBRARY_PATH=" + shell_word(kzoo::test::library_folder()) +
         " KZOO_BLAS_DEVICE=cpu KZOO_BLAS_VERBOSE=1 " + variables;
}

run_result call(const std::string& what, const std::string& variables) {
  return kzoo::test::run_program(kCaller, what, preloaded(variables));
}

std::string awkward(const std::string& variant) {
  return "KZOO_BLAS_KERNELS=awkward:" + variant +
         " KZOO_BLAS_PLUGINS=" + shell_word(library_stand_in(""));
}

}  // namespace

TEST_CASE("a preloaded library takes the products that it computes as cuBLAS does") {
  if (!has_cublas()) return;
  struct expected {
    const char *what, *out, *err;
  };
  const expected all = GENERATE(
      expected{"shapes",
               "nn: right\ntn: right\nnt: right\nct: right\nno rows: passed on\n"
               "no depth: passed on\nnegative: passed on\nshort lines: passed on\n"
               "unknown operation: passed on\nalpha 0: passed on\nno handle: passed on\n"
               "not aligned: right\n64-bit: right\n64-bit without a handle: passed on\n",
               "kzoo_blas: 6 calls computed by kernels of the zoo\n"
               "kzoo_blas:   6 serial:ikj\n"
               "kzoo_blas: 8 calls passed on to cuBLAS\n"
               "kzoo_blas:   3 sizes that are not above 0\n"
               "kzoo_blas:   2 null pointers\n"
               "kzoo_blas:   1 an alpha of 0\n"
               "kzoo_blas:   1 leading dimensions or strides that libkzoo does not take\n"
               "kzoo_blas:   1 unknown operations\n"},
      expected{"batches",
               "batch with one A: right\nbatch with overlapping A: passed on\n"
               "batch with overlapping C: passed on\n",
               "kzoo_blas:   2 leading dimensions or strides that libkzoo does not take\n"},
      expected{"modes",
               "GemmEx: right\nGemmEx TF32: passed on\nGemmEx pedantic: passed on\n"
               "GemmEx of f16: passed on\nTF32 mode: passed on\npedantic mode: passed on\n"
               "no reduced sums: right\ndefault mode: right\ndevice pointers: passed on\n"
               "host pointers: right\n",
               "kzoo_blas: 6 calls passed on to cuBLAS\n"
               "kzoo_blas:   2 a compute type other than CUBLAS_COMPUTE_32F\n"
               "kzoo_blas:   2 a math mode other than the default\n"
               "kzoo_blas:   1 alpha and beta in device memory\n"
               "kzoo_blas:   1 elements other than fp32\n"},
      expected{"handles",
               "another handle: right\nafter it is destroyed: right\nwith a workspace: right\n"
               "the workspace: used\non another stream: right\nthe workspace then: not used\n"
               "with a small workspace: right\nthe small workspace: not used\n",
               "kzoo_blas: 0 calls passed on to cuBLAS\n"},
      expected{"threads", "threads: 200 of 200 right\n", "kzoo_blas:   200 serial:ikj\n"});
  const run_result run = call(all.what, "KZOO_BLAS_KERNELS=serial:ikj");
  CHECK(run.code == 0);
  CHECK(run.out == all.out);
  CHECK_THAT(run.err, ContainsSubstring(all.err));
}

TEST_CASE("a program without the preloaded library calls cuBLAS") {
  if (!has_cublas()) return;
  const run_result run = kzoo::test::run_program(kCaller, "one");
  CHECK(run.out == "one: passed on\n");
  CHECK(run.err.empty());
}

TEST_CASE("a module that a program loads is served, though it alone is linked to cuBLAS") {
  if (!has_cublas()) return;
  const std::string module = shell_word(library_stand_in("cublas/kzoo_cublas_module.so"));
  const auto run = [&](const std::string& kernels) {
    return kzoo::test::run_program(library_stand_in("cublas/kzoo_module_loader"), "one " + module,
                                   preloaded("KZOO_BLAS_KERNELS=" + kernels));
  };
  CHECK(run("serial:ikj").out == "one: right\n");
  CHECK(run("cublas").out == "one: passed on\n");  // cuBLAS is found, too
}

TEST_CASE("a kernel's own calls of cuBLAS go to cuBLAS") {
  if (!has_cublas()) return;
  const run_result run = call("one", awkward("calls_cublas"));
  CHECK(run.code == 0);
  CHECK_THAT(run.err, ContainsSubstring("1 awkward:calls_cublas\n") &&
                          ContainsSubstring("1 a kernel's own calls\n"));
}

TEST_CASE("cuBLAS computes what a kernel cannot begin, and not what it has begun") {
  if (!has_cublas()) return;
  const run_result begun = call("one", awkward("fails"));
  CHECK(begun.out == "one: status 13\n");  // CUBLAS_STATUS_EXECUTION_FAILED
  CHECK_THAT(begun.err, ContainsSubstring("kzoo_blas: awkward:fails failed: no luck today\n"));
  const run_result not_begun = call("one", awkward("cannot_be_prepared"));
  CHECK(not_begun.out == "one: passed on\n");
  CHECK_THAT(not_begun.err, ContainsSubstring("1 a kernel that cannot be prepared\n"));
}

TEST_CASE("where nothing says what is faster than cuBLAS, all goes to cuBLAS, and that is said") {
  if (!has_cublas()) return;
  const kzoo::test::scratch_folder empty;
  const std::string plugins = "KZOO_BLAS_PLUGINS=" + shell_word(empty.path());
  const run_result none = call("one", plugins);
  CHECK(none.out == "one: passed on\n");
  CHECK_THAT(none.err, ContainsSubstring("everything is passed on to cuBLAS: there is no plugin "
                                         "'dispatch' in " +
                                         empty.path().string()) &&
                           ContainsSubstring("KZOO_BLAS_TUNED"));

  std::filesystem::copy_file(library_stand_in("cpu/dispatch_stand_in.so"),
                             empty.path() / "dispatch.so");
  const run_result dispatched = call("aligned", plugins);
  CHECK(dispatched.out == "aligned: right\n");
  CHECK_THAT(dispatched.err, ContainsSubstring("1 dispatch:fp32\n"));
  const run_result ragged = call("one", plugins);
  CHECK(ragged.out == "one: passed on\n");
  CHECK_THAT(ragged.err, ContainsSubstring("1 columns that are not of whole 16 bytes"));
  const run_result split = call("aligned", plugins + " KZOO_BLAS_PRECISION=fp32_split");
  CHECK_THAT(split.err, ContainsSubstring("1 dispatch:fp32_split\n"));
  const run_result batches = call("batches", plugins);
  CHECK_THAT(batches.out, ContainsSubstring("batch with one A: passed on\n"));
  CHECK_THAT(batches.err, ContainsSubstring("3 batches, for which dispatch is seldom faster"));

  const run_result misspelt = call("one", plugins + " KZOO_BLAS_PRECISION=tf32");
  CHECK(misspelt.out == "one: passed on\n");
  CHECK_THAT(misspelt.err, ContainsSubstring("KZOO_BLAS_PRECISION is 'tf32', and should be 'fp32' "
                                             "or 'fp32_split'"));
}

TEST_CASE("problems for which a tuned table names cuBLAS go to cuBLAS") {
  if (!has_cublas()) return;
  const kzoo::test::scratch_folder folder;
  std::filesystem::copy_file(kzoo::test::plugin_folder("cpu") / "serial.so",
                             folder.path() / "serial.so");
  const auto with = [&](const std::string& plugin, const std::string& variant) {
    const std::string file = folder.write(
        "tuned.json", R"({"schema": "kzoo.tuned/1", "device": {"id": "cpu"}, "problems": [
          {"problem": {"m": 23, "n": 17, "k": 31}, "ranked": [{"plugin": ")" +
                          plugin + R"(", "variant": ")" + variant + R"("}]}]})");
    return call("shapes", "KZOO_BLAS_TUNED=" + shell_word(file) +
                              " KZOO_BLAS_PLUGINS=" + shell_word(folder.path()));
  };
  // Those of its layout, nn; for the others there is no dispatch.
  const run_result zoo = with("serial", "ijk");
  CHECK_THAT(zoo.out, ContainsSubstring("nn: right\ntn: passed on\n"));
  CHECK_THAT(zoo.err, ContainsSubstring("3 serial:ijk\n") &&
                          ContainsSubstring("3 problems for which cuBLAS is chosen\n"));
  CHECK_THAT(with("cublas", "fp32").err,
             ContainsSubstring("0 calls computed by kernels of the zoo") &&
                 ContainsSubstring("6 problems for which cuBLAS is chosen\n"));
}

TEST_CASE("a program that does not call cuBLAS sees nothing of the preloaded library") {
  if (!has_cublas()) return;
  const run_result run = kzoo::test::run_program("/bin/echo", "hello", preloaded(""));
  CHECK(run.out == "hello\n");
  CHECK(run.err.empty());
}

TEST_CASE("what a program asks cuBLAS for is recorded as an experiment") {
  if (!has_cublas()) return;
  const kzoo::test::scratch_folder folder;
  const std::string file = folder.path() / "asked.toml";
  const run_result run = call("kinds", "KZOO_BLAS_RECORD=" + shell_word(file));
  CHECK(run.code == 0);
  CHECK_THAT(run.out, !ContainsSubstring("right") && !ContainsSubstring("OTHER"));
  CHECK(run.err ==
        "kzoo_blas: 0 calls computed by kernels of the zoo\n"
        "kzoo_blas: 10 calls passed on to cuBLAS\nkzoo_blas:   10 recorded alone\n");
  CHECK(
      kzoo::test::read_text(file) ==
      R"(# What kzoo_cublas_caller asked cuBLAS for: 9 calls, 6 problems; the most work, flops x calls, comes first.
# cuBLAS's column-major product is here the row-major one of the transposes.
# Not here: 1 call, epilogues that no experiment has
# Not here: 1 call, results apart from the C that beta multiplies
# Not here: 1 call, sizes that are not above 0
# Not here: 1 call, types that no experiment has
title = "products of kzoo_cublas_caller"

# 1 call, 88.3 % of the work
[[problem]]
sizes = ["64x256x128"]
dtype = "bf16"
layout = "nt"
epilogue = "bias + gelu_tanh"

# 1 call, 7.76 % of the work
[[problem]]
sizes = ["24x16x40"]
dtype = "bf16->f32"
layout = "tn"
batch = 12
batch_shared = "b"

# 4 calls, 2.04 % of the work; 1 with rows or products further apart than here
[[problem]]
sizes = ["23x17x31"]
dtype = "f32"
layout = "nn"
alpha = 1.5

# 1 call, 1.38 % of the work
[[problem]]
sizes = ["32x64x16"]
dtype = "f64"
layout = "nt"
beta = 0.1

# 1 call, 0.51 % of the work
[[problem]]
sizes = ["23x17x31"]
dtype = "f32"
layout = "nn"
alpha = 1.5
allow = ["tf32"]

# 1 call, 0.00269 % of the work
[[problem]]
sizes = ["4x8x2"]
dtype = "f16"
layout = "nn"
alpha = 0.5
allow = ["fp16 sums"]
)");
  const run_result check = kzoo::test::runner("check " + shell_word(file));
  CHECK(check.code == 0);
  CHECK_THAT(check.out, ContainsSubstring("6 problems"));
}

TEST_CASE("a recording is of one process, and does not keep kernels from its products") {
  if (!has_cublas()) return;
  const kzoo::test::scratch_folder folder;
  const std::string at = "KZOO_BLAS_RECORD=" + shell_word(folder.path());
  const run_result taken = call("one", at + "/%p.toml KZOO_BLAS_KERNELS=serial:ikj");
  CHECK(taken.out == "one: right\n");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  const std::filesystem::path file = std::filesystem::directory_iterator(folder.path())->path();
  CHECK(file.stem().string().find_first_not_of("0123456789") == std::string::npos);
  CHECK_THAT(kzoo::test::read_text(file), ContainsSubstring("sizes = [\"23x17x31\"]"));

  // The program goes to another folder, and has a child that calls nothing.
  const run_result forked = kzoo::test::run_program(
      kCaller, "elsewhere",
      kzoo::test::in(folder) + " " + preloaded("KZOO_BLAS_RECORD=asked.toml"));
  CHECK(forked.out == "one: passed on\n");
  CHECK_THAT(kzoo::test::read_text(folder.path() / "asked.toml"), ContainsSubstring(": 1 call, "));

  const run_result nowhere = call("one", at + "/none/asked.toml");
  CHECK(nowhere.out == "one: passed on\n");
  CHECK_THAT(nowhere.err, ContainsSubstring("kzoo_blas: KZOO_BLAS_RECORD: ") &&
                              ContainsSubstring("cannot be written: No such file"));
}
