"""What `fullband bench --json` measured, as the points of charts: no drawing."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

FORMAT = 1  # of the JSON; other formats may mean other things by the same key


class Fault(Exception):
    """A file that is no such report; the text names it and says what to do."""


@dataclass(frozen=True)
class Point:
    series: str
    x: float
    y: float
    low: float
    high: float


@dataclass
class Chart:
    """Lines of points, both axes logarithmic. `low` to `high` is the range of the repeats."""

    name: str
    title: str
    x_title: str
    y_title: str
    points: list[Point] = field(default_factory=list)

    def varies(self) -> bool:
        """Whether some line has two different places at least."""
        places: dict[str, set[float]] = {}
        for point in self.points:
            places.setdefault(point.series, set()).add(point.x)
        return any(len(xs) > 1 for xs in places.values())


def read(file: Path) -> dict:
    """The report in a file. Raises Fault: unreadable, no JSON, no report of this format."""
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Fault(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise Fault(f"{file}: is not JSON: {error} (give what fullband bench --json printed)") from None
    if not isinstance(report, dict) or report.get("fullband_bench") != FORMAT:
        raise Fault(f"{file}: is no report of fullband bench in format {FORMAT} (print it with --json)")
    return report


def _point(series: str, x: float, figure: dict) -> Point:
    rates = figure["tokens_per_second"]
    return Point(series, x, rates["median"], rates["min"], rates["max"])


def _name(report: dict, several: bool, *parts: str) -> str:
    """What tells a line from the others; the model's name only where there are several."""
    model = report["model"]["name"].rstrip("/").rsplit("/", 1)[-1]
    return ", ".join(([model] if several else []) + list(parts))


def charts(reports: list[dict]) -> list[Chart]:
    """The charts that have something to show."""
    batch = Chart("batch", "Decoding by batch", "sequences in a step", "decoded tokens/s")
    context = Chart("context", "Decoding by context length", "positions that the last step sees", "decoded tokens/s")
    prompt = Chart("prompt", "Prefill by prompt length", "tokens of the prompt", "prefilled tokens/s")
    items = Chart("items", "A suite by number of items", "items", "items/s")
    width = Chart("width", "Throughput by width of the model", "width D", "tokens/s")
    several = len({report["model"]["name"] for report in reports}) > 1
    for report in reports:
        size = report["model"]["width"]
        for figure in report["decode"]:
            setting, sequences, positions = figure["setting"], figure["batch"], figure["context"]
            batch.points.append(_point(_name(report, several, setting, f"context {positions}"), sequences, figure))
            context.points.append(_point(_name(report, several, setting, f"batch {sequences}"), positions, figure))
            width.points.append(_point(f"decode, {setting}, batch {sequences}, context {positions}", size, figure))
        for figure in report["prefill"]:
            setting, tokens, chunk = figure["setting"], figure["prompt_tokens"], figure["chunk"]
            prompt.points.append(_point(_name(report, several, setting, f"chunk {chunk}"), tokens, figure))
            width.points.append(_point(f"prefill, {setting}, {tokens} tokens, chunk {chunk}", size, figure))
        for figure in report["suites"]:
            rate = figure["items_per_second"]
            line = _name(report, several, figure["suite"], figure["setting"])
            items.points.append(Point(line, figure["items"], rate, rate, rate))
    return [chart for chart in (batch, context, prompt, items, width) if chart.varies()]
