// A variant made of a host function that takes PyTorch tensors. The runner writes it for a source
// with such a function. A Description has types, layouts and launch() as in bare_kernel.hpp, and:
//
//   static constexpr bool takes_c;  whether C is among its tensors
//
// A, B and C have two dimensions. Those of a batch have three, and so have all of a function that
// refuses two.
//   static at::Tensor call(const tensors::product&, at::Tensor& a, at::Tensor& b, at::Tensor& c);
#pragma once

#include <kzoo/bare_kernel.hpp>
#include <kzoo/tensors.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

namespace kzoo {
namespace tensors {

// A function's arguments besides A, B and C.
struct product {
  std::int64_t m, n, k;
  double alpha, beta;
  const kzoo_problem& problem;
  const void* const* operands;  // null in a call that is dry

  // The operand of this name as a tensor: a vector if it has one row, else a matrix.
  at::Tensor operand(std::string_view name) const {
    for (std::uint32_t i = 0; i < problem.operand_count; ++i) {
      const kzoo_operand& o = problem.operands[i];
      if (o.name != name) continue;
      const auto rows = static_cast<std::int64_t>(o.rows), cols = static_cast<std::int64_t>(o.cols);
      const void* const at = operands == nullptr ? session::no_memory() : operands[i];
      const std::vector<std::int64_t> sizes =
          rows == 1 ? std::vector{cols} : std::vector{rows, cols};
      return {const_cast<void*>(at), scalar_type(o.type), sizes};
    }
    fail("it takes a ", name, ", which the problem has not");
  }
};

// During its lifetime, the function is called with this session.
class session_scope {
 public:
  explicit session_scope(session& s) { current = &s; }
  ~session_scope() { current = nullptr; }
  session_scope(const session_scope&) = delete;
  session_scope& operator=(const session_scope&) = delete;
};

// Throws unless the returned tensor has C's shape and type and is contiguous.
inline void check_returned(const at::Tensor& returned, const at::Tensor& c) {
  const bool is_c = returned.sizes() == c.sizes() && returned.dtype() == c.dtype();
  if (!returned.defined() || !is_c || !returned.is_contiguous())
    fail("the function returns a tensor of ", returned.dtype(), ' ', returned.sizes(),
         returned.is_contiguous() ? "" : " that is a view", ", and C is one of ", c.dtype(), ' ',
         c.sizes());
}

// Copies the returned tensor to C if it is in other memory.
inline void finish(const at::Tensor& returned, const at::Tensor& c) {
  check_returned(returned, c);
  if (returned.data_ptr() != c.data_ptr()) copy(c.data_ptr(), returned.data_ptr(), c.nbytes());
}

}  // namespace tensors

template <class Description>
struct tensor_function : planned<Description> {
  tensor_function(const kzoo_problem& p, const kzoo_device& d)
      : problem_(p), has_batch_(wants_batch(p)), workspace_(workspace_bytes(p, d)) {}

  // Rejects a problem if a dry call throws; the exception is the reason.
  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    planned<Description>::plan_for(p, d);
    // A function that takes a two-dimensional C cannot tell a batch from one GEMM.
    if (p.batch > 1 && Description::takes_c && takes(p, false))
      return "it computes one product at a time, not a batch";
    try {
      workspace_bytes(p, d);
    } catch (const std::exception& refusal) {
      throw error(KZOO_UNSUPPORTED, refusal.what());
    }
    return nullptr;
  }

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device&) {
    return bytes_taken(p, wants_batch(p));
  }

  template <class T, layout kLayout>
  void run(const gemm<T, kLayout>& g, const kzoo_arguments& given) const {
    tensors::session s;
    s.stream = static_cast<stream_t>(given.stream);
    s.workspace = static_cast<unsigned char*>(given.workspace);
    s.capacity = workspace_;
    tensors::later::now();
    this->clear_read_c(g, given.stream);
    call(s, problem_, has_batch_, g.alpha, g.beta, given.a, given.b, given.c, given.operands);
  }
  template <class T, layout kLayout>
  void run(const gemm_batch<T, kLayout>& all, const kzoo_arguments& given) const {
    this->clear_read_c(all, given.stream);
    run(all.first, given);
  }

 private:
  // Bytes of workspace that a dry call takes. Throws whatever the function throws.
  static std::size_t bytes_taken(const kzoo_problem& p, bool has_batch) {
    void* const none = tensors::session::no_memory();
    tensors::session s;
    s.is_dry = true;
    call(s, p, has_batch, p.alpha, p.beta, none, none, none, nullptr);
    return s.used;
  }
  static bool takes(const kzoo_problem& p, bool has_batch) {
    try {
      bytes_taken(p, has_batch);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }
  static bool wants_batch(const kzoo_problem& p) {
    return p.batch > 1 || (!takes(p, false) && takes(p, true));
  }

  static void call(tensors::session& s, const kzoo_problem& p, bool has_batch, double alpha,
                   double beta, const void* a, const void* b, void* c,
                   const void* const* operands) {
    const auto sizes = [&](std::int64_t rows, std::int64_t cols) {
      std::vector<std::int64_t> all{std::max<std::int64_t>(1, p.batch), rows, cols};
      if (!has_batch) all.erase(all.begin());
      return all;
    };
    const auto matrix = [&](const void* at, kzoo_type type, kzoo_layout layout, std::int64_t rows,
                            std::int64_t cols) {
      if (layout == KZOO_COLUMN_MAJOR) std::swap(rows, cols);
      return at::Tensor(const_cast<void*>(at), tensors::scalar_type(type), sizes(rows, cols));
    };
    at::Tensor of_a = matrix(a, p.type_a, p.layout_a, p.m, p.k),
               of_b = matrix(b, p.type_b, p.layout_b, p.k, p.n),
               of_c = matrix(c, p.type_c, p.layout_c, p.m, p.n);
    const at::Tensor whole = of_c;  // which the function cannot change
    s.c = Description::takes_c ? nullptr : c;
    s.sizes_of_c = sizes(p.m, p.n);
    s.type_of_c = whole.dtype();
    const tensors::session_scope scope(s);
    const at::Tensor returned =
        Description::call({p.m, p.n, p.k, alpha, beta, p, operands}, of_a, of_b, of_c);
    if (!s.is_dry)
      tensors::finish(returned, whole);
    else if (has_batch)
      tensors::check_returned(returned, whole);
  }

  kzoo_problem problem_;
  bool has_batch_;
  std::size_t workspace_;
};

}  // namespace kzoo
