// Templates that are put into the program.
#include "os/assets.hpp"

#include "support/catch.hpp"

#include <stdexcept>
#include <string>

using namespace kzoo;

TEST_CASE("a template takes texts, lists and other templates") {
  const holes marks{{{"entry_mark", "e"}, {"parameters_mark", "p"}, {"number", "0"}},
                    {{"kernels", {{{{"number", "1"}, {"entry", "a{{b}}"}}}, {{{"entry", "c"}}}}}}};
  CHECK(filled("plugin/marks.cpp", marks) ==
        "extern \"C\" __device__ const auto e1 = a{{b}};\n"
        "extern \"C\" __device__ const auto p1 = kzoo::types_of_parameters(a{{b}});\n"
        "extern \"C\" __device__ const auto e0 = c;\n"
        "extern \"C\" __device__ const auto p0 = kzoo::types_of_parameters(c);\n");
  const std::string include = "include(${CMAKE_CURRENT_LIST_DIR}/n-targets.cmake)\n";
  CHECK(filled("export/config.cmake", {{{"name", "n"}, {"cuda", ""}}}) == include);
  CHECK(filled("export/config.cmake", {{{"name", "n"}, {"cuda", "yes"}}}) ==
        "include(CMakeFindDependencyMacro)\nfind_dependency(CUDAToolkit)\n" + include);
  CHECK(filled("help/merge", {}) == asset("help/exit_codes"));
}

TEST_CASE("a template without a text that it needs is an error of the program") {
  CHECK_THROWS_AS(filled("export/config.cmake", {}), std::out_of_range);
  CHECK_THROWS_AS(asset("none"), std::out_of_range);
}
