"""scripts/gpu_retrofit on the CPU: a tiny random Llama trained for some steps, carried away as an update, merged again.

Run: python3 retrofit_test.py [PROGRAM]; with Fullband's program, what it reads and words is compared, too.
"""
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import support
from support import np, torch

from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

import gsm8k
import low_rank
import merge_update
import models
import pace
import public_text
import retrofit
import settings

PROGRAM = None
STEPS = 12
KIB = 1024
FILE_BYTES = 8 * KIB  # of weights: too little for all of the tiny model's change


def write_lines(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


def problem(a, b):
    return {"question": f"Ann has {a} and {b} {{more}}. All?",
            "answer": f"{a}+{b} = <<{a}+{b}={a + b}>>{a + b}\n#### {a + b}"}


def write_data(folder):
    write_lines(folder / "gsm8k" / "train.jsonl", [problem(n, n % 3) for n in range(24)])
    write_lines(folder / "gsm8k" / "test.jsonl", [problem(n, n + 7) for n in range(5)])
    tasks = [{"text": f"Write a function to add {n}.", "code": f"def f(x):\r\n\treturn x + {n}", "task_id": n,
              "test_list": [f"assert f(1) == {n + 1}", f"assert f(2) == {n + 2}"]}
             for n in (*range(505, 516), *range(599, 612))]
    write_lines(folder / "mbpp" / "mbpp.jsonl", tasks)
    return folder


def write_llama(folder):
    """A random Llama, as float32 weights, with a tokenizer."""
    support.write_tokenizer(folder)
    torch.manual_seed(3)
    size = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab_size()
    shape = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
                 num_key_value_heads=2)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=size, max_position_embeddings=1024, tie_word_embeddings=True,
                                         bos_token_id=None, eos_token_id=0, pad_token_id=None, **shape))
    model.save_pretrained(folder)
    return folder


CONFIG = {
    "model": {"start": "llama", "fusion": "glu"},
    "data": {"train": ["unused.jsonl"], "sequence_length": 192, "held_out_rows": 3},
    "objective": {"prefix_mixing": 0.5, "prefix_start": "answer"},
    "schedule": {"steps": 1, "rows": 4, "micro_rows": 2, "learning_rate": 3e-3, "weight_decay": 0.0, "phases": [
        {"until": 0.3, "passes": {"1": 1}}, {"until": 1.0, "passes": {"2": 2, "3": 1}}]},
    "run": {"out": "unused", "device": "cpu", "threads": 1, "checkpoint_steps": 2, "keep_checkpoints": 1,
            "evaluate_steps": 6, "evaluate_passes": 3},
}


class Case(unittest.TestCase):
    def setUp(self):
        import tempfile
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))



class Retrofit(unittest.TestCase):
    """One run, and what can be asked of its results."""

    @classmethod
    def setUpClass(cls):
        import tempfile
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.base = write_llama(cls.folder / "llama")
        write_data(cls.folder / "data")
        (cls.folder / "config.toml").write_text(support.toml_of(CONFIG), encoding="utf-8")
        cls.out, cls.work = cls.folder / "out", cls.folder / "work"
        with mock.patch.object(retrofit, "WEIGHT_FILE_BYTES", FILE_BYTES):
            cls.code = cls.run_it(cls.out, cls.work)
        cls.metrics = json.loads((cls.out / "metrics.json").read_text())

    @classmethod
    def arguments(cls, out, work, *more):
        return ["--out", str(out), "--work", str(work), "--config", str(cls.folder / "config.toml"), "--data",
                str(cls.folder / "data"), "--steps", str(STEPS), "--items", "3", "--max-new", "6", "--documents", "40",
                *more]

    @classmethod
    def run_it(cls, out, work, *more):
        return retrofit.main(cls.arguments(out, work, *more))

    # --- what it writes

    def test_writes_all_within_the_limits(self):
        self.assertEqual(self.code, 0)
        names = sorted(file.name for file in self.out.iterdir())
        self.assertEqual([name for name in names if not name.startswith("update-")],
                         ["completions.jsonl.gz", "metrics.json", "training.toml", "update.json"])
        self.assertLessEqual(len(names), retrofit.MOST_FILES)
        for file in self.out.glob("update-*"):
            self.assertLessEqual(file.stat().st_size, FILE_BYTES)
        self.assertTrue(self.metrics["complete"])
        size = sum((self.out / name).stat().st_size for name in names)
        self.assertEqual(retrofit.check_limits(self.out), (len(names), size))

    def test_measures_every_model(self):
        loss = self.metrics["validation_loss_by_pass"]
        self.assertEqual({name: [len(values) for values in files.values()] for name, files in loss.items()},
                         {"merged": [3] * 3, "trained": [3] * 3, "base": [1] * 3})
        for file, values in loss["trained"].items():
            self.assertLess(values[0], loss["base"][file][0], file)
            self.assertGreater(abs(values[1] - loss["merged"][file][1]), 1e-5, file)
        for file, values in self.losses_of(self.low_rank_weights()).items():
            np.testing.assert_allclose(loss["merged"][file], values, atol=1e-5, err_msg=file)
        self.assertEqual({name: list(results) for name, results in self.metrics["gsm8k"].items()},
                         {"merged": list(retrofit.SETTINGS), "trained": list(retrofit.SETTINGS), "base": ["standard"]})
        completions = [json.loads(line) for line in gzip.decompress(
            (self.out / "completions.jsonl.gz").read_bytes()).decode().splitlines()]
        self.assertEqual(len(completions), 7 * 3)
        self.assertIn("merged standard / merged latent@2", self.metrics["gsm8k_pairs"])
        self.assertNotIn("completions", json.dumps(self.metrics["gsm8k"]))

    def losses_of(self, weights):
        planned = settings.read(self.work / "training.toml")
        run = retrofit.Retrofit(retrofit.parse(self.arguments(self.out, self.work)), planned, self.folder / "data")
        tokenizer, end = models.load_tokenizer(planned.model)
        model = models.build(planned, tokenizer, end).eval()
        missing, unexpected = model.load_state_dict(weights, strict=False)
        self.assertEqual((missing, unexpected), (["lm_head.weight"], []))
        return run.losses(model, tokenizer, end, 3)

    def test_is_quick_when_done(self):
        with mock.patch("trainer.Trainer.step", side_effect=AssertionError("trained again")), \
                mock.patch("gsm8k.complete", side_effect=AssertionError("asked again")):
            self.assertEqual(self.run_it(self.out, self.work), 0)
        self.assertEqual(json.loads((self.out / "metrics.json").read_text()), self.metrics)

    def test_other_lengths_and_folders_are_refused(self):
        with mock.patch("sys.stderr") as said:
            self.assertEqual(self.run_it(self.out, self.work, "--steps", "5"), 1)
            self.assertIn("another --work", str(said.write.mock_calls))
        (self.folder / "full").mkdir()
        (self.folder / "full" / "thesis.txt").touch()
        with mock.patch("sys.stderr") as said:
            self.assertEqual(self.run_it(self.folder / "full", self.work), 1)
            self.assertIn("thesis.txt", str(said.write.mock_calls))

    # --- the update

    def low_rank_weights(self):
        """SmolLM2's stand-in with the products added, by NumPy from the files."""
        weights = load_file(self.base / "model.safetensors")
        parts = {}
        for file in self.out.glob("update-*.safetensors"):
            parts |= load_file(file)
        for name, value in parts.items():
            if name.endswith(".left"):
                name = name.removesuffix(".left")
                product = value.float().numpy() @ parts[f"{name}.right"].float().numpy()
                weights[name] = torch.from_numpy(weights[name].numpy() + product)
            elif not name.endswith(".right"):
                weights[name] = value
        return weights

    def test_merging_gives_the_low_rank_model(self):
        merged = self.folder / "merged"
        with mock.patch.object(sys, "argv", ["merge_update", "--base", str(self.base), "--update", str(self.out),
                                             "--out", str(merged)]):
            self.assertEqual(merge_update.main(), 0)
        expected = self.low_rank_weights()
        model = AutoModelForCausalLM.from_pretrained(merged, trust_remote_code=True, dtype=torch.float32).eval()
        found = low_rank.weights_of(model)
        self.assertEqual(set(found), set(expected))
        for name in found:
            np.testing.assert_allclose(found[name], expected[name], atol=1e-6, err_msg=name)
        tokens = torch.tensor([[5, 6, 7, 8, 9, 10]])
        with torch.no_grad():
            for setting in retrofit.SETTINGS:
                logits = model(tokens, setting=setting).logits
                same = merge_update.merged(self.base, self.out)[0](tokens, setting=setting).logits
                torch.testing.assert_close(logits, same, atol=1e-5, rtol=0)
            trained = torch.load(self.work / "trained.pt", weights_only=True)["model"]
            low_rank.apply(model, trained, "test")
            self.assertGreater((model(tokens).logits - model.__class__.forward(
                merge_update.merged(self.base, self.out)[0], tokens).logits).abs().max(), 1e-4)
        self.compare_with_fullband(merged)

    def compare_with_fullband(self, merged):
        if PROGRAM is None:
            return
        model = AutoModelForCausalLM.from_pretrained(merged, trust_remote_code=True, dtype=torch.float32).eval()
        tokenizer = Tokenizer.from_file(str(merged / "tokenizer.json"))
        prompt = "Question: one two?\nAnswer:"
        for setting in retrofit.SETTINGS:
            done = subprocess.run([PROGRAM, "decode", "--model", str(merged), "--prompt", prompt, "--setting", setting,
                                   "--max-new", "8", "--json"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(done.stdout)
            ids = tokenizer.encode(prompt).ids
            out = model.generate(torch.tensor([ids]), setting=setting, do_sample=False, max_new_tokens=8,
                                 eos_token_id=0, pad_token_id=0, return_dict_in_generate=True, output_logits=True)
            expected = [step.log_softmax(-1).max().item() for step in out.logits]
            self.assertEqual(found["tokens"], out.sequences[0, len(ids):].tolist(), setting)
            np.testing.assert_allclose(found["logprobs"], expected, atol=1e-4, err_msg=setting)

    def test_says_what_is_left_out(self):
        before = load_file(self.base / "model.safetensors")
        after = torch.load(self.work / "trained.pt", weights_only=True)["model"]
        merged = self.low_rank_weights()
        matrices = [name for name in before if before[name].dim() == 2]
        left_out = sum(((after[n] - merged[n]) ** 2).sum().item() for n in matrices) ** 0.5
        change = sum(((after[n] - before[n]) ** 2).sum().item() for n in matrices) ** 0.5
        self.assertAlmostEqual(self.metrics["update"]["residual"], left_out / change, places=4)
        self.assertTrue(0.05 < left_out / change < 0.95, left_out / change)
        for name in before:
            if before[name].dim() < 2:
                torch.testing.assert_close(merged[name], after[name], atol=0, rtol=0)

    def test_an_update_for_other_weights_or_with_a_torn_file_is_refused(self):
        other = shutil.copytree(self.base, self.folder / "other")
        weights = load_file(other / "model.safetensors")
        weights["model.norm.weight"][0] += 1e-6
        save_file(weights, other / "model.safetensors", metadata={"format": "pt"})
        with self.assertRaisesRegex(low_rank.UpdateError, "not those that the update was made from"):
            merge_update.merged(other, self.out)
        torn = shutil.copytree(self.out, self.folder / "torn")
        data = bytearray((torn / "update-1.safetensors").read_bytes())
        data[-1] ^= 1
        (torn / "update-1.safetensors").write_bytes(data)
        with self.assertRaisesRegex(low_rank.UpdateError, "update-1.safetensors: is not the file"):
            merge_update.merged(self.base, torn)
        (torn / "update-1.safetensors").unlink()
        with self.assertRaisesRegex(low_rank.UpdateError, "update-1.safetensors"):
            merge_update.merged(self.base, torn)

    # --- interruptions

    def test_a_killed_run_goes_on_to_the_same_update(self):
        out, work = self.folder / "out2", self.folder / "work2"
        log = self.folder / "log"

        def killed_when(path):
            pid = support.child(lambda: self.run_it(out, work), log)
            while not list(work.glob(path)) and time.monotonic() < end:
                time.sleep(0.02)
            self.assertTrue(list(work.glob(path)), log.read_text())
            os.kill(pid, signal.SIGKILL)
            self.assertEqual(support.wait_for(pid), -signal.SIGKILL)

        end = time.monotonic() + 300
        with mock.patch.object(retrofit, "WEIGHT_FILE_BYTES", FILE_BYTES):
            killed_when("training/step-*.pt")
            self.assertFalse((work / "trained.pt").exists())
            killed_when("evaluation/merged-loss.json")
            self.assertFalse(json.loads((out / "metrics.json").read_text())["complete"])
            (out / ".completions.tmp").touch()
            self.assertEqual(support.wait_for(support.child(lambda: self.run_it(out, work), log)), 0, log.read_text())
        self.assertFalse((out / ".completions.tmp").exists())
        self.assertIn("resuming after step", log.read_text())
        for file in self.out.glob("update-*.safetensors"):
            self.assertEqual((out / file.name).read_bytes(), file.read_bytes(), file.name)
        again = json.loads((out / "metrics.json").read_text())
        self.assertEqual(again["validation_loss_by_pass"], self.metrics["validation_loss_by_pass"])


class LowRank(Case):
    def change(self, seed=1):
        random = torch.Generator().manual_seed(seed)

        def matrix(rows, columns, rank=None):
            if rank is None:
                return torch.randn(rows, columns, generator=random)
            return torch.randn(rows, rank, generator=random) @ torch.randn(rank, columns, generator=random)

        before = {"tall.weight": matrix(60, 20), "wide.weight": matrix(12, 50), "same.weight": matrix(9, 9),
                  "norm.weight": torch.ones(20)}
        after = {name: value.clone() for name, value in before.items()}
        after["tall.weight"] += matrix(60, 20, 3)
        after["wide.weight"] += matrix(12, 50, 2)
        after["norm.weight"] += 0.5
        after["latent_feedback.state_proj.weight"] = matrix(20, 20)
        return before, after

    def test_finds_changes_of_low_rank(self):
        tensors, report = low_rank.Change(*self.change()).approximate(100 * KIB, 100 * KIB)
        self.assertLess(report["residual"], 0.01)  # rounding to bfloat16
        self.assertGreaterEqual(report["ranks"]["tall.weight"], 3)
        self.assertNotIn("same.weight", report["ranks"])
        self.assertEqual(tensors["norm.weight"].dtype, torch.float32)
        self.assertIn("latent_feedback.state_proj.weight", tensors)

    def test_the_strongest_directions_are_kept(self):
        before, after = self.change()
        full = [torch.linalg.svdvals((after[n] - before[n]).double()) ** 2 for n in ("tall.weight", "wide.weight")]
        change = low_rank.Change(before, after)
        for budget in (3000, 3400, 4000):
            tensors, report = change.approximate(budget, budget)
            ranks = [report["ranks"][n] for n in ("tall.weight", "wide.weight")]
            self.assertLessEqual(sum(low_rank._bytes(value) for value in tensors.values()), budget)
            best = (sum(s[r:].sum() for s, r in zip(full, ranks)) / sum(s.sum() for s in full)).item() ** 0.5
            self.assertAlmostEqual(report["residual"], best, delta=0.01)
        self.assertGreater(sum(ranks), 0)

    def test_what_does_not_fit_is_an_error(self):
        with self.assertRaisesRegex(low_rank.UpdateError, "do not fit"):
            low_rank.Change(*self.change()).approximate(1000, 1000)
        before, after = self.change()
        with self.assertRaisesRegex(low_rank.UpdateError, "do not fit"):
            low_rank.save(self.folder / "update", before, after, self.folder, "", 4, 1500)

    def test_no_more_files_than_there_may_be(self):
        tensors = {name: torch.zeros(150) for name in "abc"}
        self.assertEqual([set(file) for file in low_rank.pack(tensors, 3, 1000)], [{"a"}, {"b"}, {"c"}])
        self.assertIsNone(low_rank.pack(tensors, 2, 1000))
        self.assertEqual([set(file) for file in low_rank.pack(tensors, 2, 1500)], [{"a", "b"}, {"c"}])

    def test_files_keep_to_their_size(self):
        before, after = self.change()
        for files, size in ((4, 2600), (2, 4000), (1, 5000)):
            folder = self.folder / f"{files}"
            low_rank.save(folder, before, after, self.folder, "", files, size)
            written = list(folder.glob("update-*.safetensors"))
            self.assertLessEqual(len(written), files)
            self.assertLessEqual(max(file.stat().st_size for file in written), size)


class Pace(Case):
    def training(self):
        support.write_tokenizer(self.folder / "llama")
        (self.folder / "config.toml").write_text(support.toml_of(CONFIG), encoding="utf-8")
        return settings.read(self.folder / "config.toml")

    def test_steps_fill_the_minutes(self):
        training = self.training()
        # 30 % of the steps take 1 s; the others 2 s (weight 2) or 5 s (weight 1).
        planned = pace.of_minutes(training, 2.0, {1: 1.0, 2: 2.0, 3: 5.0})
        self.assertEqual(planned.schedule.steps, int(0.9 * 120 / (0.3 * 1 + 0.7 * 3)))
        self.assertEqual(planned.run.minutes, 2.0)
        with self.assertRaisesRegex(settings.ConfigError, "less than one step"):
            pace.of_minutes(training, 0.01, {1: 1.0, 2: 2.0, 3: 5.0})

    def test_what_is_written_is_what_is_planned(self):
        training = self.training()
        written = pace.write(training, self.folder / "elsewhere" / "plan.toml")
        for part in ("model", "data", "objective", "schedule", "run"):
            self.assertEqual(getattr(written, part), getattr(training, part))
        self.assertNotEqual(written.source, training.source)

    def test_measures_each_number_of_passes(self):
        write_llama(self.folder / "llama")
        training = support.write_training(self.folder / "training")
        training = settings.read(training)
        seconds = pace.seconds_per_step(training, repeat=1)
        self.assertEqual(set(seconds), {1, 2, 3})
        self.assertTrue(all(value > 0 for value in seconds.values()))
        self.assertFalse(list(Path(training.run.out).glob("step-*.pt")))


class PublicText(Case):
    def setUp(self):
        super().setUp()
        self.data = write_data(self.folder / "data")

    def documents(self, name):
        with open(self.folder / "text" / name, encoding="utf-8") as file:
            return [json.loads(line)["turns"] for line in file]

    def test_splits_share_no_problem(self):
        counts = public_text.write(self.data, self.folder / "text", 1)
        self.assertEqual(counts, {"gsm8k.jsonl": 36, "gsm8k.held_out.jsonl": 6, "mbpp.jsonl": 22,
                                  "mbpp.held_out.jsonl": 7})
        for name in ("gsm8k", "mbpp"):
            train, held_out = ({prompt.strip() for turns in self.documents(file) for prompt, _ in turns}
                               for file in (f"{name}.jsonl", f"{name}.held_out.jsonl"))
            self.assertFalse(train & held_out, name)
        self.assertEqual({len(turns) for turns in self.documents("gsm8k.jsonl")}, set(range(1, 7)))
        self.assertEqual({len(turns) for turns in self.documents("mbpp.jsonl")}, set(range(1, 5)))
        asked = "".join(prompt for turns in self.documents("mbpp.jsonl") for prompt, _ in turns)
        self.assertTrue("add 601." in asked and "add 600." not in asked and "add 510." not in asked)

    def test_mbpp_code_is_tidy_python(self):
        (prompt, answer), = public_text.mbpp_pairs(public_text.split_mbpp(self.data)[0][:1])
        self.assertEqual(answer, "def f(x):\n    return x + 601\n")
        self.assertEqual(prompt, '"""\nWrite a function to add 601.\nassert f(1) == 602\nassert f(2) == 603\n"""\n')

    def test_long_documents_lose_their_first_shots(self):
        pairs = [(f"Q{n}", "a" * 10) for n in range(9)]
        made = [d["turns"] for d in public_text.documents(pairs, 5, "|", np.random.default_rng(1), characters=40)]
        self.assertEqual({len(turns) for turns in made}, {1, 2, 3})
        self.assertEqual([turns[-1][0].lstrip("|") for turns in made], [f"Q{n}" for n in range(9)])

    def test_no_document_shows_a_problem_twice(self):
        pairs = [(f"Q{n}", "a") for n in range(9)]
        made = [d["turns"] for d in public_text.documents(pairs, 8, "|", np.random.default_rng(2))]
        self.assertEqual(max(map(len, made)), 9)
        for turns in made:
            self.assertEqual(len({prompt.lstrip("|") for prompt, _ in turns}), len(turns))

    def test_bad_lines_are_named(self):
        with open(self.data / "gsm8k" / "train.jsonl", "a", encoding="utf-8") as file:
            file.write('{"question": "only"}\n')
        with self.assertRaisesRegex(public_text.DataError, "train.jsonl:25: "):
            public_text.split_gsm8k(self.data)

    @unittest.skipIf(len(sys.argv) < 2, "needs Fullband's program")
    def test_words_gsm8k_as_fullband_does(self):
        home = Path(support.HOME)
        lines = (home / "tasks" / "gsm8k.toml").read_text().splitlines()
        (self.data / "own.toml").write_text("\n".join(line for line in lines if not line.startswith("sha256")))
        done = subprocess.run([PROGRAM, "suites", str(self.data / "own.toml"), "--show", "--shots", "4"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        items = public_text.read_lines(self.data / "gsm8k" / "train.jsonl", ("question", "answer"))
        shots = sorted((item for item in items if item["question"] in done.stdout),
                       key=lambda item: done.stdout.index(item["question"]))
        self.assertEqual(len(shots), 4)
        question, _, separator = public_text.gsm8k_wording()
        turns = public_text.turns_of(public_text.gsm8k_pairs(shots), separator)
        prompt = "".join(p + a for p, a in turns) + separator + public_text.fill(question, problem(0, 7))
        self.assertIn(prompt, done.stdout)


class Gsm8k(Case):
    def test_numbers(self):
        for text, number in (("#### 7", 7), ("a #### 3\n#### $1,234.50.", "1234.5"), ("#### -5", -5), ("7", None),
                             ("#### x", None), ("#### 1.2.3", None)):
            self.assertEqual(gsm8k.number_of(text), None if number is None else gsm8k.Decimal(number), text)

    def test_cut_at_the_first_stop(self):
        self.assertEqual(gsm8k.cut("a Question: b </s>", ["</s>", "Question:"]), ("a ", True))
        self.assertEqual(gsm8k.cut("a", ["</s>"]), ("a", False))

    def test_pairs(self):
        # Nine against one: 2 * (1 + 10) / 2^10.
        first, second = [True] * 9 + [False] + [True] * 5, [False] * 9 + [True] + [True] * 5
        self.assertEqual(gsm8k.pair(first, second), {"only_first": 9, "only_second": 1, "p": 22 / 1024})
        self.assertEqual(gsm8k.pair(first, first)["p"], 1.0)

    def test_prompts_end_with_the_item_and_show_no_test_problem(self):
        prompts, golds = gsm8k.load(write_data(self.folder), 3)
        self.assertEqual([int(gold) for gold in golds], [7, 9, 11])
        for n, prompt in enumerate(prompts):
            self.assertTrue(prompt.endswith(f"\n\nQuestion: Ann has {n} and {n + 7} {{more}}. All?\nAnswer:"), prompt)
            self.assertEqual(prompt.count("Question:"), 6)

    def test_a_batch_answers_as_single_prompts_do(self):
        write_llama(self.folder / "llama")
        (self.folder / "config.toml").write_text(support.toml_of(CONFIG), encoding="utf-8")
        training = settings.read(self.folder / "config.toml")
        tokenizer, end = models.load_tokenizer(training.model)
        model = models.build(training, tokenizer, end).eval()
        prompts = ["one", "two three four", "a b c d e f g", "Bob"]
        for setting in retrofit.SETTINGS:
            together = gsm8k.complete(model, tokenizer, end, prompts, setting, 6, 3)
            alone = [gsm8k.complete(model, tokenizer, end, [prompt], setting, 6, 1)[0] for prompt in prompts]
            self.assertEqual(together, alone, setting)


class Checks(Case):
    def test_says_what_is_missing(self):
        (self.folder / "config.toml").write_text(support.toml_of(CONFIG), encoding="utf-8")
        with mock.patch("sys.stderr") as said:
            code = retrofit.main(["--check", "--config", str(self.folder / "config.toml"), "--data", str(self.folder)])
        text = "".join(str(call.args[0]) for call in said.write.mock_calls)
        self.assertEqual(code, 1)
        self.assertIn("llama: the model to start from", text)
        self.assertIn("gsm8k/train.jsonl", text)
        write_llama(self.folder / "llama"), write_data(self.folder)
        with mock.patch("sys.stderr"):
            self.assertEqual(retrofit.main(["--check", "--config", str(self.folder / "config.toml"), "--data",
                                            str(self.folder)]), 0)

    def test_limits(self):
        for n in range(8):
            (self.folder / f"{n}").write_bytes(bytes(10))
        self.assertEqual(retrofit.check_limits(self.folder), (8, 80))
        with mock.patch.object(retrofit, "MOST_BYTES", 79), self.assertRaisesRegex(retrofit.RetrofitError, "8 files"):
            retrofit.check_limits(self.folder)
        (self.folder / "8").touch()
        with self.assertRaisesRegex(retrofit.RetrofitError, "9 files"):
            retrofit.check_limits(self.folder)

    def test_weights_leave_room_for_the_rest(self):
        self.assertLessEqual(retrofit.WEIGHT_FILES + 4, retrofit.MOST_FILES)
        self.assertLessEqual(retrofit.WEIGHT_FILES * retrofit.WEIGHT_FILE_BYTES, retrofit.MOST_BYTES - 2 * retrofit.MIB)

    def test_the_shipped_configuration_is_read(self):
        training = settings.read(support.HOME / "scripts" / "train" / "retrofit_smollm2.toml")
        self.assertEqual(Path(training.model.start), support.HOME / "models" / "smollm2-135m-instruct")
        self.assertEqual(training.schedule.weight_decay, 0.0)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAM = os.path.abspath(sys.argv[1])
        del sys.argv[1]
    unittest.main(verbosity=1)
