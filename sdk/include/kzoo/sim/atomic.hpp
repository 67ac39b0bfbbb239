// Atomic functions on global and shared memory, only for the types of CUDA's overloads, so that
// code that compiles here compiles there. Relaxed order, as on the GPU; use __threadfence() to
// order other accesses around them.
#pragma once

#include <atomic>
#include <concepts>
#include <type_traits>

namespace kzoo::sim {

template <class T, class... Allowed>
concept one_of = (std::same_as<T, Allowed> || ...);

template <class T>
concept atomic_word = one_of<T, int, unsigned, unsigned long long>;
template <class T>
concept atomic_ordered = atomic_word<T> || std::same_as<T, long long>;
template <class T>
concept atomic_number = atomic_word<T> || one_of<T, float, double>;

// Replaces *address by next(*address) and returns the old value.
template <class T, class F>
inline T atomic_update(T* address, F next) {
  std::atomic_ref<T> ref(*address);
  T old = ref.load(std::memory_order_relaxed);
  while (!ref.compare_exchange_weak(old, next(old), std::memory_order_relaxed)) {
  }
  return old;
}

}  // namespace kzoo::sim

template <kzoo::sim::atomic_number T>
inline T atomicAdd(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_add(value, std::memory_order_relaxed);
}

template <class T>
requires kzoo::sim::one_of<T, int, unsigned>
inline T atomicSub(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_sub(value, std::memory_order_relaxed);
}

template <class T>
requires kzoo::sim::atomic_word<T> || std::same_as<T, float>
inline T atomicExch(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).exchange(value, std::memory_order_relaxed);
}

template <class T>
requires kzoo::sim::atomic_word<T> || std::same_as<T, unsigned short>
inline T atomicCAS(T* address, std::type_identity_t<T> compare, std::type_identity_t<T> value) {
  std::atomic_ref<T>(*address).compare_exchange_strong(compare, value, std::memory_order_relaxed);
  return compare;  // the old value, equal to `compare` if the exchange took place
}

template <kzoo::sim::atomic_ordered T>
inline T atomicMin(T* address, std::type_identity_t<T> value) {
  return kzoo::sim::atomic_update(address, [=](T old) { return value < old ? value : old; });
}

template <kzoo::sim::atomic_ordered T>
inline T atomicMax(T* address, std::type_identity_t<T> value) {
  return kzoo::sim::atomic_update(address, [=](T old) { return old < value ? value : old; });
}

template <kzoo::sim::atomic_word T>
inline T atomicAnd(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_and(value, std::memory_order_relaxed);
}

template <kzoo::sim::atomic_word T>
inline T atomicOr(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_or(value, std::memory_order_relaxed);
}

template <kzoo::sim::atomic_word T>
inline T atomicXor(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_xor(value, std::memory_order_relaxed);
}

// Counts 0, 1, ..., limit, 0, 1, ...
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return kzoo::sim::atomic_update(address,
                                  [=](unsigned old) { return old >= limit ? 0 : old + 1; });
}

// Counts down to 0, then on from limit.
inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return kzoo::sim::atomic_update(
      address, [=](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}

inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_block() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }
