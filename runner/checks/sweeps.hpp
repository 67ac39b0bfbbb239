#pragma once
// Checks that require right results on a list of problems, once for each element type and layout.

#include "checks/check.hpp"

namespace kzoo::checks {

class sweep_check : public check {
 public:
  covered run(candidate& c) const override { return sweep(c, problems(c)); }

 private:
  virtual std::vector<problem> problems(const candidate& c) const = 0;
};

// Extents of 1, primes, sizes around and below every tile, odd and even numbers of k tiles,
// different M, N and K, leading dimensions larger than the rows.
class shapes final : public sweep_check {
 public:
  const char* name() const override { return "shapes"; }

 private:
  std::vector<problem> problems(const candidate& c) const override;
};

// C = alpha A B + beta C for three alphas and three betas. With beta = 0 a NaN in C must not count.
class scalars final : public sweep_check {
 public:
  const char* name() const override { return "alpha and beta"; }

 private:
  std::vector<problem> problems(const candidate& c) const override;
};

// Integer sums that fp32 represents exactly in any order: a single dropped term is detected.
class exact_integers final : public sweep_check {
 public:
  const char* name() const override { return "exact integers"; }

 private:
  std::vector<problem> problems(const candidate& c) const override;
};

// The layouts other than the problem's own, of those that the variant takes.
class layouts final : public sweep_check {
 public:
  const char* name() const override { return "layouts"; }
  covered run(candidate& c) const override;

 private:
  std::vector<problem> problems(const candidate& c) const override;
};

// Batches, packed and padded, of which an operand may be shared; of variants that take them.
class batches final : public sweep_check {
 public:
  const char* name() const override { return "batches"; }
  covered run(candidate& c) const override;

 private:
  std::vector<problem> problems(const candidate& c) const override;
};

// A and B times powers of two, both or one up and the other down, with an alpha that makes C as
// large as ever: narrower formats overflow, or lose the small ones. In f32 a column of A that is
// larger by 2^30 and counts nothing: formats with one exponent for a row lose all others, unless a
// norm-wise bound allows it. Integers of all bits, whose products and sums wrap.
class scaled_inputs final : public sweep_check {
 public:
  const char* name() const override { return "scaled inputs"; }
  bool applies_to(const candidate& c) const override {
    return c.declared() != KZOO_COMPUTE_FP16_SUMS;  // which overflow where they are right
  }

 private:
  std::vector<problem> problems(const candidate& c) const override;
};

// Infinities and NaN in A, B and C: they reach those elements of C, and only those, that IEEE
// 754 says.
class specials final : public sweep_check {
 public:
  const char* name() const override { return "infinities"; }
  bool applies_to(const candidate& c) const override {
    // A norm-wise bound says nothing of matrices whose norm is infinite.
    return !is_integer(c.current_problem().dtype) && c.declared() != KZOO_COMPUTE_FP32_NORMWISE;
  }

 private:
  std::vector<problem> problems(const candidate& c) const override;
};

// Other random seeds, each with a new instance.
class seeds final : public sweep_check {
 public:
  const char* name() const override { return "seeds"; }

 private:
  std::vector<problem> problems(const candidate& c) const override;
};

// Scalars, padding, tails, small integers and the precision probe at the problem's own size, since
// kernels choose their path by it.
class near_size final : public sweep_check {
 public:
  const char* name() const override { return "near its size"; }
  bool is_about_problem() const override { return true; }

 private:
  std::vector<problem> problems(const candidate& c) const override;
};

// Inputs that the declared precision represents exactly and no narrower one does.
class precision_probe final : public check {
 public:
  const char* name() const override { return "precision probe"; }
  bool applies_to(const candidate& c) const override;
  covered run(candidate& c) const override;
};

}  // namespace kzoo::checks
