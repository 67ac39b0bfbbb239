#include "os/sha256.hpp"

#include "support/catch.hpp"
#include "support/program.hpp"

TEST_CASE("SHA-256 of texts with a known hash", "[sha256]") {
  CHECK(kzoo::sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(kzoo::sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("a file has the hash of its text", "[sha256]") {
  const kzoo::test::scratch_folder folder;
  const std::string text(200000, 'x');  // more than is read at once
  CHECK(kzoo::sha256_of(folder.write("f", text)) == kzoo::sha256(text));
  CHECK(kzoo::sha256_of(folder.path() / "gone").empty());
}
