#include "checks/result_judge.hpp"

#include "core/operands.hpp"
#include "reference/error_map.hpp"
#include "reference/tampering.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <span>

namespace kzoo::checks {

worker::output_request result_judge::wanted(const problem& p) {
  worker::output_request output;
  const auto known = expected(p);
  if (!known->complete()) output.rows = known->rows();
  return output;
}

reference::judgement result_judge::judge(const problem& p, const worker::output_report& seen,
                                         int slot) {
  reference::judgement j;
  j.right = seen.known;
  if (j.right) return j;
  judged_by_ = expected(p);
  const kzoo_precision declared = who_.description.declared(p.dtype);
  j = compare(seen, declared, slot);
  if (!j.right && who_.show_errors) {
    if (rows_only_) client_.copy_result(slot);
    rows_only_ = false;
    j.errors = reference::map_errors(*judged_by_, declared, client_.output());
  }
  return j;
}

reference::judgement result_judge::judge_timed(const problem& p, const worker::output_report& seen,
                                               const worker::changes& found) {
  reference::judgement j = judge(p, seen);
  if (j.right && !seen.known && !who_.description.nondeterministic) {
    j.refuse(
        "within the bound, but not bit for bit the result that was judged before, and the variant "
        "is not declared nondeterministic: a race, or another computation when it is timed?");
  }
  check_tampering(p, found, j);
  return j;
}

reference::judgement result_judge::compare(const worker::output_report& seen,
                                           kzoo_precision declared, int slot) {
  rows_only_ = !judged_by_->complete();
  if (rows_only_ && seen.survey.clean())
    return reference::judge(*judged_by_, declared, last_judged());
  if (rows_only_)
    client_.copy_result(slot);  // the survey found an error: copy all of C to locate it
  rows_only_ = false;
  return reference::judge(*judged_by_, declared, client_.output());
}

reference::result result_judge::last_judged() const {
  const std::span<const std::byte> seen = client_.output();
  return rows_only_ ? reference::result{{seen.begin(), seen.end()}}
                    : reference::keep(*judged_by_, seen);
}

void check_tampering(const problem& p, const worker::changes& found, reference::judgement& j) {
  const operands o = operands_of(p);
  std::string reason = reference::tampering(o.a, "A", found.a);
  if (reason.empty()) reason = reference::tampering(o.b, "B", found.b);
  if (reason.empty()) {
    reason = reference::tampering(worker::workspace_spec(found.workspace_bytes), "the workspace",
                                  found.workspace);
  }
  if (reason.empty()) reason = reference::tampering(o.c, "C", found.c);
  if (reason.empty()) reason = reference::restored(o.a, "A", found.restored_a);
  if (reason.empty()) reason = reference::restored(o.b, "B", found.restored_b);
  if (reason.empty() && found.between > 0)
    reason = fmt::format("written between the matrices: {} word{} changed", found.between,
                         found.between == 1 ? "" : "s");
  if (reason.empty()) return;
  // Reported before a wrong C, which may be a consequence.
  j.refuse(j.right ? reason : reason + "; and of C " + j.reason);
}

}  // namespace kzoo::checks
