#include "roofline/roofline.hpp"

#include "core/operands.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kzoo::roofline {

std::string_view unit_of(resource r) {
  const bool traffic = r == resource::read || r == resource::copy || r == resource::l2_read;
  return traffic ? "B" : r == resource::int32 ? "OP" : "FLOP";
}

std::optional<resource> resource_of(kzoo_precision precision) {
  switch (precision) {
    case KZOO_COMPUTE_FP32: return resource::fp32;
    case KZOO_COMPUTE_TF32: return resource::tf32;
    case KZOO_COMPUTE_FP16:
    case KZOO_COMPUTE_FP32_SPLIT:
    case KZOO_COMPUTE_FP32_NORMWISE:  // split inputs keep this bound as well
      return resource::fp16;
    case KZOO_COMPUTE_BF16: return resource::bf16;
    case KZOO_COMPUTE_INT32: return resource::int32;
    default: return std::nullopt;
  }
}

double products_of(kzoo_precision precision) {
  const bool split =
      precision == KZOO_COMPUTE_FP32_SPLIT || precision == KZOO_COMPUTE_FP32_NORMWISE;
  return split ? 3.0 : 1.0;
}

const measured_peak* peaks::find(resource r) const {
  const measured_peak* best = nullptr;
  for (const measured_peak& one : all)
    if (one.resource == r && (best == nullptr || one.best.rate > best->best.rate)) best = &one;
  return best;
}

std::optional<double> peaks::peak(kzoo_precision precision) const {
  const auto computes = resource_of(precision);
  const measured_peak* peak = computes ? find(*computes) : nullptr;
  return peak == nullptr ? std::nullopt : std::optional(peak->best.rate / products_of(precision));
}

namespace {

bool is_later(const floor& a, const floor& b) { return a.ms < b.ms; }

floor floor_at(const measured_peak& peak, double amount) {
  return {1e3 * amount / peak.best.rate, peak.resource, amount, peak.best.rate};
}

double l2_bytes(const peaks& measured) {
  const auto found = measured.facts.find("l2_bytes");
  return found == measured.facts.end() ? 0 : number_from<double>(found->second).value_or(0);
}

// Reading: all inputs, but B and its scales only of groups with rows.
double compulsory_bytes(const peaks& measured, const problem& p) {
  const auto bytes = [](const data::matrix& x) {
    return double(data::all_rows(x) * x.cols) * double(type_size(x.type));
  };
  const operands o = operands_of(p);
  double read = 0;
  for (const named_operand& input : inputs_of(p)) read += bytes(input.stored);
  if (p.groups > 0)
    read -= (bytes(o.b) + bytes(o.b.scales)) *
            (1 - double(data::groups_with_rows(o.offsets)) / double(p.groups));
  const double of_c = bytes(o.c);
  const double written = std::max(0.0, of_c - l2_bytes(measured));
  return read + (p.beta != 0 ? of_c : 0) + written;
}

// No peak of 8-bit integers is measured, and tensor cores exceed all others.
std::optional<resource> arithmetic_of(const problem& p, kzoo_precision declared) {
  return p.dtype.a == KZOO_I8 ? std::nullopt : resource_of(declared);
}

// The higher rate: on some devices reads are faster than copies, on others slower.
const measured_peak* memory_of(const peaks& measured) {
  const measured_peak *read = measured.find(resource::read), *copy = measured.find(resource::copy);
  if (read == nullptr || copy == nullptr) return read == nullptr ? copy : read;
  return read->best.rate > copy->best.rate ? read : copy;
}

}  // namespace

std::optional<floor> floor_of(const peaks& measured, const problem& p, kzoo_precision declared,
                              bool cold_cache) {
  if (p.alpha == 0) return std::nullopt;
  std::optional<floor> highest;
  const auto computes = arithmetic_of(p, declared);
  if (const measured_peak* peak = computes ? measured.find(*computes) : nullptr)
    highest = floor_at(*peak, products_of(declared) * p.flops());
  if (const measured_peak* memory = cold_cache ? memory_of(measured) : nullptr) {
    const floor traffic = floor_at(*memory, compulsory_bytes(measured, p));
    highest = highest ? std::max(*highest, traffic, is_later) : traffic;
  }
  return highest;
}

std::optional<double> peak_of(const peaks& measured, const problem& p, kzoo_precision declared) {
  return arithmetic_of(p, declared) ? measured.peak(declared) : std::nullopt;
}

double intensity_of(const peaks& measured, const problem& p) {
  return p.flops() / compulsory_bytes(measured, p);
}

std::optional<double> memory_rate(const peaks& measured) {
  const measured_peak* memory = memory_of(measured);
  return memory == nullptr ? std::nullopt : std::optional(memory->best.rate);
}

std::string rate_text(resource r, double per_second) {
  return quantity_text(per_second, fmt::format("{}/s", unit_of(r)));
}

std::string text_of(const floor& f) {
  return fmt::format("{} at the measured {}", quantity_text(f.amount, unit_of(f.resource)),
                     rate_text(f.resource, f.rate));
}

bool is_below(double ms, const floor& f) { return ms < (1 - kTolerance) * f.ms; }

std::string why_impossible(double ms, const floor& f, kzoo_precision declared) {
  const bool memory = unit_of(f.resource) == "B";
  return fmt::format(
      "{} is less than the {} that {} take{}: does the kernel do all its work while it is timed? If "
      "so, it {}, or the measured peaks are out of date: `runner devices --measure`; "
      "[verify] impossible_time = \"report\" accepts the time and adds a note",
      time_text(ms), time_text(f.ms), text_of(f),
      memory ? " from memory" : fmt::format(" in {}", name_of(f.resource)),
      memory ? "finds A and B in a cache"
             : fmt::format("needs fewer multiplications, or computes in something else than the {} "
                           "that it declares",
                           precision_name(declared)));
}

}  // namespace kzoo::roofline
