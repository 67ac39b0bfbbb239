#include "process/resident.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>

namespace kzoo::process {

double resident_bytes(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  double bytes = 0;
  for (std::string name; status >> name;) {
    double kibibytes = 0;
    if ((name == "RssAnon:" || name == "RssShmem:") && status >> kibibytes)
      bytes += 1024 * kibibytes;
    std::getline(status, name);
  }
  return bytes;
}

}  // namespace kzoo::process
