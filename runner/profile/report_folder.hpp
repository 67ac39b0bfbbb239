#pragma once

#include "os/folders.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::profile {

// A folder for ncu's reports only, since the kernel can write wherever ncu can.
class report_folder {
 public:
  // Replaces the report (-o, --export) in ncu's arguments by one in this folder.
  explicit report_folder(std::vector<std::string>& arguments);

  const std::filesystem::path& path() const { return own_.path(); }
  // Copies the requested report to its place. Returns the place of `report`, ncu's name of it.
  // Throws no_counters if the file exists and ncu was not told to replace it.
  std::string put_in_place(const std::string& report) const;

 private:
  temporary_folder own_;
  std::filesystem::path asked_;  // by the user; empty: no report was asked for
  bool replaces_ = false;
};

}  // namespace kzoo::profile
