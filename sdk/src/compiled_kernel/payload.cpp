#include "payload.hpp"

#include <kzoo/manifest/packed_kernel.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace kzoo::manifest {

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
  return result;
}

}  // namespace kzoo::manifest
