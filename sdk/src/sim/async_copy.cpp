#include <kzoo/sim/async_copy.hpp>

#include <cstring>

#include "block.hpp"

namespace kzoo::sim {

void copy_async(void* shared, const void* global, unsigned bytes, bool inside,
                std::source_location where) {
  thread& t = running();
  std::optional<sm90::shared_offset> at;
  if (sm90::follows_async_proxy) at = t.owner->offset_of(*t.in, shared, bytes);
  if (at) {
    sm90::check_unread(t, *t.in, *at, "cp.async", where);
    sm90::granule& g = t.in->sm90.granule_at(*at);
    ++g.copies;
    g.change = where;
  }
  std::memset(shared, 0xff, bytes);
  t.copies.operations.push_back({shared, inside ? global : nullptr, bytes, at, where});
}

void commit_copies() { running().copies.commit(); }

void wait_for_copies(unsigned pending) {
  thread& t = running();
  t.copies.wait(pending, [&](const async_copy& copy) {
    if (copy.from != nullptr) {
      std::memcpy(copy.to, copy.from, copy.bytes);
    } else {
      std::memset(copy.to, 0, copy.bytes);
    }
    if (!copy.at) return;
    --t.in->sm90.granule_at(*copy.at).copies;
    sm90::note_write(t, *copy.at, copy.bytes, copy.where);
  });
}

void drop_copies(thread& t) {
  for (const async_copy& copy : t.copies.operations) {
    if (copy.at) --t.in->sm90.granule_at(*copy.at).copies;
  }
  t.copies.clear();
}

}  // namespace kzoo::sim
