# Draws the charts of charts.json as SVG files, in the colours of page.css. Like the page's script it
# selects rows, with the choices that the page begins with, and computes no figure.
#   svg.py DATA                  prints the specifications
#   svg.py DATA PACKAGE FOLDER   draws them with vl_convert from PACKAGE, and prints the files' names
# DATA has charts.json, page.css and the tables as CSV.
import copy, csv, json, pathlib, re, sys

WIDTH = 420


def distinct(rows, field):
    return list(dict.fromkeys(row.get(field, "") for row in rows))


def is_present(value):
    return value not in (None, "")


def number(text):
    if text == "":
        return None
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def read_table(file, numbers):
    csv.field_size_limit(sys.maxsize)
    with open(file, newline="", encoding="utf-8") as lines:
        return [
            {name: number(value) if name in numbers else value for name, value in row.items()}
            for row in csv.DictReader(lines)
        ]


def rows_of(chart, tables):
    where = chart.get("where", {}).items()
    return [
        row
        for row in tables[chart["data"]]
        if all(is_present(row.get(field)) for field in chart["needs"])
        and all(row.get(field) == value for field, value in where)
    ]


def first_choices(tables):
    timed = [row for row in tables["cells"] if is_present(row["rate"])]
    results = {}
    for row in timed:
        results.setdefault(row["problem"], set()).add(row["result"])
    most = max(map(len, results.values()), default=0)
    common = [row for row in timed if len(results[row["problem"]]) == most]
    largest = max(common, key=lambda row: row["size"], default={})
    return {
        "problem": largest.get("problem"),
        "sweep": next(filter(None, distinct(timed, "sweep")), None),
        "map": next(iter(distinct(tables["errors"], "map")), None),
        "space": next(iter(distinct(tables["space"], "space")), None),
    }


def chosen_rows(chart, rows, choices):
    for name in chart.get("pick", []):
        if name == "variants":
            rows = [row for row in rows if row["fastest"]]
        else:
            rows = [row for row in rows if row[name] == choices[name]]
    if "behind" in chart:  # what is drawn first is behind the rest
        rows = sorted(rows, key=lambda row: row["tone"] != chart["behind"])
    return rows


# A specification with its parts: "$name" stands for what has that name.
def with_parts(spec, parts):
    return json.loads(
        re.sub(r'"\$(\w+)"', lambda match: json.dumps(parts[match[1]]), json.dumps(spec))
    )


def specification(chart, rows, tables, asked, choices):
    spec = with_parts(chart["spec"], {**asked["parts"], "axis": chart["axis"]})
    spec["$schema"] = "https://vega.github.io/schema/vega-lite/v6.json"
    spec["width"] = WIDTH
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    if "step" in chart:
        field, height = chart["step"]
        spec["height"] = height * len(distinct(rows, field))
    results = distinct(rows, "result")
    roofs = [row for row in tables["roofs"] if row["result"] in results]
    spec["datasets"] = {"rows": rows, "roofs": roofs}
    spec["data"] = {"name": "rows"}
    spec["description"] = chart["title"] + ". " + chart["note"]
    spec["config"] = copy.deepcopy(asked["config"])
    spec["config"]["legend"]["columns"] = WIDTH // 150
    several = len(distinct(tables["cells"], "result")) > 1
    of_results = {"orient": "bottom", "columns": 1, "labelLimit": WIDTH - 60}
    for part in [spec, *spec.get("layer", [])]:
        encoding = part.get("encoding", {})
        for channel in ("strokeDash", "shape", "color"):
            if (encoding.get(channel) or {}).get("field") == "result":
                encoding[channel]["legend"] = of_results if several else None
        if not several and isinstance(encoding.get("tooltip"), list):
            encoding["tooltip"] = [of for of in encoding["tooltip"] if of["field"] != "result"]
        if "sharedX" in chart and "scale" in (encoding.get("x") or {}):
            everything = chosen_rows(chart, rows_of(chart, tables), choices)
            highest = max(row[chart["sharedX"]] for row in everything)
            encoding["x"]["scale"]["domainMax"] = highest
    return spec


# The specifications by name, of every chart that has something to show without a reader's choice.
def specifications(data):
    asked = json.loads((data / "charts.json").read_text(encoding="utf-8"))
    numbers = set(asked["numbers"])
    names = ["cells", "agreement", "roofs", "errors", "space"]
    tables = {name: read_table(data / (name + ".csv"), numbers) for name in names}
    choices = first_choices(tables)
    known = {chart["id"]: chart for chart in asked["charts"]}
    made = {}
    for chosen in read_table(data / "charts.csv", set()):
        chart = {**known[chosen["id"]], **chosen}
        if chart["data"] not in tables:
            continue
        rows = [row for row in rows_of(chart, tables) if chosen["result"] in ("", row.get("result"))]
        rows = chosen_rows(chart, rows, choices)
        index = sum(name.split("-")[0] == chosen["id"] for name in made)
        if rows:
            name = chosen["id"] + (f"-{index}" if index else "")
            made[name] = specification(chart, rows, tables, asked, choices)
    return made


# The colours of the light page and of the dark one.
def palettes(data):
    style = (data / "page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[:2]
    return {
        name: dict(re.findall(r"(--[a-z0-9]+): (#[0-9a-f]+)", block))
        for name, block in (("light", light), ("dark", dark))
    }


def main():
    data = pathlib.Path(sys.argv[1])
    made = specifications(data)
    if len(sys.argv) == 2:
        print(json.dumps(made))
        return
    sys.path.insert(0, sys.argv[2])
    import vl_convert

    # Places to a hundredth of a pixel.
    def rounded(attribute):
        return re.sub(r"\d+\.\d{3,}", lambda digits: f"{float(digits[0]):.2f}", attribute[0])

    folder = pathlib.Path(sys.argv[3])
    for name, spec in made.items():
        # The font that vl_convert brings, so that a file is the same wherever it is made.
        spec["config"]["font"] = "Liberation Sans, Arial, sans-serif"
        spec["config"]["mark"] = {"aria": False}  # a file has one description, not one for each mark
        spec["config"]["legend"]["columns"] = WIDTH // 190  # for a wider one in its place
        drawn = vl_convert.vegalite_to_svg(spec, vl_version="6.4")
        drawn = re.sub(r' (d|transform|[xy]2?)="[^"]*"', rounded, drawn)
        for shade, colours in palettes(data).items():
            file = name + "-" + shade + ".svg"
            text = re.sub(r"var\((--[a-z0-9]+)\)", lambda match: colours[match[1]], drawn)
            (folder / file).write_text(text + "\n", encoding="utf-8")
            print(file)


main()
