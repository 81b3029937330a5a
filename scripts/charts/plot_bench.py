"""Draws what `fullband bench --json` measured; see scripts/plot_bench."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import bench_points
import line_chart


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="plot_bench", description="Charts of fullband bench --json, as SVG.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the charts")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.json", help="what fullband bench --json printed")
    options = parser.parse_args(arguments)
    try:
        reports = [bench_points.read(file) for file in options.files]
    except bench_points.Fault as fault:
        print(f"plot_bench: {fault}", file=sys.stderr)
        return 1
    charts = bench_points.charts(reports)
    if not charts:
        print("plot_bench: nothing to draw: no size varies in these files (measure several batches, say)", file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    for chart in charts:
        file = options.out / f"{chart.name}.svg"
        file.write_text(line_chart.svg(chart), encoding="utf-8")
        print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
