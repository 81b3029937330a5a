"""Computes statistics with SciPy and statsmodels on random tables and on degenerate ones: tests/data/peers/statistics.json.

Each family of the file is a list of {"in": …, "out": [numbers, null where there is no figure]}; what the inputs are is said
where they are made. Where neither library has a method, it is written down here a second time, on top of theirs. Runs in
.venv-peers (scripts/setup --peers), in a minute; the tables are drawn with a fixed seed.
"""
from __future__ import annotations

import math
import warnings

import numpy
import scipy
import scipy.stats
import statsmodels
import statsmodels.api
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import normal_sample_size_one_tail
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from common import write_fixture

RANDOM = numpy.random.default_rng(20260808)
MASK = 2**64 - 1


def plain(figure) -> float | None:
    """A number as JSON has it: nothing for NaN."""
    return None if figure is None or math.isnan(figure) else float(figure)


def row(inputs, figures) -> dict:
    return {"in": inputs, "out": [plain(figure) for figure in figures]}


def level_of(index: int) -> float:
    return (0.95, 0.8, 0.99)[index % 3]


# Proportions: in [successes, trials, level].
def wilson() -> list[dict]:
    tables = [(0, 1), (1, 1), (0, 25), (25, 25), (1, 2), (1319, 1319), (278, 1319), (1, 1_000_000)]
    for trials in RANDOM.integers(1, 2000, 40):
        tables.append((int(RANDOM.integers(0, trials + 1)), int(trials)))
    rows = []
    for index, (right, trials) in enumerate(tables):
        level = level_of(index)
        ours = scipy.stats.binomtest(right, trials).proportion_ci(level, "wilson")
        theirs = proportion_confint(right, trials, 1 - level, "wilson")
        assert numpy.allclose(ours, theirs, atol=1e-12), (right, trials)
        rows.append(row([right, trials, level], ours))
    return rows


def paired_tables() -> list[tuple[int, int, int, int]]:
    """(both, only A, only B, neither)."""
    tables = [(1, 0, 0, 0), (0, 0, 0, 1), (0, 1, 0, 0), (20, 0, 0, 0), (0, 0, 0, 20), (12, 0, 0, 8), (0, 7, 0, 0), (0, 5, 5, 0),
              (0, 0, 9, 4), (9, 3, 0, 0), (207, 71, 153, 888), (217, 61, 231, 810), (1, 7, 1, 12), (1, 3, 3, 1), (2, 3, 3, 5)]
    for _ in range(50):
        shares = RANDOM.dirichlet((1, 0.5, 0.5, 1))
        tables.append(tuple(int(count) for count in RANDOM.multinomial(RANDOM.integers(2, 1500), shares)))
    return tables


def newcombe(table: tuple[int, int, int, int], level: float) -> tuple[float, float, float]:
    """(B less A, low, high): both Wilson intervals with the corrected correlation of the verdicts."""
    both, only_a, only_b, neither = table
    items = sum(table)
    right_a, right_b = both + only_a, both + only_b
    low_a, high_a = proportion_confint(right_a, items, 1 - level, "wilson")
    low_b, high_b = proportion_confint(right_b, items, 1 - level, "wilson")
    product = both * neither - only_a * only_b
    corrected = product - items / 2 if product > items / 2 else min(product, 0)
    marginals = right_a * (items - right_a) * right_b * (items - right_b)  # whole numbers: exact
    correlation = corrected / math.sqrt(marginals) if marginals else 0.0
    a, b, value = right_a / items, right_b / items, (only_b - only_a) / items
    covariance = numpy.array([[1, -correlation], [-correlation, 1]])
    down, up = numpy.array([b - low_b, high_a - a]), numpy.array([high_b - b, a - low_a])
    low, high = value - math.sqrt(max(down @ covariance @ down, 0)), value + math.sqrt(max(up @ covariance @ up, 0))
    if correlation == 0 and items > 1:
        theirs = confint_proportions_2indep(right_b, items, right_a, items, method="newcomb", alpha=1 - level)
        assert numpy.allclose((low, high), theirs, atol=1e-9), table
    return value, max(low, -1), min(high, 1)


def paired_differences() -> list[dict]:
    return [row([*table, level_of(index)], newcombe(table, level_of(index))) for index, table in enumerate(paired_tables())]


# In [only A, only B].
def mcnemars() -> list[dict]:
    pairs = [(0, 0), (0, 1), (1, 0), (0, 5), (0, 6), (3, 3), (3, 4), (71, 153), (61, 231), (0, 900), (2000, 2300)]
    pairs += [tuple(int(count) for count in RANDOM.integers(0, 200, 2)) for _ in range(40)]
    return [row([a, b], [mcnemar([[0, a], [b, 0]], exact=True).pvalue if a + b else 1]) for a, b in pairs]


# In: the p-values of a family.
def holm() -> list[dict]:
    families = [[0.03], [1.0, 1.0], [0.0, 0.2], [0.02, 0.02, 0.02], [0.01, 0.04, 0.03, 0.005]]
    families += [(RANDOM.random(count) ** 3).tolist() for count in RANDOM.integers(1, 40, 12)]
    return [row(family, multipletests(family, method="holm")[1]) for family in families]


def length_lists() -> list[list[float]]:
    """Trace lengths: skewed whole numbers with ties."""
    lists = [[5.0], [7.0, 7.0, 7.0], [1.0, 4.0], [0.0, 0.0, 0.0, 512.0]]
    lists += [RANDOM.lognormal(4, 0.8, count).astype(int).astype(float).tolist() for count in RANDOM.integers(2, 90, 14)]
    return lists


# In: values. Out: mean, deviation, standard error, median, quantiles.
def summaries() -> list[dict]:
    rows = []
    for values in length_lists():
        spread, error = (numpy.std(values, ddof=1), scipy.stats.sem(values)) if len(values) > 1 else (None, None)
        rows.append(row(values, [numpy.mean(values), spread, error, *numpy.quantile(values, (0.5, 0, 0.1, 0.25, 0.9, 1))]))
    return rows


def mix64(x: int) -> int:
    """SplitMix64's output for the state x."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def resamples(count: int, resampled: int, seed: int) -> numpy.ndarray:
    """[resampled, count] indices: the draws that the library makes."""
    stream = mix64(seed)
    draws = [((mix64((stream + draw) & MASK) >> 32) * count) >> 32 for draw in range(resampled * count)]
    return numpy.array(draws).reshape(resampled, count)


def percentiles(results, level: float) -> list[float]:
    return numpy.quantile(results, ((1 - level) / 2, (1 + level) / 2)).tolist()


# In {values, q (quantile alone), level, resamples, seed}: the same draws by another program.
def bootstraps(kind: str) -> list[dict]:
    rows = []
    for index, values in enumerate(values for values in length_lists() if len(values) > 1):
        level, q, seed, count = level_of(index), (0.5, 0.9, 0.25, 0.0, 1.0)[index % 5], index * 7, 200
        # Quantiles draw from the sorted values, so that the order of the items is no matter.
        drawn = numpy.array(values if kind == "mean" else sorted(values))[resamples(len(values), count, seed)]
        results = drawn.mean(axis=1) if kind == "mean" else numpy.quantile(drawn, q, axis=1)
        rows.append(row({"values": values, "q": q, "level": level, "resamples": count, "seed": seed}, percentiles(results, level)))
    return rows


# In {a, b, level, resamples, seed}.
def bootstrap_ratios() -> list[dict]:
    rows = []
    for index, a in enumerate(values for values in length_lists() if len(values) > 4):
        b = (numpy.array(a) * RANDOM.uniform(0.6, 1.6, len(a))).round().tolist()
        drawn = resamples(len(a), 150, index)
        results = numpy.array(b)[drawn].sum(axis=1) / numpy.array(a)[drawn].sum(axis=1)
        rows.append(row({"a": a, "b": b, "level": level_of(index), "resamples": 150, "seed": index}, percentiles(results, level_of(index))))
    return rows


# In {values, q or null (mean)}: SciPy's own bootstrap with its own draws. Ours agrees within what draws differ by.
def bootstraps_by_scipy() -> list[dict]:
    rows = []
    for count, q in ((60, None), (300, None), (1319, None), (301, 0.5), (1001, 0.5), (1001, 0.9)):
        values = RANDOM.lognormal(5, 0.7, count).round().tolist()
        statistic = numpy.mean if q is None else lambda x, axis, q=q: numpy.quantile(x, q, axis=axis)
        interval = scipy.stats.bootstrap((values,), statistic, n_resamples=20_000, method="percentile", vectorized=True, batch=500,
                                         rng=numpy.random.default_rng(1)).confidence_interval
        rows.append(row({"values": values, "q": q}, interval))
    return rows


def samples_of_items(items: int, most: int, ragged: bool) -> list[list[float]]:
    """Verdicts of an item's samples; items differ in how hard they are."""
    return [RANDOM.binomial(1, RANDOM.beta(0.7, 0.9), RANDOM.integers(1, most + 1) if ragged else most).astype(float).tolist() for _ in range(items)]


# In {items, level}. Out: value, error, low, high.
def clustered_means() -> list[dict]:
    tables = [[[1.0, 0.0, 1.0]], [[1.0], [0.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [1.0], [0.0, 0.0, 1.0]]]
    tables += [samples_of_items(int(items), int(most), ragged) for items, most, ragged in
               ((5, 4, False), (30, 8, False), (30, 8, True), (120, 4, True), (200, 1, False), (12, 16, True))]
    rows = []
    for index, items in enumerate(tables):
        scores = numpy.concatenate(items)
        groups = numpy.repeat(numpy.arange(len(items)), [len(item) for item in items])
        figures = [scores.mean(), None, None, None]
        if len(items) > 1:
            fit = statsmodels.api.OLS(scores, numpy.ones(len(scores))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
            figures[1:] = [fit.bse[0], *fit.conf_int(1 - level_of(index))[0]]
        rows.append(row({"items": items, "level": level_of(index)}, figures))
    return rows


# In {a, b, level}: an item's samples in both runs. Out: value, error, low, high, p.
def clustered_differences() -> list[dict]:
    tables = [([[1.0]], [[0.0]])]
    for items, most in ((2, 3), (10, 4), (50, 8), (200, 1)):
        a = samples_of_items(items, most, True)
        tables.append((a, [RANDOM.binomial(1, min(0.2 + 0.8 * numpy.mean(x), 1), most).astype(float).tolist() for x in a]))
    rows = []
    for index, (a, b) in enumerate(tables):
        means_a, means_b = [numpy.mean(x) for x in a], [numpy.mean(x) for x in b]
        figures = [numpy.mean(means_b) - numpy.mean(means_a), None, None, None, None]
        if len(a) > 1:
            test = scipy.stats.ttest_rel(means_b, means_a)
            figures[1:] = [scipy.stats.sem(numpy.subtract(means_b, means_a)), *test.confidence_interval(level_of(index)), test.pvalue]
        rows.append(row({"a": a, "b": b, "level": level_of(index)}, figures))
    return rows


Traces = list[tuple[float, bool]]  # tokens, cut


def curve(traces: Traces):
    """SciPy's survival curve: tokens (ascending), the share that is longer."""
    cut = [is_cut for _, is_cut in traces]
    tokens = numpy.array([length for length, _ in traces])
    survival = scipy.stats.ecdf(scipy.stats.CensoredData.right_censored(tokens, cut)).sf
    return survival.quantiles, survival.probabilities


def trace_lists() -> list[Traces]:
    lists = [[(4.0, False)], [(4.0, True)], [(9.0, True)] * 4, [(3.0, False)] * 4, [(2.0, False), (2.0, True), (5.0, False)],
             [(3.0, True), (8.0, False), (8.0, True), (20.0, False)]]
    for count in RANDOM.integers(3, 90, 12):
        lists.append(cut_traces(RANDOM.lognormal(4, 0.8, count), (60, 120)))
    return lists


def cut_traces(lengths, budgets) -> Traces:
    """Traces cut at one of the budgets each."""
    at = RANDOM.choice(budgets, len(lengths))
    return [(float(min(int(length), budget)), bool(int(length) > budget)) for length, budget in zip(lengths, at, strict=True)]


def horizon_of(runs: list[Traces], budget: float | None) -> float:
    longest = [max(run) for run in runs]  # of equally long ones a cut one
    horizon = max(length for length, _ in longest) if budget is None else budget
    return min([horizon, *(length for length, is_cut in longest if is_cut)])


def area(tokens, longer, start: float, horizon: float) -> float:
    """Below the curve between two lengths."""
    ends = numpy.unique(numpy.concatenate(([start], tokens[(tokens > start) & (tokens < horizon)], [horizon])))
    share = numpy.concatenate(([1.0], longer))[numpy.searchsorted(tokens, ends[:-1], side="right")]
    return float((numpy.diff(ends) * share).sum())


# In: [[tokens, cut]]. Out: tokens and share of each length at which a trace ended.
def kaplan_meier() -> list[dict]:
    rows = []
    for traces in trace_lists():
        tokens, longer = curve(traces)
        ended = sorted({length for length, is_cut in traces if not is_cut})
        theirs = statsmodels.api.SurvfuncRight([x for x, _ in traces], [1 - is_cut for _, is_cut in traces])
        ours = [longer[numpy.searchsorted(tokens, length)] for length in ended]
        assert not ended or numpy.allclose(ours, theirs.surv_prob[numpy.isin(theirs.surv_times, ended)], atol=1e-12)
        rows.append(row(traces, [figure for pair in zip(ended, ours, strict=True) for figure in pair]))
    return rows


# In {traces, budget, level}. Out: value, horizon, error, low, high.
def restricted_means() -> list[dict]:
    rows = []
    for index, traces in enumerate(trace_lists()):
        budget, level = (None, 50.0, 500.0)[index % 3], level_of(index)
        horizon, (tokens, longer) = horizon_of([traces], budget), curve(traces)
        mean = area(tokens, longer, 0, horizon)
        figures = [mean, horizon, None, None, None]
        ended = sorted({length for length, is_cut in traces if not is_cut and length <= horizon})
        if len(traces) > 1 and ended:
            variance = 0.0
            for length in ended:
                at_risk = sum(other >= length for other, _ in traces)
                gone = sum(other == length and not is_cut for other, is_cut in traces)
                if at_risk > gone and length < horizon:
                    variance += area(tokens, longer, length, horizon) ** 2 * gone / (at_risk * (at_risk - gone))
            error = math.sqrt(variance)
            figures[2:] = [error, *scipy.stats.norm.interval(level, mean, error)] if error else [0, mean, mean]
        rows.append(row({"traces": traces, "budget": budget, "level": level}, figures))
    return rows


# In {a, b, budget, level, resamples, seed}. Out: value, horizon, low, high.
def restricted_differences() -> list[dict]:
    rows = []
    for index, count in enumerate((1, 2, 15, 40, 80)):
        lengths = RANDOM.lognormal(4, 0.7, count)
        a, b = cut_traces(lengths, (60, 100)), cut_traces(lengths * RANDOM.uniform(0.7, 1.1, count), (60, 150))
        budget, seed = (None, 70.0)[index % 2], index + 3
        horizon = horizon_of([a, b], budget)
        def mean(traces):
            return area(*curve(traces), 0, horizon)
        figures = [mean(b) - mean(a), horizon, None, None]
        if count > 1:
            results = [mean([b[i] for i in drawn]) - mean([a[i] for i in drawn]) for drawn in resamples(count, 80, seed)]
            figures[2:] = percentiles(results, 0.9)
        rows.append(row({"a": a, "b": b, "budget": budget, "level": 0.9, "resamples": 80, "seed": seed}, figures))
    return rows


def exact_power(items: int, a: float, b: float, alpha: float) -> float:
    """The exact McNemar test's chance to be significant: over every number of discordant items and every split."""
    discordant = numpy.arange(items + 1)
    critical = scipy.stats.binom.ppf(alpha / 2, discordant, 0.5)
    critical -= scipy.stats.binom.cdf(critical, discordant, 0.5) * 2 > alpha
    share = a / (a + b) if a + b else 0.5
    either = scipy.stats.binom.cdf(critical, discordant, share) + scipy.stats.binom.cdf(critical, discordant, 1 - share)
    return float(numpy.nansum(scipy.stats.binom.pmf(discordant, items, min(a + b, 1)) * numpy.where(critical < 0, 0, either)))


def shares() -> list[tuple[float, float]]:
    pairs = [(0.0, 1.0), (0.0, 0.3), (0.5, 0.5), (0.2, 0.5), (0.15, 0.3), (71 / 1319, 153 / 1319), (0.02, 0.03)]
    return pairs + [tuple(float(share) for share in RANDOM.dirichlet((0.6, 0.6, 3))[:2]) for _ in range(12)]


# In [items, only A, only B, alpha].
def powers() -> list[dict]:
    return [row([items, a, b, alpha], [exact_power(items, a, b, alpha)])
            for a, b in shares() for items, alpha in ((1, 0.05), (6, 0.05), (7, 0.05), (40, 0.05), (333, 0.01), (1319, 0.05), (5000, 0.2))]


# In [only A, only B, alpha, power].
def connor() -> list[dict]:
    rows = []
    for index, (a, b) in enumerate(shares()):
        alpha, power, difference, discordant = (0.05, 0.01)[index % 2], (0.8, 0.9)[index % 2], b - a, a + b
        figure = None if difference == 0 else normal_sample_size_one_tail(
            difference, power, alpha / 2, std_null=math.sqrt(discordant), std_alternative=math.sqrt(max(discordant - difference**2, 0)))
        rows.append(row([a, b, alpha, power], [figure]))
    return rows


# In [deviation, difference, alpha, power].
def mean_items() -> list[dict]:
    return [row([s, d, 0.05, power], [normal_sample_size_one_tail(d, power, 0.025, std_null=s)])
            for s, d, power in ((0.4, 0.03, 0.8), (80.0, -12.5, 0.9), (0.0, 1.0, 0.8), (1.0, 1e-3, 0.8))]


# In [only A, only B]. Out: every number of items that has 80 % power while one less has not.
def crossings() -> list[dict]:
    rows = []
    for a, b in shares():
        if abs(b - a) < 0.04:
            continue
        powers_of = numpy.array([exact_power(items, a, b, 0.05) for items in range(int(14 * (a + b) / (b - a) ** 2) + 30)])
        assert powers_of[-1] > 0.85, (a, b)
        rows.append(row([a, b], numpy.flatnonzero((powers_of[1:] >= 0.8) & (powers_of[:-1] < 0.8)) + 1))
    return rows


# In: suites' (both, only A, only B, neither). Out: B's accuracy macro (value, low, high) and micro, B less A macro and micro.
def suites() -> list[dict]:
    rows = []
    for tables in ([(3, 1, 2, 4)], [(5, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 9)], [(207, 71, 153, 888), (1, 7, 1, 12)],
                   paired_tables()[15:24], paired_tables()[24:30]):
        figures = []
        filled = [table for table in tables if sum(table)]
        items = numpy.array([sum(table) for table in filled])
        right = numpy.array([table[0] + table[2] for table in filled])
        accuracies = numpy.array([right / items, *proportion_confint(right, items, 0.05, "wilson")])
        differences = numpy.array([newcombe(table, 0.95) for table in filled]).T
        for value, low, high in (accuracies, differences):
            for weights in (numpy.full(len(items), 1 / len(items)), items / items.sum()):
                mean = weights @ value
                figures += [mean, mean - numpy.linalg.norm(weights * (value - low)), mean + numpy.linalg.norm(weights * (high - value))]
        rows.append(row(tables, figures))
    return rows


def main() -> None:
    warnings.filterwarnings("ignore")  # degenerate tables are wanted
    write_fixture("statistics.json", {
        "scipy": scipy.__version__, "statsmodels": statsmodels.__version__, "numpy": numpy.__version__,
        "families": {
            "wilson": wilson(), "paired_difference": paired_differences(), "mcnemar": mcnemars(), "holm": holm(),
            "summaries": summaries(), "bootstrap_mean": bootstraps("mean"), "bootstrap_quantile": bootstraps("quantile"),
            "bootstrap_ratio": bootstrap_ratios(), "clustered_mean": clustered_means(),
            "clustered_difference": clustered_differences(), "kaplan_meier": kaplan_meier(),
            "restricted_mean": restricted_means(), "restricted_difference": restricted_differences(), "power": powers(),
            "connor": connor(), "mean_items": mean_items(), "suites": suites(),
        },
        "bootstrap_by_scipy": bootstraps_by_scipy(),
        "crossings": crossings(),
    })


if __name__ == "__main__":
    main()
