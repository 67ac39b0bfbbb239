#include "payload.hpp"

#include <kzoo/manifest/packed_kernel.hpp>
#include <kzoo/stages.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace kzoo::manifest {

namespace {

// The number of operands besides A, B and C that the kernel takes.
std::size_t operands_of(const kernel_variant& v) {
  const auto in_epilogue = std::ranges::count_if(
      v.epilogue, [](const epilogue_stage& s) { return has_operand(s.kind); });
  return static_cast<std::size_t>(in_epilogue) + (v.scale_block_a[0] > 0 ? 1 : 0) +
         (v.scale_block_b[0] > 0 ? 1 : 0) + (v.groups ? 1 : 0);
}

// The runner checks its own manifests when it reads their text. But anyone may have packed a
// library: its indices must not cause code execution.
bool is_sound(const kernel_variant& v, const kernel_manifest& m) {
  const auto is_argument = [&](const argument& a) {
    const std::size_t maps = a.kind == argument_kind::tensor_map ? m.maps.size()
                             : a.kind == argument_kind::operand  ? operands_of(v)
                                                                 : std::string::npos;
    return a.kind >= argument_kind::a && a.kind <= argument_kind::operand &&
           a.type >= number_type::accumulator && a.type <= number_type::i16 && a.map < maps;
  };
  const auto is_positive = [](std::uint32_t n) { return n > 0; };
  return v.layout >= layout::nn && v.layout <= layout::tt && v.row_bytes > 0 &&
         std::ranges::all_of(v.multiples, is_positive) &&
         std::ranges::all_of(v.cluster, is_positive) &&
         std::ranges::all_of(v.arguments, is_argument);
}

}  // namespace

payload own_payload() {
  static const char mark = 0;  // an address in this library
  Dl_info self{};
  if (dladdr(&mark, &self) == 0) throw std::runtime_error("the library does not know its file");
  std::ifstream in(self.dli_fname, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};

  footer end{};
  if (file.size() >= sizeof end)
    file.copy(reinterpret_cast<char*>(&end), sizeof end, file.size() - sizeof end);
  if (!std::ranges::equal(end.magic, kFooterMagic))
    throw std::runtime_error("no kernel is packed in it");
  const std::size_t packed = file.size() - sizeof end;
  if (end.manifest_bytes > packed || end.kernel_bytes > packed - end.manifest_bytes)
    throw std::runtime_error("the kernel packed in it is not whole");
  const std::size_t manifest = packed - end.manifest_bytes;
  payload result;
  nlohmann::json::parse(file.begin() + static_cast<std::ptrdiff_t>(manifest),
                        file.begin() + static_cast<std::ptrdiff_t>(packed))
      .get_to(result.manifest);
  result.kernels = file.substr(manifest - end.kernel_bytes, end.kernel_bytes);
  const kernel_manifest& m = result.manifest;
  if (!std::ranges::all_of(m.variants, [&](const auto& v) { return is_sound(v, m); }))
    throw std::runtime_error("the manifest packed in it is none of the runner's");
  return result;
}

}  // namespace kzoo::manifest
