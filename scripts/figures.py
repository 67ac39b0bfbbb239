"""Figures of the course, as SVG: which lane holds which element, which bank serves it, what happens when."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

COLOURS = ("#9ecae1", "#fdae6b", "#a1d99b", "#bcbddc", "#f4a6c0", "#d9d27a", "#8fd3c8", "#c9b29b")
STYLE = (
    "rect{stroke:#888;stroke-width:.5}.paper{fill:#fff;stroke:none}.empty{fill:#eee}text{font:12px sans-serif;fill:#222}.cell{fill:#111;font-size:10px;text-anchor:middle}.title{font-weight:bold}"
    "@media(prefers-color-scheme:dark){.paper{fill:#1b1f24}.empty{fill:#2d333b}text{fill:#ddd}.cell{fill:#111}"
    ".cell.faint{fill:#999}}"
)
EMPTY = ""  # a cell that holds nothing


@dataclass
class Svg:
    """A drawing that grows downwards."""

    width: int = 20
    height: int = 10
    parts: list[str] = field(default_factory=list)
    lanes_share: bool = False  # lanes of a drawn request read the same

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        self.width = max(self.width, int(x + 7 * len(words)) if not kind.startswith("cell") else 0)
        mark = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}"{mark}>{escape(words)}</text>')

    def box(
        self, x: float, y: float, width: float, height: float, colour: str, words: str = ""
    ) -> None:
        self.width = max(self.width, int(x + width) + 10)
        mark = f'fill="{colour}"' if colour != EMPTY else 'class="empty"'
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {mark}/>'
        )
        if words:
            faint = " faint" if colour == EMPTY else ""
            self.text(x + width / 2, y + height / 2 + 4, words, f"cell{faint}")

    def title(self, words: str) -> None:
        self.height += 18
        self.text(10, self.height - 4, words, "title")

    def note(self, words: str) -> None:
        self.height += 18
        self.text(10, self.height - 4, words)

    def grid(
        self,
        rows: int,
        cols: int,
        cell: Callable[[int, int], tuple[str, str]],
        width: float = 18,
        height: float = 18,
        row_names: Sequence[str] = (),
        col_names: Sequence[str] = (),
    ) -> None:
        """cell(row, col) is its colour and words."""
        left = 10 + 7 * max((len(name) for name in row_names), default=0)
        if col_names:
            self.height += 16
            for col, name in enumerate(col_names):
                self.text(left + (col + 0.5) * width, self.height - 4, name, "cell faint")
        for row in range(rows):
            if row_names:
                self.text(10, self.height + height / 2 + 4, row_names[row])
            for col in range(cols):
                colour, words = cell(row, col)
                self.box(left + col * width, self.height, width, height, colour, words)
            self.height += int(height)
        self.height += 8

    def timeline(
        self, rows: Sequence[tuple[str, Sequence[tuple[float, float, int, str]]]], unit: float = 62
    ) -> None:
        """Each row: its name, and (begin, length, colour, words) of what happens."""
        left = 20 + 7 * max(len(name) for name, _ in rows)
        for name, spans in rows:
            self.text(10, self.height + 16, name)
            for begin, length, colour, words in spans:
                self.box(
                    left + begin * unit, self.height, length * unit - 2, 22, COLOURS[colour], words
                )
            self.height += 26
        self.text(left, self.height + 10, "time →")
        self.height += 22

    def __str__(self) -> str:
        width, height = self.width + 10, self.height + 6
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
            f'<style>{STYLE}</style>\n<rect class="paper" width="100%" height="100%"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )


def sectors_of(words: Sequence[int]) -> list[int]:
    """The sectors, of eight words each, that the lanes of a request touch."""
    return sorted({word // 8 for word in words})


def draw_sectors(svg: Svg, title: str, words: Sequence[int]) -> None:
    """words: of each lane, the word of memory that it loads."""
    sectors = sectors_of(words)
    svg.title(f"{title}: {len(sectors)} sector{'s' if len(sectors) > 1 else ''}")
    used = set(words)
    per_row = 4

    def cell(row: int, col: int) -> tuple[str, str]:
        number = row * per_row + col // 8
        if number >= len(sectors):
            return EMPTY, ""
        word = sectors[number] * 8 + col % 8
        lanes = [lane for lane, at in enumerate(words) if at == word]
        if word not in used:
            return EMPTY, ""
        return COLOURS[number % len(COLOURS)], str(lanes[0]) if len(lanes) == 1 else "all"

    svg.grid(-(-len(sectors) // per_row), min(len(sectors), per_row) * 8, cell)


def wavefronts_of(words: Sequence[int], width: int) -> list[list[int]]:
    """Lanes by wavefront: docs/xray.md has the rules. words: of each lane, the first of `width` words."""
    lanes_at_once = 32 // width
    groups = [list(range(first, first + lanes_at_once)) for first in range(0, 32, lanes_at_once)]
    if width == 4 and any(
        all(words[lane] == words[lane ^ bit] for lane in range(32)) for bit in (1, 2)
    ):
        groups = [groups[0] + groups[1], groups[2] + groups[3]]
    wavefronts = []
    for group in groups:
        passes: list[dict[int, int]] = []  # in each, the word of a bank
        lanes: list[list[int]] = []
        for lane in group:
            wanted = {(words[lane] + i) % 32: words[lane] + i for i in range(width)}
            for number, taken in enumerate(passes):
                if all(taken.get(bank, word) == word for bank, word in wanted.items()):
                    taken.update(wanted)
                    lanes[number].append(lane)
                    break
            else:
                passes.append(dict(wanted))
                lanes.append([lane])
        wavefronts += lanes
    return wavefronts


def draw_banks(svg: Svg, title: str, words: Sequence[int], width: int) -> None:
    wavefronts = wavefronts_of(words, width)
    svg.title(f"{title}: {len(wavefronts)} wavefront{'s' if len(wavefronts) > 1 else ''}")

    def cell(row: int, col: int) -> tuple[str, str]:
        lanes = [lane for lane in wavefronts[row] if (col - words[lane]) % 32 < width]
        if not lanes:
            return EMPTY, ""
        return COLOURS[lanes[0] % len(COLOURS)], str(lanes[0]) if len(lanes) < 32 else "all"

    svg.grid(
        len(wavefronts),
        32,
        cell,
        row_names=[f"wavefront {number}" for number in range(len(wavefronts))],
        col_names=[str(bank) for bank in range(32)],
    )
    svg.lanes_share |= 1 < len(set(words)) < 32


def draw_stages(svg: Svg, stages: int, ahead: int, running: int = 0) -> None:
    """Stages by iteration. ahead: how many k tiles later the one that is filled is multiplied; running: k tiles before
    that of the iteration whose products still run."""

    def cell(row: int, stage: int) -> tuple[str, str]:
        for tile in range(row - running, row + ahead + 1):
            if tile >= 0 and tile % stages == stage:
                if tile < row:
                    return COLOURS[3], f"{tile} running"
                if tile == row:
                    return COLOURS[0], f"{tile} multiplied"
                return (
                    (COLOURS[1], f"{tile} filling")
                    if tile == row + ahead
                    else (COLOURS[2], f"{tile} arriving")
                )
        return EMPTY, "free"

    svg.grid(
        stages + 1,
        stages,
        cell,
        width=84,
        row_names=[f"k tile {row}" for row in range(stages + 1)],
        col_names=[f"stage {stage}" for stage in range(stages)],
    )


CAPTIONS = {
    "naive": "The sectors that a warp's loads and stores touch",
    "coalesced": "The sectors that a warp's loads and stores touch",
    "smem": "The banks that a warp's reads of both tiles use",
    "register_tiles": "Which thread has which column of a tile, and the banks of a read of B",
    "float4": "The banks of a warp's reads of both tiles and of its transposed store of A",
    "bank_conflict_free": "The banks of a warp's reads of both tiles and of its transposed store of A",
    "outer_product": "The order of a thread's 64 FMAs of a k step",
    "latency_hidden": "When fragments are read and multiplied",
    "double_buffer": "When tiles are loaded, stored and multiplied",
    "warp_tiles": "Which lane has which float4s of its warp's tile, and the banks of the reads",
    "cp_async": "When tiles are copied and multiplied",
    "multistage": "What each stage holds, from k tile to k tile",
    "stream_k": "Which block computes which tiles, without and with stream-K",
    "pipelined": "When fragments are read, without and with early fragments",
    "sliced_k": "Which slice of a block's warps has which k step of a k tile",
    "wmma_simple": "Which warp has which fragment of a block's tile",
    "wmma_warp_tiles": "Which warp has which fragments of a block's tile",
    "wmma_stages": "What each stage holds, from k tile to k tile",
    "wmma": "When fragments are loaded and multiplied",
    "mma": "Which lane has which accumulators of 16 x 8",
    "wgmma": "Which warp and lane has which accumulators, and what each stage holds",
    "tma": "What each stage holds, and the parity that is waited for",
    "warp_specialized": "What the producer and the consumers do, and for what they wait",
    "wide_tiles": "What a consumer has of a block's tile, and where the registers are",
    "tile_scheduler": "What the producer and the consumers do between two tiles",
    "tma_store": "The panels of a consumer's part of C, and their buffers",
    "clusters": "Which block of a cluster loads what, and where it arrives",
}
WARP = range(32)
LD = 128  # the row length of the matrices that sectors are drawn for


def constant(folder: Path, pattern: str) -> list[int]:
    """The numbers in the first text of the step's source that matches, in its groups."""
    for file in sorted(folder.glob("*.[ch][up]*")):
        if match := re.search(pattern, file.read_text(encoding="utf-8")):
            return [int(number) for number in match.groups()]
    raise ValueError(f"{folder.name}: no {pattern}")


def sizes_in(variant: str) -> list[int]:
    """The numbers in a variant's name: BM, BN, BK, ..."""
    return [int(number) for number in re.findall(r"\d+", variant)]


def naive(svg: Svg, folder: Path, variant: str) -> None:
    draw_sectors(svg, "load a(row, k), by lanes", [lane * LD for lane in WARP])
    draw_sectors(svg, "load b(k, col)", [0 for _ in WARP])
    draw_sectors(svg, "store c(row, col)", [lane * LD for lane in WARP])


def coalesced(svg: Svg, folder: Path, variant: str) -> None:
    draw_sectors(svg, "load a(row, k), by lanes", [0 for _ in WARP])
    draw_sectors(svg, "load b(k, col)", list(WARP))
    draw_sectors(svg, "store c(row, col)", list(WARP))


def smem(svg: Svg, folder: Path, variant: str) -> None:
    tile = sizes_in(variant)[0]
    k = 3
    draw_banks(
        svg, f"read a_tile[ty][{k}], by lanes", [lane // tile * tile + k for lane in WARP], 1
    )
    draw_banks(svg, f"read b_tile[{k}][tx]", [k * tile + lane % tile for lane in WARP], 1)


def register_tiles(svg: Svg, folder: Path, variant: str) -> None:
    _, bn, bk, _, tn = sizes_in(variant)
    threads = bn // tn
    svg.title(
        f"threads tx of the first {2 * threads} columns of a row of C: interleaved, and contiguous"
    )
    owner = [lambda col: col % threads, lambda col: col // tn]
    svg.grid(
        2,
        2 * threads,
        lambda row, col: (COLOURS[owner[row](col) % len(COLOURS)], str(owner[row](col))),
        row_names=["here", "contiguous"],
    )
    draw_banks(
        svg, "read b_tile[0][tx + j * kThreadsX], j = 0", [lane % threads for lane in WARP], 1
    )
    draw_banks(svg, "the same of contiguous columns", [lane % threads * tn for lane in WARP], 1)
    draw_banks(svg, "read a_tile[ty + ...][0]", [lane // threads * bk for lane in WARP], 1)


def transposed_store(bm: int, bk: int, at: Callable[[int, int], int]) -> list[int]:
    """Of each lane, the word that it stores of the first element of its float4 of A."""
    per_row = bk // 4
    return [at(lane % per_row * 4, lane // per_row) for lane in WARP]


def float4(svg: Svg, folder: Path, variant: str) -> None:
    bm, bn, bk, tm, tn = sizes_in(variant)
    threads = bn // tn
    draw_banks(svg, "read a_tile[0][ty * TM], 16 bytes", [lane // threads * tm for lane in WARP], 4)
    draw_banks(svg, "read b_tile[0][tx * TN], 16 bytes", [lane % threads * tn for lane in WARP], 4)
    draw_banks(
        svg, "store a_tile[a_k][a_row]", transposed_store(bm, bk, lambda k, row: k * bm + row), 1
    )


def bank_conflict_free(svg: Svg, folder: Path, variant: str) -> None:
    bm, bn, bk, _, tn = constant(folder, r"tiling<(\d+), (\d+), (\d+), (\d+), (\d+)>")
    threads = bn // tn
    draw_banks(
        svg,
        "read a_tile[Layout::at(0, ty * 4)], 16 bytes",
        [lane // threads * 4 for lane in WARP],
        4,
    )
    draw_banks(svg, "read b_tile[0][tx * 4], 16 bytes", [lane % threads * 4 for lane in WARP], 4)

    def swizzled(k: int, row: int) -> int:
        return k * bm + (row ^ (k // 4 * (128 // bk)))

    draw_banks(
        svg, "store a_tile[Layout::at(a_k, a_row)], swizzled", transposed_store(bm, bk, swizzled), 1
    )


def outer_product(svg: Svg, folder: Path, variant: str) -> None:
    *_, tm, tn = constant(folder, r"tiling<(\d+), (\d+), (\d+), (\d+), (\d+)>")
    svg.title("serpentine: numbers of the FMAs; coloured where B's value is reused as well as A's")

    def cell(row: int, col: int) -> tuple[str, str]:
        number = row * tn + (col if row % 2 == 0 else tn - 1 - col)
        return (COLOURS[1] if number % tn == 0 and row > 0 else COLOURS[0]), str(number)

    svg.grid(
        tm,
        tn,
        cell,
        row_names=[f"a[{i}]" for i in range(tm)],
        col_names=[f"b{j}" for j in range(tn)],
    )


def latency_hidden(svg: Svg, folder: Path, variant: str) -> None:
    svg.timeline(
        [
            ("read", [(k, 0.8, k % 2, f"k {k}") for k in range(5)]),
            ("multiply", [(k + 1, 1, k % 2, f"k {k}") for k in range(4)]),
        ]
    )
    svg.note("Colours are the two sets of fragments.")


def double_buffer(svg: Svg, folder: Path, variant: str) -> None:
    svg.timeline(
        [
            ("load to registers", [(2.6 * k, 1.8, 2, f"tile {k + 1}") for k in range(3)]),
            ("multiply", [(2.6 * k, 1.9, k % 2, f"tile {k}") for k in range(3)]),
            ("store", [(2.6 * k + 1.9, 0.5, (k + 1) % 2, f"{k + 1}") for k in range(3)]),
            ("barrier", [(2.6 * k + 2.4, 0.2, 3, "") for k in range(3)]),
        ]
    )
    svg.note("Blue and orange are the two stages.")


def warp_tiles(svg: Svg, folder: Path, variant: str) -> None:
    _, _, _, wm, wn, tm, tn = sizes_in(variant)
    high, wide = wm // tm, wn // tn

    def row_of(lane: int) -> int:
        return lane & 1 | lane >> 3 & 2 if high == 4 else lane & 1 | lane >> 1 & 6

    def col_of(lane: int) -> int:
        return lane >> 1 & 7 if high == 4 else lane >> 1 & 1 | lane >> 3 & 2

    lanes = {(row_of(lane), col_of(lane)): lane for lane in WARP}
    svg.title(f"lanes of the float4s in {wm} x {wn} of C, four rows to a cell")

    def cell(row: int, col: int) -> tuple[str, str]:
        lane = lanes[row % high, col % wide]
        return COLOURS[lane // 4 % len(COLOURS)], str(lane)

    svg.grid(wm // 4, wn // 4, cell)
    draw_banks(svg, "read of A, 16 bytes, by lanes", [row_of(lane) * 4 for lane in WARP], 4)
    draw_banks(svg, "read of B, 16 bytes", [col_of(lane) * 4 for lane in WARP], 4)


def cp_async(svg: Svg, folder: Path, variant: str) -> None:
    (stages,) = constant(folder, r"staged<WarpTile, (\d+),")
    svg.timeline(
        [
            ("issue copies", [(2.6 * k, 0.6, (k + 1) % stages, f"{k + 1}") for k in range(3)]),
            (
                "copies on their way",
                [(2.6 * k + 0.6, 1.5, (k + 1) % stages, f"k tile {k + 1}") for k in range(3)],
            ),
            ("multiply", [(2.6 * k + 0.6, 1.7, k % stages, f"k tile {k}") for k in range(3)]),
            ("wait, barrier", [(2.6 * k + 2.3, 0.3, 3, "") for k in range(3)]),
        ]
    )
    svg.note("Blue and orange are the two stages.")


def multistage(svg: Svg, folder: Path, variant: str) -> None:
    stages = sizes_in(variant)[-1]
    draw_stages(svg, stages, stages - 1)


def stream_k(svg: Svg, folder: Path, variant: str) -> None:
    bm, bn, *_ = sizes_in(variant)
    sms, tiles = 132, (4096 // bm) * (4096 // bn)
    waves, rest = divmod(tiles, sms)
    svg.title(f"4096 x 4096 has {tiles} tiles of {bm} x {bn}; {sms} SMs have one block each")
    whole = [(float(wave), 1.0, wave % 2, f"{sms} tiles") for wave in range(waves)]
    svg.timeline(
        [
            ("tiles alone", [*whole, (waves, 1, 1, f"{rest} tiles")]),
            ("stream-K", [*whole, (waves, rest / sms, 2, f"{rest} in {sms} shares")]),
            ("fix-up", [(waves + rest / sms, 0.1, 3, "")]),
        ],
        unit=120,
    )


def pipelined(svg: Svg, folder: Path, variant: str) -> None:
    bk = sizes_in(variant)[2]
    last = bk - 1
    svg.timeline(
        [
            ("stream_k: read", [(0, 0.8, 0, f"{last}"), (2.2, 0.8, 2, "0"), (3.2, 0.8, 2, "1")]),
            ("multiply", [(0, 0.9, 0, f"{last - 1}"), (1, 0.9, 0, f"{last}"), (3.2, 0.9, 2, "0")]),
            ("barrier", [(2, 0.2, 3, "")]),
        ]
    )
    svg.timeline(
        [
            ("pipelined: read", [(0, 0.8, 0, f"{last}"), (1.2, 0.8, 2, "0"), (2.2, 0.8, 2, "1")]),
            (
                "multiply",
                [(0, 0.9, 0, f"{last - 1}"), (1.2, 0.9, 0, f"{last}"), (2.2, 0.9, 2, "0")],
            ),
            ("barrier", [(1, 0.2, 3, "")]),
        ]
    )
    svg.note(f"Numbers are k steps of a k tile of {bk}; green is the next k tile.")


def sliced_k(svg: Svg, folder: Path, variant: str) -> None:
    _, _, bk, _, slices = sizes_in(variant)
    svg.title(f"k steps of a k tile, by the slice that multiplies them ({bk // slices} each)")
    svg.grid(
        1,
        bk,
        lambda row, col: (COLOURS[col // (bk // slices)], str(col // (bk // slices))),
        col_names=[str(k) for k in range(bk)],
    )


def wmma_simple(svg: Svg, folder: Path, variant: str) -> None:
    (tile,), (fragment,) = (
        constant(folder, r"kTile = (\d+)"),
        constant(folder, r"kFragment = (\d+)"),
    )
    across = tile // fragment
    svg.title(f"warps of {tile} x {tile} of C, in fragments of {fragment} x {fragment}")
    svg.grid(
        across,
        across,
        lambda row, col: (
            COLOURS[(row * across + col) % len(COLOURS)],
            f"warp {row * across + col}",
        ),
        width=60,
        height=30,
    )


def wmma_warp_tiles(svg: Svg, folder: Path, variant: str) -> None:
    bm, bn, _, wm, wn = sizes_in(variant)
    svg.title(f"warps of {bm} x {bn} of C, in fragments of 16 x 16")

    def cell(row: int, col: int) -> tuple[str, str]:
        warp = row * 16 // wm * (bn // wn) + col * 16 // wn
        return COLOURS[warp % len(COLOURS)], f"warp {warp}"

    svg.grid(bm // 16, bn // 16, cell, width=52)


def wmma_stages(svg: Svg, folder: Path, variant: str) -> None:
    pattern = "tiling<" + ", ".join(str(size) for size in sizes_in(variant)) + r", \d+, (\d+)>"
    (stages,) = constant(folder, pattern)
    draw_stages(svg, stages, stages - 1)


def wmma(svg: Svg, folder: Path, variant: str) -> None:
    steps = sizes_in(variant)[2] // 16
    times = [(tile, step) for tile in range(2) for step in range(steps)]
    svg.timeline(
        [
            (
                "load fragments",
                [(n, 0.8, n % 2, f"{tile}: {step}") for n, (tile, step) in enumerate(times)],
            ),
            (
                "multiply",
                [(n + 1, 1, n % 2, f"{tile}: {step}") for n, (tile, step) in enumerate(times)],
            ),
        ]
    )
    svg.note("k tile: k step. Colours are the two sets of fragments.")


def mma(svg: Svg, folder: Path, variant: str) -> None:
    svg.title("lane and register c[...] of 16 x 8 accumulators")

    def cell(row: int, col: int) -> tuple[str, str]:
        lane, register = row % 8 * 4 + col // 2, row // 8 * 2 + col % 2
        return COLOURS[lane // 4 % len(COLOURS)], f"{lane}: c{register}"

    svg.grid(16, 8, cell, width=48, row_names=[f"row {row}" for row in range(16)])


def wgmma(svg: Svg, folder: Path, variant: str) -> None:
    svg.title("a warpgroup's 64 x 8: warp and lane of a pair of accumulators")

    def cell(row: int, col: int) -> tuple[str, str]:
        line = row * 4  # every fourth row
        return COLOURS[line // 16 % 4], f"w{line // 16} l{line % 8 * 4 + col}"

    svg.grid(16, 4, cell, width=56, row_names=[f"row {row * 4}" for row in range(16)])
    stages = stages_in(folder, variant)
    svg.title(f"{stages} stages")
    draw_stages(svg, stages, stages - 2, running=1)


def stages_in(folder: Path, variant: str) -> int:
    bm, bn, *_ = sizes_in(variant)
    return constant(folder, rf"variant<{bm}, {bn}, (\d+)")[0]


def tma(svg: Svg, folder: Path, variant: str) -> None:
    stages = stages_in(folder, variant)
    draw_stages(svg, stages, stages - 2, running=1)
    svg.title("the parity that is waited for")
    svg.grid(
        1,
        3 * stages,
        lambda row, col: (COLOURS[col // stages % 2], str(col // stages % 2)),
        width=30,
        row_names=["parity"],
        col_names=[str(tile) for tile in range(3 * stages)],
    )


def warp_specialized(svg: Svg, folder: Path, variant: str) -> None:
    stages = stages_in(folder, variant)
    loads = [(n * 0.5, 0.45, n % len(COLOURS), f"{n}") for n in range(stages)]
    later = [(stages * 0.5 + 1.2 + n, 0.45, n % len(COLOURS), f"{stages + n}") for n in range(3)]
    svg.timeline(
        [
            ("producer: load", [*loads, *later]),
            ("consumer 0", [(2 + n, 0.9, n % len(COLOURS), f"{n}") for n in range(5)]),
            ("consumer 1", [(2.3 + n, 0.9, n % len(COLOURS), f"{n}") for n in range(5)]),
        ]
    )
    svg.note(
        f"k tiles; {stages} stages. The producer waits when all are full, a consumer when its next is not."
    )


def wide_tiles(svg: Svg, folder: Path, variant: str) -> None:
    bm, bn, *_ = sizes_in(variant)
    svg.title(f"{bm} x {bn} of C: consumers, 64 rows each")
    svg.grid(
        bm // 64,
        1,
        lambda row, col: (COLOURS[row], f"consumer {row}: 64 x {bn}"),
        width=420,
        height=40,
    )
    source = (folder / "../common/consumer_registers.hpp").read_text(encoding="utf-8")
    match = re.search(r"kProducerRegisters = (\d+), kConsumerRegisters = (\d+)", source)
    assert match is not None
    few, many = int(match[1]), int(match[2])
    for title, shares in (
        ("registers of a thread at first", (168, 168, 168)),
        ("then", (few, many, many)),
    ):
        svg.title(title)
        left = 10.0
        for number, registers in enumerate(shares):
            colour = COLOURS[2 if number == 0 else number - 1]
            svg.box(left, svg.height, registers * 0.8, 22, colour, str(registers))
            left += registers * 0.8 + 2
        svg.height += 30


def tile_scheduler(svg: Svg, folder: Path, variant: str) -> None:
    stages = stages_in(folder, variant)
    svg.timeline(
        [
            (
                "producer: load",
                [(n * 0.8, 0.75, n // 4, f"{n % 4}") for n in range(4)]
                + [(3.2 + n * 0.8, 0.75, 1, f"{n}") for n in range(stages)],
            ),
            (
                "consumers",
                [(1 + n, 0.95, 0, f"{n}") for n in range(4)]
                + [(7 + n, 0.95, 1, f"{n}") for n in range(2)],
            ),
            ("store C", [(5, 2, 0, "first tile")]),
        ]
    )
    svg.note(
        f"K tiles of two tiles of C. During the stores the next tile's {stages} stages are filled."
    )


def tma_store(svg: Svg, folder: Path, variant: str) -> None:
    _, bn, *_ = sizes_in(variant)
    (buffers,) = constant(folder, r"kCPanels = (\d+)")
    svg.title(f"a consumer's 64 x {bn} of C, in panels of 64 columns")
    svg.grid(
        1,
        bn // 64,
        lambda row, col: (COLOURS[col % buffers], f"panel {col}: buffer {col % buffers}"),
        width=130,
        height=40,
    )
    svg.timeline(
        [
            ("stmatrix", [(n * 1.0, 0.8, n % buffers, f"{n}") for n in range(bn // 64)]),
            ("TMA store", [(n * 1.0 + 0.8, 1.1, n % buffers, f"{n}") for n in range(bn // 64)]),
            ("next tile", [(bn // 64, 2, 3, "multiply")]),
        ]
    )


def clusters(svg: Svg, folder: Path, variant: str) -> None:
    bm, bn, _, cluster_m, _ = sizes_in(variant)
    svg.title(f"a cluster of {cluster_m} blocks: what rank r loads, and for whom")

    def cell(row: int, col: int) -> tuple[str, str]:
        if col == 0:
            return COLOURS[row], f"A: rows {row * bm} to {(row + 1) * bm - 1}, for itself"
        part = bn // cluster_m
        return COLOURS[row], f"B: columns {row * part} to {(row + 1) * part - 1}, for both"

    svg.grid(
        cluster_m,
        2,
        cell,
        width=230,
        height=30,
        row_names=[f"rank {row}" for row in range(cluster_m)],
    )
    svg.title("the stage of each block then has")
    half = bn // cluster_m
    svg.grid(
        cluster_m,
        1 + cluster_m,
        lambda row, col: (
            (COLOURS[row], f"A of rank {row}")
            if col == 0
            else (COLOURS[col - 1], f"B: {(col - 1) * half} to {col * half - 1}")
        ),
        width=150,
        height=30,
        row_names=[f"rank {row}" for row in range(cluster_m)],
    )


def figure(step: str, folder: Path, variant: str) -> str:
    svg = Svg()
    draw: Callable[[Svg, Path, str], None] = globals()[step]
    draw(svg, folder, variant)
    if svg.lanes_share:
        svg.note("Where lanes read the same word, the first is named.")
    return str(svg)
