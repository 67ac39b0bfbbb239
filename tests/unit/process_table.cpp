#include "process/process_table.hpp"
#include "support/catch.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

using kzoo::process::settings;

TEST_CASE("settings of a process that others change are set back, and named", "[process]") {
  const settings before = settings::of(getpid());
  CHECK(before.restore().changed.empty());

  rlimit files{}, now{};
  getrlimit(RLIMIT_NOFILE, &files);
  cpu_set_t processors, changed;
  sched_getaffinity(0, sizeof processors, &processors);
  const rlimit fewer{files.rlim_cur - 1, files.rlim_max};
  setrlimit(RLIMIT_NOFILE, &fewer);
  int first = 0;
  while (!CPU_ISSET(first, &processors)) ++first;
  CPU_ZERO(&changed);
  CPU_SET(first, &changed);
  sched_setaffinity(0, sizeof changed, &changed);
  const bool has_several = CPU_COUNT(&processors) > 1;

  const settings::restored back = before.restore();
  CHECK(kzoo::joined(back.changed, ", ") == (has_several ? "limits, processors" : "limits"));
  CHECK(back.all);
  getrlimit(RLIMIT_NOFILE, &now);
  CHECK(now.rlim_cur == files.rlim_cur);
  sched_getaffinity(0, sizeof changed, &changed);
  CHECK(CPU_EQUAL(&changed, &processors));
  CHECK(before.restore().changed.empty());
}
