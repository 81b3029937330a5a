"""From every repeat to the tables: medians, the best peers, ratios, goals."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import works


@dataclass(frozen=True)
class Line:
    """One configuration of one work."""

    engine: str
    weights: str
    configuration: str
    median: float
    low: float
    high: float
    rounds: int

    @property
    def title(self) -> str:
        return f"{self.engine}, {self.configuration}"


def lines_of(entries: list[dict], work: str) -> list[Line]:
    return [
        Line(
            one["engine"],
            one["weights"],
            one["configuration"],
            statistics.median(one["values"]),
            min(one["values"]),
            max(one["values"]),
            len(one["values"]),
        )
        for one in entries
        if one["work"] == work and one["values"]
    ]


def width(weights: str) -> int:
    return 32 if weights == "float32" else 16


def best(lines: list[Line]) -> Line | None:
    return max(lines, key=lambda line: line.median, default=None)


@dataclass(frozen=True)
class Comparison:
    """Fullband in one configuration against the best peer of the same width of weights, and of all."""

    work: works.Work
    ours: Line
    same: Line | None
    all: Line | None

    def ratio(self, among: str) -> float | None:
        other = self.same if among == "same" else self.all
        return self.ours.median / other.median if other else None

    @property
    def reached(self) -> bool | None:
        """None where there is no goal or nobody to compare with."""
        ratio = self.ratio(self.work.among)
        return None if self.work.goal is None or ratio is None else ratio >= self.work.goal


def comparisons(entries: list[dict]) -> list[Comparison]:
    found = []
    for work in works.WORKS:
        lines = lines_of(entries, work.name)
        peers = [line for line in lines if line.engine != works.FULLBAND]
        for ours in (line for line in lines if line.engine == works.FULLBAND):
            same = [line for line in peers if width(line.weights) == width(ours.weights)]
            found.append(Comparison(work, ours, best(same), best(peers)))
    return found


@dataclass(frozen=True)
class Share:
    bound: works.Bound
    ours: Line
    limit: float

    @property
    def share(self) -> float:
        return self.ours.median / self.limit


def shares(entries: list[dict]) -> list[Share]:
    """`sgemm`: ours against that of BLAS. `read`: ours against the probe of the memory in the same program."""
    found = []
    for bound in works.BOUNDS:
        lines = lines_of(entries, bound.name)
        for ours in (line for line in lines if line.engine == works.FULLBAND):
            limits = [line for line in lines if line.engine != works.FULLBAND]
            limits += [
                line for line in lines_of(entries, f"{bound.name}_bound") if line.configuration == ours.configuration
            ]
            if limits:
                found.append(Share(bound, ours, best(limits).median))
    return found


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    texts = ["| " + " | ".join(row) + " |" for row in [head, *rows]]
    texts.insert(1, "|---|---|" + "---:|" * (len(head) - 2))
    return "\n".join(texts) + "\n"


def ratio_text(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}"


def goal_text(goal: float | None, reached: bool | None, text: str) -> str:
    if goal is None:
        return "–"
    return text + ("" if reached is None else ", reached" if reached else ", missed")


def peer_text(line: Line | None) -> str:
    return "–" if line is None else f"{number(line.median)} ({line.title})"


def ratios_table(entries: list[dict]) -> str:
    rows = []
    for one in comparisons(entries):
        goal = (
            "" if one.work.goal is None else f"{one.work.goal:g} × {'the same' if one.work.among == 'same' else 'all'}"
        )
        rows.append(
            [
                one.work.title,
                one.ours.configuration,
                f"{number(one.ours.median)} {one.work.unit}",
                peer_text(one.same),
                ratio_text(one.ratio("same")),
                peer_text(one.all),
                ratio_text(one.ratio("all")),
                goal_text(one.work.goal, one.reached, goal),
            ]
        )
    return markdown(
        ["work", "Fullband", "median", "best peer of the same width", "ratio", "best of all", "ratio", "goal"], rows
    )


def shares_table(entries: list[dict]) -> str:
    rows = [
        [
            one.bound.title,
            one.ours.configuration,
            f"{number(one.ours.median)} {one.bound.unit}",
            number(one.limit),
            f"{100 * one.share:.0f} %",
            goal_text(one.bound.goal, one.share >= one.bound.goal, f"{100 * one.bound.goal:.0f} %"),
        ]
        for one in shares(entries)
    ]
    return markdown(["share of the machine", "Fullband", "median", "limit", "share", "goal"], rows)


def all_table(entries: list[dict]) -> str:
    rows = []
    for work in works.WORKS:
        for line in sorted(lines_of(entries, work.name), key=lambda line: -line.median):
            rows.append(
                [
                    work.title,
                    line.title,
                    f"{number(line.median)} {work.unit}",
                    f"{number(line.low)} – {number(line.high)}",
                    str(line.rounds),
                ]
            )
    return markdown(["work", "engine", "median", "least – most", "rounds"], rows)


def report(entries: list[dict]) -> str:
    parts = [ratios_table(entries)]
    if shares(entries):
        parts.append(shares_table(entries))
    return "\n".join([*parts, all_table(entries)])
