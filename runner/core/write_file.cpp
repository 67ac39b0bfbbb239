#include "core/write_file.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

namespace kzoo {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, const std::string& why) {
  throw not_written(fmt::format("{} cannot be written: {}", file.string(), why));
}

}  // namespace

void write_file(const fs::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) fail(file, std::strerror(errno));
}

void replace_file(const fs::path& file, std::string_view text) {
  const fs::path part = fmt::format("{}.{}.part", file.string(), getpid());
  std::error_code fault, ignored;
  try {
    write_file(part, text);
  } catch (const not_written&) {
    fs::remove(part, ignored);
    throw;
  }
  fs::rename(part, file, fault);
  if (!fault) return;
  fs::remove(part, ignored);
  fail(file, fault.message());
}

}  // namespace kzoo
