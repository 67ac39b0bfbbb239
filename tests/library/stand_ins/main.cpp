// Calls cuBLAS: what its argument names. With a second one, from a module with that path, which
// alone is linked to cuBLAS, as a package for Python is.

#include <dlfcn.h>

#include <cstdio>

#ifdef LINKED
extern "C" int call_cublas(const char* what);
#endif

int main(int argc, char** argv) {
  if (argc < 2) return 2;
#ifdef LINKED
  return call_cublas(argv[1]);
#else
  void* module = argc > 2 ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (module == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  return reinterpret_cast<int (*)(const char*)>(dlsym(module, "call_cublas"))(argv[1]);
#endif
}
