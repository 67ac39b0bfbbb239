#pragma once

#include "os/folders.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::profile {

// Where ncu writes its reports: the kernel that it watches can write where ncu can, so that is a
// folder where nothing else is, and the reports are put in the user's place afterwards.
class report_folder {
 public:
  // Of ncu's arguments, those that name a report (-o, --export) name one in this folder instead.
  explicit report_folder(std::vector<std::string>& arguments);

  const std::filesystem::path& path() const { return own_.path(); }
  // Puts the report that was asked for in its place. Returns where `report`, which ncu says it has
  // written, is now. Throws no_counters where there is one of that name already and ncu was not
  // told to replace it.
  std::string put_in_place(const std::string& report) const;

 private:
  temporary_folder own_;
  std::filesystem::path asked_;  // by the user; empty: no report was asked for
  bool replaces_ = false;
};

}  // namespace kzoo::profile
