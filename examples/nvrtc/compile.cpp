// Compiles CUDA C++ while a program runs, as many libraries do, and writes what NVRTC makes of it.
//
//   g++ -std=c++20 compile.cpp -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -lnvrtc -o compile
//   ./compile sgemm.cu sm_90
//   runner quick --plugins ./sgemm.toml,cublas:fp32
//
// No GPU is needed.

#include <nvrtc.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace {

void check(nvrtcResult result) {
  if (result != NVRTC_SUCCESS) throw std::runtime_error(nvrtcGetErrorString(result));
}

std::string compile(const std::string& source, const std::string& name, const std::string& arch) {
  nvrtcProgram program{};
  check(nvrtcCreateProgram(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr));
  const std::string option = "--gpu-architecture=" + arch;
  const char* options[] = {option.c_str(), "--std=c++17"};
  const nvrtcResult result = nvrtcCompileProgram(program, 2, options);
  std::size_t size = 0;
  check(nvrtcGetProgramLogSize(program, &size));
  std::string log(size, '\0');
  check(nvrtcGetProgramLog(program, log.data()));
  if (result != NVRTC_SUCCESS) throw std::runtime_error(log);
  check(nvrtcGetCUBINSize(program, &size));
  std::string cubin(size, '\0');
  check(nvrtcGetCUBIN(program, cubin.data()));
  check(nvrtcDestroyProgram(&program));
  return cubin;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "compile FILE.cu sm_90\n");
    return 2;
  }
  try {
    const std::filesystem::path file = argv[1];
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot read " + file.string());
    const std::string source{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::path out = file;
    std::ofstream(out.replace_extension(".cubin"), std::ios::binary)
        << compile(source, file.string(), argv[2]);
    std::printf("%s\n", out.c_str());
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 1;
  }
}
