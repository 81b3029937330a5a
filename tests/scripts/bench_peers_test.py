"""scripts/bench_peers without the peers: tables of made-up measurements, rounds, options, errors, and how each engine's
figures are read, from stand-ins for their programs."""

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HOME = Path(__file__).resolve().parents[2]
SCRIPT = HOME / "scripts" / "bench_peers"
BUILD = HOME / "scripts" / "peers" / "build_llama_cpp"
loader = importlib.machinery.SourceFileLoader("bench_peers", str(SCRIPT))
bench_peers = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_peers", loader))
loader.exec_module(bench_peers)  # puts the folder of its parts on the path

import agreement  # noqa: E402
import common  # noqa: E402
import end_to_end  # noqa: E402
import measure  # noqa: E402
import prepare  # noqa: E402
import products  # noqa: E402
import table  # noqa: E402
import works  # noqa: E402
from engine import Configuration, Engine, run  # noqa: E402
from fault import Fault  # noqa: E402
from fullband_engine import Fullband  # noqa: E402
from llama_cpp_engine import LlamaCpp  # noqa: E402
from transformers_engine import Sgemm, Transformers, Worker  # noqa: E402


def entry(work, engine, weights, values, configuration=None, numbers=works.SHARED_NUMBERS):
    return {
        "work": work,
        "engine": engine,
        "weights": weights,
        "configuration": configuration or weights,
        "numbers": numbers,
        "values": values,
    }


# Medians: ours 60 (float32) and 90; peers 20, 40 (float32), 50, 75 (16 bits). Ours with other numbers: 50.
DECODE = [
    entry("decode_1", works.FULLBAND, "float32", [60, 1, 99]),
    entry("decode_1", works.FULLBAND, "bfloat16", [90, 90, 90]),
    entry("decode_1", works.FULLBAND, "float32", [50], "wide", works.WIDE_NUMBERS),
    entry("decode_1", works.TRANSFORMERS, "float32", [20, 20, 500]),
    entry("decode_1", works.LLAMA_CPP, "float32", [41, 40, 39]),
    entry("decode_1", works.LLAMA_CPP, "float16", [50, 50, 50]),
    entry("decode_1", works.LLAMA_CPP, "bfloat16", [75, 75, 75]),
    entry("decode_bound", works.FULLBAND, "float32", [110, 120]),
    entry("decode_bound", works.FULLBAND, "bfloat16", [100]),
]
BATCH = [
    entry("decode_8", works.FULLBAND, "float32", [250]),
    entry("decode_8", works.LLAMA_CPP, "float32", [90]),
    entry("decode_8", works.TRANSFORMERS, "bfloat16", [100]),
]


def cells(text, row, column=None):
    line = [line for line in text.splitlines() if line.startswith("|")][row]
    found = [cell.strip() for cell in line.strip("|").split("|")]
    return found if column is None else found[column]


class TableTest(unittest.TestCase):
    def test_ratios_are_of_medians_against_the_best_of_each_field(self):
        single, half = table.comparisons(DECODE)
        self.assertEqual((single.ours.median, half.ours.median), (60, 90))
        self.assertEqual([single.peers[field].median for field in ("float32", "width", "all")], [40, 40, 75])
        self.assertEqual([half.peers[field].median for field in ("float32", "width", "all")], [40, 75, 75])
        self.assertEqual([single.ratio(field) for field in ("float32", "width", "all")], [1.5, 1.5, 0.8])
        self.assertEqual(half.ratio("float32"), 2.25)
        self.assertEqual(single.peers["width"].title, "llama.cpp, float32")

    def test_a_goal_is_reached_at_its_factor_and_in_each_field_that_it_names(self):
        single, half = table.comparisons(DECODE)
        self.assertEqual((single.work.goal, single.work.among), (1.3, ("width",)))
        self.assertEqual((single.reached("width"), half.reached("width")), (True, False))
        (exact,) = table.comparisons(BATCH)
        self.assertEqual((exact.ratio("all"), exact.reached("all")), (2.5, True))
        self.assertEqual(table.goal_text(exact), "2.5 ×: float32 reached; all reached")
        (less,) = table.comparisons([*BATCH[:2], entry("decode_8", works.TRANSFORMERS, "bfloat16", [100.1])])
        self.assertEqual((less.reached("all"), less.reached("float32")), (False, True))
        self.assertEqual(table.goal_text(less), "2.5 ×: float32 reached; all missed (250 asked for)")

    def test_a_goal_that_asks_for_more_than_the_machine_allows_says_so(self):
        missed = [*BATCH[:2], entry("decode_8", works.TRANSFORMERS, "bfloat16", [120])]
        for allowed, expected in ((300, ""), (299, ", more than float32 allows")):
            (one,) = table.comparisons([*missed, entry("decode_bound", works.FULLBAND, "float32", [allowed])])
            self.assertEqual(table.goal_text(one), f"2.5 ×: float32 reached; all missed (300 asked for{expected})")
        self.assertEqual(table.allowed_text(one), "299 (84 % of it)")

    def test_what_the_machine_allows_is_the_best_of_what_was_measured_of_it(self):
        self.assertEqual([one.allowed for one in table.comparisons(DECODE)], [115, 115])
        self.assertEqual([one.allowed for one in table.comparisons(BATCH)], [None])
        prefill = entry("prefill_512", works.FULLBAND, "float32", [1])
        self.assertIsNone(table.comparisons([prefill, *DECODE])[0].allowed)

    def test_other_numbers_have_a_table_of_their_own_against_float32_alone(self):
        (wide,) = table.comparisons(DECODE, works.WIDE_NUMBERS)
        self.assertEqual((wide.ours.median, wide.ratio("float32"), wide.ratio("all")), (50, 1.25, None))
        text = table.ratios_table(DECODE, works.WIDE_NUMBERS)
        self.assertEqual(
            cells(text, 2)[1:],
            ["wide", "50 tokens/s", "1.25 × 40 (llama.cpp, float32)", "1.3 ×: float32 missed (52 asked for)",
             "115 (43 % of it)"],
        )  # fmt: skip
        self.assertNotIn("wide", table.ratios_table(DECODE))
        self.assertIn(text, table.report(DECODE))
        self.assertEqual(table.ratios_table(BATCH, works.WIDE_NUMBERS), "")
        self.assertNotIn(table.WIDE, table.report(BATCH))

    def test_without_a_peer_there_is_neither_ratio_nor_verdict(self):
        (alone,) = table.comparisons(DECODE[:1])
        for field in works.FIELDS:
            self.assertEqual((alone.ratio(field), alone.reached(field)), (None, None))
        self.assertEqual(cells(table.ratios_table(DECODE[:1]), 2)[3:], ["–", "–", "–", "1.3 ×", "–"])

    def test_shares_of_the_machine(self):
        measured = [
            entry("sgemm", works.FULLBAND, "float32", [120, 130, 110]),
            entry("sgemm", "BLAS", "float32", [150, 160, 170]),
            entry("read", works.FULLBAND, "float32", [27]),
            entry("read_bound", works.FULLBAND, "float32", [30]),
            entry("read", works.FULLBAND, "bfloat16", [20]),
            entry("read_bound", works.FULLBAND, "bfloat16", [40]),
        ]
        self.assertEqual(
            [(one.bound.name, round(one.share, 6)) for one in table.shares(measured)],
            [("sgemm", 0.75), ("read", 0.9), ("read", 0.5)],
        )
        text = table.shares_table(measured)
        self.assertEqual([cells(text, row, 5) for row in (2, 3, 4)], ["75 %, reached", "80 %, reached", "80 %, missed"])

    def test_every_configuration_is_listed_from_the_fastest_with_its_spread(self):
        text = table.all_table(DECODE)
        self.assertEqual(cells(text, 2)[1:3], ["Fullband, bfloat16", "90 tokens/s"])
        self.assertEqual(cells(text, 4)[1:], ["Fullband, float32", "60 tokens/s", "1 – 99", "3"])
        self.assertEqual(cells(text, 5)[1:3], ["Fullband, wide", "50 tokens/s"])
        self.assertEqual(cells(text, 8)[1:3], ["transformers, float32", "20 tokens/s"])


class Fake(Engine):
    def __init__(self, name, calls, fail_at=None):
        self.configuration = Configuration(name, "float32", "float32")
        self.name, self.calls, self.fail_at = name, calls, fail_at

    def measure(self, stage):
        self.calls.append(self.name)
        if len(self.calls) == self.fail_at:
            raise Fault(self.name, "fails")
        return {"decode_1": float(len(self.calls))} if stage == "decode" else {}


class RoundsTest(unittest.TestCase):
    def setUp(self):
        self.calls, self.measured = [], measure.Measured()

    def stage(self, stage, rounds, **kind):
        engines = [Fake("a", self.calls, **kind), Fake("b", self.calls)]
        measure.measure_stage(stage, engines, rounds, self.measured, lambda _: None)

    def test_engines_take_turns_and_every_other_round_goes_backwards(self):
        self.stage("decode", 3)
        self.assertEqual("".join(self.calls), "abbaab")
        self.assertEqual(
            {one["engine"]: one["values"] for one in self.measured.entries()}, {"a": [1, 4, 5], "b": [2, 3, 6]}
        )

    def test_who_has_no_part_in_a_stage_is_left_out(self):
        self.stage("prefill", 1)
        self.assertEqual(self.measured.entries(), [])

    def test_what_was_measured_before_a_failure_stays(self):
        with self.assertRaises(Fault):
            self.stage("decode", 3, fail_at=4)
        self.assertEqual([one["values"] for one in self.measured.entries()], [[1], [2, 3]])


class AgreementTest(unittest.TestCase):
    def test_equal_tokens_pass_and_others_name_engine_and_place(self):
        agreement.compare([1, 2, 3], {"x": [1, 2, 3]})
        with self.assertRaisesRegex(Fault, r"^y: .* from its token 1 on \(\[9, 3\], ours \[2, 3\]\)"):
            agreement.compare([1, 2, 3], {"x": [1, 2, 3], "y": [1, 9, 3]})
        with self.assertRaisesRegex(Fault, "from its token 2 on"):
            agreement.compare([1, 2, 3], {"x": [1, 2]})

    def test_suites_must_have_asked_the_same_prompts(self):
        end_to_end.compare("gsm8k", ["a", "b"], {"batch 1": {"prompts": ["a", "b"]}})
        with self.assertRaisesRegex(Fault, r"batch 8: was not asked the same token ids in gsm8k \(2 prompts"):
            end_to_end.compare("gsm8k", ["a", "b"], {"batch 8": {"prompts": ["a", "c"]}})
        with self.assertRaises(Fault):  # one prompt asked twice
            end_to_end.compare("gsm8k", ["a", "b"], {"batch 8": {"prompts": ["a", "b", "b"]}})

    def test_texts_are_compared_item_by_item(self):
        ours = {"items": 2, "generated": 7, "texts": ["x ", "y"], "scores": {}}
        found = end_to_end.agreement(ours, {"batch 1": {"texts": [" x", "z"], "scores": {}}})
        self.assertEqual(found["same_texts"], {"batch 1": 1})


class EnginesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def stand_in(self, name, output, status=0):
        """A program that notes its arguments in `name`.log and prints `output`."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"#!{sys.executable}\nimport json, sys\n"
            "open(__file__ + '.log', 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n"
            f"print({output!r})\nprint('its last words', file=sys.stderr)\nsys.exit({status})\n"
        )
        path.chmod(0o755)
        return path

    def arguments(self, name):
        return [json.loads(line) for line in Path(f"{self.folder / name}.log").read_text().splitlines()]

    def option(self, arguments, name):
        return arguments[arguments.index(name) + 1]

    def test_llama_bench(self):
        entries = [{"n_prompt": 128, "samples_ns": [1e9, 2e9, 9e9]}, {"n_prompt": 512, "samples_ns": [2e9]}]
        self.stand_in("bin/llama-bench", json.dumps(entries))
        found = LlamaCpp(self.folder, "m.gguf", "float32", {1: 4}, 3, 2).measure("prefill")
        self.assertEqual(found, {"prefill_128": 64, "prefill_512": 256})
        (arguments,) = self.arguments("bin/llama-bench")
        self.assertEqual(
            [self.option(arguments, name) for name in ("-m", "-p", "-t", "-r")], ["m.gguf", "128,512", "2", "3"]
        )

    def test_llama_batched_bench(self):
        lines = ["something else", json.dumps({"pl": 1, "tg": 4, "t_tg": 0.5})]
        lines.append(json.dumps({"pl": 2, "tg": 4, "t_tg": 0.5}))
        self.stand_in("bin/llama-batched-bench", "\n".join(lines))
        engine = LlamaCpp(self.folder, "m.gguf", "float32", {1: 4, 2: 4}, 3, 2)
        self.assertEqual(engine.measure("decode"), {"decode_1": 8, "decode_2": 16})
        (arguments,) = self.arguments("bin/llama-batched-bench")
        self.assertEqual(
            [self.option(arguments, name) for name in ("-npp", "-ntg", "-npl", "-c", "-t", "-tb")],
            ["128", "4", "1,2", "264", "2", "2"],
        )
        engine.steps = {1: 4, 8: 4}
        with self.assertRaisesRegex(Fault, r"batches \[1, 8\] were asked for"):
            engine.measure("decode")

    def test_fullband_bench(self):
        def figure(rate, **kind):
            return {**kind, "tokens_per_second": {"median": rate}, "gbyte_per_second": rate / 2}

        report = {
            "prefill": [figure(700, prompt_tokens=128), figure(600, prompt_tokens=512)],
            "decode": [figure(50, batch=1), figure(400, batch=8), figure(800, batch=32)],
            "machine": {"probes": {"read_gbyte_per_second": 30}},
        }
        peaks = [{"target": name, "gflop_per_second": rate} for name, rate in (("A", 4), ("B", 6), ("C", 5))]
        report["machine"]["probes"]["multiply_add"] = peaks
        program = self.stand_in("fullband", json.dumps(report))
        model = products.Products([(10, 100, 1000)], 500_000)  # 1,000,000 without the head
        engine = Fullband(program, "m", "float32", model, 3, 2)
        self.assertEqual(
            engine.measure("prefill"), {"prefill_128": 700, "prefill_512": 600, "sgemm": 1.2, "prefill_bound": 3000}
        )
        self.assertEqual(
            engine.measure("decode"),
            {"decode_1": 50, "decode_8": 400, "decode_32": 800, "read": 25, "read_bound": 30, "decode_bound": 2000},
        )
        self.assertEqual(engine.measure("gsm8k"), {})
        prefill, decode = self.arguments("fullband")
        self.assertEqual(
            [self.option(prefill, name) for name in ("--prompt-lengths", "--chunks", "--threads")],
            ["128,512", "512", "2"],
        )
        self.assertEqual([self.option(decode, name) for name in ("--batches", "--contexts")], ["1,8,32", "160"])
        wide = Fullband(program, "m", "float32", model, 3, 2, works.WIDE_NUMBERS).configuration
        self.assertEqual((engine.configuration.name, engine.configuration.numbers), ("float32 checkpoint", "bfloat16"))
        self.assertEqual(
            (wide.name, wide.numbers), ("float32 checkpoint, numbers beyond bfloat16", works.WIDE_NUMBERS)
        )

    def test_what_is_not_the_json_of_bench_is_refused(self):
        for text in ("", "{}", '{"prefill": [], "decode": [], "machine": {"probes": null}}'):
            engine = Fullband(self.stand_in("fullband", text), "m", "float32", None, 3, 2)
            with self.assertRaisesRegex(Fault, "fullband bench: printed something else than its JSON"):
                engine.measure("prefill")

    def test_transformers_and_sgemm(self):
        class Answers:
            def ask(self, **request):
                asked.append(request)
                return {
                    "prefill": {"seconds": [1, 2, 9]},
                    "decode": {"seconds": 2},
                    "sgemm": {"seconds": {"torch": [4, 4, 4], "numpy": [8, 2, 1]}},
                }[request["job"]]

        asked = []
        engine = Transformers(Answers(), "bfloat16", "eager", {1: 10, 8: 5}, 3)
        self.assertEqual(engine.measure("prefill"), {"prefill_128": 64, "prefill_512": 256})
        self.assertEqual(engine.measure("decode"), {"decode_1": 5, "decode_8": 20})
        self.assertEqual({(one["dtype"], one["attention"]) for one in asked}, {("bfloat16", "eager")})
        self.assertEqual([len(one["prompt"]) for one in asked], [128, 512, 128, 128])
        blas = Sgemm(Answers(), products.Products([(10, 10, 1000)], 0), 3).measure("prefill")
        self.assertAlmostEqual(blas["sgemm"], 2 * 512 * 100_000 / 2 / 1e9)

    def test_the_process_of_transformers(self):
        python = self.stand_in("python", json.dumps({"error": "no such dtype"}))
        worker = Worker(python, "m", 2)
        with self.assertRaisesRegex(Fault, "transformers: no such dtype"):
            worker.ask(job="prefill")
        with self.assertRaisesRegex(Fault, "transformers: its process ended: its last words"):
            worker.ask(job="prefill")
        worker.close()
        self.assertEqual(self.arguments("python")[0][-2:], ["m", "2"])

    def test_a_program_that_fails_is_named_with_its_last_words(self):
        with self.assertRaisesRegex(Fault, "bad: ended with status 3: its last words"):
            run([self.stand_in("bad", "", 3)])
        with self.assertRaisesRegex(Fault, "missing: No such file"):
            run([self.folder / "missing"])

    def test_products_of_a_model(self):
        config = {
            "hidden_size": 8,
            "intermediate_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "vocab_size": 100,
        }
        (self.folder / "config.json").write_text(json.dumps(config))
        found = products.read_products(self.folder)
        self.assertEqual(found.parameters, 2 * (8 * 8 + 2 * 4 * 8 + 8 * 8 + 3 * 8 * 32))
        self.assertEqual(found.head_parameters, 8 * 100)
        (self.folder / "config.json").write_text("{}")
        with self.assertRaisesRegex(Fault, "config.json: is no checkpoint's configuration"):
            products.read_products(self.folder)


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def script(self, *arguments, **environment):
        return subprocess.run(
            [sys.executable, SCRIPT, *arguments],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={
                **os.environ,
                "FULLBAND_CACHE": str(self.folder),
                "FULLBAND_SHARED": str(self.folder),
                "FULLBAND_DATA": "",
                **environment,
            },
        )

    def test_unknown_stage_engine_and_number_are_refused(self):
        for arguments, message in (
            (("--only", "decode,encode"), "'encode' is none of prefill, decode, gsm8k, arc_easy"),
            (("--engines", "vllm"), "'vllm' is none of fullband"),
            (("--rounds", "0"), "'0' is no number"),
            (("--everything",), "--everything"),
        ):
            done = self.script(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(message, done.stderr.splitlines()[-1])

    def test_options(self):
        options = bench_peers.parse(["--only", "decode,prefill", "--engines", "llama.cpp,fullband", "--quick"])
        self.assertEqual(
            (options.only, options.engines, options.rounds), (["prefill", "decode"], ["Fullband", "llama.cpp"], 1)
        )
        defaults = bench_peers.parse([])
        self.assertEqual(
            (tuple(defaults.only), defaults.rounds, defaults.rounds_end_to_end, defaults.threads),
            (works.STAGES, 3, 1, 2),
        )

    def test_each_missing_thing_is_named_with_what_to_do(self):
        for arguments, message in (
            (("--program", self.folder / "none"), "none: is no program (scripts/build release fullband)"),
            (
                ("--program", sys.executable, "--peers-python", self.folder / "none"),
                "none: no such interpreter (scripts/setup --peers,",
            ),
            (
                ("--program", sys.executable, "--engines", "fullband", "--only", "gsm8k"),
                "no data there that these suites are asked from (fullband data fetch --suite gsm8k, or --data-dir)",
            ),
            (
                ("--program", sys.executable, "--engines", "fullband", "--data-dir", self.folder / "d"),
                "d: no data there",
            ),
            (("--from", self.folder / "none"), "none: No such file"),
        ):
            done = self.script(*arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""), arguments)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(message, done.stderr)

    def test_a_file_that_cannot_be_written_is_known_at_once(self):
        done = self.script(
            "--program",
            sys.executable,
            "--engines",
            "fullband",
            "--only",
            "decode",
            "--json",
            self.folder / "none/f.json",
        )
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (1, "", 1), done.stderr)
        self.assertIn("none/f.json: No such file or directory", done.stderr)

    def test_tables_of_a_file(self):
        path = self.folder / "f.json"
        path.write_text(json.dumps({"bench_peers": bench_peers.FORMAT, "measured": DECODE}))
        done = self.script("--from", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(
            cells(done.stdout, 2),
            [
                "decode, batch 1",
                "float32",
                "60 tokens/s",
                "1.50 × 40 (llama.cpp, float32)",
                "1.50 × 40 (llama.cpp, float32)",
                "0.80 × 75 (llama.cpp, bfloat16)",
                "1.3 ×: width reached",
                "115 (52 % of it)",
            ],
        )
        self.assertEqual(cells(done.stdout, 3, 6), "1.3 ×: width missed (97.5 asked for)")
        for content in ("{", "[]", "{}", '{"bench_peers": 1, "measured": []}', '{"bench_peers": 2}'):
            path.write_text(content)
            done = self.script("--from", path)
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (1, "", 1), content)
            self.assertIn("f.json", done.stderr)

    def test_the_file_holds_every_repeat_the_machine_and_the_versions(self):
        options = bench_peers.parse(["--json", str(self.folder / "out.json"), "--threads", "1"])
        session = bench_peers.Session(options, prepare.Setup(Path("p"), Path("q")))
        session.versions["torch"] = "2"
        session.measured.add(Configuration("x", "float32", "y"), {"decode_1": 3.5})
        session.write()
        content = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(content["measured"], [entry("decode_1", "x", "float32", [3.5], "y")])
        self.assertEqual((content["options"]["threads"], content["versions"]), (1, {"torch": "2"}))
        self.assertGreater(content["machine"]["memory_bytes"], 0)


class SessionTest(unittest.TestCase):
    """Which of the model's forms each engine is measured with."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        model = Path(folder.name)
        sizes = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
        (model / "config.json").write_text(json.dumps(dict.fromkeys(sizes, 1)))
        self.setup = prepare.Setup(Path("program"), Path("python"), model, Path("widened"), Path("wide"))
        self.setup.ggufs = {"float32": Path("f32"), "bfloat16": Path("bf16")}
        self.session = bench_peers.Session(bench_peers.parse([]), self.setup)

    def test_prefill_and_decode(self):
        self.session.worker = object()
        engines = {one.configuration.title: one for one in self.session.stage_engines()}
        ours = {title: one.model for title, one in engines.items() if isinstance(one, Fullband)}
        self.assertEqual(
            ours,
            {
                "Fullband, float32 checkpoint": Path("widened"),
                "Fullband, bfloat16 checkpoint": self.setup.model,
                "Fullband, float32 checkpoint, numbers beyond bfloat16": Path("wide"),
            },
        )
        others = [title for title in engines if title not in ours]
        self.assertEqual({engines[title].configuration.numbers for title in others}, {works.SHARED_NUMBERS})
        self.assertEqual(engines["llama.cpp, float32"].gguf, Path("f32"))
        self.assertEqual(engines["llama.cpp, bfloat16"].gguf, Path("bf16"))
        self.assertIn("transformers, float32, sdpa attention", others)

    def test_suites_load_the_one_checkpoint_on_both_sides(self):
        asked = []

        def stop(command):
            asked.append(command[command.index("--model") + 1])
            raise Fault(command[0], "is not run")

        with mock.patch.object(end_to_end, "run", stop):
            for engine in self.session.suite_engines():
                with self.assertRaises(Fault):
                    engine.measure("arc_easy")
        self.assertEqual(asked, [self.setup.model] * 3)


class SuitesTest(unittest.TestCase):
    """What is read of a store, made by the store's own schema, and which token ids that stands for."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        database = sqlite3.connect(self.folder / "store.db")
        database.executescript((HOME / "evals/store/schema.sql").read_text())
        database.execute("PRAGMA foreign_keys = OFF")
        # Asked in another order than the data's; the third item has no valid result.
        for number, (position, prompt, text, fault) in enumerate(
            ((1, "q2", " b", ""), (0, "q1", " a", ""), (2, "q3", "", "too long")), start=1
        ):
            database.execute(
                "INSERT INTO items (id, run_id, item, position, prompt, gold) VALUES (?, 1, ?, ?, ?, '')",
                (number, str(position), position, prompt),
            )
            database.execute(
                "INSERT INTO samples (id, item_id, sample, fault, text, generated_tokens, finished, content_sha256) "
                "VALUES (?, ?, 0, ?, ?, 5, '', '')",
                (number, number, fault, text),
            )
            for choice in range(2):
                database.execute(
                    "INSERT INTO choices VALUES (?, ?, ?, 1, 1, 1, -1.0, X'00000000', 0, 0)",
                    (number, choice, f" {prompt[1]}{choice}"),
                )
        database.executemany("INSERT INTO grades VALUES (?, 'number', 1, 'correct', ?, '', '')", [(1, 1.0), (2, 0.0)])
        database.commit()
        database.close()
        program = self.folder / "fullband"
        program.write_text(
            f"#!{sys.executable}\nimport json, sys\nassert sys.argv[1:] == ['tokenize', '--model', 'm']\n"
            "for line in sys.stdin: print(json.dumps({'ids': [ord(c) for c in json.loads(line)]}))\n"
        )
        program.chmod(0o755)
        self.setup = prepare.Setup(program, Path("python"), model=Path("m"))

    def hashes(self, *texts):
        return sorted(common.hash_ids([ord(c) for c in text]) for text in texts)

    def test_generated_texts_in_the_order_of_the_data(self):
        found = end_to_end.read_store(self.folder / "store.db", "gsm8k")
        self.assertEqual((found["items"], found["prompts"], found["texts"]), (2, ["q1", "q2"], [" a", " b"]))
        self.assertEqual((found["generated"], found["scores"]), (10, {"number": 0.5}))
        self.assertEqual(end_to_end.asked_by_fullband(self.setup, "gsm8k", found), self.hashes("q1", "q2"))

    def test_choices_are_asked_behind_their_prompts(self):
        found = end_to_end.read_store(self.folder / "store.db", "arc_easy")
        self.assertEqual(found["texts"], [])
        self.assertEqual(
            end_to_end.asked_by_fullband(self.setup, "arc_easy", found), self.hashes("q1 10", "q1 11", "q2 20", "q2 21")
        )


class BuildTest(unittest.TestCase):
    """scripts/peers/build_llama_cpp without a network and without building."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = Path(folder.name)

    def script(self, *arguments, **environment):
        offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.cache), "PIP_CONFIG_FILE": os.devnull}
        return subprocess.run(
            [BUILD, *arguments],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **offline, "FULLBAND_CACHE": str(self.cache), "FULLBAND_PEERS_PYTHON": sys.executable}
            | environment,
        )

    def test_unknown_option_and_missing_interpreter(self):
        done = self.script("--fast")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        done = self.script(FULLBAND_PEERS_PYTHON="/nonexistent/python3")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("/nonexistent/python3: no such interpreter (run scripts/setup --peers)", done.stderr)

    def test_nothing_is_left_where_the_package_cannot_be_had_or_has_another_hash(self):
        for content in (None, b"something else"):
            if content:
                (self.cache / "llama_cpp_python-0.3.36.tar.gz").write_bytes(content)
            done = self.script()
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("could not be fetched", done.stderr.splitlines()[-1])
            self.assertEqual(os.listdir(self.cache / "peers"), [])

    def test_what_is_built_is_not_built_again(self):
        cpu = Path("/proc/cpuinfo").read_text().splitlines()
        lines = [line for line in cpu if line.startswith(("model name", "flags"))][:2]
        text = "".join(line.partition(":")[2] + "\n" for line in lines)
        processor = hashlib.sha256(text.encode()).hexdigest()[:12]
        program = self.cache / "peers" / f"llama_cpp_python-0.3.36-{processor}" / "bin" / "llama-batched-bench"
        program.parent.mkdir(parents=True)
        program.touch(0o755)
        done = self.script()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{program.parent.parent}\n", ""))


if __name__ == "__main__":
    unittest.main(verbosity=1)
