#include "roofline/peaks.hpp"

namespace kzoo::roofline {

std::string_view resource_name(resource r) {
  constexpr std::array<std::string_view, kResources.size()> kNames{
      "fp32", "fp64", "int32", "tf32", "fp16", "bf16", "read", "copy", "l2_read"};
  return kNames[static_cast<std::size_t>(r)];
}

std::string_view unit_of(resource r) {
  const bool traffic = r == resource::read || r == resource::copy || r == resource::l2_read;
  return traffic ? "B" : r == resource::int32 ? "OP" : "FLOP";
}

std::optional<resource> resource_of(kzoo_precision precision) {
  switch (precision) {
    case KZOO_COMPUTE_FP32:
      return resource::fp32;
    case KZOO_COMPUTE_TF32:
      return resource::tf32;
    case KZOO_COMPUTE_FP16:
    case KZOO_COMPUTE_FP32_SPLIT:
    case KZOO_COMPUTE_FP32_NORMWISE:  // split inputs keep this bound as well
      return resource::fp16;
    case KZOO_COMPUTE_BF16:
      return resource::bf16;
    case KZOO_COMPUTE_INT32:
      return resource::int32;
    default:
      return std::nullopt;
  }
}

double products_of(kzoo_precision precision) {
  const bool split =
      precision == KZOO_COMPUTE_FP32_SPLIT || precision == KZOO_COMPUTE_FP32_NORMWISE;
  return split ? 3.0 : 1.0;
}

const measured_peak* peaks::find(resource r) const {
  const measured_peak* best = nullptr;
  for (const measured_peak& one : all) {
    if (one.resource == r && (best == nullptr || one.best.rate > best->best.rate)) best = &one;
  }
  return best;
}

std::optional<double> peaks::peak(kzoo_precision precision) const {
  const auto computes = resource_of(precision);
  const measured_peak* found = computes ? find(*computes) : nullptr;
  return found == nullptr ? std::nullopt : std::optional(found->best.rate / products_of(precision));
}

}  // namespace kzoo::roofline
