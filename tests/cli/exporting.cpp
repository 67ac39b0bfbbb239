// `runner export`: kernels that tuning found, as projects that are built and called alone.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/text.hpp"
#include "support/verdicts.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <string>
#include <vector>

using namespace kzoo::test;
namespace fs = std::filesystem;

namespace {

// A product that sums STEP elements of K at a time, whose bits tell which STEP it was. Two builds
// have a function of one name.
constexpr const char* kSource = R"(// kzoo: native
// kzoo: tune STEP=2,3
#include <kzoo/plugin.hpp>
#include "sums.hpp"
struct steps {
  void run(const kzoo::gemm<float>& g, const kzoo_arguments& arguments) const {
    auto* const sum = static_cast<float*>(arguments.workspace);
    for (int i = 0; i < g.m; ++i)
      for (int j = 0; j < g.n; ++j) {
        *sum = 0;
        for (int k = 0; k < g.k; k += step())
          *sum += partial_sum(g.k < k + step() ? g.k - k : step(),
                              [&](int l) { return g.a_at(i, k + l) * g.b_at(k + l, j); });
        g.store(i, j, *sum);
      }
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device&) {
    return p.m > 9000 ? UINT64_MAX : sizeof(float);
  }
};
KZOO_PLUGIN("mine", "A product", kzoo::variant<steps>("all", "STEP elements at a time"));
)";
constexpr const char* kHeader = R"(#pragma once
inline __attribute__((noinline)) int step() { return STEP; }
template <class Term>
float partial_sum(int count, const Term& term) {
  float sum = 0;
  for (int l = 0; l < count; ++l) sum += term(l);
  return sum;
}
)";

float expected(const std::vector<float>& a, const std::vector<float>& b, int n, int depth, int row,
               int col, int step) {
  float sum = 0;
  for (int k = 0; k < depth; k += step) {
    float part = 0;
    for (int l = k; l < std::min(k + step, depth); ++l) part += a[row * depth + l] * b[l * n + col];
    sum += part;
  }
  return sum;
}

// A folder of an author's, with what tuning found of the source there.
struct bench {
  scratch_folder folder;
  environment cache{"XDG_CACHE_HOME", shared_cache().string()};
  fs::path mine = folder.path() / "für später" / "mine.cpp";
  nlohmann::json tuned;

  bench() {
    fs::create_directory(mine.parent_path());
    folder.write("für später/mine.cpp", kSource);
    folder.write("für später/sums.hpp", kHeader);
    const auto ran =
        kzoo::test::runner("tune " + shell_word(mine) +
                           " --device cpu --sizes 16,24x16x20 --budget 60s --no-journal --json -");
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    tuned = ran.json();
  }
  // The file of the table.
  std::string file(const nlohmann::json& table) const {
    return shell_word(folder.write("tuned.json", table.dump()));
  }
  std::string out(const char* name) const { return shell_word(folder.path() / name); }
  run_result exported(const nlohmann::json& table, const char* name) const {
    return runner("export " + file(table) + " --out " + out(name));
  }
  void check_refused(const nlohmann::json& table, const std::vector<std::string>& words) const {
    kzoo::test::check_refused("export " + file(table) + " --out " + out("refused"), words);
    CHECK_FALSE(fs::exists(folder.path() / "refused"));
  }
};

void choose(nlohmann::json& table, std::size_t problem, const std::string& variant, int step) {
  auto& best = table.at("problems").at(problem).at("ranked").at(0);
  best.at("variant") = variant;
  best.at("parameters") = {{"STEP", step}};
}

void check_shell(const std::string& command) {
  INFO(command);
  CHECK(std::system((command + " >/dev/null").c_str()) == 0);
}

template <class T>
using batched = const char*(std::int64_t, std::int64_t, std::int64_t, double, const T*,
                            std::int64_t, const T*, std::int64_t, double, T*, std::int64_t,
                            std::int64_t, std::int64_t, std::int64_t, std::int64_t, void*);
using product = const char*(std::int64_t, std::int64_t, std::int64_t, double, const float*,
                            std::int64_t, const float*, std::int64_t, double, float*, std::int64_t,
                            void*);

// What a call says: nullptr where it computed.
void check_says(const char* said, const char* words) {
  REQUIRE(said != nullptr);
  CHECK_THAT(said, ContainsSubstring(words));
}

void check_bits(product* call, int m, int n, int k, int step) {
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = 1.0F / float(i + 3);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1.0F / float(i + 7);
  REQUIRE(call(m, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), n, nullptr) == nullptr);
  bool same = true, told_apart = false;
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < n; ++col) {
      same = same && c[row * n + col] == expected(a, b, n, k, row, col, step);
      told_apart = told_apart || c[row * n + col] != expected(a, b, n, k, row, col, 5 - step);
    }
  CHECK(same);
  CHECK(told_apart);
}

}  // namespace

TEST_CASE("exported kernels are built alone and give the bits of the points that were chosen") {
  bench b;
  choose(b.tuned, 0, "STEP2", 2);
  choose(b.tuned, 1, "STEP3", 3);
  const auto made = b.exported(b.tuned, "fastest");
  INFO(made.err);
  REQUIRE(made.code == 0);
  CHECK(contains(made.out, "const char* fastest_f32_nn(int64_t m, int64_t n, int64_t k,"));
  CHECK(contains(made.out, "2 kernels; "));
  // Nothing of where it was made is needed.
  fs::rename(b.mine.parent_path(), b.folder.path() / "away");
  const fs::path project = b.folder.path() / "fastest";
  for (const char* file :
       {"kernels/mine/mine.cpp", "kernels/mine/sums.hpp", "fastest.h", "LICENSE.kernel-zoo",
        "include/kzoo/plugin.hpp", "tuned.json", "CMakeLists.txt"}) {
    INFO(file);
    CHECK(fs::exists(project / file));
  }
  const std::string readme = read_text(project / "README.md");
  CHECK(contains(readme, "| 16x16x16 f32 | mine:STEP2"));
  CHECK(contains(readme, "checks of tier `quick`"));
  check_shell("make -C " + shell_word(project));
  // Nothing but the functions and the kernels can clash with a program's names.
  check_shell(fmt::format("! nm -g --defined-only {} | grep -v ' fastest_\\|:$\\|^$'",
                          shell_word(project / "libfastest.a")));

  void* const library = dlopen((project / "libfastest.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  INFO((library == nullptr ? dlerror() : ""));
  REQUIRE(library != nullptr);
  auto* const call = reinterpret_cast<product*>(dlsym(library, "fastest_f32_nn"));
  REQUIRE(call != nullptr);
  check_bits(call, 16, 16, 16, 2);
  check_bits(call, 24, 16, 20, 3);
  check_bits(call, 30, 15, 21, 3);  // the most similar problem's
  float x[16]{};
  // Nor is it told.
  const std::string told = read_text(project / "tuned.json");
  CHECK_FALSE(contains(told, b.folder.path().string()));
  CHECK(nlohmann::json::parse(told).at("experiment") == "tune.toml");
  CHECK(call(0, 1, 1, 1, x, 1, x, 1, 0, x, 1, nullptr) == nullptr);
  CHECK(call(1, 0, 0, 1, x, 1, x, 1, 0, nullptr, 1, nullptr) == nullptr);
  x[0] = 3;
  CHECK(call(1, 1, 0, 1, nullptr, 1, nullptr, 1, 2, x, 1, nullptr) == nullptr);
  CHECK(x[0] == 6);
  check_says(call(0, -1, 1, 1, x, 1, x, 1, 0, x, 1, nullptr), "m, n and k must not be negative");
  check_says(call(2, 2, 2, 1, x, 1, x, 2, 0, x, 2, nullptr), "lda is less than a line of A");
  check_says(call(2, 2, 2, 1, x, 2, x, 2, 0, nullptr, 2, nullptr), "a, b or c is null");
  check_says(call(10000, 1, 1, 1, x, 1, x, 1, 0, x, 1, nullptr), "how much workspace");
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  check_says(call(1 << 25, 1, 1, 1, x, 1, x, 1, 0, x, kFar, nullptr), "more than 2^56 elements");
}

// A plugin for two types, which says when two threads are in it at once, or too many instances are
// kept.
constexpr const char* kTwoTypes = R"(// kzoo: native
#include <kzoo/plugin.hpp>
#include <atomic>
#include <thread>
inline std::atomic<int> inside{0}, alive{0};
struct both {
  both() { ++alive; }
  ~both() { --alive; }
  using types = kzoo::types<float, double>;
  static constexpr bool batches = true;
  template <class Gemm>
  void run(const Gemm& g, kzoo::stream_t) const {
    if (++inside > 1) throw std::runtime_error("two threads at once");
    if (alive > 300) throw std::runtime_error("too many instances");
    std::this_thread::yield();
    if constexpr (requires { g.products(); }) {
      for (int i = 0; i < g.products(); ++i) g[i].store(0, 0, g[i].a_at(0, 0) * g[i].b_at(0, 0));
    } else {
      g.store(0, 0, g.a_at(0, 0) * g.b_at(0, 0));
    }
    --inside;
  }
};
KZOO_PLUGIN("two-types", "One element", kzoo::variant<both>("any", "its product"));
)";

TEST_CASE("functions of one plugin take turns, batches are checked, and instances are bounded") {
  bench b;
  // A link, whose name is the plugin's.
  b.folder.write("elsewhere/real.cpp", kTwoTypes);
  const fs::path link = b.folder.path() / "two-types.cpp";
  fs::create_symlink("elsewhere/real.cpp", link);
  b.tuned.at("plugins").at(0).at("name") = "two-types";
  b.tuned.at("plugins").at(0).at("source") = link.string();
  b.tuned.at("plugins").at(0).at("source_sha256") = "";
  choose(b.tuned, 0, "any", 0);
  choose(b.tuned, 1, "any", 0);
  for (auto& problem : b.tuned.at("problems")) {
    problem.at("ranked").at(0).at("plugin") = "two-types";
    problem.at("ranked").at(0).at("parameters") = nlohmann::json::object();
    problem.at("problem").at("batch") = 3;
  }
  b.tuned.at("problems").at(1).at("problem").at("dtype") = "f64";
  b.tuned.at("problems").push_back(b.tuned.at("problems").at(0));  // the same call again
  const auto made = b.exported(b.tuned, "types");
  INFO(made.err);
  REQUIRE(made.code == 0);
  const fs::path project = b.folder.path() / "types";
  CHECK(count_of(read_text(project / "README.md"), "| two-types:any") == 2);
  CHECK(contains(read_text(project / "types.h"), "f32, computed in fp32."));
  check_shell("make -C " + shell_word(project));
  void* const library = dlopen((project / "libtypes.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  const auto of_f32 = reinterpret_cast<batched<float>*>(dlsym(library, "types_f32_nn"));
  const auto of_f64 = reinterpret_cast<batched<double>*>(dlsym(library, "types_f64_nn"));
  REQUIRE((of_f32 != nullptr && of_f64 != nullptr));
  const auto says = [&](std::int64_t batch, std::int64_t stride_a, std::int64_t stride_c) {
    const std::vector<float> a{2, 3, 4}, x{5, 6, 7};
    std::vector<float> c(3);
    const char* said = of_f32(1, 1, 1, 1, a.data(), 1, x.data(), 1, 0, c.data(), 1, batch, stride_a,
                              1, stride_c, nullptr);
    if (said == nullptr)
      CHECK(c == (stride_a == 0 ? std::vector<float>{10, 12, 14} : std::vector<float>{10, 18, 28}));
    return std::string(said == nullptr ? "" : said);
  };
  CHECK(says(3, 1, 1).empty());
  CHECK(says(3, 0, 1).empty());
  CHECK(says(0, 1, 1) == "the batch must be at least 1");
  CHECK(says(3, -4, 1) == "stride_a is less than a matrix A, and not 0");
  CHECK(says(3, 1, 0) == "stride_c is less than a matrix C");
  CHECK(says(3, 1, INT64_MAX) == "a, b or c reaches over more than 2^56 elements");
  CHECK(says(INT64_MAX, 0, 1) == "a, b or c reaches over more than 2^56 elements");
  const auto work = [](auto* call, auto value) {
    for (int i = 0; i < 2000; ++i) {
      auto c = value;
      const char* said = call(1, 1, 1, 1, &value, 1, &value, 1, 0, &c, 1, 1, 0, 0, 0, nullptr);
      if (said != nullptr || c != value * value) return false;
    }
    return true;
  };
  auto other = std::async(std::launch::async, work, of_f64, 3.0);
  const bool right = work(of_f32, 2.0F);
  CHECK(other.get());
  CHECK(right);
  for (int i = 0; i < 1000; ++i) {
    const float x = 2;
    float c = 0;
    CHECK(of_f32(1, 1, 1, 1 + i, &x, 1, &x, 1, 0, &c, 1, 1, 0, 0, 0, nullptr) == nullptr);
    CHECK(c == 4.0F * float(1 + i));
  }
}

TEST_CASE("an exported project may have a kernel for sizes that the others reject") {
  bench b;
  b.folder.write(
      "für später/mine.cpp",
      replaced(kSource, "struct steps {",
               "struct steps {\n  static constexpr kzoo::granularity granularity{.m = 8};"));
  b.tuned.at("plugins").at(0).at("source_sha256") = "";
  const auto says = [&](const char* name, const std::string& words) {
    const auto made = runner("export " + b.file(b.tuned) + " --out " + b.out(name) + words);
    INFO(made.err);
    REQUIRE(made.code == 0);
    const fs::path project = b.folder.path() / name;
    check_shell("make -C " + shell_word(project));
    void* const library =
        dlopen((project / ("lib" + std::string(name) + ".so")).c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    using product =
        const char*(std::int64_t, std::int64_t, std::int64_t, double, const float*, std::int64_t,
                    const float*, std::int64_t, double, float*, std::int64_t, void*);
    auto* const call =
        reinterpret_cast<product*>(dlsym(library, (std::string(name) + "_f32_nn").c_str()));
    REQUIRE(call != nullptr);
    const float a = 2, x = 3;
    float c = 0;
    const char* const said = call(1, 1, 1, 1, &a, 1, &x, 1, 0, &c, 1, nullptr);
    return said != nullptr ? std::string(said) : std::to_string(int(c));
  };
  CHECK(contains(says("alone", ""), "it needs M to be a multiple of 8, not 1"));
  CHECK(says("helped", " --fallback") == "6");
}

TEST_CASE("an exported project has an operator of PyTorch") {
  const bench b;
  REQUIRE(b.exported(b.tuned, "fastest").code == 0);
  const fs::path project = b.folder.path() / "fastest";
  check_shell("make -C " + shell_word(project) + " libfastest.a");
  const fs::path sdk = source_folder() / "sdk" / "include";
  // With the SDK's stand-ins for PyTorch's headers, in a call of theirs.
  const std::string use = b.folder.write("use.cpp", R"(#include "fastest_torch.cpp"
int main() {
  unsigned char workspace[4096];
  kzoo::tensors::session s;
  s.workspace = workspace;
  s.capacity = sizeof workspace;
  kzoo::tensors::current = &s;
  float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 2, 3};
  const at::Tensor c = matmul(at::Tensor(a, at::kFloat, {2, 3}), at::Tensor(b, at::kFloat, {3, 1}));
  if (c.size(0) != 2 || c.size(1) != 1) return 1;
  if (c.data_ptr<float>()[0] != 14 || c.data_ptr<float>()[1] != 32) return 2;
  try {
    matmul(at::Tensor(a, at::kFloat, {3, 2}).t(), at::Tensor(b, at::kFloat, {3, 1}));
    return 3;
  } catch (const kzoo::error&) {
  }
}
)");
  const std::string program = shell_word(b.folder.path() / "use");
  check_shell(
      fmt::format("c++ -std=c++20 -DKZOO_TARGET_DEVICE=KZOO_CPU -I {0} -I {0}/kzoo/torch_headers "
                  "-I {0}/kzoo/sim/cuda_headers -I {1} -c {2} -o {3}.o",
                  shell_word(sdk), shell_word(project), shell_word(use), program));
  check_shell(fmt::format("c++ -o {0} {0}.o {1}/libfastest.a", program, shell_word(project)));
  check_shell(program);
  const std::string module = read_text(project / "fastest_torch.py");
  CHECK(contains(module, "cpp_extension.load("));
  CHECK(contains(module, "torch.ops.fastest.matmul"));
  CHECK(contains(module, "((torch.float32, torch.float32), torch.float32),"));
}

TEST_CASE("an exported project is a target of CMake") {
  bench b;
  // CMake drops the second of two equal words.
  b.tuned.at("plugins").at(0)["build_args"] = {"--param", "max-inline-insns-auto=10", "--param",
                                               "ggc-min-expand=50"};
  REQUIRE(b.exported(b.tuned, "fastest").code == 0);
  b.folder.write("use/CMakeLists.txt",
                 "cmake_minimum_required(VERSION 3.20)\nproject(use LANGUAGES CXX)\n"
                 "add_subdirectory(../fastest fastest)\nadd_executable(use use.cpp)\n"
                 "target_link_libraries(use PRIVATE fastest::fastest)\n");
  b.folder.write(
      "use/use.cpp",
      "#include <fastest.h>\nint main() {\n  float a = 2, b = 3, c = 4;\n"
      "  const char* said = fastest_f32_nn(1, 1, 1, 0.5, &a, 1, &b, 1, 2, &c, 1, nullptr);\n"
      "  return said == nullptr && c == 11 ? 0 : 1;\n}\n");
  const auto built = [&](const char* source, const char* folder, const std::string& settings) {
    const std::string build = b.out(folder);
    check_shell("cmake -S " + b.out(source) + " -B " + build + settings);
    check_shell("cmake --build " + build);
    return build;
  };
  check_shell(built("use", "build", "") + "/use");

  // Installed, it needs nothing of the folder, and its static library nothing when the program
  // runs.
  check_shell("cmake --install " + built("fastest", "alone", "") + " --prefix " + b.out("prefix"));
  fs::remove_all(b.folder.path() / "fastest");
  fs::remove_all(b.folder.path() / "alone");
  for (const char* target : {"fastest", "static"}) {
    b.folder.write("use/CMakeLists.txt",
                   fmt::format("cmake_minimum_required(VERSION 3.20)\nproject(use LANGUAGES CXX)\n"
                               "find_package(fastest REQUIRED)\nadd_executable(use use.cpp)\n"
                               "target_link_libraries(use PRIVATE fastest::{})\n",
                               target));
    check_shell(built("use", target, " -DCMAKE_PREFIX_PATH=" + b.out("prefix")) + "/use");
  }
  fs::remove_all(b.folder.path() / "prefix");
  check_shell(b.out("static") + "/use");
}

TEST_CASE("what cannot be exported is refused, and nothing is written") {
  bench b;
  kzoo::test::check_refused("export none.json --out x", {"none.json"});
  kzoo::test::check_refused(
      "export " + b.file(b.tuned) + " --out " + b.out("a-b"),
      {"--out: error: the functions and the target of CMake are named after the folder",
       "\"a-b\""});
  for (const char* word : {"test", "ALL", "m", "kzoo", "SHARED"})
    kzoo::test::check_refused("export " + b.file(b.tuned) + " --out " + b.out(word),
                              {fmt::format("found \"{}\"", word)});
  b.folder.write("full/there", "");
  kzoo::test::check_refused("export " + b.file(b.tuned) + " --out " + b.out("full"),
                            {"is there already, and nothing in it is changed"});
  auto none = b.tuned;
  for (auto& problem : none.at("problems")) problem.at("ranked") = nlohmann::json::array();
  b.check_refused(none, {"has no kernel that was timed, and so none to export"});
  auto finished = b.tuned;
  finished.at("problems").at(0).at("problem")["epilogue"] = "bias + relu";
  b.check_refused(finished, {"has an epilogue, and an exported function computes alpha A B"});
  auto library = b.tuned;
  library.at("plugins").at(0).at("source") = "";
  b.check_refused(library, {"is a library, whose source is not known: tune the source"});
  auto unknown = b.tuned;
  unknown.at("plugins") = nlohmann::json::array();
  b.check_refused(unknown, {"\"plugins\" does not say where mine comes from"});
  auto with_folder = b.tuned;
  with_folder.at("plugins").at(0).at("build_args") = {"-I/somewhere"};
  b.check_refused(with_folder, {"is compiled with -I/somewhere, whose files would not be copied"});
  auto outside = b.tuned;
  outside.at("plugins").at(0).at("name") = "/../../mine";
  b.check_refused(outside, {"expected a plugin's name of letters"});
  auto line = b.tuned;
  line.at("problems").at(0).at("ranked").at(0).at("parameters") = {{"A 1\n#error", 2}};
  b.check_refused(line, {"expected a parameter's name"});
  fs::create_directory(b.folder.path() / "some.cpp");
  auto unreadable = b.tuned;
  unreadable.at("plugins").at(0).at("source") = (b.folder.path() / "some.cpp").string();
  b.check_refused(unreadable, {"some.cpp: error: is a directory"});
  auto function = b.tuned;
  function.at("plugins").at(0).at("source") = b.folder.write(
      "function.cu", "torch::Tensor f(torch::Tensor a, torch::Tensor b) { return a; }\n");
  function.at("plugins").at(0).at("source_sha256") = "";
  b.check_refused(function,
                  {"function.cu: error: its kernel is launched by f, which takes tensors"});
  b.folder.write("für später/mine.cpp", kSource + std::string("// later\n"));
  b.check_refused(b.tuned, {"mine.cpp: error: has changed since it was tuned: tune it again"});
}

TEST_CASE("headers of an exported source have places that nothing else has and make finds") {
  bench b;
  b.folder.write("deep/er/sums.hpp", kHeader);
  b.tuned.at("plugins").at(0).at("source") = (b.folder.path() / "deep/er/mine.cpp").string();
  b.tuned.at("plugins").at(0).at("source_sha256") = "";
  const auto include = [&](const std::string& header) {
    b.folder.write("deep/er/" + header, "#pragma once\n");
    b.folder.write("deep/er/mine.cpp", fmt::format("{}#include \"{}\"\n", kSource, header));
  };
  for (const char* taken : {"../../refused.h", "../../README.md", "../../Makefile"}) {
    include(taken);
    b.check_refused(b.tuned, {std::string(taken).substr(6) + ": error: would be both a header"});
  }
  for (const char* other : {"my sums.h", "a#b/sums.h"}) {
    include(other);
    b.check_refused(b.tuned, {std::string("kernels/mine/") + other, "make would not find it"});
  }
  for (const char* above : {"../above.h", "../../above.h"}) {
    include(above);
    const auto made = b.exported(b.tuned, "fastest");
    INFO(made.err);
    REQUIRE(made.code == 0);
    const fs::path project = b.folder.path() / "fastest";
    const std::string make = "make -C " + shell_word(project);
    check_shell(make);
    check_shell(make + " -q");
    fs::last_write_time(project / "kernels/mine" / above,
                        fs::file_time_type::clock::now() + std::chrono::hours(1));
    CHECK(std::system((make + " -q >/dev/null 2>&1").c_str()) != 0);
    fs::remove_all(project);
  }
}

TEST_CASE("an export that fails leaves nothing, and can be made again") {
  const bench b;
  const std::string arguments = "export " + b.file(b.tuned) + " --out " + b.out("fastest");
  const auto failed = runner(arguments, "trap '' XFSZ; ulimit -f 8;");
  INFO(failed.err);
  CHECK(failed.code == 5);
  CHECK_FALSE(fs::exists(b.folder.path() / "fastest"));
  CHECK(runner(arguments).code == 0);
}

TEST_CASE("kernels for a GPU are exported with what their launch needs", "[.nvcc]") {
  bench b;
  b.folder.write("bare.cu",
                 "// kzoo: entry=one<WIDTH> grid=ceil_div(N,WIDTH),M block=WIDTH\n"
                 "// kzoo: arguments=M,N,K,alpha,A,B,beta,C\n// kzoo: tune WIDTH=32,64\n"
                 "// kzoo: options=-Xptxas,--warn-on-spills,-Xptxas,--warn-on-local-memory-usage\n"
                 "template <int kWidth>\n__global__ void one(int M, int N, int K, float alpha, "
                 "const float* A, const float* B, float beta, float* C) {\n"
                 "  const int col = blockIdx.x * kWidth + threadIdx.x;\n  float sum = 0;\n"
                 "  if (col >= N) return;\n"
                 "  for (int k = 0; k < K; ++k) sum += A[blockIdx.y * K + k] * B[k * N + col];\n"
                 "  C[blockIdx.y * N + col] = alpha * sum + beta;\n}\n");
  b.tuned.at("device").at("id") = "cuda:0";
  b.tuned.at("compute_capability") = "9.0";
  auto& plugins = b.tuned.at("plugins");
  plugins.push_back(plugins.at(0));
  plugins.at(0).at("name") = "bare";
  plugins.at(0).at("source") = (b.folder.path() / "bare.cu").string();
  plugins.at(0).at("source_sha256") = "";
  plugins.at(1).at("name") = "naive";  // one of the zoo's
  plugins.at(1).at("source") = "";
  plugins.at(1).at("file") = "/anywhere/plugins/cuda/naive.so";
  auto& first = b.tuned.at("problems").at(0).at("ranked").at(0);
  first.at("plugin") = "bare";
  first.at("variant") = "WIDTH64";
  first.at("parameters") = {{"WIDTH", 64}};
  auto& second = b.tuned.at("problems").at(1).at("ranked").at(0);
  second.at("plugin") = "naive";
  second.at("variant") = "16x16";
  second.at("parameters") = nlohmann::json::object();
  const auto made = b.exported(b.tuned, "gpu");
  INFO(made.err);
  REQUIRE(made.code == 0);
  const fs::path project = b.folder.path() / "gpu";
  CHECK(fs::exists(project / "zoo/fp32/01_naive/naive.cu"));
  CHECK(contains(read_text(project / "units/gpu_bare_WIDTH64.cu"), "one<64>"));
  const std::string makefile = read_text(project / "Makefile");
  CHECK(contains(makefile, "\nARCH = "));
  CHECK(contains(makefile, "-gencode=arch=compute_90"));
  check_shell(fmt::format("make -C {} -j2 NVCC={}", shell_word(project), nvcc()));
  CHECK(fs::exists(project / "libgpu.so"));
  // With the SDK's stand-ins for PyTorch's headers.
  b.folder.write("operator.cu", "#include <gpu_torch.cpp>\n");
  const std::string sdk = shell_word(source_folder() / "sdk" / "include");
  check_shell(fmt::format(
      "{} -std=c++20 -DKZOO_TARGET_DEVICE=KZOO_CUDA -I {} -I {}/kzoo/torch_headers "
      "-I {} -c {} -o {}",
      nvcc(), sdk, sdk, shell_word(project), b.out("operator.cu"), b.out("operator.o")));

  // A program with kernels of its own is linked to the installed static library.
  const std::string cuda = " -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_CUDA_COMPILER=" + nvcc();
  check_shell("cmake -S " + b.out("gpu") + " -B " + b.out("build") + cuda);
  check_shell("cmake --build " + b.out("build") + " -j2");
  check_shell("cmake --install " + b.out("build") + " --prefix " + b.out("prefix"));
  b.folder.write("use/CMakeLists.txt",
                 "cmake_minimum_required(VERSION 3.20)\nproject(use LANGUAGES CXX CUDA)\n"
                 "find_package(gpu REQUIRED)\nadd_executable(use use.cu)\n"
                 "target_link_libraries(use PRIVATE gpu::static)\n");
  b.folder.write("use/use.cu",
                 "#include <gpu.h>\n__global__ void own(float* x) { *x = 1; }\nint main() {\n"
                 "  own<<<1, 1>>>(nullptr);\n"
                 "  return gpu_f32_nn(0, 1, 1, 1, nullptr, 1, nullptr, 1, 0, nullptr, 1, nullptr) "
                 "!= nullptr;\n}\n");
  check_shell("cmake -S " + b.out("use") + " -B " + b.out("used") + cuda +
              " -DCMAKE_PREFIX_PATH=" + b.out("prefix"));
  check_shell("cmake --build " + b.out("used"));
  check_shell(b.out("used") + "/use");
}

TEST_CASE("the kernel of a whole program is exported without what it was compiled without",
          "[.nvcc]") {
  bench b;
  b.folder.write("host.h",
                 "#include <pybind11/numpy.h>\npybind11::array_t<float> product(int size);\n");
  const std::string program = shell_word(b.folder.write(
      "program.cu",
      "// kzoo: entry=one<WIDTH> grid=ceil_div(N,WIDTH),M block=WIDTH\n"
      "// kzoo: arguments=M,N,K,alpha,A,B,beta,C\n// kzoo: tune WIDTH=32,64\n"
      "#include <torch/extension.h>\n#include \"host.h\"\nusing namespace torch::indexing;\n"
      "template <int kWidth>\n__global__ void one(int M, int N, int K, float alpha, "
      "const float* A, const float* B, float beta, float* C) {\n"
      "  const int col = blockIdx.x * kWidth + threadIdx.x;\n  float sum = 0;\n"
      "  if (col >= N) return;\n"
      "  for (int k = 0; k < K; ++k) sum += A[blockIdx.y * K + k] * B[k * N + col];\n"
      "  C[blockIdx.y * N + col] = alpha * sum;\n}\n"
      "torch::Tensor product(torch::Tensor a) { return no_such_function(a); }\n"));
  const auto tuned = runner("tune " + program +
                            " --device cpu --sizes 16 --no-journal --json - --baseline serial");
  INFO(tuned.err);
  const nlohmann::json plugins = tuned.json().at("plugins");
  const nlohmann::json& plugin = plugins.at(plugins.at(0).at("name") == "program" ? 0 : 1);
  CHECK(plugin.at("missing_headers").dump() == R"(["torch/extension.h","pybind11/numpy.h"])");
  b.tuned.at("device").at("id") = "cuda:0";
  b.tuned.at("compute_capability") = "9.0";
  b.tuned.at("plugins").at(0) = plugin;
  b.tuned.at("problems").erase(1);
  auto& best = b.tuned.at("problems").at(0).at("ranked").at(0);
  best.at("plugin") = "program";
  best.at("variant") = "WIDTH64";
  best.at("parameters") = {{"WIDTH", 64}};
  const auto made = b.exported(b.tuned, "gpu");
  INFO(made.err);
  REQUIRE(made.code == 0);
  constexpr const char* kNote = "program.cu: note: torch/extension.h is not here, and was left out";
  CHECK(contains(made.err, kNote));
  CHECK(contains(read_text(b.folder.path() / "gpu" / "README.md"), kNote));
  check_shell(fmt::format("make -C {} NVCC={}", b.out("gpu"), nvcc()));
}
