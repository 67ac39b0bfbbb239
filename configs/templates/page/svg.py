# Draws Vega-Lite specifications as SVG files, and prints the files' names: svg.py DATA PACKAGE FOLDER.
# DATA has charts.json, specifications by name, and page.css with the colours of light and dark pages;
# PACKAGE has vl_convert.
import json, pathlib, re, sys

WIDTH = 420
data, package, folder = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(package))
import vl_convert

blocks = re.findall(r":root \{(.*?)\}", (data / "page.css").read_text(encoding="utf-8"), re.DOTALL)
palettes = {
    shade: dict(re.findall(r"(--[a-z0-9]+): (#[0-9a-f]+)", block))
    for shade, block in zip(("light", "dark"), blocks)
}


# Places to a hundredth of a pixel.
def rounded(attribute):
    return re.sub(r"\d+\.\d{3,}", lambda digits: f"{float(digits[0]):.2f}", attribute[0])


for name, spec in json.loads((data / "charts.json").read_text(encoding="utf-8")).items():
    spec["width"] = WIDTH
    # The font that vl_convert brings, so that a file is the same wherever it is made.
    spec["config"]["font"] = "Liberation Sans, Arial, sans-serif"
    spec["config"]["mark"] = {"aria": False}  # a file has one description, not one for each mark
    spec["config"]["legend"] |= {"columns": WIDTH // 190, "labelLimit": WIDTH - 60}
    drawn = vl_convert.vegalite_to_svg(spec, vl_version="6.4")
    drawn = re.sub(r' (d|transform|[xy]2?)="[^"]*"', rounded, drawn)
    for shade, colours in palettes.items():
        file = f"{name}-{shade}.svg"
        text = re.sub(r"var\((--[a-z0-9]+)\)", lambda name: colours.get(name[1], name[0]), drawn)
        (folder / file).write_text(text + "\n", encoding="utf-8")
        print(file)
