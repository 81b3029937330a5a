#!/usr/bin/env python3
"""Continues SmolLM2 with latent feedback for some minutes on a GPU, evaluates it, and writes an update to carry away.

    scripts/gpu_retrofit --out DIR [--minutes 8]

1. text      GSM8K's and MBPP's training splits (public_text.py) and generated documents (scripts/make_mini)
2. plan      measures this machine's steps and sets as many as fit in the minutes
3. train     as scripts/train/train does, resumable
4. update    the fusion's weights, and the trunk's change in low rank, in DIR (low_rank.py)
5. evaluate  loss of each pass on held-out text; GSM8K test items in three settings; of SmolLM2, of the trained model,
             and of SmolLM2 with the update merged, which is what DIR holds

Each step's result is kept in --work, and is not made again. DIR/metrics.json says how far it is.
"""
import argparse
import dataclasses
import gzip
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = HERE.parents[1]
os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.insert(0, str(HERE))
from files import write_whole  # noqa: E402

MIB = 1 << 20
MOST_FILES, MOST_BYTES = 8, 60 * MIB
# Of them for weights; the rest is for update.json, training.toml, metrics.json and completions.jsonl.gz.
WEIGHT_FILES, WEIGHT_FILE_BYTES = 4, 29 * MIB // 2
DATA_FILES = ("gsm8k/train.jsonl", "gsm8k/test.jsonl", "mbpp/mbpp.jsonl")
GENERATED = 40000
GENERATED_MIX = "problems=50,steps=10,maths=16,swaps=12,mbpp=6,humaneval=6"
SETTINGS = ("standard", "latent", "latent@2")


class RetrofitError(Exception):
    """Says what is missing or wrong, and what to do."""


def say(text):
    print(f"== {text}", file=sys.stderr, flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="gpu_retrofit", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for the results; may be there, and empty")
    parser.add_argument("--work", type=Path, default=HOME / "out" / "retrofit",
                        help="folder for what is on the way (4 GB)")
    parser.add_argument("--config", type=Path, default=HERE / "retrofit_smollm2.toml", help="what to train, and how")
    parser.add_argument("--model", type=Path, help="checkpoint to start from; default: the one that the config names")
    parser.add_argument("--data", type=Path, help=f"folder with {', '.join(DATA_FILES)}")
    parser.add_argument("--minutes", type=float, default=8.0, help="of training")
    parser.add_argument("--steps", type=int, help="train so many steps, whatever they take, instead")
    parser.add_argument("--items", type=int, default=200, help="GSM8K test items to ask")
    parser.add_argument("--max-new", type=int, default=256, help="tokens of an answer at most")
    parser.add_argument("--documents", type=int, default=GENERATED, help="generated training documents")
    parser.add_argument("--check", action="store_true", help="only say what is missing on this machine")
    options = parser.parse_args(arguments)
    if not options.check and options.out is None:
        parser.error("--out: is needed")
    return options


# ---------------------------------------------------------------- what has to be there

def find_data(given):
    """The first of the usual folders that has all the files; None where there is none."""
    cache = os.environ.get("FULLBAND_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", "/tmp"), ".cache"), "fullband")
    usual = [os.environ.get("FULLBAND_DATA"), os.path.join(cache, "data"), HOME.parent / "shared" / "datasets"]
    for folder in [given] if given else usual:
        if folder and all((Path(folder) / file).is_file() for file in DATA_FILES):
            return Path(folder)
    return None


def missing_packages():
    """Lines for people; first of all, since all else here needs them."""
    lines = []
    for name in ("torch", "transformers", "tokenizers", "safetensors", "numpy"):
        try:
            importlib.import_module(name)
        except ImportError:
            lines.append(f"Python package {name} (scripts/setup --train, or name a Python that has it in "
                         "FULLBAND_TRAIN_PYTHON)")
    return lines


def missing(options):
    """What else this machine lacks: (lines for people, training, data folder)."""
    import torch

    import settings
    lines, training = [], settings.read(options.config)
    start = (options.model or Path(training.model.start)).resolve()
    training = dataclasses.replace(training, model=dataclasses.replace(training.model, start=str(start)))
    if not (start / "config.json").is_file():
        lines.append(f"{start}: the model to start from (scripts/fetch_smollm2, or --model DIR)")
    if training.run.device != "cpu" and not torch.cuda.is_available():
        lines.append('a CUDA GPU that PyTorch sees (a --config of your own with device = "cpu" does without)')
    data = find_data(options.data)
    if data is None:
        lines.append(f"{', '.join(DATA_FILES)} in one folder (--data DIR or FULLBAND_DATA)")
    return lines, training, data


def check_out(out):
    """A folder of our own: what is carried away is counted."""
    ours = {"update.json", "training.toml", "metrics.json", "completions.jsonl.gz",
            *(f"update-{n + 1}.safetensors" for n in range(WEIGHT_FILES))}
    names = os.listdir(out) if out.is_dir() else []
    others = sorted(name for name in names if name not in ours and not (name[0] == "." and name.endswith(".tmp")))
    if others:
        raise RetrofitError(f"{out}: holds {others[0]} already; --out is a folder for the results alone")


# ---------------------------------------------------------------- small things

def write_json(path, value):
    write_whole(path, json.dumps(value, indent=1) + "\n")


def once(path, make):
    """The value that `make` returned, now or in an earlier run."""
    if not path.exists():
        write_json(path, make())
    return json.loads(path.read_text(encoding="utf-8"))


def carry(file, out):
    """Copies a file into `out`, whole or not at all."""
    draft = out / f".{file.name}.tmp"
    shutil.copyfile(file, draft)
    draft.replace(out / file.name)


def check_limits(out):
    """(files, bytes) of the folder."""
    files = [file for file in out.iterdir() if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    if len(files) > MOST_FILES or size > MOST_BYTES:
        raise RetrofitError(f"{out}: {len(files)} files of {size / MIB:.1f} MiB; it should be at most {MOST_FILES} files "
                            f"of {MOST_BYTES // MIB} MiB")
    return len(files), size


# ---------------------------------------------------------------- the steps

class Retrofit:
    def __init__(self, options, training, data):
        self.options, self.data, self.out, self.work = options, data, options.out, options.work.resolve()
        self.base = Path(training.model.start)
        self.training = self._placed(training)
        self.metrics = {"complete": False}

    def _placed(self, training):
        """With the paths of --work."""
        text = self.work / "text"
        names = ("gsm8k", "mbpp", "generated")
        data = dataclasses.replace(training.data, train=[str(text / f"{name}.jsonl") for name in names],
                                   held_out=[str(text / f"{name}.held_out.jsonl") for name in names])
        return dataclasses.replace(training, data=data,
                                   run=dataclasses.replace(training.run, out=str(self.work / "training")))

    def run(self):
        """True when all is done; False when the training was told to stop."""
        self.out.mkdir(parents=True, exist_ok=True)
        for left in self.out.glob(".*.tmp"):  # of a run that was killed
            left.unlink()
        self.note(text=once(self.work / "text.json", self.write_text))
        self.plan()
        if not self.train():
            return False
        self.evaluate()
        self.write_completions()
        self.note(complete=True)
        files, size = check_limits(self.out)
        say(f"{self.out}: {files} files, {size / MIB:.1f} MiB")
        return True

    def note(self, **values):
        self.metrics |= values
        write_json(self.out / "metrics.json", self.metrics)

    def write_text(self):
        import public_text
        say("text")
        folder = self.work / "text"
        counts = public_text.write(self.data, folder, self.training.run.seed)
        made = subprocess.run([sys.executable, "-B", str(HOME / "scripts" / "make_mini"), "--corpus",
                               str(folder / "generated.jsonl"), "--documents", str(self.options.documents),
                               "--mix", GENERATED_MIX, "--seed", str(1000 + self.training.run.seed)],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            raise RetrofitError(f"make_mini failed: {made.stderr.strip()}")
        return counts | {"generated.jsonl": self.options.documents, "mix": GENERATED_MIX}

    def plan(self):
        """Sets the training to run, which is written down once: a resumed one has the same steps."""
        import pace
        import settings
        file = self.work / "training.toml"
        if not file.exists():
            planned = self.training
            if self.options.steps:
                schedule = dataclasses.replace(planned.schedule, steps=self.options.steps)
                planned = dataclasses.replace(planned, schedule=schedule)
            else:
                say("measuring steps")
                seconds = pace.seconds_per_step(self.training)
                write_json(self.work / "pace.json", seconds)
                planned = pace.of_minutes(self.training, self.options.minutes, seconds)
            pace.write(planned, file)
        planned = settings.read(file)
        length = "steps" if self.options.steps else "minutes"
        asked = self.options.steps or self.options.minutes
        if (planned.model, planned.data) != (self.training.model, self.training.data) or asked != \
                (planned.schedule.steps if self.options.steps else planned.run.minutes):
            raise RetrofitError(f"{file}: is a training of another model, other text or other {length}; name another "
                                "--work, or remove the folder")
        self.training = planned
        measured = self.work / "pace.json"
        self.note(steps=planned.schedule.steps, minutes=planned.run.minutes,
                  seconds_per_step_by_passes=json.loads(measured.read_text()) if measured.exists() else None)

    def train(self):
        import torch
        from trainer import Trainer
        done = self.work / "trained.pt"
        if not done.exists():
            say(f"training: {self.training.schedule.steps:,} steps")
            trainer = Trainer(self.training)
            finished = trainer.run()
            for name in (signal.SIGINT, signal.SIGTERM):
                signal.signal(name, signal.SIG_DFL)
            if trainer.told is not None:
                return False
            import low_rank
            state = {"model": low_rank.weights_of(trainer.model), "finished": finished, "step": trainer.done,
                     "tokens": trainer.tokens, "seconds": trainer.seconds}
            torch.save(state, done.with_suffix(".tmp"))
            done.with_suffix(".tmp").replace(done)
            for file in (self.work / "training").glob("step-*.pt"):
                file.unlink()
        state = torch.load(done, map_location="cpu", weights_only=True)
        self.trained = state.pop("model")
        with open(self.work / "training" / "metrics.jsonl", encoding="utf-8") as file:
            log = [json.loads(line) for line in file]
        self.note(training={**state, "machine": machine(), "log": log})
        self.shrink()
        return True

    def shrink(self):
        """The update, in --work and then in --out."""
        import low_rank
        from trainer import device_of
        folder = self.work / "update"
        if not folder.exists():
            say("low-rank update")
            draft = self.work / ".update.tmp"
            shutil.rmtree(draft, ignore_errors=True)
            before = {name: value for name, value in low_rank.weights_of(self.model("base")).items()
                      if not name.startswith("latent_feedback.")}
            low_rank.save(draft, before, self.trained, self.base, self.training.source, WEIGHT_FILES, WEIGHT_FILE_BYTES,
                          device_of(self.training))
            draft.replace(folder)
        about = json.loads((folder / "update.json").read_text(encoding="utf-8"))
        ranks = sorted(about["ranks"].values()) or [0]
        self.note(update={"residual": about["residual"], "residual_by_kind": about["residual_by_kind"],
                          "ranks": {"least": ranks[0], "median": ranks[len(ranks) // 2], "most": ranks[-1]}})
        for file in sorted(folder.iterdir()):
            carry(file, self.out)
        say(f"update: {100 * self.metrics['update']['residual']:.1f} % of the change is left out")

    def model(self, name):
        """SmolLM2 with new fusion weights, the trained model, or SmolLM2 with the update that --out holds."""
        import low_rank
        import models
        if name == "merged":
            import merge_update
            return merge_update.merged(self.base, self.out)[0]
        model = models.build(self.training, *models.load_tokenizer(self.training.model)).eval()
        if name == "trained":
            low_rank.apply(model, self.trained, "the trained weights")
        return model

    def evaluate(self):
        import gsm8k
        import models
        from trainer import device_of
        tokenizer, end = models.load_tokenizer(self.training.model)
        prompts, golds = gsm8k.load(self.data, self.options.items)
        found = self.completions = {}
        loss = self.metrics.setdefault("validation_loss_by_pass", {})
        for name in ("merged", "trained", "base"):
            settings = SETTINGS[:1] if name == "base" else SETTINGS
            model = self.model(name).to(device_of(self.training))
            file = self.work / "evaluation" / f"{name}-loss.json"
            loss[name] = once(file, lambda: self.losses(model, tokenizer, end, 1 if name == "base" else None))
            self.note()
            for setting in settings:
                file = self.work / "evaluation" / f"{name}-{setting.replace('@', '-')}-{self.options.items}.json"
                say(f"GSM8K, {self.options.items} items: {name}, {setting}")
                found.setdefault(name, {})[setting] = once(file, lambda: gsm8k.evaluate(
                    model, tokenizer, end, prompts, golds, setting, self.options.max_new))
                self.note_gsm8k(found)

    def note_gsm8k(self, found):
        """What the completions come to; they themselves go to another file."""
        import gsm8k
        figures = {name: {setting: {key: value for key, value in result.items() if key != "completions"}
                          for setting, result in results.items()} for name, results in found.items()}
        runs = [(name, setting, result["right"]) for name, results in figures.items()
                for setting, result in results.items()]
        pairs = {f"{name} {setting} / {other} {another}": gsm8k.pair(first, second)
                 for i, (name, setting, first) in enumerate(runs) for other, another, second in runs[i + 1:]
                 if name == other or setting == another}
        self.note(gsm8k=figures, gsm8k_pairs=pairs,
                  gsm8k_graded_by="the number after the last ####; five shots, greedy, float32")

    def losses(self, model, tokenizer, end, passes):
        """{file of held-out text: loss of each pass, nats/token}, fused from each document's second token."""
        from data import load_rows
        from evaluation import held_out_losses
        from trainer import device_of
        t, out = self.training, {}
        for file in t.data.held_out:
            rows = load_rows([file], tokenizer, end, t.data.sequence_length, self.work / "training" / "cache")
            out[Path(file).name] = held_out_losses(model, rows, passes or t.run.evaluate_passes, t.data.held_out_rows,
                                                   t.schedule.micro_rows, device_of(t))
        return out

    def write_completions(self):
        lines = []
        for name, results in self.completions.items():
            for setting, result in results.items():
                for item, (text, right) in enumerate(zip(result["completions"], result["right"])):
                    lines.append(json.dumps({"model": name, "setting": setting, "item": str(item), "text": text,
                                             "right": right}, ensure_ascii=False))
        draft = self.out / ".completions.tmp"
        draft.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode("utf-8"), mtime=0))
        draft.replace(self.out / "completions.jsonl.gz")


def machine():
    import platform

    import torch
    import transformers
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else platform.processor() or platform.machine()
    return {"device": name, "torch": torch.__version__, "transformers": transformers.__version__}


def work(options):
    """Exit code."""
    import checkpoints
    import data
    import low_rank
    import settings
    import trainer
    from transformers.utils import logging
    logging.disable_progress_bar()
    try:
        lines, training, folder = missing(options)
        if lines or options.check:
            return tell(lines)
        check_out(options.out)
        finished = Retrofit(options, training, folder).run()
    except (RetrofitError, settings.ConfigError, data.DataError, checkpoints.CheckpointError, trainer.TrainingStopped,
            low_rank.UpdateError, OSError) as fault:
        print(f"gpu_retrofit: {fault}", file=sys.stderr)
        return 1
    if not finished:
        print("gpu_retrofit: stopped; the same command goes on from there", file=sys.stderr)
        return 130
    return 0


def tell(lines):
    print("\n".join(f"gpu_retrofit: missing: {line}" for line in lines) or "gpu_retrofit: nothing is missing",
          file=sys.stderr)
    return 1 if lines else 0


def main(arguments=None):
    options, begin = parse(arguments), time.monotonic()
    lines = missing_packages()
    if lines:
        return tell(lines)
    code = work(options)
    if code == 0 and not options.check:
        say(f"done in {(time.monotonic() - begin) / 60:.1f} minutes: {options.out / 'metrics.json'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
