// What is said of an experiment file that is not TOML.

#include "support/catch.hpp"
#include "unit/experiment_file.hpp"

using namespace kzoo::experiment::testing;
using kzoo::test::ContainsSubstring;

TEST_CASE("a string without quotes is said to need them, at its place", "[experiment]") {
  // The column is chosen by the parser.
  for (const auto& [text, place] : std::vector<std::pair<const char*, const char*>>{
           {"[problem]\ndtype = f32\n", "t.toml:2:"},
           {"plugins = ['naive', smem:8x8]\n", "t.toml:1:2"},
           {"[problem]\nsizes = [\n 16, # one\n 16x16\n]\n", "t.toml:4:"},
           {"problem = {layout = nn}\n", "t.toml:1:2"},
           {"device = cpu\n", "t.toml:1:10"},
           {"plugins = _mine\n", "t.toml:1:11"},
           {"[problem]\nsizes = 2024-1\n", "t.toml:2:"}}) {
    INFO(text);
    CHECK_THAT(first_line(fault(text)),
               ContainsSubstring(place) && ContainsSubstring("; strings need quotes"));
  }
  CHECK_THAT(first_line(fault("[timing]\nenabled = True\n")),
             ContainsSubstring("t.toml:2:11: error: ") && ContainsSubstring("expected 'true'"));
}

TEST_CASE("letters outside quotes never reach the parser", "[experiment]") {
  for (const char* text : {"[é]\n", "[[é]]\n", "é = 1\n", "a.é = 1\n", "[a.é]\n", "é", "x = 1é\n",
                           "x = {é = 1}\n", "x = true é\n", "x = '''a''' é\n", "x = +é\n",
                           "x = [1, é]\n", "x = 1979-05-27é\n", "x = 0xé\n", "[é", "x = é"}) {
    INFO(text);
    CHECK_THAT(first_line(fault(text)),
               ContainsSubstring("t.toml:1:") && ContainsSubstring("need quotes"));
  }
  CHECK(first_line(fault("title = 'ß' # ß\n  'ß'.größe = 1\n")) ==
        "t.toml:2:9: error: letters other than a to z need quotes");
  CHECK_THAT(first_line(fault("x = '''a'''''é\n")), ContainsSubstring("t.toml:1:14: error"));
}

TEST_CASE("what needs no quotes is left alone", "[experiment]") {
  const char* text =
      "\xef\xbb\xbf# größe = é [[[\n"
      "title = \"größe = \\\"é [ #\" # é\n"
      "description = '''\n[é\n' \"\"\" '''\r\n"
      "\"device\" = 'cpu'\n"
      "[problem]\nsizes = [0x10, +17, 1_8]\nalpha = [1e0, 2.5E-1, -1]\n"
      "[timing]\nenabled = true\n";
  CHECK(fault(text) == "");
  CHECK_THAT(fault("x = [inf, -nan, 1979-05-27T07:32:00Z, 0b1, 0xff, 0o7]\n"),
             ContainsSubstring("unknown key 'x'") && !ContainsSubstring("quotes"));
  // Mistakes of other kinds are the parser's.
  CHECK_THAT(fault("title = \"open\n"), ContainsSubstring("t.toml:1:"));
  CHECK_THAT(fault("title = 'open\n"), ContainsSubstring("t.toml:1:"));
  CHECK_THAT(fault("x = [1, 2\n"), ContainsSubstring("error"));
}

TEST_CASE("deep nesting is refused where it becomes too deep", "[experiment]") {
  const auto repeated = [](const std::string& part, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += part;
    return all;
  };
  CHECK_THAT(fault("x = " + repeated("[", 49) + repeated("]", 49) + "\n"),
             ContainsSubstring("unknown key 'x'"));
  for (const std::string& text : {"\nx = " + repeated("[", 49000), "\nx = " + repeated("[\n", 51),
                                  "\nx = " + repeated("{a=", 20000)}) {
    INFO(text.substr(0, 100));
    CHECK_THAT(first_line(fault(text)), ContainsSubstring("t.toml:") &&
                                            ContainsSubstring("maximum nested value depth of 50"));
  }
  CHECK(first_line(fault("\n[" + repeated("a.", 40000) + "a]\n")) ==
        "t.toml:2:101: error: more than 50 levels are nested here");
  for (const std::string& text :
       {repeated("'a,'.", 40000) + "a = 1\n", "x = {" + repeated("a . ", 40000) + "a = 1}\n"}) {
    INFO(text.substr(0, 100));
    CHECK_THAT(first_line(fault(text)), ContainsSubstring("more than 50 levels are nested here"));
  }
  for (const std::string& text : {repeated("{a=", 20000), repeated("[", 49000)})
    CHECK_THAT(first_line(fault(text)), ContainsSubstring("t.toml:1:"));
  // As deep as it may be, in every way at once.
  const std::string key = repeated("a.", 49) + "a";
  CHECK_THAT(fault("[" + key + "]\n" + repeated(key + " = {", 49) + "a = 1" + repeated("}", 49)),
             ContainsSubstring("unknown key 'a'"));
}
