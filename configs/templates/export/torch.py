"""from {{name}}_torch import matmul: the kernels as an operator of PyTorch, torch.ops.{{name}}.matmul."""

import pathlib

import torch
from torch.utils import cpp_extension

_folder = pathlib.Path(__file__).resolve().parent
_library = _folder / "lib{{name}}.a"
if not _library.exists():
    raise ImportError(f"make -C {_folder} builds {_library} first")
cpp_extension.load(
    "{{name}}_torch",
    [str(_folder / "{{name}}_torch.cpp")],
    extra_ldflags=[str(_library)],
    with_cuda={{#cuda}}True{{/cuda}}{{^cuda}}False{{/cuda}},
    is_python_module=False,
)
matmul = torch.ops.{{name}}.matmul

# Of types of A and B; the first is taken.
_results = [
{{#functions}}
{{#of_torch}}
    ((torch.{{python_a}}, torch.{{python_b}}), torch.{{python_c}}),
{{/of_torch}}
{{/functions}}
]


@torch.library.register_fake("{{name}}::matmul")
def _(a, b):
    dtype = next((c for types, c in _results if types == (a.dtype, b.dtype)), a.dtype)
    return a.new_empty((a.shape[0], b.shape[1]), dtype=dtype)
