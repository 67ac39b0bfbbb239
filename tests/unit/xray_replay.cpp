// From what lanes did one after the other to what their warp does together.
#include "xray/warp_replay.hpp"

#include "support/catch.hpp"

#include <array>
#include <string>
#include <vector>

using namespace kzoo::xray;

namespace {

using log_of_lane = std::vector<kzoo_xray_event>;

kzoo_xray_event block(std::uint32_t pc) { return {0, pc, KZOO_XRAY_BLOCK, 0, 0, 0}; }
kzoo_xray_event read(std::uint32_t pc, std::uint64_t at) {
  return {at, pc, KZOO_XRAY_READ, 4, 0, 0};
}
kzoo_xray_event call(std::uint32_t pc, std::uint32_t from) {
  return {from, pc, KZOO_XRAY_CALL, 0, 0, 0};
}
kzoo_xray_event leave(std::uint32_t pc) { return {0, pc, KZOO_XRAY_RETURN, 0, 0, 0}; }
kzoo_xray_event meet() { return {0, 0, KZOO_XRAY_SYNC, 0, 0, 0}; }

// "pc:mask pc:mask ...": the requests, in order.
class recorded final : public replay_visitor {
 public:
  void accessed(const warp_step& s) override {
    text += std::to_string(s.event->pc) + ':' + std::to_string(s.where.mask) + ' ';
  }
  void started(const warp_step& s) override {
    text += "started:" + std::to_string(s.where.mask) + ' ';
  }
  void fence(std::uint32_t) override {}
  void out_of_bounds(const warp_step& s) override {
    text += "bounds:" + std::to_string(s.where.mask) + ' ';
  }
  void synchronized(std::uint32_t mask) override { text += "sync:" + std::to_string(mask) + ' '; }
  std::string text;
};

std::string replayed(const std::vector<log_of_lane>& logs) {
  std::vector<kzoo_xray_lane> lanes;
  for (const log_of_lane& l : logs) lanes.push_back({l.data(), l.data() + l.size()});
  const kzoo_xray_interval what{sizeof(kzoo_xray_interval),
                                static_cast<std::uint32_t>(logs.size()),
                                0,
                                0,
                                0,
                                lanes.data(),
                                0,
                                0};
  call_contexts contexts;
  warp_replay replay(contexts);
  std::array<std::uint32_t, kWarp> at{};
  recorded visitor;
  replay.run(what, at, visitor);
  return visitor.text;
}

}  // namespace

TEST_CASE("lanes at one place make one request", "[xray]") {
  CHECK(replayed({{block(1), read(2, 0)}, {block(1), read(2, 4)}, {block(1), read(2, 8)}}) ==
        "2:7 ");
}

TEST_CASE("lanes at one wgmma make one request", "[xray]") {
  const kzoo_xray_event wgmma{std::uint64_t{2} << 32 | 256, 5, KZOO_XRAY_WGMMA, 0, 0, 0};
  CHECK(replayed({{block(1), wgmma}, {block(1), wgmma}}) == "started:3 ");
}

TEST_CASE("lanes that part meet again where their ways join", "[xray]") {
  // if (lane == 0) load at 12; else load at 22; both: load at 32
  CHECK(replayed({{block(1), block(11), read(12, 0), block(31), read(32, 0)},
                  {block(1), block(21), read(22, 0), block(31), read(32, 4)}}) ==
        "12:1 22:2 32:3 ");
  // A loop: once, three times.
  CHECK(replayed({{block(11), read(12, 0), block(21), read(22, 0)},
                  {block(11), read(12, 0), block(11), read(12, 0), block(11), read(12, 0),
                   block(21), read(22, 0)}}) == "12:3 12:2 12:2 22:3 ");
}

TEST_CASE("the same load in other turns of a loop is no one request", "[xray]") {
  // for (i : {0, 1}) if (i == lane) load at 22
  CHECK(replayed({{block(11), block(21), read(22, 0), block(31), block(11), block(31)},
                  {block(11), block(31), block(11), block(21), read(22, 0), block(31)}}) ==
        "22:1 22:2 ");
}

TEST_CASE("a function ends for all lanes in it before others go on", "[xray]") {
  // Lane 0 calls the function at 5 from 12, lane 1 goes on at 13.
  CHECK(replayed({{block(11), call(5, 12), read(6, 0), leave(7), block(14), read(15, 0)},
                  {block(11), block(14), read(15, 4)}}) == "6:1 15:3 ");
}

TEST_CASE("lanes wait for each other in a warp operation", "[xray]") {
  CHECK(replayed({{block(1), meet(), block(3), read(4, 0)},
                  {block(1), block(2), read(2, 0), meet(), block(3), read(4, 4)}}) ==
        "2:2 sync:3 4:3 ");
}

TEST_CASE("neighbouring loads become vectors", "[xray]") {
  merged_loads loads;
  std::string made;
  const auto take = [&] {
    made.clear();
    loads.take([&](std::uint32_t site, const warp_access& a) {
      made += std::to_string(site) + ':' + std::to_string(a.bytes) + '@' +
              std::to_string(a.address[0]) + ' ';
    });
    return made;
  };
  const auto load = [](std::uint64_t first, std::uint64_t second) {
    warp_access a{3, 4, {}};
    a.address[0] = first;
    a.address[1] = second;
    return a;
  };
  for (std::uint64_t word = 0; word < 6; ++word) loads.add(1, load(word * 4, 64 + word * 4));
  CHECK(take() == "1:16@0 1:8@16 ");
  CHECK(take().empty());
  loads.add(1, load(4, 68));
  loads.add(1, load(8, 72));   // in different halves of the 16 bytes
  loads.add(2, load(12, 76));  // another line's
  CHECK(take() == "1:4@4 1:4@8 2:4@12 ");
  loads.add(1, load(0, 64));
  loads.add(1, load(4, 128));  // not the neighbour in lane 1
  CHECK(take() == "1:4@0 1:4@4 ");
  CHECK(merged_loads::same_phase(load(4, 68)));
  CHECK_FALSE(merged_loads::same_phase(load(4, 72)));
}
