#pragma once
// What a variant prepares for a problem depends on the kernel that will run: on element types and
// layout, which `run` gets as the type of its argument and a constructor does not.

#include <kzoo/plugin.hpp>

#include <type_traits>

namespace common {

// Calls body(std::type_identity<Gemm>) for the kzoo::gemm that `run` will get.
template <class... T, kzoo::layout... kLayout, class Body>
void for_gemm_of(const kzoo_problem& p, kzoo::types<T...>, kzoo::layouts<kLayout...>,
                 const Body& body) {
  const auto for_type = [&]<class Of>(std::type_identity<Of>) {
    using traits = kzoo::element_traits<Of>;
    if (p.type_a != traits::type_a || p.type_b != traits::type_b || p.type_c != traits::type)
      return;
    ((kzoo::layout_of(p) == kLayout ? body(std::type_identity<kzoo::gemm<Of, kLayout>>{}) : void()),
     ...);
  };
  (for_type(std::type_identity<T>{}), ...);
}

}  // namespace common
