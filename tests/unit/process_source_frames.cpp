// What `addr2line` prints, as frames; the line of a fault.
#include "process/source_frames.hpp"

#include "support/catch.hpp"

using namespace kzoo::process;

TEST_CASE("addr2line's output as frames, innermost first", "[process]") {
  const auto frames = parse_frames(
      "0x0000000000001234\n"
      "kzoo::gemm<float>::a_at(int, int) const\n"
      "/sdk/include/kzoo/gemm.hpp:70\n"
      "naive_kernel\n"
      "/x/build/../plugins/naive.cu:15 (discriminator 3)\n"
      "0x0000000000005678\n"
      "??\n"
      "??:0\n");
  REQUIRE(frames.size() == 2);
  REQUIRE(frames[0].size() == 2);
  CHECK(frames[0][0].function == "kzoo::gemm<float>::a_at(int, int) const");
  CHECK(frames[0][1].file == "/x/plugins/naive.cu");
  CHECK(frames[0][1].line == 15);
  REQUIRE(frames[1].size() == 1);
  CHECK(frames[1][0].file.empty());
  CHECK(parse_frames("addr2line: 'x': No such file\n").empty());
}

TEST_CASE("where addr2line knows no line, the address of a fault stays", "[process]") {
  const std::string words = "in kernel f, instruction 0x12 of its library, address 0x10";
  CHECK(with_line(words, "/no/such/library.so") == words);
  CHECK(with_line("nothing of the kind", "/no/such/library.so") == "nothing of the kind");
}
