#include "source/files.hpp"

#include "support/catch.hpp"
#include "support/program.hpp"

using namespace kzoo;
using source::copied_files;
using test::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

struct sources {
  kzoo::test::scratch_folder folder;
  fs::path main = folder.path() / "deep" / "mine" / "mine.cu", sdk = folder.path() / "sdk";

  copied_files copied() const {
    copied_files files;
    source::add_with_headers(main, "kernels/mine.cu",
                             {{main.parent_path(), "kernels"}, {sdk, "include"}}, files);
    return files;
  }
};

}  // namespace

TEST_CASE("a source is copied with the headers that it includes") {
  const sources s;
  s.folder.write("deep/mine/mine.cu",
                 "#include <kzoo/a.hpp>\n #  include \"own/b.hpp\"\n#include <vector>\n"
                 "#include <c.hpp>\n// #include \"d.hpp\"\n");
  s.folder.write("deep/mine/own/b.hpp",
                 "#include \"../c.hpp\"\n#include \"b.hpp\"\n#include <none.hpp>\n");
  s.folder.write("deep/mine/c.hpp", "#include <kzoo/a.hpp>\n");
  s.folder.write("deep/mine/d.hpp", "");
  s.folder.write("sdk/kzoo/a.hpp", "#include \"detail/e.hpp\"\n");
  s.folder.write("sdk/kzoo/detail/e.hpp", "");
  const copied_files expected{{"kernels/mine.cu", s.main},
                              {"kernels/own/b.hpp", s.main.parent_path() / "own" / "b.hpp"},
                              {"kernels/c.hpp", s.main.parent_path() / "own" / "../c.hpp"},
                              {"include/kzoo/a.hpp", s.sdk / "kzoo/a.hpp"},
                              {"include/kzoo/detail/e.hpp", s.sdk / "kzoo" / "detail/e.hpp"}};
  CHECK(s.copied() == expected);
}

TEST_CASE("headers that a copy has no place for are refused") {
  const sources s;
  s.folder.write("deep/mine/mine.cu", "#include \"../../out.hpp\"\n");
  s.folder.write("out.hpp", "");
  CHECK_THROWS_WITH(s.copied(),
                    ContainsSubstring("mine.cu: error: includes \"../../out.hpp\", which"));
  // Found in two folders that have one place in the copy.
  s.folder.write("deep/mine/mine.cu", "#include <a.hpp>\n#include \"other/b.hpp\"\n");
  s.folder.write("deep/mine/other/b.hpp", "#include \"../../kernels/a.hpp\"\n");
  s.folder.write("deep/mine/a.hpp", "");
  s.folder.write("deep/kernels/a.hpp", "");
  CHECK_THROWS_WITH(s.copied(), ContainsSubstring("would have the place of"));
}
