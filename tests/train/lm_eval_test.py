"""lm-evaluation-harness runs an exported model under a setting: a peer's view of it, on a small local task."""
import sys
import unittest

import support
from support import json, np, shapes, torch

try:
    import lm_eval
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager
except ModuleNotFoundError as missing:
    print(f"{missing.name} is missing: run scripts/setup --peers")
    sys.exit(77)  # skipped

import models
import settings

TASK = """
task: tiny
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: {kind}
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
doc_to_choice: "{{{{choices}}}}"
target_delimiter: ""
"""
GENERATE = """
generation_kwargs: {until: ["\\n"], max_gen_toks: 4, do_sample: false}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
"""


class HarnessTest(support.Case):
    in_float64 = False

    def setUp(self):
        super().setUp()
        shape = shapes.Shape("glu", family="FullBandwidthLlamaForCausalLM", width=32, inner=56, vocab=270)
        training = settings.read(support.write_training(self.folder / "t"))
        self.model, self.reference = support.random_model(shape, dtype=torch.float32)
        self.exported = self.folder / "model"
        models.export(self.model, training, self.exported)
        with open(self.folder / "items.jsonl", "w", encoding="utf-8") as file:
            for n in range(4):
                item = {"question": "copy " + " ".join(str(n + i) for i in range(n + 2)) + " :",
                        "choices": [f" {n} {n}", " a b c"], "answer": 1}
                file.write(json.dumps(item) + "\n")

    def evaluated(self, setting, kind="multiple_choice", more=""):
        """The samples of the task under a setting."""
        folder = self.folder / kind
        folder.mkdir(exist_ok=True)
        (folder / "tiny.yaml").write_text(TASK.format(file=self.folder / "items.jsonl", kind=kind) + more)
        lm = HFLM(pretrained=str(self.exported), trust_remote_code=True, setting=setting, device="cpu", batch_size=4,
                  dtype="float32")
        found = lm_eval.simple_evaluate(model=lm, tasks=["tiny"], task_manager=TaskManager(include_path=str(folder)),
                                        log_samples=True, bootstrap_iters=0)
        return sorted(found["samples"]["tiny"], key=lambda sample: sample["doc_id"])

    def test_likelihoods(self):
        """They are those of parallel@P, as the specification has them."""
        from tokenizers import Tokenizer
        tokenizer = Tokenizer.from_file(str(self.exported / "tokenizer.json"))
        found = {}
        for setting in ("standard", "latent@2", "latent@3:stale"):
            same = setting.replace("latent", "parallel").replace("standard", "parallel@1")
            for sample in self.evaluated(setting):
                for choice, (response,) in zip(sample["doc"]["choices"], sample["resps"]):
                    logprob = float(response[0])
                    context = tokenizer.encode(sample["doc"]["question"]).ids
                    whole = tokenizer.encode(sample["doc"]["question"] + choice).ids
                    expected = support.fbt.score(self.reference, context, whole[len(context):], same).sum()
                    self.assertLess(abs(logprob - expected), 1e-3, (setting, choice))
                    found.setdefault(setting, []).append(logprob)
        self.assertTrue(np.isfinite(list(found.values())).all())
        self.assertGreater(np.abs(np.subtract(found["standard"], found["latent@2"])).min(), 1e-3)

    def test_generation(self):
        """Batched, with padding on the left: each prompt's text is what the model generates for it alone."""
        texts = {}
        for setting in ("standard", "latent", "latent@2"):
            for sample in self.evaluated(setting, "generate_until", GENERATE):
                texts.setdefault(setting, []).append(sample["resps"][0][0])
        self.assertEqual(len(texts["standard"]), 4)
        self.assertNotEqual(texts["standard"], texts["latent@2"])
        from transformers import AutoTokenizer
        tokenizer = AutoTokenizer.from_pretrained(self.exported, trust_remote_code=True)
        for setting, found in texts.items():
            for n, text in enumerate(found):
                question = "copy " + " ".join(str(n + i) for i in range(n + 2)) + " :"
                ids, _ = support.fbt.decode(self.reference, tokenizer(question)["input_ids"], 4, setting)
                ids = ids[:ids.index(0)] if 0 in ids else ids
                self.assertEqual(text, tokenizer.decode(ids).split("\n")[0], (setting, question))


if __name__ == "__main__":
    unittest.main()
