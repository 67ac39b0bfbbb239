#pragma once
// The checks that ask for right results on a list of problems, once for each element type.

#include "checks/check.hpp"

namespace kzoo::checks {

class sweep_check : public check {
 public:
  std::string look(candidate& s) const override { return sweep(s, problems(s)); }

 private:
  virtual std::vector<problem> problems(const candidate& s) const = 0;
};

// One of everything, primes, sizes around and below every tile, odd and even numbers of tiles along
// k, M, N and K all different, rows further apart than they are long.
class shapes final : public sweep_check {
 public:
  const char* name() const override { return "shapes"; }

 private:
  std::vector<problem> problems(const candidate& s) const override;
};

// C = alpha A B + beta C for each of three alphas and betas; 0 times NaN is 0 here.
class scalars final : public sweep_check {
 public:
  const char* name() const override { return "alpha and beta"; }

 private:
  std::vector<problem> problems(const candidate& s) const override;
};

// Sums that fp32 holds exactly in any order: one dropped term shows.
class exact_integers final : public sweep_check {
 public:
  const char* name() const override { return "exact integers"; }

 private:
  std::vector<problem> problems(const candidate& s) const override;
};

// Other random numbers, each time for a new instance.
class seeds final : public sweep_check {
 public:
  const char* name() const override { return "seeds"; }

 private:
  std::vector<problem> problems(const candidate& s) const override;
};

// Numbers that the declared precision holds and no narrower one does.
class precision_probe final : public check {
 public:
  const char* name() const override { return "precision probe"; }
  std::string look(candidate& s) const override;
};

}  // namespace kzoo::checks
