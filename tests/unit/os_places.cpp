#include "os/places.hpp"

#include "support/catch.hpp"
#include "support/program.hpp"

#include <filesystem>
#include <fstream>

using namespace kzoo;

TEST_CASE("the folder of CUDA's Multi-Process Service is the variable's, unless it is empty") {
  const test::scratch_folder scratch;
  {
    const test::environment empty("CUDA_MPS_PIPE_DIRECTORY", "");
    CHECK(mps_folder() == "/tmp/nvidia-mps");
  }
  const test::environment set("CUDA_MPS_PIPE_DIRECTORY", scratch.path().string());
  CHECK(mps_folder() == scratch.path());
  CHECK_FALSE(has_mps());
  std::ofstream(scratch.path() / "control") << "";
  CHECK(has_mps());
}
