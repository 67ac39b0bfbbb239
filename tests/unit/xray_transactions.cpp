// What a request costs: against Nsight Compute's counts of single accesses on an H200.
#include "xray/counters.hpp"

#include "support/catch.hpp"
#include "support/paths.hpp"

#include <fstream>
#include <sstream>
#include <string>

using namespace kzoo::xray;

namespace {

warp_access lanes(unsigned bytes, std::uint64_t stride) {
  warp_access a{0xffffffffu, bytes, {}};
  for (unsigned lane = 0; lane < kWarp; ++lane) a.address[lane] = 0x10000 + lane * stride;
  return a;
}

}  // namespace

TEST_CASE("sectors are 32 bytes, and each counts once", "[xray]") {
  CHECK(global_cost(lanes(4, 4)).passes == 4);
  CHECK(global_cost(lanes(4, 0)).passes == 1);
  CHECK(global_cost(lanes(4, 512)).passes == 32);
  CHECK(global_cost(lanes(16, 16)).passes == 16);
  const cost scattered = global_cost(lanes(4, 8));
  CHECK(scattered.passes == 8);
  CHECK(scattered.ideal == 4);
  CHECK(scattered.bytes == 128);
  warp_access shifted = lanes(4, 4);
  for (auto& address : shifted.address) address += 4;
  CHECK(global_cost(shifted).passes == 5);
  shifted.mask = 1;
  CHECK(global_cost(shifted).passes == 1);
}

TEST_CASE("shared memory's wavefronts are those that an H200 counts", "[xray]") {
  std::ifstream in(kzoo::test::source_folder() / "tests" / "fixtures" / "h200-wavefronts.txt");
  REQUIRE(in);
  int count = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string operation;
    unsigned size = 0, wavefronts = 0;
    warp_access a;
    words >> operation >> size >> std::hex >> a.mask >> std::dec >> wavefronts;
    a.bytes = size * kBankBytes;
    for (auto& address : a.address) {
      words >> address;
      address *= kBankBytes;
    }
    REQUIRE(words);
    INFO(line);
    CHECK(shared_cost(a, operation == "ld").passes == wavefronts);
    ++count;
  }
  CHECK(count > 300);
}

TEST_CASE("without conflicts wavefronts are ideal", "[xray]") {
  CHECK(shared_cost(lanes(4, 4), true).ideal == 1);
  CHECK(shared_cost(lanes(16, 16), true).ideal == 4);
  CHECK(shared_cost(lanes(16, 0), true).ideal == 2);
  const cost strided = shared_cost(lanes(4, 128), true);  // a column of a tile 32 wide
  CHECK(strided.passes == 32);
  CHECK(strided.ideal == 1);
  CHECK(shared_cost(lanes(4, 132), true).passes == 1);  // padded
}
