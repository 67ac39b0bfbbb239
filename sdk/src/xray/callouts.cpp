// Functions that the compiler calls from device code built with -fsanitize=thread and
// -fsanitize-coverage=trace-pc: before each memory access, in each basic block, and instead of each
// atomic operation, which the function carries out. The names are the sanitizers'; their runtimes
// are not linked.
#include <atomic>
#include <cstring>

#include "recorder.hpp"

namespace {

using kzoo::sim::record;
using kzoo::sim::record_step;

// All memory orders are treated as the strongest: a simulated kernel cannot tell.
template <class T>
T old_of(volatile T* at, const void* from, T (*apply)(volatile T*, T), T value) {
  record(KZOO_XRAY_ATOMIC, at, sizeof(T), from);
  return apply(at, value);
}

}  // namespace

// clang-format off
#define KZOO_FROM __builtin_return_address(0)

#define KZOO_ACCESS(bytes)                                                                       \
  void __tsan_read##bytes(void* p) { record(KZOO_XRAY_READ, p, bytes, KZOO_FROM); }              \
  void __tsan_write##bytes(void* p) { record(KZOO_XRAY_WRITE, p, bytes, KZOO_FROM); }            \
  void __tsan_volatile_read##bytes(void* p) { record(KZOO_XRAY_READ, p, bytes, KZOO_FROM); }     \
  void __tsan_volatile_write##bytes(void* p) { record(KZOO_XRAY_WRITE, p, bytes, KZOO_FROM); }
#define KZOO_UNALIGNED(bytes)                                                                    \
  void __tsan_unaligned_read##bytes(void* p) { record(KZOO_XRAY_READ, p, bytes, KZOO_FROM); }    \
  void __tsan_unaligned_write##bytes(void* p) { record(KZOO_XRAY_WRITE, p, bytes, KZOO_FROM); }

#define KZOO_ATOMIC_UPDATE(bits, T, name, builtin)                                               \
  T __tsan_atomic##bits##_##name(volatile T* p, T v, int) {                                      \
    return old_of<T>(p, KZOO_FROM,                                                               \
                     [](volatile T* at, T value) { return builtin(at, value, __ATOMIC_SEQ_CST); }, \
                     v);                                                                         \
  }
#define KZOO_ATOMIC(bits, T)                                                                     \
  T __tsan_atomic##bits##_load(const volatile T* p, int) {                                       \
    record(KZOO_XRAY_ATOMIC, p, sizeof(T), KZOO_FROM);                                           \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                              \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int) {                                    \
    record(KZOO_XRAY_ATOMIC, p, sizeof(T), KZOO_FROM);                                           \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                              \
  KZOO_ATOMIC_UPDATE(bits, T, exchange, __atomic_exchange_n)                                     \
  KZOO_ATOMIC_UPDATE(bits, T, fetch_add, __atomic_fetch_add)                                     \
  KZOO_ATOMIC_UPDATE(bits, T, fetch_sub, __atomic_fetch_sub)                                     \
  KZOO_ATOMIC_UPDATE(bits, T, fetch_and, __atomic_fetch_and)                                     \
  KZOO_ATOMIC_UPDATE(bits, T, fetch_or, __atomic_fetch_or)                                       \
  KZOO_ATOMIC_UPDATE(bits, T, fetch_xor, __atomic_fetch_xor)                                     \
  KZOO_ATOMIC_UPDATE(bits, T, fetch_nand, __atomic_fetch_nand)                                   \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* expected, T v, int, int) { \
    record(KZOO_XRAY_ATOMIC, p, sizeof(T), KZOO_FROM);                                           \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST,                  \
                                       __ATOMIC_SEQ_CST);                                        \
  }                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* expected, T v, int, int) {   \
    record(KZOO_XRAY_ATOMIC, p, sizeof(T), KZOO_FROM);                                           \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST,                  \
                                       __ATOMIC_SEQ_CST);                                        \
  }
// clang-format on

extern "C" {

void __sanitizer_cov_trace_pc() { record_step(KZOO_XRAY_BLOCK, 0, KZOO_FROM); }

void __tsan_init() {}
void __tsan_func_entry(void* returns_to) {
  record_step(KZOO_XRAY_CALL, kzoo::sim::offset_of(returns_to), KZOO_FROM);
}
void __tsan_func_exit() { record_step(KZOO_XRAY_RETURN, 0, KZOO_FROM); }
void __tsan_vptr_update(void*, void*) {}
void __tsan_vptr_read(void*) {}

KZOO_ACCESS(1)
KZOO_ACCESS(2)
KZOO_ACCESS(4)
KZOO_ACCESS(8)
KZOO_ACCESS(16)
KZOO_UNALIGNED(2)
KZOO_UNALIGNED(4)
KZOO_UNALIGNED(8)
KZOO_UNALIGNED(16)

// Structures whose size is no power of two.
void __tsan_read_range(void* p, std::size_t bytes) { record(KZOO_XRAY_READ, p, bytes, KZOO_FROM); }
void __tsan_write_range(void* p, std::size_t bytes) {
  record(KZOO_XRAY_WRITE, p, bytes, KZOO_FROM);
}

KZOO_ATOMIC(8, unsigned char)
KZOO_ATOMIC(16, unsigned short)
KZOO_ATOMIC(32, unsigned)
KZOO_ATOMIC(64, unsigned long)

void __tsan_atomic_thread_fence(int) {
  record_step(KZOO_XRAY_FENCE, 0, KZOO_FROM);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void __tsan_atomic_signal_fence(int) {}

// -fsanitize=bounds. The access follows.
void __ubsan_handle_out_of_bounds(void*, std::uintptr_t index) {
  record_step(KZOO_XRAY_BOUNDS, index, KZOO_FROM);
}

}  // extern "C"
