// Templates that are put into the program.
#include "os/assets.hpp"

#include "support/catch.hpp"

#include <stdexcept>

using namespace kzoo;

TEST_CASE("a template takes texts, lists and other templates") {
  holes values{{{"experiment", "a{{b}}"}, {"folder", "/f"}, {"runner", "r"}, {"setup", ""}},
               {{"options", {{{{"option", "-x"}}}, {{{"option", "-y"}}}}}}};
  values.texts["by_device"] = "";
  const std::string plain = filled("slurm/merge.sh", values);
  CHECK(plain ==
        "#!/bin/bash\n"
        "# Merges the shards of a{{b}}, once they have ended: sbatch --dependency=afterany:JOB\n"
        "#SBATCH -x\n#SBATCH -y\n\nfolder=/f\nrunner=(r)\nscontrol=$(command -v scontrol)\n\n"
        "set -eo pipefail\nexec \"${runner[@]}\" merge \"$folder\"\n");
  values.texts["by_device"] = values.texts["setup"] = "yes";
  const std::string full = filled("slurm/merge.sh", values);
  CHECK(full.find("scontrol)\n\nyes\n\nset") != std::string::npos);
  CHECK(full.ends_with(" --by-device\n"));
}

TEST_CASE("a template without a text that it needs is an error of the program") {
  CHECK_THROWS_AS(filled("slurm/merge.sh", {}), std::out_of_range);
  CHECK_THROWS_AS(asset("none"), std::out_of_range);
}
