#pragma once
// A base of variants whose code is that of another one, with another number in it. On the cpu,
// where such a number changes nothing but the time, one of them is enough.

namespace common {

template <bool kSimulated>
struct simulated {};
template <>
struct simulated<false> {
  static constexpr const char* not_simulated = "its code is that of a variant that the cpu runs";
};

}  // namespace common
