// Barriers, shuffles, votes, reductions and matches under CUDA's names.
//
// All lanes in a mask must call, the caller included. Otherwise the launch ends with an error, even
// where a GPU would ignore exited lanes. A shuffle from a lane outside the mask gives all ones (NaN
// for floats), where CUDA leaves the value undefined.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include <kzoo/sim/device.hpp>

namespace kzoo::sim {

using here = std::source_location;

template <class T>
concept lane_value = std::is_trivially_copyable_v<T> && sizeof(T) <= 8;

template <lane_value T>
inline T shuffle(unsigned mask, T value, unsigned source, here where) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = warp_collective(warp_op::exchange, mask, bits, source, where);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

inline unsigned lane() { return self().linear % 32; }

template <class T>
inline T reduce(warp_op op, unsigned mask, T value, here where) {
  return static_cast<T>(warp_collective(op, mask, static_cast<std::uint32_t>(value), 0, where));
}

}  // namespace kzoo::sim

inline void __syncthreads(kzoo::sim::here where = kzoo::sim::here::current()) {
  kzoo::sim::block_barrier(kzoo::sim::block_op::barrier, false, where);
}

inline int __syncthreads_count(int predicate, kzoo::sim::here where = kzoo::sim::here::current()) {
  using namespace kzoo::sim;
  return static_cast<int>(block_barrier(block_op::count, predicate != 0, where));
}

inline int __syncthreads_and(int predicate, kzoo::sim::here where = kzoo::sim::here::current()) {
  using namespace kzoo::sim;
  const dim3& d = self().block_dim;
  return block_barrier(block_op::conjunction, predicate != 0, where) == d.x * d.y * d.z;
}

inline int __syncthreads_or(int predicate, kzoo::sim::here where = kzoo::sim::here::current()) {
  using namespace kzoo::sim;
  return block_barrier(block_op::disjunction, predicate != 0, where) != 0;
}

inline void __syncwarp(unsigned mask = 0xffffffffu,
                       kzoo::sim::here where = kzoo::sim::here::current()) {
  kzoo::sim::warp_collective(kzoo::sim::warp_op::sync, mask, 0, 0, where);
}

// Only the caller. CUDA promises no more: it returns some of the lanes that run together with the
// caller. Code that expects all of them is wrong there too.
inline unsigned __activemask() { return 1u << kzoo::sim::lane(); }

// `width` (a power of two up to 32) divides the warp into segments. A source lane outside the
// segment gives the caller its own value.
template <kzoo::sim::lane_value T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32,
                     kzoo::sim::here where = kzoo::sim::here::current()) {
  const auto w = static_cast<unsigned>(width);
  const unsigned segment = kzoo::sim::lane() & ~(w - 1);
  return kzoo::sim::shuffle(mask, value, segment | (static_cast<unsigned>(source) & (w - 1)),
                            where);
}

template <kzoo::sim::lane_value T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                        kzoo::sim::here where = kzoo::sim::here::current()) {
  const unsigned own = kzoo::sim::lane();
  const unsigned in_segment = own & (static_cast<unsigned>(width) - 1);
  return kzoo::sim::shuffle(mask, value, delta > in_segment ? own : own - delta, where);
}

template <kzoo::sim::lane_value T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                          kzoo::sim::here where = kzoo::sim::here::current()) {
  const unsigned own = kzoo::sim::lane();
  const auto w = static_cast<unsigned>(width);
  const unsigned left = w - 1 - (own & (w - 1));  // later lanes of the segment
  return kzoo::sim::shuffle(mask, value, delta > left ? own : own + delta, where);
}

// Earlier segments may be read, later segments not: CUDA's rule for xor.
template <kzoo::sim::lane_value T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                         kzoo::sim::here where = kzoo::sim::here::current()) {
  const unsigned own = kzoo::sim::lane();
  const unsigned last = own | (static_cast<unsigned>(width) - 1);
  const unsigned source = own ^ static_cast<unsigned>(lane_mask);
  return kzoo::sim::shuffle(mask, value, source > last ? own : source, where);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              kzoo::sim::here where = kzoo::sim::here::current()) {
  using namespace kzoo::sim;
  return static_cast<unsigned>(warp_collective(warp_op::ballot, mask, predicate != 0, 0, where));
}

inline int __any_sync(unsigned mask, int predicate,
                      kzoo::sim::here where = kzoo::sim::here::current()) {
  return __ballot_sync(mask, predicate, where) != 0;
}

inline int __all_sync(unsigned mask, int predicate,
                      kzoo::sim::here where = kzoo::sim::here::current()) {
  return __ballot_sync(mask, predicate == 0, where) == 0;
}

template <kzoo::sim::lane_value T>
inline unsigned __match_any_sync(unsigned mask, T value,
                                 kzoo::sim::here where = kzoo::sim::here::current()) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  using namespace kzoo::sim;
  return static_cast<unsigned>(warp_collective(warp_op::match, mask, bits, 0, where));
}

template <class T>
requires std::same_as<T, int> || std::same_as<T, unsigned>
inline T __reduce_add_sync(unsigned mask, T value,
                           kzoo::sim::here where = kzoo::sim::here::current()) {
  return kzoo::sim::reduce(kzoo::sim::warp_op::add, mask, value, where);
}

template <class T>
requires std::same_as<T, int> || std::same_as<T, unsigned>
inline T __reduce_min_sync(unsigned mask, T value,
                           kzoo::sim::here where = kzoo::sim::here::current()) {
  using kzoo::sim::warp_op;
  return kzoo::sim::reduce(std::same_as<T, int> ? warp_op::min_signed : warp_op::min_unsigned, mask,
                           value, where);
}

template <class T>
requires std::same_as<T, int> || std::same_as<T, unsigned>
inline T __reduce_max_sync(unsigned mask, T value,
                           kzoo::sim::here where = kzoo::sim::here::current()) {
  using kzoo::sim::warp_op;
  return kzoo::sim::reduce(std::same_as<T, int> ? warp_op::max_signed : warp_op::max_unsigned, mask,
                           value, where);
}

inline unsigned __reduce_and_sync(unsigned mask, unsigned value,
                                  kzoo::sim::here where = kzoo::sim::here::current()) {
  return kzoo::sim::reduce(kzoo::sim::warp_op::bit_and, mask, value, where);
}

inline unsigned __reduce_or_sync(unsigned mask, unsigned value,
                                 kzoo::sim::here where = kzoo::sim::here::current()) {
  return kzoo::sim::reduce(kzoo::sim::warp_op::bit_or, mask, value, where);
}

inline unsigned __reduce_xor_sync(unsigned mask, unsigned value,
                                  kzoo::sim::here where = kzoo::sim::here::current()) {
  return kzoo::sim::reduce(kzoo::sim::warp_op::bit_xor, mask, value, where);
}
