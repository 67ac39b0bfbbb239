// What a profiler is to NVTX: a library that NVTX_INJECTION64_PATH names. Writes a line for each
// range of the domain kernel-zoo to the file that KZOO_NVTX_LOG names: "push NAME", "pop",
// "start NUMBER NAME", "end NUMBER".

#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::FILE* log_file() {
  static std::FILE* file = std::fopen(std::getenv("KZOO_NVTX_LOG"), "a");
  return file;
}

template <class... Values>
void note(const char* format, Values... values) {
  std::fprintf(log_file(), format, values...);
  std::fflush(log_file());  // workers end without a word
}

nvtxDomainHandle_t ours() {
  static int address = 0;
  return reinterpret_cast<nvtxDomainHandle_t>(&address);
}

nvtxDomainHandle_t create(const char* name) {
  return std::strcmp(name, "kernel-zoo") == 0 ? ours() : nullptr;
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* range) {
  if (domain == ours()) note("push %s\n", range->message.ascii);
  return 0;
}

int pop(nvtxDomainHandle_t domain) {
  if (domain == ours()) note("pop\n");
  return 0;
}

nvtxRangeId_t start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* range) {
  static unsigned long number = 0;
  ++number;
  if (domain == ours()) note("start %lu %s\n", number, range->message.ascii);
  return number;
}

void end(nvtxDomainHandle_t domain, nvtxRangeId_t number) {
  if (domain == ours()) note("end %lu\n", static_cast<unsigned long>(number));
}

template <class Function>
void set(NvtxFunctionTable table, NvtxCallbackIdCore2 which, Function function) {
  *table[which] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  set(table, NVTX_CBID_CORE2_DomainCreateA, create);
  set(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  set(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  set(table, NVTX_CBID_CORE2_DomainRangeStartEx, start);
  set(table, NVTX_CBID_CORE2_DomainRangeEnd, end);
  return 1;
}
