#include <kzoo/sim/async_copy.hpp>

#include <cstring>

#include "block.hpp"

namespace kzoo::sim {
namespace {

// Notes a copy in flight, unless the module has no use for it.
sm90::shared_offset follow(thread& t, const void* shared, unsigned bytes,
                           const std::source_location& where) {
  if (!sm90::follows_async_proxy) return sm90::kNowhere;
  const auto at = t.owner->offset_of(*t.in, shared, bytes);
  if (!at) return sm90::kNowhere;
  sm90::check_unread(t, *t.in, *at, "cp.async", where);
  sm90::granule& g = t.in->sm90.granule_at(*at);
  ++g.copies;
  g.change = where;
  return *at;
}

}  // namespace

void copy_async(void* shared, const void* global, unsigned bytes, bool inside,
                std::source_location where) {
  thread& t = running();
  const sm90::shared_offset at = follow(t, shared, bytes, where);
  if (bytes == 16) {
    std::memset(shared, 0xff, 16);
  } else {
    std::memset(shared, 0xff, bytes);
  }
  t.copies.add({shared, inside ? global : nullptr, where, bytes, at});
}

void commit_copies() { running().copies.commit(); }

void wait_for_copies(unsigned pending) {
  thread& t = running();
  t.copies.wait(pending, [&](const async_copy& copy) {
    if (copy.from != nullptr) {
      t.owner->copy(t, copy.where, copy.to, copy.from, copy.bytes);
    } else {
      std::memset(copy.to, 0, copy.bytes);
    }
    if (copy.at == sm90::kNowhere) return;
    --t.in->sm90.granule_at(copy.at).copies;
    sm90::note_write(t, copy.at, copy.bytes, copy.where);
  });
}

void drop_copies(thread& t) {
  for (const async_copy& copy : t.copies.all()) {
    if (copy.at != sm90::kNowhere) --t.in->sm90.granule_at(copy.at).copies;
  }
  t.copies.clear();
}

}  // namespace kzoo::sim
