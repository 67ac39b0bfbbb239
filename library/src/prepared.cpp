#include "prepared.hpp"

#include <kzoo/error.hpp>

#include <bit>

namespace kzoo::library {
namespace {

void require_ok(kzoo_status status, const kernel& of, const char* what, const reason& given) {
  if (status == KZOO_OK) return;
  const std::string why = given.words();
  throw error(status, of.name() + " " + what + ": " + (why.empty() ? "no reason given" : why));
}

}  // namespace

prepared::prepared(const kernel& chosen, const kzoo_problem& p, const kzoo_device& d)
    : chosen_(chosen) {
  const kzoo_variant& v = *chosen.variant;
  workspace_bytes_ = v.workspace_bytes(&v, &p, &d);
  if (workspace_bytes_ == UINT64_MAX) {
    throw error(KZOO_UNAVAILABLE, chosen.name() + " cannot say how much workspace it needs");
  }
  reason r;
  const std::lock_guard lock(chosen.of->serial);
  // KZOO_ERROR is reserved for calls that may have written to C.
  const bool created = v.create(&v, &p, &d, &instance_, r.text()) == KZOO_OK;
  require_ok(created ? KZOO_OK : KZOO_UNAVAILABLE, chosen, "cannot be prepared", r);
}

prepared::~prepared() {
  if (status_ != KZOO_OK) return;
  const std::lock_guard lock(chosen_.of->serial);
  chosen_.variant->destroy(chosen_.variant, instance_);
}

void prepared::run(const kzoo_arguments& arguments) const {
  reason r;
  const std::lock_guard lock(chosen_.of->serial);
  const kzoo_status status = chosen_.variant->run(chosen_.variant, instance_, &arguments, r.text());
  // Once created, an instance can no longer reject: C may have been written to.
  require_ok(status == KZOO_OK || status == KZOO_LAUNCH_FAILED ? status : KZOO_ERROR, chosen_,
             "failed", r);
}

std::size_t prepared_problems::hash::operator()(const key& words) const {
  std::uint64_t h = 0;
  for (const std::uint64_t word : words) h = std::rotl((h ^ word) * 0x9E3779B97F4A7C15u, 29);
  return h;
}

prepared* prepared_problems::find(const kzoo_problem& p) {
  const auto found = by_problem_.find(words_of(p));
  if (found == by_problem_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return found->second->made.get();
}

prepared& prepared_problems::add(const kzoo_problem& p, std::unique_ptr<prepared> made) {
  by_use_.push_front({words_of(p), std::move(made)});
  by_problem_[by_use_.front().problem] = by_use_.begin();
  return *by_use_.front().made;
}

std::vector<std::unique_ptr<prepared>> prepared_problems::take_surplus() {
  std::vector<std::unique_ptr<prepared>> surplus;
  // The first entry is about to run.
  for (auto at = by_use_.end(); by_use_.size() > most_ && at != std::next(by_use_.begin());) {
    --at;
    if (at->made->in_graph) continue;
    surplus.push_back(std::move(at->made));
    by_problem_.erase(at->problem);
    at = by_use_.erase(at);
  }
  return surplus;
}

}  // namespace kzoo::library
