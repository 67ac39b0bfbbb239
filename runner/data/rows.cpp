#include "data/rows.hpp"

namespace kzoo::data {
namespace {

using read_loop = void (*)(matrix x, std::int64_t index, std::int64_t step, std::span<double> out);

template <kzoo_type Type>
void read_any(matrix x, std::int64_t index, std::int64_t step, std::span<double> out) {
  x.type = Type;
  for (double& number : out) {
    number = decode(Type, generated(x, index));
    index += step;
  }
}

// Every type holds these integers, so that their bits need not be made and read.
template <content Inside>
void read_integers(matrix x, std::int64_t index, std::int64_t step, std::span<double> out) {
  x.inside = Inside;
  for (double& number : out) {
    number = static_cast<double>(whole_number(x, index, hash(x.key, index)));
    index += step;
  }
}

template <kzoo_type Type>
void read_uniform(matrix x, std::int64_t index, std::int64_t step, std::span<double> out) {
  x.inside = content::uniform;
  read_any<Type>(x, index, step, out);
}

template <kzoo_type Type>
read_loop loop_for(content inside) {
  return inside == content::uniform ? read_uniform<Type> : read_any<Type>;
}

read_loop loop_for(const matrix& x) {
  if (x.inside == content::integers && x.spread == 0) return read_integers<content::integers>;
  if (x.inside == content::signs && x.spread == 0) return read_integers<content::signs>;
  switch (x.type) {
    case KZOO_F64: return loop_for<KZOO_F64>(x.inside);
    case KZOO_F16: return loop_for<KZOO_F16>(x.inside);
    case KZOO_BF16: return loop_for<KZOO_BF16>(x.inside);
    case KZOO_E4M3: return loop_for<KZOO_E4M3>(x.inside);
    case KZOO_E5M2: return loop_for<KZOO_E5M2>(x.inside);
    case KZOO_I8: return loop_for<KZOO_I8>(x.inside);
    case KZOO_I32: return loop_for<KZOO_I32>(x.inside);
    default: return loop_for<KZOO_F32>(x.inside);
  }
}

}  // namespace

void read_row(const scaled_matrix& x, std::int64_t product, coordinates from,
              std::span<double> out) {
  if (x.type == KZOO_I4 || x.late_row >= 0) {  // two elements in a word; a row with other signs
    for (double& number : out) number = element_at(x, product, from.row, from.col++);
    return;
  }
  loop_for(x)(x, op_index(x, product, from.row, from.col), x.transposed ? x.ld : 1, out);
  if (x.extent == 0) return;
  for (double& number : out) number *= scale_at(x, product, from.row, from.col++);
}

}  // namespace kzoo::data
