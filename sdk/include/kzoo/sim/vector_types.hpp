// char1 .. double4, dim3 and make_*(): members, sizes and alignments are CUDA's.
#pragma once

namespace kzoo::sim {
using schar = signed char;
using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using longlong = long long;
using ulonglong = unsigned long long;
using ulong = unsigned long;
}  // namespace kzoo::sim

// 3-vectors have their element's alignment; 2- and 4-vectors are aligned to their size, up to 16.
// clang-format off
#define KZOO_SIM_VECTOR(name, T, align2, align4)                                                   \
  struct name##1 { T x; };                                                                         \
  struct alignas(align2) name##2 { T x, y; };                                                      \
  struct name##3 { T x, y, z; };                                                                   \
  struct alignas(align4) name##4 { T x, y, z, w; };                                                \
  constexpr name##1 make_##name##1(T x) { return {x}; }                                            \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }                                    \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                            \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

KZOO_SIM_VECTOR(char, kzoo::sim::schar, 2, 4)
KZOO_SIM_VECTOR(uchar, kzoo::sim::uchar, 2, 4)
KZOO_SIM_VECTOR(short, short, 4, 8)
KZOO_SIM_VECTOR(ushort, kzoo::sim::ushort, 4, 8)
KZOO_SIM_VECTOR(int, int, 8, 16)
KZOO_SIM_VECTOR(uint, kzoo::sim::uint, 8, 16)
KZOO_SIM_VECTOR(long, long, 16, 16)
KZOO_SIM_VECTOR(ulong, kzoo::sim::ulong, 16, 16)
KZOO_SIM_VECTOR(longlong, kzoo::sim::longlong, 16, 16)
KZOO_SIM_VECTOR(ulonglong, kzoo::sim::ulonglong, 16, 16)
KZOO_SIM_VECTOR(float, float, 8, 16)
KZOO_SIM_VECTOR(double, double, 16, 16)

#undef KZOO_SIM_VECTOR
// clang-format on

struct dim3 {
  unsigned x = 1, y = 1, z = 1;

  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
