// Which devices may share one run.
#include "devices/devices.hpp"
#include "support/catch.hpp"

using namespace kzoo::devices;

TEST_CASE("devices of several models cannot share one run", "[devices]") {
  kzoo::results::device a, b, c;
  a.id = "cuda:0";
  b.id = "cuda:1";
  c.id = "cuda:2";
  a.name = b.name = "GPU X";
  c.name = "GPU Y";
  CHECK_NOTHROW(check_one_model({a}));
  CHECK_NOTHROW(check_one_model({a, b}));
  CHECK_THROWS_WITH(
      check_one_model({a, b, c}),
      kzoo::test::ContainsSubstring("different models, cuda:0 is GPU X and cuda:2 is GPU Y"));
}
