#include <kzoo/bare_kernel.hpp>
#include "{{source}}"

namespace {
{{#variants}}
struct {{struct}} {
{{>plugin/members}}
  template <class T>
{{entry_line}}
  static constexpr auto entry = &{{entry}};
{{launch_line}}
  template <class Arguments>
  static auto arguments([[maybe_unused]] const Arguments& x) {
    return std::make_tuple({{values}});
  }
  template <class T>
  using values = decltype(arguments(std::declval<kzoo::bare_arguments<kzoo::gemm<T>>>()));
};
{{entry_line}}
static_assert(kzoo::is_bare_kernel({{struct}}::entry<{{type}}>), {{no_kernel}});
{{arguments_line}}
static_assert(kzoo::parameter_count({{struct}}::entry<{{type}}>, {{count}}) == {{count}}, {{other_count}});
{{#parameters}}
{{arguments_line}}
static_assert(kzoo::takes_value<{{number}}, {{struct}}::values<{{type}}>>({{struct}}::entry<{{type}}>), {{no_value}});
{{arguments_line}}
static_assert(kzoo::passes<{{number}}>({{struct}}::entry<{{type}}>), {{no_number}});
{{/parameters}}
{{/variants}}
}  // namespace

KZOO_PLUGIN({{name}}, {{summary}}{{#variants}},
            kzoo::variant<kzoo::bare_kernel<{{struct}}>>({{id}}, {{about}}){{/variants}});
