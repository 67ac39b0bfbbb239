#include "verify/truths.hpp"

namespace kzoo::verify {

std::shared_ptr<const referee::truth> truths::of(const problem& p) {
  if (const auto found = known_.find(p); found != known_.end()) return found->second;
  auto made = std::make_shared<const referee::truth>(p);
  // Two of the largest; whoever still needs an older one holds it.
  constexpr double kMostElements = 2 * referee::truth::kMaxElements;
  const double elements = static_cast<double>(made->rows().size()) * static_cast<double>(p.n);
  if (elements_ + elements > kMostElements) {
    known_.clear();
    elements_ = 0;
  }
  elements_ += elements;
  known_[p] = made;
  return made;
}

}  // namespace kzoo::verify
