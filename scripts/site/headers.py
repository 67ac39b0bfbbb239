"""The public headers as Doxygen reads them: their comments become its own.

A comment in front of a declaration, or behind it on its line, documents it. The comment at the top
of a file documents the file.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SDK = ROOT / "sdk" / "include" / "kzoo"

# Headers that generated sources, callers of plugins and the runner include, but no author of a kernel.
INTERNAL = {
    "bare_kernel.hpp",
    "caller.hpp",
    "element_traits.hpp",
    "exported.hpp",
    "ffi_tensors.hpp",
    "identifier.hpp",
    "joined_plugin.hpp",
    "launch_limits.hpp",
    "launch_list.hpp",
    "numeric.hpp",
    "stages.hpp",
    "tensor_calls.hpp",
    "tensor_function.hpp",
    "tensor_types.hpp",
    "tensors.hpp",
    "type_names.hpp",
    "xray.h",
}

# `int64_t m, n, k; /* each >= 1 */`: the names, and the comment on all of them.
SEVERAL = re.compile(
    r"(\s*(?:static constexpr )?(?:const )?[\w:<>]+ )"
    r"([\w\[\] =*/]+(?:, [\w\[\] =*/]+)+);(?:\s*(?:/\*(.*)\*/|//(.*)))?"
)
BEHIND = re.compile(r"(?!#(?!define))(.*[^\s/*].*?)\s+(?:/\*(.*)\*/|//(.*))")


def escaped(text: str) -> str:
    """Plain text, and code where it is indented, as Doxygen's Markdown."""
    if re.match(r" {3,}\S", text):
        return "    " + text
    return re.sub(r"([@\\<>#&%])", r"\\\1", text)


def block(comment: list[str]) -> list[str]:
    """The text of the lines of a comment."""
    text = re.sub(r"^\s*/\*|\*/$", "", "\n".join(comment).strip())
    return [re.sub(r"^\s*(//|\*(?!/))", "", line) for line in text.split("\n")]


def documented(text: str) -> str:
    lines = text.split("\n")
    made: list[str] = []
    row = 0
    is_first = True
    while row < len(lines):
        end = row
        if lines[row].lstrip().startswith("/*"):
            while not lines[end].rstrip().endswith("*/"):
                end += 1
            end += 1
        else:
            while lines[end].lstrip().startswith("//"):
                end += 1
        about: list[str] = []
        if end > row:
            about = [escaped(line) for line in block(lines[row:end])]
            declares = lines[end].strip() and not re.match(r"#(?!define)|\}|namespace", lines[end])
            if is_first:
                made += ["/** @file", *about, "*/"]
            elif declares:
                made += ["/**", *about, "*/"]
            else:
                about = []
            is_first = False
            row = end
        line = "" if "KZOO_ABI_ASSERT" in lines[row] else lines[row]
        several = SEVERAL.fullmatch(line)
        behind = BEHIND.fullmatch(line)
        if several and not line.lstrip().startswith("return"):
            kind, names, c, cpp = several.groups()
            own = f" /**< {escaped(c or cpp)} */" if c or cpp else ""
            repeated = "/** " + "\n".join(about) + " */ " if about and not own else ""
            parts = [f"{kind}{name};{own}" for name in names.split(", ")]
            made.append(parts[0])
            made += [repeated + part for part in parts[1:]]
        elif behind and "//" not in behind[1] and "/*" not in behind[1]:
            made.append(f"{behind[1]} /**< {escaped((behind[2] or behind[3]).strip())} */")
        else:
            made.append(line)
        row += 1
    return "\n".join(made)


def write_headers(folder: Path) -> None:
    headers = [path for path in SDK.glob("*.h*") if path.name not in INTERNAL]
    headers += (ROOT / "library" / "include" / "kzoo").glob("*.h*")
    folder.mkdir(parents=True, exist_ok=True)
    for path in headers:
        (folder / path.name).write_text(documented(path.read_text()))
