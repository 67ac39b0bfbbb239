"""kernel-zoo as a ReFrame test: every cell is right, and the figures of merit are GFLOP/s of each kernel.

    reframe -C site.py -c examples/cluster/kernel_zoo.py -r -S runner=$PWD/build/release/bin/runner \\
        -S experiment=$PWD/configs/experiments/ladder.toml -S earlier=$PWD/old.json
    reframe -c examples/cluster/kernel_zoo.py -r -S runner=$PWD/build/release/bin/runner \\
        -S experiment=$PWD/configs/experiments/quick.toml -S device=cpu -S valid_systems='*'

The first needs, in site.py, a partition with the feature `gpu` and the environment `builtin`, whose resource
`_rfm_gpu` hands the number of GPUs to Slurm:

    'features': ['gpu'],
    'environs': ['builtin'],
    'resources': [{'name': '_rfm_gpu', 'options': ['--gpus-per-node={num_gpus_per_node}']}],

The second runs on the cpu device of this machine, without Slurm. The test runs in a folder of ReFrame's, so
files are named by absolute paths. With an earlier result of this system, a kernel that is more than 5 %
slower fails the test.
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_before, sanity_function, variable


@rfm.simple_test
class kernel_zoo(rfm.RunOnlyRegressionTest):
    descr = 'GEMM kernels: right results, and GFLOP/s'
    runner = variable(str, value='runner')
    experiment = variable(str, value='ladder')
    device = variable(str, value='cuda')
    plugins = variable(str, value='')  # selectors, separated by commas; '': those of the experiment
    earlier = variable(str, value='')  # what `runner … --json` or `runner merge` wrote
    valid_systems = ['+gpu']
    valid_prog_environs = ['builtin']
    num_tasks = 1
    num_cpus_per_task = 8
    time_limit = '1h'
    tags = {'gemm', 'kernel-zoo', 'performance'}
    exclusive_access = True  # another job on the node would change the times
    result_file = 'result.json'

    @run_before('run')
    def choose_what_runs(self):
        self.executable = self.runner
        self.executable_opts = ['run', self.experiment, '--device', self.device, '--no-journal',
                                '--quiet', '--json', self.result_file]
        if self.plugins:
            self.executable_opts += ['--plugins', self.plugins]
        if self.device != 'cpu':
            self.num_gpus_per_node = 1

    def cells(self, file):
        with open(file) as text:
            return json.load(text)['cells']

    def figures(self, file):
        """GFLOP/s by kernel and problem, without colons, which ReFrame takes for systems; times of the
        simulator say nothing."""
        return {f"{c['plugin']}.{c['variant']}@{c['problem']['name']}": c['gflops']
                for c in self.cells(file)
                if c['gflops'] is not None and c['time']['clock'] != 'simulator'}

    @sanity_function
    def every_cell_is_right(self):
        """Exit code 0: each cell passed, or its kernel declined. 1: some cell did not. None: ReFrame's
        squeue backend, which does without accounting, does not know it; then the cells decide."""
        code = self.job.exitcode
        if code not in (0, 1, None) or not os.path.exists(os.path.join(self.stagedir, self.result_file)):
            return sn.assert_true(False, f'exit code {code}: {self.stderr} says why')
        wrong = [f"{c['plugin']}:{c['variant']} on {c['problem']['name']}: {c['verdict']}: {c['reason']}"
                 for c in self.cells(os.path.join(self.stagedir, self.result_file))
                 if c['verdict'] not in ('pass', 'unsupported', 'unavailable')]
        return sn.all([sn.assert_eq(wrong, []), sn.assert_in(code, (0, None))])

    @run_before('performance')
    def name_figures_of_merit(self):
        for name, value in self.figures(os.path.join(self.stagedir, self.result_file)).items():
            self.perf_variables[name] = sn.make_performance_function(lambda v=value: v, 'GFLOP/s')
        if self.earlier:
            self.reference = {'*': {name: (value, -0.05, None, 'GFLOP/s')
                                    for name, value in self.figures(self.earlier).items()}}
