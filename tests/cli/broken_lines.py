"""Command lines that ask for what does not exist or does not fit, and stores that cannot be used, for bad_input_test.py."""
from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess

import tiny
from rows import Place, Row, Skip


def run_options(place: Place, **changes) -> list[str]:
    """A sound `fullband run`, with options changed: model="x" gives `--model x`; None takes the option out."""
    options = {"model": place.good, "suite": "mini_gsm8k", "setting": "standard", "limit": "2", "max_new": "2", "shots": "0",
               "threads": "1", "store": place.store} | changes
    words = []
    for name, value in options.items():
        if value is not None:
            words += ["--" + name.replace("_", "-"), str(value)]
    return ["run", "--quiet", *words]


def run(**changes):
    return lambda place: run_options(place, **changes)


def decode(*more: str, **changes):
    def make(place: Place) -> list[str]:
        options = {"model": place.good, "setting": "latent", "max_new": "2"} | changes
        words = [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), str(value))]
        return ["decode", "--json", "--threads", "1", *words, *more]
    return make


def score(*more: str, **changes):
    def make(place: Place) -> list[str]:
        options = {"model": place.good, "setting": "latent"} | changes
        return ["score", "--json", "--threads", "1", *[w for n, v in options.items() for w in ("--" + n, str(v))], *more]
    return make


def data(*words: str):
    return lambda place: ["data", *words, *(["--data-dir", str(place.folder / "data")] if words else [])]


def on_ordinary(make):
    def changed(place: Place) -> list[str]:
        words = make(place)
        words[words.index("--model") + 1] = str(place.ordinary)
        return words
    return changed


def near_model(place: Place) -> list[str]:
    (place.folder / "smollm").mkdir()
    (place.folder / "smollm" / "config.json").write_text("{}")
    return run_options(place, model=place.folder / "smolm")


def contraction(*more: str, text: bytes | None = b"one two three four five six\n", model=lambda place: place.good):
    """`fullband contraction` of a text, or of what `more` says where `text` is None."""
    def make(place: Place) -> list[str]:
        source = []
        if text is not None:
            (place.folder / "text.txt").write_bytes(text)
            source = ["--text", str(place.folder / "text.txt")]
        return ["contraction", "--model", str(model(place)), "--threads", "1", "--quiet", "--json", *source, *more]
    return make


def contraction_of_own(items: bytes, *more: str):
    def make(place: Place) -> list[str]:
        suite = tiny.suite(place.folder / "suite", items=items)
        return contraction("--suite", str(suite), *more, text=None)(place)
    return make


def without_tokenizer(place: Place):
    shutil.copytree(place.good, place.folder / "bare")
    (place.folder / "bare" / "tokenizer.json").unlink()
    return place.folder / "bare"


def wrong_markers(place: Place) -> list[str]:
    shutil.copytree(place.good, place.folder / "thinks")
    tiny.edit_json(place.folder / "thinks" / "tokenizer_config.json",
                   lambda config: config.update({"fullband": {"think": "<think>"}}))
    return run_options(place, model=place.folder / "thinks")


TOKENS = ("--tokens", "1,2,3")
PAIR = ("--context-tokens", "1,2", "--continuation-tokens", "3")
NO_FEEDBACK = ["latent_feedback.state_proj.weight"]
LINE_ROWS = [
    Row("no command", lambda place: [], 2, ["--help"]),
    Row("unknown command", lambda place: ["decod"], 2, ["decod", "decode"]),
    Row("unknown option", lambda place: ["inspect", "--modle", str(place.good)], 2, ["--modle", "--model"]),
    Row("a word too many", run(limit="2 3"), 2, ["--limit"]),
    Row("no suite", run(suite=None), 2, ["--suite"]),
    Row("unknown suite", run(suite="mini_gsm8"), 2, ["mini_gsm8", "mini_gsm8k"]),
    Row("suite twice", run(suite="mini_gsm8k,mini_gsm8k"), 2, ["--suite", "twice"]),
    Row("unknown setting", run(setting="latnt"), 2, ["latnt", "latent"]),
    Row("unknown control", run(setting="latent:reverse"), 2, ["reverse", "reversed"]),
    Row("passes not a number", run(setting="latent@two"), 2, ["latent@two", "two"]),
    Row("no passes", run(setting="latent@0"), 2, ["latent@0"]),
    Row("passes beyond all bounds", run(setting="latent@99999999999"), 2, ["latent@99999999999"]),
    Row("settings that mean the same", run(setting="standard,parallel@1"), 2, ["standard", "twice"]),
    Row("control without fused positions", run(setting="standard:zero"), 2, ["standard:zero", "fused"]),
    Row("parallel to generate", run(setting="parallel@2"), 2, ["parallel@2", "scoring only"]),
    Row("parallel to decode", decode(*TOKENS, setting="parallel@2"), 2, ["parallel@2", "scoring only"]),
    Row("unknown model", near_model, 2, ["smolm", "smollm"]),
    Row("unknown model to inspect", lambda place: ["inspect", "--model", str(place.folder / "none")], 2, ["none"]),
    Row("model a file", lambda place: ["inspect", "--model", str(place.good / "config.json")], 2, ["config.json", "folder"]),
    Row("folder without a model", lambda place: ["inspect", "--model", str(place.folder)], 1, ["config.json", "missing"]),
    Row("unknown device", run(device="gpu"), 2, ["gpu", "cpu"]),
    Row("unknown device to decode", decode(*TOKENS, "--device", "cqu"), 2, ["cqu", "cpu"]),
    Row("unknown target", run(target="AVX22"), 2, ["AVX22", "AVX2"]),
    Row("unknown kind of keys and values", run(kv_dtype="f16"), 2, ["--kv-dtype", "bf16"]),
    Row("unknown format", run(format="chats"), 2, ["chats", "chat"]),
    Row("system prompt without chat", run(system="Be brief."), 2, ["--system", "chat"]),
    Row("chat without a template", run(format="chat"), 1, ["chat", "template"]),
    Row("latent of an ordinary model: run", on_ordinary(run(setting="standard,latent")), 2, NO_FEEDBACK),
    Row("latent of an ordinary model: decode", on_ordinary(decode(*TOKENS)), 2, NO_FEEDBACK),
    Row("latent of an ordinary model: score", on_ordinary(score(*PAIR)), 2, NO_FEEDBACK),
    Row("parallel of an ordinary model: score", on_ordinary(score(*PAIR, setting="parallel@2")), 2, NO_FEEDBACK),
    Row("token out of range", decode("--tokens", "1,9999,2"), 2, ["9999", "vocabulary"]),
    Row("token beyond 32 bits", decode("--tokens", "1,9999999999"), 2, ["--tokens", "9999999999"]),
    Row("negative token", decode("--tokens=-1,2"), 2, ["--tokens", "-1,2"]),
    Row("tokens not numbers", decode("--tokens", "1;2"), 2, ["--tokens", "1;2"]),
    Row("no tokens", decode("--tokens", ""), 2, ["--tokens"]),
    Row("empty prompt", decode("--prompt", ""), 2, ["prompt", "empty"]),
    Row("prompt not UTF-8", decode("--prompt", os.fsdecode(b"a\xff")), 2, ["--prompt", "0xFF", "UTF-8"]),
    Row("prompt beyond the context", decode("--tokens", ",".join(["1"] * 300)), 1, ["prompt", "300", "256"]),
    Row("prompt and tokens", decode(*TOKENS, "--prompt", "a"), 2, ["--prompt", "--tokens"]),
    Row("empty context", score("--context", "", "--continuation", "a"), 2, ["context", "empty"]),
    Row("empty context tokens", score("--context-tokens", "", "--continuation-tokens", "1"), 2, ["context"]),
    Row("empty continuation", score("--context", "a", "--continuation", ""), 2, ["continuation", "empty"]),
    Row("context not UTF-8", score("--context", os.fsdecode(b"\xc3"), "--continuation", "a"), 2, ["--context", "0xC3", "UTF-8"]),
    Row("context token out of range", score("--context-tokens", "1,9999", "--continuation-tokens", "1"), 2, ["context", "9999"]),
    Row("context without continuation", score("--context", "a"), 2, ["--continuation"]),
    Row("limit negative", run(limit="-1"), 2, ["--limit", "-1"]),
    Row("limit not a number", run(limit="many"), 2, ["--limit", "many"]),
    Row("shots negative", run(shots="-2"), 2, ["--shots", "-2"]),
    Row("no new tokens", run(max_new="0"), 2, ["--max-new", "0"]),
    Row("new tokens not a number", decode(*TOKENS, max_new="x"), 2, ["--max-new", "x"]),
    Row("new tokens beyond all bounds", run(max_new="99999999999999999999"), 2, ["--max-new"]),
    Row("threads not a number", run(threads="x"), 2, ["--threads", "x"]),
    Row("threads negative", run(threads="-3"), 2, ["--threads"]),
    Row("threads beyond all bounds", run(threads="99999999"), 2, ["--threads", "99999999"]),
    Row("batch of nothing", run(batch="0"), 2, ["--batch"]),
    Row("batch not a number", run(batch="many"), 2, ["--batch", "many", "auto"]),
    Row("batch as many as pay", run(batch="auto"), 0),
    Row("prefix cache of no size", run(prefix_cache="much"), 2, ["--prefix-cache", "much", "64M", "off"]),
    Row("prefix cache of a strange unit", run(prefix_cache="64Q"), 2, ["--prefix-cache", "64Q"]),
    Row("prefix cache of nothing", run(prefix_cache="0"), 0),
    Row("prefix cache beyond all bounds", run(prefix_cache="4294967296G"), 0),
    Row("chunk of nothing", run(chunk="0"), 2, ["--chunk"]),
    Row("batch beyond all bounds", run(batch="2147483647"), 0),
    Row("chunk beyond all bounds", run(chunk="2147483647"), 0),
    Row("temperature negative", run(temperature="-1"), 2, ["--temperature"]),
    Row("temperature not a number", run(temperature="nan"), 2, ["--temperature"]),
    Row("samples of greedy decoding", run(samples="3"), 2, ["--samples", "--temperature"]),
    Row("top-p above 1", run(temperature="1", top_p="2"), 2, ["--top-p"]),
    Row("top-p without a temperature", run(top_p="0.5"), 2, ["--top-p", "--temperature"]),
    Row("top-k negative", decode(*TOKENS, "--temperature", "1", "--top-k", "-1"), 2, ["--top-k"]),
    Row("seed negative", run(seed="-1", temperature="1"), 2, ["--seed", "-1"]),
    Row("markers of thoughts without a comma", run(think="<think>"), 2, ["--think", "<think>,</think>"]),
    Row("one marker of thoughts is empty", run(think="<think>,"), 2, ["--think", "empty"]),
    Row("markers of thoughts that are the same", run(think="x,x"), 2, ["--think", "part of the other"]),
    Row("markers of thoughts that the model's folder gets wrong", wrong_markers, 1,
        ["tokenizer_config.json", "fullband.think", "two texts"]),
    Row("empty stop string", run(stop=""), 2, ["--stop", "empty"]),
    Row("stop string not UTF-8", run(stop=os.fsdecode(b"\xff")), 2, ["--stop", "UTF-8"]),
    Row("model folder not UTF-8", lambda place: ["inspect", "--model=" + os.fsdecode(b"\xe9")], 2, ["--model", "UTF-8"]),
    Row("shuffle negative", run(shuffle="-1"), 2, ["--shuffle", "-1"]),
    Row("data without an action", data(), 2, ["data", "--help"]),
    Row("data with an unknown action", data("get", "gsm8k"), 2, ["data", "fetch", "list", "verify"]),
    Row("data to fetch of no name", data("fetch"), 2, ["all"]),
    Row("unknown data set", data("fetch", "gsm8"), 2, ["gsm8", "gsm8k"]),
    Row("data of an unknown suite", data("verify", "--suite", "mini_gsm8"), 2, ["mini_gsm8", "mini_gsm8k"]),
    Row("data from no address", data("fetch", "gsm8k", "--base-url", "nowhere"), 2, ["nowhere", "--base-url"]),
    Row("data in no time", data("fetch", "gsm8k", "--timeout", "0"), 2, ["--timeout"]),
    Row("data of an unknown option", data("fetch", "gsm8k", "--suit", "x"), 2, ["--suit", "--suite"]),
    Row("data folder that is not there", run(data_dir="/no/such/folder"), 2, ["/no/such/folder", "--data-dir"]),
    Row("contraction", contraction("--passes", "3"), 0),
    Row("contraction of an ordinary model", contraction(model=lambda place: place.ordinary), 2, NO_FEEDBACK),
    Row("contraction without a tokenizer", contraction(model=without_tokenizer), 1, ["tokenizer.json", "missing"]),
    Row("contraction of no model", contraction(model=lambda place: place.folder / "none"), 2, ["none"]),
    Row("contraction of nothing", contraction(text=None), 2, ["--text", "--suite"]),
    Row("contraction of a text and a suite", contraction("--suite", "mini_choice"), 2, ["--text", "--suite"]),
    Row("contraction of one pass", contraction("--passes", "1"), 2, ["--passes", "1"]),
    Row("contraction of passes not a number", contraction("--passes", "many"), 2, ["--passes", "many"]),
    Row("contraction of passes beyond all bounds", contraction("--passes", "99999999999"), 2, ["--passes"]),
    Row("contraction of an empty text", contraction(text=b""), 1, ["text.txt", "empty"]),
    Row("contraction of a text not UTF-8", contraction(text=b"one \xff"), 1, ["text.txt", "0xFF", "UTF-8"]),
    Row("contraction of a short text", contraction(text=b"one two"), 2, ["text.txt", "16 passes", "longer"]),
    Row("contraction of a text that is not there", contraction("--text", "none.txt", text=None), 2, ["none.txt", "exist"]),
    Row("contraction of a folder", contraction("--text", ".", text=None), 1, [".", "folder"]),
    Row("contraction of a short window", contraction("--window", "16"), 2, ["--window", "16 passes"]),
    Row("contraction of a window beyond the context", contraction("--window", "257"), 2, ["--window", "257", "256"]),
    Row("contraction of a suite in windows", contraction("--suite", "mini_choice", "--window", "20", text=None), 2,
        ["--suite", "--window"]),
    Row("contraction of a text with shots", contraction("--shots", "2"), 2, ["--text", "--shots"]),
    Row("contraction of an unknown suite", contraction("--suite", "mini_choise", text=None), 2, ["mini_choise", "mini_choice"]),
    Row("contraction under an unknown control", contraction("--control", "stail"), 2, ["stail", "stale"]),
    Row("contraction of an item too long", contraction_of_own(
        tiny.GENERATE_ITEMS + b'{"id": "long", "question": "' + b"7" * 300 + b'?", "answer": "#### 1"}\n', "--passes", "2"), 1,
        ["own, item long", "too long"]),
    Row("contraction of an answer too long", contraction_of_own(
        tiny.GENERATE_ITEMS + b'{"id": "long", "question": "7?", "answer": "' + b"7" * 300 + b'\\n#### 1"}\n', "--passes", "2"), 1,
        ["own, item long", "with its answer", "256"]),
    Row("contraction before an item too long", contraction_of_own(
        tiny.GENERATE_ITEMS + b'{"id": "long", "question": "' + b"7" * 300 + b'?", "answer": "#### 1"}\n', "--passes", "2",
        "--limit", "2"), 0),
    Row("contraction of short items", contraction_of_own(tiny.GENERATE_ITEMS, "--passes", "200"), 2, ["--passes", "200"]),
    Row("a name of two lines", run(suite="a\nb"), 2, ["a\\nb"]),
]


def store(prepare, **changes):
    def make(place: Place) -> list[str]:
        prepare(place)
        return run_options(place, **changes)
    return make


def report(prepare):
    def make(place: Place) -> list[str]:
        prepare(place)
        return ["report", "--store", str(place.store)]
    return make


def sound_store(place: Place) -> None:
    subprocess.run([place.program, *run_options(place)], check=True, capture_output=True, timeout=120)


def newer_schema(place: Place) -> None:
    sound_store(place)
    with sqlite3.connect(place.store) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


def foreign(place: Place) -> None:
    with sqlite3.connect(place.store) as database:
        database.execute("CREATE TABLE addresses (name TEXT)")
    database.close()


def flipped(begin: int, end: int):
    def prepare(place: Place) -> None:
        sound_store(place)
        raw = bytearray(place.store.read_bytes())
        raw[begin:end] = bytes(byte ^ 0xFF for byte in raw[begin:end])
        place.store.write_bytes(raw)
    return prepare


def cut(place: Place) -> None:
    sound_store(place)
    place.store.write_bytes(place.store.read_bytes()[:6000])


def read_only(place: Place) -> list[str]:
    """Permissions do not hold root back: a read-only mount does."""
    if os.geteuid() != 0:
        (place.folder / "closed").mkdir(mode=0o500)
        return run_options(place, store=place.folder / "closed" / "a.db")
    folder = place.small_mount("4m")
    if subprocess.run(["mount", "-o", "remount,ro", str(folder)], capture_output=True).returncode != 0:
        raise Skip("cannot make a mount read-only")
    return run_options(place, store=folder / "a.db")


def read_only_after_a_run(place: Place) -> list[str]:
    folder = place.small_mount("4m")
    words = run_options(place, store=folder / "a.db")
    subprocess.run([place.program, *words], check=True, capture_output=True, timeout=120)
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True, capture_output=True)
    return words


def full_disk(size: str):
    return lambda place: run_options(place, store=place.small_mount(size) / "a.db", limit="40")


def report_onto_full_disk(place: Place) -> list[str]:
    sound_store(place)
    folder = place.small_mount("8k")
    with open(folder / "filler", "wb", buffering=0) as filler:
        try:
            while filler.write(b"x" * 4096):
                pass
        except OSError:
            pass
    return ["report", "--store", str(place.store), "--out", str(folder)]


def report_below_a_file(place: Place) -> list[str]:
    sound_store(place)
    (place.folder / "file").write_text("")
    return ["report", "--store", str(place.store), "--out", str(place.folder / "file" / "out")]


def nothing(place: Place) -> None:
    pass


def regrade(*words: str, suite: str = "mini_gsm8k"):
    def make(place: Place) -> list[str]:
        sound_store(place)
        return ["regrade", "--quiet", "--store", str(place.store), "--suite", suite, *words]
    return make


def regrade_unfinished(prepare):
    def make(place: Place) -> list[str]:
        prepare(place)
        return ["regrade", "--quiet", "--store", str(place.store), "--suite", "mini_gsm8k"]
    return make


def without_definition(place: Place) -> None:
    sound_store(place)
    with sqlite3.connect(place.store) as database:
        database.execute("UPDATE runs SET identity = '{}'")
    database.close()


def show(*words: str):
    def make(place: Place) -> list[str]:
        sound_store(place)
        return ["show", "--store", str(place.store), *words]
    return make


STORE_ROWS = [
    Row("show of no run", show("--run", "xyz", "--item", "0"), 2, ["run xyz", "a.db"]),
    Row("show without an item", show("--run", "0"), 2, ["--item"]),
    Row("show of a sample below the first", show("--run", "0", "--item", "0", "--sample", "-1"), 2, ["--sample"]),
    Row("show of no store", lambda place: ["show", "--store", str(place.store), "--run", "0", "--item", "0"], 1,
        ["a.db", "no such store"]),
    Row("store a folder", store(lambda place: place.store.mkdir()), 1, ["a.db", "folder"]),
    Row("store in a missing folder", lambda place: run_options(place, store=place.folder / "none" / "a.db"), 1,
        ["none", "does not exist"]),
    Row("store a text", store(lambda place: place.store.write_text("a text of more than sixteen bytes\n")), 1,
        ["a.db", "not an SQLite file"]),
    Row("store of another program", store(foreign), 1, ["a.db", "another program"]),
    Row("store of a newer version", store(newer_schema), 1, ["a.db", "newer", "99"]),
    Row("store with a damaged header", store(flipped(16, 100)), 1, ["a.db"]),
    Row("store with a damaged schema", store(flipped(100, 600)), 1, ["a.db", "damaged"]),
    Row("store with damaged pages", store(flipped(4096, 40960)), 1, ["a.db", "damaged"]),
    Row("store cut off", store(cut), 1, ["a.db", "damaged"]),
    Row("store read-only", read_only, 1, ["a.db", "cannot be written"]),
    Row("store that became read-only", read_only_after_a_run, 1, ["a.db", "cannot be written"]),
    Row("store on a full disk", full_disk("8k"), 1, ["a.db", "disk is full"]),
    Row("store that fills the disk", full_disk("200k"), 1, ["a.db", "disk is full"]),
    Row("store a device", lambda place: run_options(place, store="/dev/null"), 1, ["/dev/null", "regular file"]),
    Row("report of no store", report(nothing), 1, ["a.db", "no such store"]),
    Row("report of an empty file", report(lambda place: place.store.touch()), 1, ["a.db", "empty"]),
    Row("report of a text", report(lambda place: place.store.write_text("a text of more than sixteen bytes\n")), 1,
        ["a.db", "not an SQLite file"]),
    Row("report of another program's store", report(foreign), 1, ["a.db", "another program"]),
    Row("report of a newer store", report(newer_schema), 1, ["a.db", "newer", "99"]),
    Row("report of damaged pages", report(flipped(4096, 40960)), 1, ["a.db", "damaged"]),
    Row("report of a store cut off", report(cut), 1, ["a.db", "damaged"]),
    Row("report of more samples than there are", lambda place: report(sound_store)(place) + ["--pass-k", "2"], 2,
        ["--pass-k 2", "the most is 1"]),
    Row("report of no samples", lambda place: report(sound_store)(place) + ["--pass-k", "0"], 2, ["--pass-k"]),
    Row("report of samples not a number", lambda place: report(sound_store)(place) + ["--pass-k", "1,many"], 2, ["--pass-k", "many"]),
    Row("regrade without a suite", lambda place: ["regrade", "--store", str(place.store)], 2, ["--suite"]),
    Row("regrade of no store", regrade_unfinished(nothing), 1, ["a.db", "no such store"]),
    Row("regrade of another program's store", regrade_unfinished(foreign), 1, ["a.db", "another program"]),
    Row("regrade of a newer store", regrade_unfinished(newer_schema), 1, ["a.db", "newer", "99"]),
    Row("regrade of a run without its definition", regrade_unfinished(without_definition), 1, ["run ", "definition"]),
    Row("regrade of a suite without runs", regrade(suite="gsm8k"), 2, ["--suite gsm8k", "a.db", "it has runs of mini_gsm8k"]),
    Row("regrade of no suite", regrade(suite="mini_gsm8"), 2, ["--suite mini_gsm8", "mini_gsm8k"]),
    Row("regrade of a suite file that is not there", regrade(suite="none.toml"), 2, ["none.toml"]),
    Row("regrade of no run", regrade("--run", "xyz"), 2, ["run xyz", "a.db"]),
    Row("regrade by an unknown grader", regrade("--grader", "nmber"), 2, ["--grader nmber", "number"]),
    Row("regrade of texts by a metric of choices", regrade("--grader", "acc"), 2, ["--grader acc", "mini_gsm8k"]),
    Row("report onto a full disk", report_onto_full_disk, 1, ["report.md"]),
    Row("report below a file", report_below_a_file, 1, ["file"]),
]

ROWS = LINE_ROWS + STORE_ROWS
