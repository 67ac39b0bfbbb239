"""MkDocs' view of this repository: pages wherever they lie, the files they link to, and references."""

import importlib
import inspect
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
DOXYGEN = tempfile.TemporaryDirectory(prefix="kzoo-site-")  # until the end
LINK = re.compile(r"(\]\(|src=\"|srcset=\")([^)\"#: ]+)(?=[)\"#])")

HEADERS = """# The SDK and libkzoo

- [All headers](../reference/files.html), with what each one is for
- [All types](../reference/annotated.html)
- [The plugin ABI](../reference/abi_8h.html), plain C
- [Writing a plugin](../reference/plugin_8hpp.html)
- [libkzoo for C](../reference/kzoo_8h.html), [for C++](../reference/kzoo_8hpp.html)
"""


def imported(name: str) -> ModuleType:
    """MkDocs restores the path of modules after it has loaded this file."""
    sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "python"), str(ROOT / "scripts")]
    try:
        return importlib.import_module(name)
    finally:
        del sys.path[:3]


def linked(page: str, text: str) -> list[str]:
    """The files and folders of the repository that a page links to."""
    targets = []
    for _, link in LINK.findall(text):
        path = (ROOT / page).parent.joinpath(link).resolve()
        if path.is_relative_to(ROOT) and path.exists():
            targets.append(path.relative_to(ROOT).as_posix())
    return targets


def doxygen_pages(folder: Path) -> dict[str, Path]:
    if shutil.which("doxygen") is None:
        raise Abort("doxygen is not installed; ./zoo setup --site installs it")
    imported("headers").write_headers(folder / "kzoo")
    settings = (Path(__file__).parent / "Doxyfile").read_text()
    settings += f'INPUT="{folder}/kzoo"\nSTRIP_FROM_PATH="{folder}"\nOUTPUT_DIRECTORY="{folder}"\n'
    ran = subprocess.run(
        ["doxygen", "-"], input=settings, capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        raise Abort(f"public headers:\n{ran.stderr}".replace(f"{folder}/", ""))
    made = folder / "html"
    return {
        "reference/" + path.relative_to(made).as_posix(): path
        for path in made.rglob("*")
        if path.is_file()
    }


def python_page() -> str:
    module = imported("kzoo")
    text = f"# The Python module\n\n{inspect.getdoc(module)}\n"
    missing: list[str] = []
    for name in module.__all__:
        thing = getattr(module, name)
        if not callable(thing):
            continue
        text += f"\n## `{name}`\n\n" + described(thing, name, missing)
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    text += f"\n### `{name}.{member}`\n\n"
                    text += described(value, f"{name}.{member}", missing)
    if missing:
        raise Abort(f"public names of python/kzoo without a docstring: {', '.join(missing)}")
    return text


def described(thing: Any, name: str, missing: list[str]) -> str:
    about = inspect.getdoc(thing)
    if not about:
        missing.append(name)
    call = ""
    if callable(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception)):
        # Annotations are texts in the module.
        signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(thing)))
        call = f"```python\n{name.rpartition('.')[2]}{signature}\n```\n\n"
    return f"{call}{about}\n"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The steps of both ladders stand below Learn."""
    course = imported("course")
    [learn] = [entry["Learn"] for entry in config.nav or [] if "Learn" in entry]
    for ladder, title in (("fp32", "fp32 steps"), ("tensor_cores", "Tensor core steps")):
        steps = [
            {step.name: step.readme.relative_to(ROOT).as_posix()}
            for step in course.steps_of(ladder)
        ]
        learn.append({title: steps})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for file in list(files):
        if file.abs_src_path and Path(file.abs_src_path).is_relative_to(config.docs_dir):
            files.remove(file)
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for folder in ("docs", "plugins", "python")
        for path in (ROOT / folder).rglob("*.md")
    }
    texts |= {path.name: path.read_text() for path in ROOT.glob("*.md")}
    texts |= imported("course").pages()
    attached: dict[str, Path] = {}
    for page, text in list(texts.items()):
        for target in linked(page, text):
            if (ROOT / target).is_file():
                attached[target] = ROOT / target
            elif f"{target}/README.md" not in texts:
                inside = sorted(path for path in (ROOT / target).iterdir() if path.is_file())
                attached |= {f"{target}/{path.name}": path for path in inside}
                listed = "".join(f"- [{path.name}]({path.name})\n" for path in inside)
                texts[f"{target}/README.md"] = f"# {target}\n\n{listed}"
    texts |= {"docs/headers.md": HEADERS, "docs/python.md": python_page()}
    attached |= doxygen_pages(Path(DOXYGEN.name))
    for uri, text in texts.items():
        files.append(File.generated(config, uri, content=text))
    for uri, path in attached.items():
        if uri not in texts:
            files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """A link to a folder leads to its page."""

    def to_page(link: re.Match[str]) -> str:
        target = (ROOT / page.file.src_uri).parent / link[2]
        return f"{link[1]}{PurePosixPath(link[2]) / 'README.md'}" if target.is_dir() else link[0]

    return LINK.sub(to_page, markdown)
