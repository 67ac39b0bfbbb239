// What is said of a line's counts.
#include "xray/counters.hpp"

#include "support/catch.hpp"

using namespace kzoo::xray;
using kzoo::test::ContainsSubstring;

TEST_CASE("advice names the distance of lanes, and only where there is something to gain",
          "[xray]") {
  line_counts l;
  l.kind = access::global_load;
  l.counts = {10, 320, 1280, 320, 40};
  l.worst = {0xffffffffu, 4, 32, {}};
  for (unsigned lane = 0; lane < 32; ++lane) l.worst.offsets[lane] = lane * 512;
  CHECK_THAT(advice_on(l).value(),
             ContainsSubstring("32 sectors for each request where 4 would do") &&
                 ContainsSubstring("512 bytes apart"));
  CHECK_THAT(picture_of(l), ContainsSubstring("0 16 32 48"));
  l.worst.offsets[31] = 4;
  CHECK_THAT(advice_on(l).value(), ContainsSubstring("scattered"));
  l.counts.passes = 49;
  CHECK_FALSE(advice_on(l));

  l.kind = access::shared_load;
  l.counts = {10, 320, 1280, 320, 10};
  for (unsigned lane = 0; lane < 32; ++lane) l.worst.offsets[lane] = lane * 128;
  CHECK_THAT(advice_on(l).value(),
             ContainsSubstring("lanes 0 and 1 share bank 0, 128 bytes apart; pad the "
                               "rows by 4 bytes"));
  l.worst.mask = 3;
  CHECK_THAT(picture_of(l), ContainsSubstring("0 0 . ."));
}
