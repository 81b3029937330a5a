"""lm-evaluation-harness's own readers, and pandas, on the export; its standard error on the same samples.

Run: python3 readers_test.py PROGRAM EXPORTER

The harness is that of $FULLBAND_PEERS_PYTHON, else of .venv-peers (scripts/setup --peers); skipped where it is missing.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from exported import ROOT, Export, results_in

PYTHON = os.environ.get("FULLBAND_PEERS_PYTHON", str(ROOT / ".venv-peers" / "bin" / "python3"))

# Runs under the harness's interpreter; prints what it reads as JSON.
READER = r'''
import json, sys
from pathlib import Path

import pandas
from lm_eval.api.metrics import mean, mean_stderr
from lm_eval.loggers.wandb_logger import WandbLogger
from lm_eval.utils import (get_file_datetime, get_file_task_name, get_latest_filename, get_results_filenames,
                           get_sample_results_filenames, hash_string, make_table, sanitize_model_name)

files = sys.argv[1:]
found = {"tables": [], "values": [], "frames": [], "hashes": [], "summaries": []}
results_files, sample_files = get_results_filenames(files), get_sample_results_filenames(files)
assert len(results_files) + len(sample_files) == len(files), files
for name in results_files:
    results = json.loads(Path(name).read_text())
    assert sanitize_model_name(results["model_name"]) == Path(name).parent.name == results["model_name_sanitized"]
    found["tables"].append(make_table(results))
    # Its logger of results, without a connection.
    logger = WandbLogger.__new__(WandbLogger)
    logger.post_init(results)
    logger._get_config()
    found["summaries"].append(sorted(logger._sanitize_results_dict()[1]))
    mine = [one for one in sample_files if Path(one).parent == Path(name).parent and
            get_file_datetime(Path(one).name) == get_file_datetime(Path(name).name).replace(".json", "")]
    for one in mine:
        task = get_file_task_name(Path(one).name)
        samples = [json.loads(line) for line in Path(one).read_text().splitlines()]
        scores = {}
        for sample in samples:
            for metric in sample["metrics"]:
                scores.setdefault((metric, sample["filter"]), []).append(sample[metric])
            doc = json.dumps(sample["doc"], indent=2, ensure_ascii=False)
            found["hashes"].append([sample["doc_hash"] == hash_string(doc),
                                    sample["prompt_hash"] == hash_string(sample["arguments"]["gen_args_0"]["arg_0"]),
                                    sample["target_hash"] == hash_string(sample["target"])])
        hashes = "".join(s["doc_hash"] + s["prompt_hash"] + s["target_hash"] for s in samples)
        found["hashes"].append([results["task_hashes"][task] == hash_string(hashes)])
        for (metric, filter), values in scores.items():
            written = results["results"][task]
            found["values"].append([results["model_name"], task, metric, filter, mean(values), mean_stderr(values),
                                    written[f"{metric},{filter}"], written[f"{metric}_stderr,{filter}"]])
        # Its frame of samples takes arguments as they were in memory.
        for sample in samples:
            sample["arguments"] = [list(one.values()) for one in sample["arguments"].values()]
        config = results["configs"][task]
        listed = [one for one in config["metric_list"] if one["metric"] in samples[0]["metrics"]]
        frame = logger._generate_dataset([s for s in samples if s["filter"] == samples[0]["filter"]],
                                         dict(config, metric_list=listed))
        read = pandas.read_json(one, lines=True)
        found["frames"].append([task, len(frame), len(read), len(samples), sorted(read.columns)])
print(json.dumps(found))
'''


class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        made = Export(Path(temporary.name), *PROGRAMS)
        made.ask("mini_gsm8k,mini_choice", "standard,latent@2", "--limit", "24")
        made.ask("mini_maths", "standard", "--limit", "8")
        made.ask("mini_gsm8k", "latent", "--limit", "6", "--samples", "3", "--temperature", "0.7")
        cls.files = made.write()
        cls.results = results_in(cls.files)
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        done = subprocess.run([PYTHON, "-B", "-c", READER, *map(str, cls.files)], capture_output=True, text=True,
                              timeout=600, env=environment)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        cls.read = json.loads(done.stdout.splitlines()[-1])

    def test_its_table_has_every_metric_with_its_error(self):
        self.assertEqual(len(self.read["tables"]), 3)
        table = self.read["tables"][[r["model_name"] for r in self.results].index("mini-fbt/standard")]
        lines = [[cell.strip() for cell in line.split("|")] for line in table.splitlines()]
        values = {(line[3], line[5]): (line[7], line[9]) for line in lines if len(line) > 9}
        results = next(r for r in self.results if r["model_name"] == "mini-fbt/standard")["results"]["mini_gsm8k"]
        for name, key in (("strict-match", "exact_match"), ("flexible-extract", "exact_match"), ("none", "number")):
            written = (results[f"{key},{name}"], results[f"{key}_stderr,{name}"])
            self.assertEqual(values[(name, key)], tuple(f"{value:.4f}" for value in written))

    def test_its_mean_and_error_of_the_samples_are_ours(self):
        self.assertEqual(len(self.read["values"]), 2 * (3 + 4) + 3 + 3)
        for *what, mean, error, ours, our_error in self.read["values"]:
            self.assertAlmostEqual(mean, ours, delta=1e-12, msg=what)
            self.assertAlmostEqual(error, our_error, delta=1e-12, msg=what)
        self.assertTrue(any(error > 0 for *_, error, _, _ in self.read["values"]))

    def test_its_hashes_are_ours(self):
        self.assertGreater(len(self.read["hashes"]), 100)
        self.assertTrue(all(all(one) for one in self.read["hashes"]))

    def test_its_frames_and_pandas_hold_every_sample(self):
        self.assertEqual(len(self.read["frames"]), 6)
        for task, in_frame, in_pandas, lines, columns in self.read["frames"]:
            filters = 3 if "gsm8k" in task else 1
            self.assertEqual((in_frame * filters, in_pandas), (lines, lines), task)
            self.assertLessEqual({"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter",
                                  "metrics", "doc_hash", "prompt_hash", "target_hash"}, set(columns))

    def test_its_logger_has_every_value(self):
        summary = self.read["summaries"][[r["model_name"] for r in self.results].index("mini-fbt/latent@2")]
        for key in ("mini_gsm8k/exact_match,strict-match", "mini_gsm8k/number", "mini_choice/acc",
                    "mini_choice/acc_norm_stderr"):
            self.assertIn(key, summary)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if not Path(PYTHON).exists() or subprocess.run([PYTHON, "-c", "import lm_eval, pandas"],
                                                   capture_output=True).returncode:
        print("lm-evaluation-harness is missing (scripts/setup --peers, or FULLBAND_PEERS_PYTHON); skipped")
        sys.exit(77)
    PROGRAMS = [os.path.abspath(sys.argv.pop(1)) for _ in range(2)]
    unittest.main(verbosity=2)
