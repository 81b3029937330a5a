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
    numbers: str

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
            one["numbers"],
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
    """Fullband in one configuration against the best peer of each field that it is compared in (None: nobody there)."""

    work: works.Work
    ours: Line
    peers: dict[str, Line | None]
    allowed: float | None  # what the machine's float32 multiply-adds allow, in the work's unit

    @property
    def judged(self) -> list[str]:
        """The fields of the goal, or those that there are where it names none of them."""
        return [field for field in self.work.among if field in self.peers] or list(self.peers)

    def ratio(self, field: str) -> float | None:
        other = self.peers.get(field)
        return self.ours.median / other.median if other else None

    def reached(self, field: str) -> bool | None:
        """None where there is no goal or nobody to compare with."""
        ratio = self.ratio(field)
        return None if self.work.goal is None or ratio is None else ratio >= self.work.goal

    def needed(self, field: str) -> float:
        """The median that the goal asks for."""
        return self.work.goal * self.peers[field].median

    def beyond(self, field: str) -> bool:
        """Whether the goal asks for more than float32 multiply-adds allow."""
        return self.allowed is not None and self.needed(field) > self.allowed


def in_field(field: str, peer: Line, ours: Line) -> bool:
    return {
        "float32": peer.weights == "float32",
        "width": width(peer.weights) == width(ours.weights),
        "all": True,
    }[field]


def comparisons(entries: list[dict], numbers: str = works.SHARED_NUMBERS) -> list[Comparison]:
    """Numbers that peers do not have are compared with their float32 weights alone: others could not hold them."""
    fields = tuple(works.FIELDS) if numbers == works.SHARED_NUMBERS else ("float32",)
    found = []
    for work in works.WORKS:
        lines = lines_of(entries, work.name)
        peers = [line for line in lines if line.engine != works.FULLBAND]
        bound = best(lines_of(entries, f"{work.stage}_bound"))
        for ours in (line for line in lines if line.engine == works.FULLBAND and line.numbers == numbers):
            chosen = {field: best([peer for peer in peers if in_field(field, peer, ours)]) for field in fields}
            found.append(Comparison(work, ours, chosen, bound.median if bound else None))
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


def ratio_text(one: Comparison, field: str) -> str:
    ratio = one.ratio(field)
    return "–" if ratio is None else f"{ratio:.2f} × {number(one.peers[field].median)} ({one.peers[field].title})"


def verdict(one: Comparison, field: str) -> str:
    if one.reached(field):
        return f"{field} reached"
    beyond = ", more than float32 allows" if one.beyond(field) else ""
    return f"{field} missed ({number(one.needed(field))} asked for{beyond})"


def goal_text(one: Comparison) -> str:
    if one.work.goal is None:
        return "–"
    verdicts = [verdict(one, field) for field in one.judged if one.reached(field) is not None]
    return f"{one.work.goal:g} ×" + (": " + "; ".join(verdicts) if verdicts else "")


def allowed_text(one: Comparison) -> str:
    return "–" if one.allowed is None else f"{number(one.allowed)} ({100 * one.ours.median / one.allowed:.0f} % of it)"


def ratios_table(entries: list[dict], numbers: str = works.SHARED_NUMBERS) -> str:
    """Empty where nothing was measured with these numbers."""
    found = comparisons(entries, numbers)
    if not found:
        return ""
    fields = list(found[0].peers)
    rows = [
        [
            one.work.title,
            one.ours.configuration,
            f"{number(one.ours.median)} {one.work.unit}",
            *(ratio_text(one, field) for field in fields),
            goal_text(one),
            allowed_text(one),
        ]
        for one in found
    ]
    titles = [works.FIELDS[field] for field in fields]
    return markdown(["work", "Fullband", "median", *titles, "goal", "float32 multiply-adds allow"], rows)


def shares_table(entries: list[dict]) -> str:
    rows = [
        [
            one.bound.title,
            one.ours.configuration,
            f"{number(one.ours.median)} {one.bound.unit}",
            number(one.limit),
            f"{100 * one.share:.0f} %",
            f"{100 * one.bound.goal:.0f} %, " + ("reached" if one.share >= one.bound.goal else "missed"),
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


RATIOS = """The same numbers everywhere. Cells: ratio × the best peer's median (which peer). float32: peers that compute
in float32 throughout, as Fullband does; width: peers whose weights are given as wide; all: with 16-bit arithmetic, too.
What multiply-adds allow is the measured peak of this machine over two operations for each parameter of a token.
"""
WIDE = """Numbers that no bfloat16 holds, as float32. Peers' figures are those with float32 weights from above: their time
does not depend on the numbers.
"""


def report(entries: list[dict]) -> str:
    parts = []
    for head, numbers in ((RATIOS, works.SHARED_NUMBERS), (WIDE, works.WIDE_NUMBERS)):
        text = ratios_table(entries, numbers)
        parts += [head, text] if text else []
    if shares(entries):
        parts.append(shares_table(entries))
    return "\n".join([*parts, all_table(entries)])
