// Which of several GPUs a worker sees.
#include "client/plugin_client.hpp"

#include "support/catch.hpp"

using kzoo::client::hiding_all_but;
using kzoo::client::visible_alone;

TEST_CASE("a worker sees its own GPU alone, of those that the user lets us see", "[client]") {
  CHECK(visible_alone("", 0) == "0");
  CHECK(visible_alone("", 3) == "3");
  CHECK(visible_alone("2,5,7", 0) == "2");
  CHECK(visible_alone("2,5,7", 1) == "5");
  CHECK(visible_alone("2, 5 ,7", 1) == "5");
  CHECK(visible_alone("2,5,7", 2) == "7");
  CHECK(visible_alone("GPU-8932f937,MIG-4b1c/1/0", 1) == "MIG-4b1c/1/0");
  CHECK(visible_alone("2,5", 2).empty());  // there is none of that number
}

TEST_CASE("nothing is hidden from a worker on the CPU", "[client]") {
  kzoo::results::device cpu;
  cpu.abi.kind = KZOO_CPU;
  CHECK(hiding_all_but(cpu).empty());
}
