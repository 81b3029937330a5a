"""The drawings of made-up runs' charts: inert, the same each time, and what the figures say.

Usage: drawings_test.py CHART_SPECS (the program that prints specs)
"""
from __future__ import annotations

import copy
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

try:
    import vl_convert
except ImportError:
    print("vl-convert-python is missing (run scripts/setup); skipped")
    sys.exit(77)

from worker_jobs import charts  # noqa: E402

PROGRAM = ""
SVG = "{http://www.w3.org/2000/svg}"
# What chart_specs calls runs, as charts show it.
HOSTILE = ["</text><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "javascript:alert(1)",
           "a b\\tc\\x01\\x7f", "datum['x'].y"]


def specs(models: int, settings: int, items: int, *more: str) -> list[dict]:
    command = [PROGRAM, str(models), str(settings), str(items), *more]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=120).stdout)


def drawn(some: list[dict], theme: str = "light") -> list[str]:
    request = {"charts": some, "themes": [theme], "pdf": False}
    return [result[theme] for result in charts.render_charts(request)]


def complaints(spec: dict) -> str:
    """What Vega-Lite warns of when it compiles the spec; it raises where it cannot."""
    with tempfile.TemporaryFile() as caught:
        kept = os.dup(2)
        os.dup2(caught.fileno(), 2)
        try:
            vl_convert.vegalite_to_vega(charts.sized(spec), vl_version=charts.VEGA_LITE, show_warnings=True)
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        caught.seek(0)
        # Rows of several layers in panels of different heights: Vega-Lite says what it takes for granted, rightly.
        return "".join(line for line in caught.read().decode().splitlines(keepends=True)
                       if line.strip() and not line.startswith("WARN Detected faceted independent scales"))


def faults(svg: str) -> list[str]:
    """What in a drawing could run, load, or refer to something else."""
    found = []
    for element in ElementTree.fromstring(svg).iter():
        name = element.tag.removeprefix(SVG)
        if name not in ("svg", "g", "path", "rect", "line", "circle", "text", "tspan"):
            found.append(f"<{name}>")
        for key, value in element.attrib.items():
            risky = key.startswith(("on", "{")) or key in ("href", "style", "src", "class", "id")
            if risky or ("url(" in value and key != "aria-label"):
                found.append(f"{name} {key}={value}")
    return found


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(SVG + "text")]


class SpecsTest(unittest.TestCase):
    def test_vega_lite_has_no_complaints(self) -> None:
        for some in (specs(1, 3, 60), specs(2, 12, 60)[:12], specs(3, 2, 20, "hostile")):
            for chart in some:
                self.assertEqual(complaints(chart["spec"]), "", chart["name"])

    def test_a_wrong_spec_is_complained_of(self) -> None:
        spec = copy.deepcopy(specs(1, 2, 20)[0]["spec"])
        spec["layer"][0]["encoding"]["no_such_channel"] = {"field": "low"}
        self.assertIn("no_such_channel", complaints(spec))

    def test_sizes_and_colours_are_the_renderers(self) -> None:
        for chart in specs(2, 3, 60):
            text = json.dumps(chart["spec"])
            self.assertNotRegex(text, r"#[0-9a-fA-F]{3,8}\"")
            for key in ('"width"', '"height"', '"config"'):
                self.assertNotIn(key + ":", text)


class InertTest(unittest.TestCase):
    def test_hostile_names_stay_text(self) -> None:
        some = specs(5, 5, 40, "hostile")
        some = some[:14] + some[-2:]  # of every kind
        for chart, svg in zip(some, drawn(some), strict=True):
            self.assertEqual(faults(svg), [], chart["name"])
        rows = texts(drawn(some[:1])[0])
        for name in HOSTILE:
            self.assertIn(name, rows)

    def test_faults_are_found(self) -> None:
        good = drawn(specs(1, 2, 20)[:1])[0]
        self.assertEqual(faults(good), [])
        for planted in ("<script/>", '<image href="x"/>', "<foreignObject/>", '<g onclick="x"/>', '<path style="x"/>',
                        '<rect fill="url(#a)"/>', '<use xlink:href="#a" xmlns:xlink="http://www.w3.org/1999/xlink"/>'):
            self.assertNotEqual(faults(good.replace("</svg>", planted + "</svg>")), [], planted)

    def test_nothing_else_gets_through(self) -> None:
        for planted in ("<script>1</script>", '<image xlink:href="x" xmlns:xlink="http://www.w3.org/1999/xlink"/>',
                        "<foreignObject/>", "<style>a{}</style>", "<a/>", '<text fill="url(http://x/)">a</text>',
                        '<g fill="red;x:y"><text>a</text></g>', '<x:g xmlns:x="other"/>'):
            svg = ElementTree.fromstring(f'<svg xmlns="http://www.w3.org/2000/svg">{planted}</svg>')
            with self.assertRaises(ValueError, msg=planted):
                charts.copied(svg)
        kept = charts.copied(ElementTree.fromstring(
            '<svg xmlns="http://www.w3.org/2000/svg" onload="x"><text onclick="x" style="x" id="y">a</text></svg>'))
        self.assertEqual(ElementTree.tostring(kept), b"<svg><text>a</text></svg>")

    def test_data_from_elsewhere_are_not_fetched(self) -> None:
        spec = {"data": {"url": "https://example.org/data.json"}, "mark": "point",
                "encoding": {"x": {"field": "a", "type": "quantitative"}}}
        try:
            svg = drawn([{"name": "far", "title": "far", "spec": spec}])[0]
        except ValueError:
            return
        self.assertNotIn("example.org", svg)


class DrawingTest(unittest.TestCase):
    def test_the_same_spec_gives_the_same_bytes(self) -> None:
        some = specs(2, 3, 60)  # few enough for bands, whose transparency is a PDF's resource
        first = charts.render_charts({"charts": some, "themes": list(charts.THEMES), "pdf": True})
        program = ("import json, sys; sys.path.insert(0, sys.argv[1]); from worker_jobs import charts; "
                   "print(json.dumps(charts.render_charts(json.load(sys.stdin))))")
        request = json.dumps({"charts": some[::-1], "themes": list(charts.THEMES), "pdf": True})
        other = subprocess.run([sys.executable, "-c", program, str(ROOT / "scripts")], input=request, text=True,
                               capture_output=True, check=True, timeout=300)
        self.assertEqual(json.loads(other.stdout)[::-1], first)

    def test_bars_are_as_long_as_their_figures(self) -> None:
        chart = next(chart for chart in specs(1, 4, 60) if chart["name"] == "throughput")
        rates = [row["rate"] for row in chart["spec"]["data"]["values"]]
        svg = drawn([chart])[0]
        lengths = [float(length) for length in re.findall(r'd="M0,[\d.]+h([\d.]+)v1\d[\d.]*h-[\d.]+Z"', svg)]
        self.assertEqual(len(lengths), len(rates))
        for rate, length in zip(rates, lengths, strict=True):
            self.assertAlmostEqual(length / lengths[0], rate / rates[0], delta=1e-3)

    def test_points_and_intervals_are_where_their_figures_are(self) -> None:
        chart = next(chart for chart in specs(1, 3, 200) if chart["name"] == "accuracy")
        svg = drawn([chart])[0]
        rule = r'<line [^>]*stroke-width="2"[^>]*transform="translate\(([\d.]+),[\d.]+\)" x2="([\d.]+)"'
        ends = [(float(x), float(x2)) for x, x2 in re.findall(rule, svg)]
        rows = chart["spec"]["data"]["values"]
        self.assertEqual(len(ends), len(rows))
        scale = ends[0][1] / (rows[0]["high"] - rows[0]["low"])
        for (at, length), row in zip(ends, rows, strict=True):
            self.assertAlmostEqual(length, scale * (row["high"] - row["low"]), delta=0.05)
            self.assertAlmostEqual(at - ends[0][0], scale * (row["low"] - rows[0]["low"]), delta=0.05)

    def test_every_stand_in_is_replaced(self) -> None:
        some = specs(1, 9, 20)
        some = some[:6] + some[-2:]
        for result in charts.render_charts({"charts": some, "themes": list(charts.THEMES), "pdf": False}):
            for svg in result.values():
                for stand_in in charts.STAND_INS.values():
                    self.assertNotIn(stand_in, svg)
        self.assertEqual(len(set(charts.STAND_INS.values())), len(charts.COLOURS))

    def test_letters_are_measured_in_the_font_that_is_named(self) -> None:
        # Arial's and Liberation Sans' widths, in thousandths: W 944, i 222.
        spec = {"data": {"values": [{"a": "W" * 20}, {"a": "i" * 20}]}, "mark": "point",
                "encoding": {"y": {"field": "a", "type": "nominal", "axis": {"labelLimit": 1000}}}}
        scene = vl_convert.vegalite_to_svg({**spec, "config": charts.config()}, vl_version=charts.VEGA_LITE)
        shift = float(re.search(r'transform="translate\((\d+),', scene).group(1))
        self.assertGreater(shift, 20 * 0.944 * 12)
        self.assertLess(shift, 20 * 0.944 * 12 + 60)
        self.assertTrue(charts.FONT.startswith("Liberation Sans, Arial, Helvetica"))


def luminance(colour: str) -> float:
    channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


# Machado, Oliveira and Fernandes 2009, full strength, on linear sRGB.
VISIONS = {
    "all": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_LMS = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
          [0.0883024619, 0.2817188376, 0.6299787005]]
TO_LAB = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
          [0.0259040371, 0.7827717662, -0.8086757660]]


def times(matrix: list[list[float]], vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def oklab(colour: str, vision: str) -> list[float]:
    channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    seen = [min(max(c, 0), 1) for c in times(VISIONS[vision], linear)]
    return times(TO_LAB, [c ** (1 / 3) for c in times(TO_LMS, seen)])


class ColoursTest(unittest.TestCase):
    def test_series_stay_apart_for_the_colour_blind(self) -> None:
        for theme in (0, 1):
            for vision in VISIONS:
                seen = [oklab(pair[theme], vision) for pair in charts.SERIES]
                least = min(math.dist(a, b) for i, a in enumerate(seen) for b in seen[:i])
                self.assertGreater(least, 0.075, (theme, vision))

    def test_the_first_colour_is_one_settings_alone(self) -> None:
        self.assertEqual(charts.SERIES_PLACES.count(1), 1)
        self.assertEqual(charts.SERIES_PLACES[:15], [1, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8])

    def test_contrast(self) -> None:
        """WCAG: 3:1 for graphics, 4.5:1 for text."""
        for theme in (0, 1):
            paper = luminance(charts.COLOURS["paper"][theme])
            for name, pair in charts.COLOURS.items():
                least = 3 if name.startswith("series") else 4.5 if name in ("ink", "quiet") else 1
                light, dark = sorted((luminance(pair[theme]), paper), reverse=True)
                self.assertGreaterEqual((light + 0.05) / (dark + 0.05), least, (name, theme))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
