#include "os/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>

namespace kzoo {
namespace {

class digest {
 public:
  digest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    if (!context_) throw std::bad_alloc();
    check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
  }
  void add(std::string_view bytes) {
    check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
  }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    check(EVP_DigestFinal_ex(context_.get(), bytes.data(), &size));
    std::string digits;
    for (unsigned i = 0; i < size; ++i) digits += fmt::format("{:02x}", bytes[i]);
    return digits;
  }

 private:
  static void check(int done) {
    if (done != 1) throw std::runtime_error("libcrypto cannot compute SHA-256");
  }
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

}  // namespace

std::string sha256(std::string_view bytes) {
  digest d;
  d.add(bytes);
  return d.hex();
}

std::string sha256_of(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return "";
  std::ifstream in(file, std::ios::binary);
  if (!in) return "";
  digest d;
  std::array<char, 1 << 16> part{};
  do {
    in.read(part.data(), part.size());
    d.add({part.data(), static_cast<std::size_t>(in.gcount())});
  } while (in);
  return in.bad() ? "" : d.hex();
}

}  // namespace kzoo
