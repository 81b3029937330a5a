"""Broken sweep files, for bad_input_test.py."""
from __future__ import annotations

import tiny
from rows import Place, Row

# One key a line; MODEL and SUITE are put in.
GOOD = """store = "a.db"
models = ["MODEL"]
settings = ["standard"]
limit = 2

[engine]
threads = 1
batch = 2

[[sweep]]
suites = ["SUITE"]
"""


def write(place: Place, text: str, model: str = "good") -> list[str]:
    suite = tiny.suite(place.folder / "suite")
    text = text.replace("MODEL", str(getattr(place, model))).replace("SUITE", str(suite))
    (place.folder / "sweep.toml").write_text(text)
    return ["sweep", "sweep.toml", "--quiet"]


def spoilt(old: str, new: str, model: str = "good"):
    return lambda place: write(place, tiny.replaced(GOOD, old, new), model)


def added(line: str, model: str = "good"):
    """A line more in the group, which is line 12 of the file."""
    return lambda place: write(place, GOOD + line + "\n", model)


def missing(place: Place) -> list[str]:
    return ["sweep", "nowhere.toml"]


def a_folder(place: Place) -> list[str]:
    (place.folder / "sweep.toml").mkdir()
    return ["sweep", "sweep.toml"]


def not_utf8(place: Place) -> list[str]:
    words = write(place, GOOD)
    (place.folder / "sweep.toml").write_bytes(GOOD.encode().replace(b"standard", b"st\xffndard"))
    return words


def no_store(place: Place) -> list[str]:
    (place.folder / "other.txt").write_text("not a store")
    return write(place, tiny.replaced(GOOD, "a.db", "other.txt"))


ROWS = [
    Row("sweep file missing", missing, 2, ["nowhere.toml", "sweep file"]),
    Row("sweep file a folder", a_folder, 2, ["sweep.toml", "sweep file"]),
    Row("sweep not TOML", spoilt('store = "a.db"', "store = a.db"), 1, ["sweep.toml, line 1"]),
    Row("sweep not UTF-8", not_utf8, 1, ["sweep.toml, line 3"]),
    Row("sweep without a store", spoilt('store = "a.db"\n', ""), 1, ["sweep.toml", "store", "missing"]),
    Row("sweep without models", spoilt('models = ["MODEL"]\n', ""), 1, ["sweep.toml, line 9, sweep.models", "missing"]),
    Row("sweep without suites", spoilt('suites = ["SUITE"]\n', ""), 1,
        ["sweep.toml, line 10, sweep.suites", "missing"]),
    Row("sweep with a misspelt key", spoilt("limit = 2", "limits = 2"), 1,
        ["sweep.toml, line 4, limits", "did you mean limit"]),
    Row("sweep with a misspelt key in a group", added('setting = ["latent"]'), 1,
        ["sweep.toml, line 12, sweep.setting", "did you mean settings"]),
    Row("sweep with a misspelt key of the engine", spoilt("threads", "thread"), 1,
        ["sweep.toml, line 7, engine.thread", "did you mean threads"]),
    Row("sweep with a key of the whole in a group", added('store = "b.db"'), 1, ["sweep.toml, line 12, sweep.store"]),
    Row("sweep with one model for a list", spoilt('["MODEL"]', '"MODEL"'), 1,
        ["sweep.toml, line 2, models", "string", "array of strings"]),
    Row("sweep with numbers for settings", spoilt('["standard"]', "[1, 2]"), 1,
        ["sweep.toml, line 3, settings", "integer"]),
    Row("sweep with no settings", spoilt('["standard"]', "[]"), 1, ["sweep.toml, line 3, settings", "empty"]),
    Row("sweep with a text for a limit", spoilt("limit = 2", 'limit = "2"'), 1,
        ["sweep.toml, line 4, limit", "string", "whole number"]),
    Row("sweep with a limit of 0", spoilt("limit = 2", "limit = 0"), 1, ["sweep.toml, line 4, limit", "is 0", "1 to"]),
    Row("sweep with a group that is none", lambda place: write(place, GOOD.replace("[[sweep]]", "[sweep]")), 1,
        ["sweep.toml, line 10, sweep", "[[sweep]]"]),
    Row("sweep with an unknown setting", spoilt('"standard"', '"standrd"'), 2,
        ["sweep.toml, line 3, settings", "standrd", "standard"]),
    Row("sweep with a setting twice", spoilt('"standard"', '"standard", "standard@1"'), 2,
        ["sweep.toml, line 3, settings", "standard twice"]),
    Row("sweep with an unknown suite", spoilt("SUITE", "mini_gsm8"), 2,
        ["sweep.toml, line 11, sweep.suites", "mini_gsm8", "did you mean mini_gsm8k"]),
    Row("sweep with a suite that is not there", spoilt("SUITE", "other/own.toml"), 2,
        ["sweep.toml, line 11, sweep.suites", "other/own.toml"]),
    Row("sweep with a model that is not there", spoilt('"MODEL"', '"MODEL", "MODELL"'), 2,
        ["sweep.toml, line 2, models", "no such model folder"]),
    Row("sweep with a model twice", spoilt('"MODEL"', '"MODEL", "MODEL/../good"'), 2,
        ["sweep.toml, line 2, models", "twice"]),
    Row("sweep with a setting beyond the weights", spoilt('"standard"', '"latent"', "ordinary"), 2,
        ["sweep.toml, line 3, settings", "ordinary", "latent_feedback"]),
    Row("sweep with scoring of what generates", spoilt('"standard"', '"parallel@2"'), 2,
        ["sweep.toml, line 3, settings", "scoring only"]),
    Row("sweep with an unknown format", added('formats = ["completion", "chatt"]'), 1,
        ["sweep.toml, line 12, sweep.formats", "chatt", "did you mean chat"]),
    Row("sweep with chat and no template", added('formats = ["chat"]', "ordinary"), 1,
        ["sweep.toml, line 2, models", "template"]),
    Row("sweep with a system prompt and no chat", added('system = "Be brief."'), 2,
        ["sweep.toml, line 12, sweep.system", "add format chat"]),
    Row("sweep with greedy samples", added("samples = 3"), 2,
        ["sweep.toml, line 12, sweep.samples", "add temperature"]),
    Row("sweep with a temperature below 0", added("temperature = -0.5"), 2, ["sweep.toml, line 12, sweep.temperature"]),
    Row("sweep with a text for a temperature", added('temperature = "hot"'), 1,
        ["sweep.toml, line 12, sweep.temperature", "string", "number"]),
    Row("sweep with top_p beside greedy", added("top_p = 0.9"), 2, ["sweep.toml, line 12, sweep.top_p", "temperature"]),
    Row("sweep with half a marker", added('think = "<think>"'), 2, ["sweep.toml, line 12, sweep.think"]),
    Row("sweep with more shots than items", added("shots = [0, 9]"), 2, ["sweep.toml, line 11, sweep.suites", "9"]),
    Row("sweep with shots below 0", added("shots = [0, -1]"), 1, ["sweep.toml, line 12, sweep.shots", "-1"]),
    Row("sweep with a batch in words", spoilt("batch = 2", 'batch = "many"'), 1,
        ["sweep.toml, line 8, engine.batch", "many", "auto"]),
    Row("sweep with a cache in words", spoilt("batch = 2", 'prefix_cache = "lots"'), 1,
        ["sweep.toml, line 8, engine.prefix_cache", "lots", "off"]),
    Row("sweep with an unknown target", spoilt("batch = 2", 'target = "Z80"'), 2, ["Z80"]),
    Row("sweep into what is no store", no_store, 1, ["other.txt"]),
]
