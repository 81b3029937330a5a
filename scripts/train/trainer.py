"""The training loop: steps, progress, metrics, evaluation, checkpoints, one or several processes."""
import contextlib
import datetime
import hashlib
import json
import math
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

import checkpoints
import models
import optimizers
from data import generator, load_rows, make_batch, rows_of_step
from evaluation import held_out_losses
from objective import combine, pass_losses, pass_states
from schedule import learning_rate, passes
from settings import ConfigError


class TrainingStopped(Exception):
    """A loss that is no number: says the step and the file with the batch that caused it."""


def leave():
    """Ends the talk with the other processes, where there are any."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()


def device_of(training):
    """This process's device, as [run] device has it."""
    wanted = training.run.device
    if wanted == "auto":
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    if wanted == "cuda":
        if not torch.cuda.is_available():
            raise ConfigError("[run] device: there is no CUDA device here (cpu or auto)")
        wanted = f"cuda:{os.environ.get('LOCAL_RANK', 0)}"
        torch.cuda.set_device(wanted)
    return torch.device(wanted)


class Trainer:
    def __init__(self, training, say=lambda text: print(text, file=sys.stderr, flush=True)):
        self.t, self.say = training, say
        self.rank, self.world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        self.device = device_of(training)
        if self.world > 1 and not dist.is_initialized():
            dist.init_process_group("nccl" if self.device.type == "cuda" else "gloo",
                                    timeout=datetime.timedelta(minutes=30))
        if training.run.threads:
            torch.set_num_threads(training.run.threads)
        self.out = Path(training.run.out)
        self.metrics = self.out / "metrics.jsonl"
        self.tokenizer, end = models.load_tokenizer(training.model)
        self.model = models.build(training, self.tokenizer, end).to(self.device).train()
        self.rows, self.held_out = self._rows(self.tokenizer, end)
        self.optimizer = optimizers.build(self.model, training.schedule)
        self.done, self.saved, self.tokens, self.seconds = 0, -1, 0, 0.0
        # New fusion weights get their size when they are first used.
        self.fusion_started = bool(training.model.start) and not models.is_ordinary(training.model.start)
        self.told = None  # when it was told to stop

    # --- set-up ---

    def identity(self):
        """What decides the weights: the settings, and what is in the files that they name."""
        def short(data):
            return hashlib.sha256(data).hexdigest()[:16]

        values = self.t.identity()
        values["data"]["train"] = self.rows.digest
        values["model"]["tokenizer"] = short(self.tokenizer.to_str().encode())
        start = self.t.model.start
        values["model"]["start"] = short((Path(start) / "config.json").read_bytes()) if start else ""
        return values

    def _rows(self, tokenizer, end):
        d = self.t.data
        if self.t.schedule.rows < self.world:
            raise ConfigError(f"[schedule] rows: {self.t.schedule.rows} cannot be shared by {self.world} processes")
        cache = self.out / "cache"
        if self.rank != 0:
            dist.barrier()  # the first process fills the cache
        rows = load_rows(d.train, tokenizer, end, d.sequence_length, cache)
        held_out = load_rows(d.held_out, tokenizer, end, d.sequence_length, cache) if d.held_out else None
        if self.rank == 0 and self.world > 1:
            dist.barrier()
        if self.rank == 0:
            used = (rows.document >= 0).mean()
            cut = f", {rows.cut:,} documents cut" if rows.cut else ""
            self.say(f"data: {len(rows):,} rows of {d.sequence_length} tokens, {100 * used:.1f} % filled, "
                     f"{rows.predicted.mean() * 100:.1f} % predicted{cut}")
        return rows, held_out

    # --- one step ---

    def _precision(self):
        if self.t.run.precision == "bf16":
            return torch.autocast(self.device.type, dtype=torch.bfloat16)
        return contextlib.nullcontext()

    def batch(self, step):
        """This process's rows of a step, as micro-batches."""
        s, o = self.t.schedule, self.t.objective
        indices = rows_of_step(len(self.rows), s.rows, step, self.t.run.seed)
        # The starts are drawn for the whole step, so that they do not depend on how it is split.
        whole = make_batch(self.rows, indices, o.prefix_mixing, o.prefix_start, generator(self.t.run.seed, 3, step))
        mine = range(self.rank, s.rows, self.world)
        for at in range(0, len(mine), s.micro_rows):
            part = torch.tensor(mine[at:at + s.micro_rows])
            yield type(whole)(*(value[part] for value in vars(whole).values())).to(self.device), indices[part.numpy()]

    def step(self, step):
        """(mean loss of each pass in nats/token, norm of the gradient)."""
        count = passes(self.t.schedule, step, self.t.run.seed)
        micro = list(self.batch(step))
        supervised = self._sum(sum(batch.supervised.sum().double().cpu() for batch, _ in micro)).item()
        if count > 1 and not self.fusion_started:
            self._start_fusion(micro)
        self.optimizer.set_rate(learning_rate(self.t.schedule, step))
        self.optimizer.zero_grad()
        # The loss of each pass, and the number of micro-batches that have none that is finite.
        totals, broken = torch.zeros(count + 1, dtype=torch.float64), None
        for batch, indices in micro:
            with self._precision():
                losses = pass_losses(self.model, batch, count)
            loss = combine(losses, self.t.objective.first_weight, self.t.objective.later_weight) / max(supervised, 1)
            losses = torch.stack([x.detach() for x in losses]).double().cpu()
            totals[:count] += losses
            if not torch.isfinite(loss):
                totals[count] += 1
                broken = losses, indices
                break
            loss.backward()
        totals = self._sum(totals)  # all processes stop, or none
        if totals[count]:
            raise self._not_finite(step, count, broken)
        self._sum_gradients()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.t.schedule.clip).item()
        if not math.isfinite(norm):
            raise self._not_finite(step, count, (totals[:count], np.concatenate([indices for _, indices in micro])))
        self.optimizer.step()
        return (totals[:count] / max(supervised, 1)).tolist(), norm

    @torch.no_grad()
    def _start_fusion(self, micro):
        """Over the whole step, so that it does not depend on how that is split."""
        parts = []
        for batch, _ in micro:
            with self._precision():
                h = pass_states(self.model, batch, 1)[0]
            later = (batch.document >= 0) & (batch.position > 0)
            e = self.model.get_input_embeddings()(batch.tokens)
            parts.append(models.FusionStart.of(e[later], h.roll(1, 1)[later]).values())
        sums = models.FusionStart(*(self._sum(sum(values)) for values in zip(*parts)))
        models.start_fusion(self.model, sums, self.t.run.seed)
        self.fusion_started = True

    def _sum(self, values):
        if self.world > 1:
            values = values.to(self.device, copy=True)
            dist.all_reduce(values)
        return values.cpu()

    def _sum_gradients(self):
        if self.world == 1:
            return
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        flat = torch._utils._flatten_dense_tensors(gradients)
        dist.all_reduce(flat)
        for gradient, value in zip(gradients, torch._utils._unflatten_dense_tensors(flat, gradients)):
            gradient.copy_(value)

    def _not_finite(self, step, count, broken):
        """broken: (losses, rows) that caused it; None where they are another process's."""
        if broken is None:
            return TrainingStopped(f"step {step + 1}: the loss is not a number in another process")
        losses, indices = broken
        file = self.out / f"not-finite-{step + 1}-{self.rank}.json"
        file.write_text(json.dumps({
            "step": step + 1, "passes": count, "losses": [str(x) for x in losses.tolist()], "rows": indices.tolist(),
            "tokens": self.rows.tokens[indices].tolist()}) + "\n", encoding="utf-8")
        return TrainingStopped(f"step {step + 1}: the loss or its gradient is not a number; the batch is in {file} "
                               "(a smaller learning_rate or clip may help: that is another training, with another out)")

    # --- evaluation ---

    def evaluate(self, most):
        """Held-out loss of pass 1..most, nats/token."""
        self.model.eval()
        with self._precision():
            losses = held_out_losses(self.model, self.held_out, most, self.t.data.held_out_rows,
                                     self.t.schedule.micro_rows, self.device)
        self.model.train()
        return losses

    # --- the loop ---

    def _save(self):
        if self.rank == 0 and self.saved != self.done:
            checkpoints.save(self.out, self.done, self.model, self.optimizer, self.identity(), self.extra(),
                             self.t.run.keep_checkpoints)
        self.saved = self.done

    def extra(self):
        return {"fusion_started": self.fusion_started, "tokens": self.tokens, "seconds": self.seconds}

    def _write(self, **values):
        if self.rank == 0:
            with open(self.metrics, "a", encoding="utf-8") as file:
                file.write(json.dumps(values) + "\n")

    def run(self):
        """Trains to the last step, or until told to stop. True when the last step is done."""
        self.out.mkdir(parents=True, exist_ok=True)
        self.done, extra = checkpoints.load(self.out, self.model, self.optimizer, self.identity(), self.device)
        for name, value in extra.items():
            setattr(self, name, value)
        if self.done:
            self.saved = self.done
        if self.rank == 0:
            checkpoints.keep_metrics(self.metrics, self.done)
            if self.done:
                self.say(f"resuming after step {self.done:,} of {self.t.schedule.steps:,}")
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._told_to_stop)
        progress = Progress(self)
        began = time.monotonic()
        while self.done < self.t.schedule.steps and not self._stopping(began):
            self._one(progress)
        self._save()
        progress.end()
        return self.done == self.t.schedule.steps

    def _told_to_stop(self, number, _):
        now = time.monotonic()
        if self.told is None:
            self.told = now  # after this step, with a checkpoint
        elif now - self.told > 1:  # a launcher passes on at once what the terminal has told all processes already
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    def _stopping(self, began):
        late = self.t.run.minutes and time.monotonic() - began > 60 * self.t.run.minutes
        return self._sum(torch.tensor([float(self.told is not None or bool(late))]))[0].item() > 0

    def _one(self, progress):
        begin = time.monotonic()
        losses, norm = self.step(self.done)
        self.done += 1
        taken = time.monotonic() - begin
        tokens = self.t.schedule.rows * self.t.data.sequence_length
        self.tokens, self.seconds = self.tokens + tokens, self.seconds + taken
        r = self.t.run
        last = self.done == self.t.schedule.steps
        if self.done % r.log_steps == 0 or last or self.done == 1:
            self._write(step=self.done, loss=losses, norm=norm, rate=learning_rate(self.t.schedule, self.done - 1),
                        tokens=self.tokens, seconds=round(self.seconds, 3), tokens_per_second=round(tokens / taken, 1))
        progress.show(losses, tokens, taken)
        if self.held_out is not None and (self.done % r.evaluate_steps == 0 or last):
            most = 1 if self.t.model.fusion == "none" or not self.fusion_started else r.evaluate_passes
            held_out = self.evaluate(most) if self.rank == 0 else None
            self._write(step=self.done, held_out=held_out)
            progress.held_out(held_out)
        if self.done % r.checkpoint_steps == 0:
            self._save()


class Progress:
    """One changing line on a terminal, a line a minute elsewhere."""

    def __init__(self, trainer):
        self.trainer, self.terminal = trainer, sys.stderr.isatty()
        self.shown, self.rate, self.step_seconds = 0.0, 0.0, 0.0

    def show(self, losses, tokens, taken):
        self.rate = tokens / taken if not self.rate else 0.98 * self.rate + 0.02 * tokens / taken
        self.step_seconds = taken if not self.step_seconds else 0.98 * self.step_seconds + 0.02 * taken
        now = time.monotonic()
        if self.trainer.rank or now - self.shown < (0.2 if self.terminal else 60):
            return
        self.shown = now
        done, steps = self.trainer.done, self.trainer.t.schedule.steps
        left = datetime.timedelta(seconds=round((steps - done) * self.step_seconds))
        text = (f"step {done:,}/{steps:,}  loss {' / '.join(f'{x:.3f}' for x in losses)}  "
                f"{self.rate:,.0f} tokens/s  {left} left")
        start, end = ("\r\033[K", "") if self.terminal else ("", "\n")
        print(start + text, end=end, file=sys.stderr, flush=True)

    def held_out(self, losses):
        if self.trainer.rank or losses is None:
            return
        print(("\r\033[K" if self.terminal else "") +
              f"step {self.trainer.done:,}: held-out loss by pass {' / '.join(f'{x:.4f}' for x in losses)}",
              file=sys.stderr, flush=True)

    def end(self):
        if self.terminal and not self.trainer.rank:
            print(file=sys.stderr)
