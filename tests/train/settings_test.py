"""What one TOML file may say: each mistake is refused in one line that names file and key; and schedules."""
import dataclasses
import unittest

import support
from support import np

import schedule
import settings
from settings import ConfigError, Phase, Schedule

WRONG = (
    ({"run": {"out": ""}}, r"\[run\] out"), ({"data": {"train": []}}, r"\[data\] train"),
    ({"data": {"train": [""]}}, r"\[data\] train"), ({"data": {"train": "x"}}, r"\[data\] train: is not a list"),
    ({"model": {"tokenizer": ""}}, r"either start .* or tokenizer"), ({"model": {"start": "x"}}, "not both"),
    ({"model": {"fusion": "gated"}}, r"\[model\] fusion: 'gated' is not one of glu, additive, none"),
    ({"model": {"heads": 3}}, r"\[model\] heads: hidden_size 16"), ({"model": {"heads": 16}}, "width 1 is odd"),
    ({"model": {"kv_heads": 4}}, r"\[model\] kv_heads"),
    ({"model": {"layers": 0}}, r"\[model\] layers: 0 is not above 0"),
    ({"model": {"width": 3}}, r"\[model\] width: is not a known key \(start, .*hidden_size"),
    ({"model": {"layers": 1.5}}, r"\[model\] layers: 1.5 is not a whole number"),
    ({"model": {"layers": True}}, r"\[model\] layers: True"), ({"run": {"out": 3}}, r"\[run\] out: 3 is not text"),
    ({"data": {"sequence_length": 65}}, r"\[data\] sequence_length: 65 is more than \[model\] context, 64"),
    ({"data": {"sequence_length": 1}}, r"\[data\] sequence_length: 1 is less than 2"),
    ({"data": {"held_out_rows": 0}}, "held_out_rows"), ({"schedule": {"rows": 0}}, r"\[schedule\] rows"),
    ({"schedule": {"steps": 0}}, r"\[schedule\] steps"), ({"schedule": {"learning_rate": 0}}, "learning_rate"),
    ({"schedule": {"learning_rate": "fast"}}, r"learning_rate: 'fast' is not a number"),
    ({"schedule": {"clip": 0.0}}, r"\[schedule\] clip"), ({"schedule": {"warmup": 0.8}}, "warmup and decay"),
    ({"schedule": {"beta2": 1.0}}, "beta2"), ({"schedule": {"phases": []}}, "phases"),
    ({"schedule": {"phases": [{"until": 0.5}]}}, "the last is until = 1.0"),
    ({"schedule": {"phases": [{"until": 0.5}, {"until": 0.5}, {"until": 1.0}]}}, "until must rise"),
    ({"schedule": {"phases": [{"until": 1.0, "passes": {"two": 1}}]}}, "passes .*two"),
    ({"schedule": {"phases": [{"until": 1.0, "passes": {"0": 1}}]}}, "passes"),
    ({"schedule": {"phases": [{"until": 1.0, "passes": {"02": 1}}]}}, "passes"),
    ({"schedule": {"phases": [{"until": 1.0, "passes": {"2": -1}}]}}, "positive weights"),
    ({"schedule": {"phases": [{"from": 1.0}]}}, r"\[schedule\] phases 1 from: is not a known key \(until, passes\)"),
    ({"model": {"fusion": "none"}}, "fusion none has one pass"),
    ({"objective": {"prefix_mixing": 1.5}}, "prefix_mixing: 1.5"),
    ({"objective": {"prefix_start": "end"}}, "prefix_start: 'end' is not one of uniform, answer"),
    ({"objective": {"first_weight": 0}}, "first_weight"), ({"objective": {"later_weight": -1}}, "later_weight"),
    ({"run": {"precision": "fp16"}}, "precision: 'fp16' is not one of f32, bf16"),
    ({"run": {"device": "gpu"}}, "device"), ({"schedule": {"muon_share": 0}}, "muon_share"),
    ({"schedule": {"gate_share": -1}}, "gate_share: -1.0 is not above 0"),
    ({"schedule": {"optimizer": "sgd"}}, r"\[schedule\] optimizer: 'sgd' is not one of adamw, muon"),
    ({"run": {"checkpoint_steps": 0}}, "checkpoint_steps"), ({"run": {"log_steps": 0}}, "log_steps"),
    ({"run": {"evaluate_steps": 0}}, "evaluate_steps"), ({"run": {"keep_checkpoints": 0}}, "keep_checkpoints"),
    ({"run": {"seed": -1}}, "seed"), ({"run": {"minutes": -1}}, "minutes"),
)


class ReadTest(support.Case):
    def refused(self, path, pattern):
        with self.assertRaises(ConfigError) as caught:
            settings.read(path)
        text = str(caught.exception)
        self.assertIn(str(path), text)
        self.assertRegex(text, pattern)
        self.assertNotIn("\n", text)

    def test_wrong_values(self):
        path = self.folder / "train.toml"
        settings.read(support.write_config(path))
        for changes, pattern in WRONG:
            with self.subTest(changes=changes):
                self.refused(support.write_config(path, **changes), pattern)

    def test_wrong_files(self):
        path = self.folder / "train.toml"
        self.refused(path, "No such file")
        path.write_text("[model\n")
        self.refused(path, "is not TOML")
        path.write_text("model = 3\n")
        self.refused(path, r"\[model\] is not a table")
        path.write_text("[models]\n")
        self.refused(path, r"\[models\] is not known \(model, data")
        path.write_text("[schedule]\nclip = inf\n")
        self.refused(path, "clip: inf is not a finite number")

    def test_paths_are_relative_to_the_file(self):
        (self.folder / "deep").mkdir()
        read = settings.read(support.write_config(self.folder / "deep" / "a.toml", data={"train": ["../x.jsonl"]}))
        self.assertEqual(read.data.train, [str(self.folder.resolve() / "x.jsonl")])
        self.assertEqual(read.run.out, str(self.folder.resolve() / "deep" / "out"))

    def test_identity_holds_what_decides_the_weights(self):
        path = self.folder / "train.toml"
        base = settings.read(support.write_config(path)).identity()
        for changes, same in (
            ({"run": {"out": "b"}}, True), ({"run": {"log_steps": 7}}, True), ({"schedule": {"micro_rows": 2}}, True),
            ({"data": {"held_out": []}}, True), ({"run": {"seed": 6}}, False), ({"schedule": {"rows": 5}}, False),
            ({"model": {"layers": 2}}, False), ({"objective": {"prefix_mixing": 0.4}}, False),
            ({"run": {"precision": "bf16"}}, False), ({"data": {"sequence_length": 25}}, False),
        ):
            other = settings.read(support.write_config(path, **changes)).identity()
            self.assertEqual(other == base, same, changes)


class ScheduleTest(unittest.TestCase):
    def test_rate_rises_stays_and_falls(self):
        s = Schedule(steps=100, warmup=0.1, decay=0.3, final_rate=0.2, learning_rate=2.0)
        rates = [schedule.learning_rate(s, step) for step in range(100)]
        self.assertAlmostEqual(rates[0], 0.2)
        self.assertEqual(set(rates[9:69]), {2.0})
        self.assertTrue(all(a < b for a, b in zip(rates[:9], rates[1:10])))
        self.assertTrue(all(a > b for a, b in zip(rates[70:], rates[71:])))
        self.assertAlmostEqual(rates[99], 0.4)
        self.assertEqual(schedule.learning_rate(dataclasses.replace(s, warmup=0, decay=0), 0), 2.0)
        self.assertEqual(schedule.learning_rate(dataclasses.replace(s, warmup=0, decay=0), 99), 2.0)

    def test_passes_follow_their_phases_weights(self):
        s = Schedule(steps=4000, phases=[Phase(0.5, {"1": 1}), Phase(1.0, {"2": 97, "3": 3})])
        drawn = [schedule.passes(s, step, 9) for step in range(4000)]
        self.assertEqual(set(drawn[:2000]), {1})
        self.assertEqual(set(drawn[2000:]), {2, 3})
        # 60 expected of 2,000, standard deviation 7.6.
        self.assertLess(abs(drawn.count(3) - 60), 40)
        self.assertEqual(drawn, [schedule.passes(s, step, 9) for step in range(4000)])
        self.assertNotEqual(drawn, [schedule.passes(s, step, 8) for step in range(4000)])
        mixed = Schedule(steps=3000, phases=[Phase(1.0, {"1": 1, "2": 1, "4": 1})])
        counts = np.bincount([schedule.passes(mixed, step, 1) for step in range(3000)], minlength=5)
        self.assertTrue(all(850 < counts[k] < 1150 for k in (1, 2, 4)), counts)


if __name__ == "__main__":
    unittest.main()
