#include "compile/device_code.hpp"

#include "compile/bare_kernel.hpp"
#include "core/kernel_name.hpp"
#include "input/diagnostics.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace kzoo::compile {
namespace {

using manifest::argument;
using manifest::number_type;

// A kernel as the machine code has it.
struct entry {
  std::string name;
  std::vector<number_type> parameters;
};

// The marks in PTX:
//
//   .global .align 8 .u64 kzoo_entry_0 = _Z5sgemmPf;
//   .global .align 1 .b8 kzoo_parameters_0[2] = {1};
class mark_reader {
 public:
  mark_reader(std::string_view ptx, const std::filesystem::path& source)
      : ptx_(ptx), source_(source.string()) {}

  // `parameters`: how many it has.
  entry read(std::size_t number, std::size_t parameters) const {
    const std::string name(between(fmt::format("{}{} = ", kEntryMark, number)));
    if (!is_identifier(name, "$%")) refuse(name);
    const auto list = between(fmt::format("{}{}[", kParametersMark, number));
    const std::vector<number_type> types = numbers_in(list);
    if (types.size() != parameters) refuse(list);
    return {name, types};
  }

 private:
  // What is there up to a semicolon.
  std::string_view between(const std::string& begin) const {
    const auto at = ptx_.find(begin);
    if (at == std::string_view::npos) refuse(begin);
    const std::string_view rest = ptx_.substr(at + begin.size());
    return rest.substr(0, rest.find(';'));
  }

  // "3] = {6, 1}": without what is 0 at the end.
  std::vector<number_type> numbers_in(std::string_view text) const {
    std::vector<number_type> types;
    const auto brace = text.find('{');
    if (brace == std::string_view::npos) return types;
    std::string_view rest = text.substr(brace + 1);
    for (rest = rest.substr(0, rest.find('}')); !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const auto number = number_from<int>(trimmed(rest.substr(0, comma)));
      if (!number || *number < 1 || *number > static_cast<int>(number_type::i16) + 1) refuse(text);
      types.push_back(static_cast<number_type>(*number - 1));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return types;
  }

  [[noreturn]] void refuse(std::string_view what) const {
    input::refuse(source_, fmt::format("the compiled kernels are not what is expected at {}: its "
                                       "options, or its macros, change what is compiled",
                                       input::in_quotes(what)));
  }

  std::string_view ptx_;
  std::string source_;
};

bool is_number(const argument& given) {
  using enum manifest::argument_kind;
  return given.kind == alpha || given.kind == beta || given.kind == value;
}

}  // namespace

manifest::kernel_manifest launches_of(const manifest::described_kernels& kernels,
                                      std::string_view ptx, const std::filesystem::path& source) {
  const mark_reader marks(ptx, source);
  manifest::kernel_manifest m;
  m.id = source.stem().string();
  m.summary = kernels.summary.empty() ? "a bare kernel" : kernels.summary;
  m.kernel = source.filename().string();
  std::size_t number = 0;
  for (const manifest::described_variant& d : kernels.variants)
    for (const element_types& types : d.types) {
      manifest::kernel_variant v = d.launch;
      const entry compiled = marks.read(number++, v.arguments.size());
      if (v.summary.empty()) v.summary = v.entry;
      v.entry = compiled.name;
      v.type_a = types.a;
      v.type_b = types.b;
      v.type_c = types.c;
      if (!d.names_precision) v.precision = usual_precision(types.a);
      for (std::size_t i = 0; i < v.arguments.size(); ++i)
        if (is_number(v.arguments[i])) v.arguments[i].type = compiled.parameters[i];
      for (const layout each : d.layouts) {
        v.layout = each;
        m.variants.push_back(v);
      }
    }
  return m;
}

}  // namespace kzoo::compile
