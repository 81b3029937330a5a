"""A training of half a minute on a simple case of state tracking, whose held-out loss falls in every pass."""
import json
import sys
import unittest

import support
from support import np

import train_tokenizer
from support import metrics_of, mock, train_in_child, write_config

STEPS = 160
PASSES = 4


class LearnTest(support.Case):
    in_float64 = False

    def data(self):
        """The largest digit so far, said after each: it follows from the last one said and the new digit."""
        rng = np.random.default_rng(3)
        for name, count in (("train", 1500), ("held_out", 40)):
            with open(self.folder / f"{name}.jsonl", "w", encoding="utf-8") as file:
                for _ in range(count):
                    digits = rng.integers(0, 10, rng.integers(6, 13))
                    largest = np.maximum.accumulate(digits)
                    file.write(json.dumps({"turns": [[f" {d}:", f" {m}"] for d, m in zip(digits, largest)]}) + "\n")
        with mock.patch.object(sys, "argv", ["train_tokenizer", "--out", str(self.folder / "tokenizer"), "--vocabulary",
                                             "270", str(self.folder / "train.jsonl")]):
            self.assertEqual(train_tokenizer.main(), 0)

    def trained(self, out, **schedule):
        """The held-out losses, by pass, at each evaluation."""
        config = write_config(
            self.folder / f"{out}.toml", run={"out": out, "evaluate_steps": STEPS // 4, "evaluate_passes": PASSES,
                                              "checkpoint_steps": STEPS},
            model={"hidden_size": 64, "layers": 2, "heads": 4, "kv_heads": 4, "intermediate_size": 160, "context": 128},
            data={"sequence_length": 128, "held_out_rows": 16},
            schedule={"steps": STEPS, "rows": 8, "micro_rows": 8, "learning_rate": 4e-3, "warmup": 0.05, "decay": 0.4,
                      "phases": [{"until": 0.2, "passes": {"1": 1}},
                                 {"until": 1.0, "passes": {"2": 5, "3": 3, "4": 2}}]} | schedule)
        code, said = train_in_child(config)
        self.assertEqual(code, 0, said)
        print(out, said)
        return [line["held_out"] for line in metrics_of(self.folder / out) if "held_out" in line]

    def check_falls(self, held_out):
        self.assertEqual([len(losses) for losses in held_out], [PASSES] * 4)
        for p in range(PASSES):
            course = [losses[p] for losses in held_out]
            self.assertEqual(course[-1], min(course), f"pass {p + 1}: {course}")
            self.assertLess(course[-1], 0.5 * course[0], f"pass {p + 1}: {course}")

    def test_held_out_loss_falls_in_every_pass(self):
        self.data()
        self.check_falls(self.trained("good"))
        # Where nearly all batches have one pass, the later ones learn nothing: the check must see it.
        alone = self.trained("alone", phases=[{"until": 0.02, "passes": {"2": 1}}, {"until": 1.0, "passes": {"1": 1}}])
        self.assert_noticed(lambda: self.check_falls(alone))


if __name__ == "__main__":
    unittest.main()
