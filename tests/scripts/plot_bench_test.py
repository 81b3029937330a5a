"""scripts/plot_bench: the points that it takes from reports, and the SVG that it makes of them."""
from __future__ import annotations

import copy
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts" / "charts"))

import bench_points  # noqa: E402
import line_chart  # noqa: E402

try:
    import vl_convert  # noqa: F401
except ImportError:
    print("vl-convert-python is missing (run scripts/setup); skipped")
    sys.exit(77)


def figure(rate: float, **sizes: object) -> dict:
    return {**sizes, "tokens_per_second": {"median": rate, "min": rate * 0.9, "max": rate * 1.1}}


REPORT = {
    "fullband_bench": 1,
    "model": {"name": "models/some", "width": 64},
    "prefill": [figure(900, setting="standard", prompt_tokens=128, chunk=128),
                figure(700, setting="standard", prompt_tokens=512, chunk=128)],
    "decode": [figure(50, setting="standard", batch=1, context=128),
               figure(300, setting="standard", batch=8, context=128),
               figure(40, setting="standard", batch=1, context=1024)],
    "suites": [{"suite": "own", "setting": "standard", "items": n, "items_per_second": n / 2} for n in (1, 4)],
}


class PointsTest(unittest.TestCase):
    def test_of_one_report(self) -> None:
        charts = {chart.name: chart for chart in bench_points.charts([REPORT])}
        self.assertEqual(set(charts), {"batch", "context", "prompt", "items"})  # there is one width only
        first = charts["batch"].points[0]
        self.assertEqual((first.series, first.x, first.y, first.low), ("standard, context 128", 1, 50, 45))
        self.assertEqual([(p.x, p.y) for p in charts["context"].points if p.series == "standard, batch 1"],
                         [(128, 50), (1024, 40)])
        self.assertEqual([(p.x, p.y) for p in charts["items"].points], [(1, 0.5), (4, 2)])

    def test_of_several_widths(self) -> None:
        wide = copy.deepcopy(REPORT)
        wide["model"] = {"name": "models/wide", "width": 128}
        charts = {chart.name: chart for chart in bench_points.charts([REPORT, wide])}
        line = [p.x for p in charts["width"].points if p.series == "decode, standard, batch 8, context 128"]
        self.assertEqual(line, [64, 128])
        self.assertIn("wide, standard, context 128", {p.series for p in charts["batch"].points})

    def test_single_sizes_are_no_chart(self) -> None:
        single = {**REPORT, "prefill": REPORT["prefill"][:1], "decode": REPORT["decode"][:1], "suites": []}
        self.assertEqual(bench_points.charts([single]), [])


class ProgramTest(unittest.TestCase):
    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)

    def tearDown(self) -> None:
        self.temporary.cleanup()

    def plot(self, text: str) -> subprocess.CompletedProcess:
        (self.folder / "report.json").write_text(text)
        command = [sys.executable, "-B", str(ROOT / "scripts" / "charts" / "plot_bench.py"), "--out",
                   str(self.folder / "charts"), str(self.folder / "report.json")]
        return subprocess.run(command, capture_output=True, text=True, timeout=300)

    def test_writes_charts(self) -> None:
        done = self.plot(json.dumps(REPORT))
        self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(file.name for file in (self.folder / "charts").iterdir())
        self.assertEqual(files, ["batch.svg", "context.svg", "items.svg", "prompt.svg"])
        self.assertEqual(len(done.stdout.splitlines()), 4)
        text = (self.folder / "charts" / "batch.svg").read_text()
        self.assertEqual(ElementTree.fromstring(text).tag, "{http://www.w3.org/2000/svg}svg")
        for part in ("Decoding by batch", "sequences in a step", "standard, context 1024"):
            self.assertIn(part, text)

    def test_marks_stand_where_the_numbers_are(self) -> None:
        chart = bench_points.charts([REPORT])[0]
        text = line_chart.svg(chart)
        # The screen's y grows downwards: 300 tokens/s stand above 50.
        marks = [element for element in ElementTree.fromstring(text).iter() if "point" == element.get("aria-roledescription")]
        height = {}
        for mark in marks:
            label, place = mark.get("aria-label"), mark.get("transform")
            height[label] = float(place.split(",")[1].rstrip(")"))
        fast = next(y for label, y in height.items() if "300" in label)
        slow = next(y for label, y in height.items() if "50" in label and "300" not in label)
        self.assertLess(fast, slow)

    def test_refuses_by_name(self) -> None:
        for text, why in (("{", "is not JSON"), ("[]", "is no report"), ('{"fullband_bench": 99}', "is no report")):
            done = self.plot(text)
            self.assertEqual(done.returncode, 1)
            self.assertIn("report.json", done.stderr)
            self.assertIn(why, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        done = self.plot(json.dumps({**REPORT, "prefill": [], "decode": [], "suites": []}))
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing to draw", done.stderr)


if __name__ == "__main__":
    unittest.main()
