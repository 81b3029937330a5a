"""A training that is killed, stopped or split goes on as if nothing had happened; and stops by itself where it must."""
import collections
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import support
from support import CONFIG, HOME, np, torch

import checkpoints
import trainer as trainer_module
from support import child, last_checkpoint, metrics_of, train_in_child, wait_for, write_config, write_training

STEPS = CONFIG["schedule"]["steps"]
TRAIN = (sys.executable, str(HOME / "scripts" / "train" / "train.py"))


class Case(support.Case):
    def setUp(self):
        super().setUp()
        self.config = write_training(self.folder)
        self.out = self.folder / "out"

    def train(self, config=None, code=0):
        found, said = train_in_child(config or self.config)
        self.assertEqual(found, code, said)
        return said

    def undisturbed(self, run={}, **changes):
        self.train(write_config(self.folder / "undisturbed.toml", run={"out": "undisturbed"} | run, **changes))
        return self.folder / "undisturbed"

    def assert_same(self, one, other):
        """Two finished trainings: the same weights, optimizer and metrics, bit for bit, each step once."""
        left, right = last_checkpoint(one), last_checkpoint(other)
        self.assertEqual((left["step"], right["step"]), (STEPS, STEPS))
        self.assertEqual(list(left["model"]), list(right["model"]))
        for name, value in left["model"].items():
            self.assertTrue(torch.equal(value, right["model"][name]), name)
        for part, other_part in zip(left["optimizer"]["parts"], right["optimizer"]["parts"], strict=True):
            self.assertEqual(list(part["state"]), list(other_part["state"]))
            for i, state in part["state"].items():
                for name, value in state.items():
                    self.assertTrue(torch.equal(value, other_part["state"][i][name]), (i, name))
        lines = []
        for out in (one, other):
            lines.append([{k: v for k, v in line.items() if "second" not in k} for line in metrics_of(out)])
            self.assertEqual([line["step"] for line in lines[-1] if "loss" in line], list(range(1, STEPS + 1)))
            self.assertEqual([line["step"] for line in lines[-1] if "held_out" in line], [10, 20, 30])
        self.assertEqual(*lines)

    def steps_done(self):
        try:
            return len(metrics_of(self.out))
        except (FileNotFoundError, ValueError):
            return 0


def slowly(config):
    """A training whose steps take long enough to be watched from a busy machine."""
    step = trainer_module.Trainer.step

    def waits(self, number):
        time.sleep(0.01)
        return step(self, number)

    with mock.patch.object(trainer_module.Trainer, "step", waits):
        return support.train_here(config)


def kill_after(draw, case):
    """Starts the training in a child and kills it a little after a random further step; whether it was at work."""
    goal = case.steps_done() + draw.randrange(1, 9)
    pid = child(lambda: slowly(case.config), case.folder / "killed.log")
    ended = (0, 0)
    while case.steps_done() < goal and ended == (0, 0):
        ended = os.waitpid(pid, os.WNOHANG)
    if ended != (0, 0):
        return False
    time.sleep(draw.random() * 0.02)
    os.kill(pid, signal.SIGKILL)
    return wait_for(pid) == -signal.SIGKILL


class KillTest(Case):
    def test_killed_again_and_again(self):
        expected, killed = self.undisturbed(), 0
        for seed in range(3):
            self.out = self.folder / f"out{seed}"
            self.config = write_config(self.folder / "train.toml", run={"out": self.out.name})
            draw = random.Random(seed)
            while kill_after(draw, self):
                killed += 1
            self.train()
            self.assert_same(self.out, expected)
            self.assertEqual([p.name for p in self.out.glob(".step-*")], [])
            self.assertEqual(len(list(self.out.glob("step-*.pt"))), 2)
        self.assertGreater(killed, 4)

    def test_killed_under_muon_in_bf16(self):
        changes = {"schedule": {"optimizer": "muon"}, "run": {"precision": "bf16"}}
        expected = self.undisturbed(**changes)
        self.config = write_config(self.folder / "train.toml", **changes)
        draw = random.Random(9)
        self.assertTrue(kill_after(draw, self) and kill_after(draw, self))
        self.train()
        self.assertEqual(len(last_checkpoint(self.out)["optimizer"]["parts"]), 2)
        self.assert_same(self.out, expected)

    def killed_while(self, patch):
        """Killed within the second checkpoint's writing."""
        def work():
            with patch:
                return support.train_here(self.config)

        self.assertEqual(wait_for(child(work, self.folder / "killed.log")), -signal.SIGKILL)

    def test_killed_within_a_checkpoint(self):
        expected, save, calls = self.undisturbed(), torch.save, []

        def half(state, file):
            save(state, file)
            calls.append(file)
            if len(calls) == 2:
                os.truncate(file, os.path.getsize(file) // 2)
                os.kill(os.getpid(), signal.SIGKILL)

        self.killed_while(mock.patch.object(torch, "save", half))
        self.assertEqual([p.name for p in self.out.glob("step-*.pt")], ["step-00000004.pt"])
        self.assertEqual(len(list(self.out.glob(".step-*.tmp"))), 1)
        self.assertIn("resuming after step 4 of 30", self.train())
        self.assert_same(self.out, expected)
        self.assertEqual(list(self.out.glob(".step-*")), [])

    def test_killed_between_metrics_and_checkpoint_and_within_a_line(self):
        expected = self.undisturbed()
        self.killed_while(mock.patch.object(checkpoints, "save", lambda *_: os.kill(os.getpid(), signal.SIGKILL)))
        with open(self.out / "metrics.jsonl", "a", encoding="utf-8") as file:
            file.write('{"step": 5, "lo')
        self.train()
        self.assert_same(self.out, expected)

    def test_an_unreadable_checkpoint_is_named(self):
        self.train()
        last = sorted(self.out.glob("step-*.pt"))[-1]
        os.truncate(last, os.path.getsize(last) // 2)
        said = self.train(code=1)
        self.assertRegex(said.splitlines()[-1], rf"^train: {last}: cannot be read: .*\(remove it to go on")
        last.unlink()
        self.assertIn("resuming after step 28", self.train())

    def test_faults(self):
        """Weights and metrics show what a resumed training forgets."""
        expected = self.undisturbed()
        load = checkpoints.load

        class NoOptimizer:
            def load_state_dict(self, state):
                pass

        def forgets(what):
            def loads(out, model, optimizer, identity, device):
                found = load(out, model, NoOptimizer() if what == "optimizer" else optimizer, identity, device)
                if what == "fusion_started" and found[1]:
                    found[1]["fusion_started"] = False
                return found
            return mock.patch.object(checkpoints, "load", loads)

        def shifted(*key):
            return trainer_module_generator(*key[:-1], key[-1] - first[0]) if len(key) == 3 else \
                trainer_module_generator(*key)

        trainer_module_generator, first = trainer_module.generator, [12]
        for name, fault in (
            ("the optimizer's state", forgets("optimizer")),
            ("that the fusion has been started", forgets("fusion_started")),
            ("where the random starts were", mock.patch.object(trainer_module, "generator", shifted)),
            ("which metrics it has written", mock.patch.object(checkpoints, "keep_metrics", lambda *_: None)),
        ):
            self.out = self.folder / name.replace(" ", "_")
            self.config = write_config(self.folder / "train.toml", run={"out": self.out.name})
            pid = child(lambda: slowly(self.config), self.folder / "killed.log")
            while not list(self.out.glob("step-*12.pt")):
                time.sleep(0.001)
            while len(metrics_of_whole(self.out)) < 15:
                time.sleep(0.001)
            os.kill(pid, signal.SIGKILL)
            wait_for(pid)
            resumed = max(int(p.stem[5:]) for p in self.out.glob("step-*.pt"))
            first[0] = resumed

            def work(fault=fault):
                with fault:
                    return support.train_here(self.config)

            self.assertEqual(wait_for(child(work, self.folder / "fault.log")), 0)
            self.assert_noticed(lambda: self.assert_same(self.out, expected), what=name)


def metrics_of_whole(out):
    """The lines that are whole, while another process writes."""
    return (Path(out) / "metrics.jsonl").read_text(encoding="utf-8").split("\n")[:-1]


class StopTest(Case):
    def stopped_by(self, number):
        expected = self.undisturbed()
        pid = child(lambda: slowly(self.config), self.folder / "stopped.log")
        while self.steps_done() < 6:
            time.sleep(0.001)
        os.kill(pid, number)
        self.assertEqual(wait_for(pid), 130)
        said = (self.folder / "stopped.log").read_text(encoding="utf-8").splitlines()[-1]
        done = last_checkpoint(self.out)["step"]
        self.assertEqual(said, f"train: stopped after step {done}; the same command goes on from there")
        self.assertEqual([line["step"] for line in metrics_of(self.out) if "loss" in line], list(range(1, done + 1)))
        self.assertIn(f"resuming after step {done} of 30", self.train())
        self.assert_same(self.out, expected)

    def test_sigterm_leaves_a_checkpoint(self):
        self.stopped_by(signal.SIGTERM)

    def test_control_c_leaves_a_checkpoint(self):
        self.stopped_by(signal.SIGINT)

    def test_time_is_up(self):
        expected = self.undisturbed()
        # At most a few steps each time, and at least one.
        slow = write_config(self.folder / "train.toml", run={"minutes": 0.0005})
        code, times = 130, 0
        while code == 130:
            code, said = train_in_child(slow)
            times += 1
        self.assertEqual(code, 0, said)
        self.assertGreater(times, 1)
        self.assert_same(self.out, expected)

    def test_a_finished_training_is_not_done_again(self):
        self.train()
        before = {p.name: p.stat().st_mtime_ns for p in self.out.glob("step-*")}
        self.train()
        self.assertEqual({p.name: p.stat().st_mtime_ns for p in self.out.glob("step-*")}, before)

    def test_another_configuration_is_refused_by_key(self):
        self.train()
        for changes, keys in (
            ({"schedule": {"learning_rate": 1e-3}}, "[schedule] learning_rate differs"),
            ({"run": {"seed": 6}, "objective": {"prefix_mixing": 0.1}}, "[objective] prefix_mixing, [run] seed differ"),
            ({"model": {"layers": 2}}, "[model] layers differs"),
            ({"data": {"train": ["held_out.jsonl"]}}, "[data] train differs"),
        ):
            said = self.train(write_config(self.folder / "other.toml", **changes), code=1).splitlines()[-1]
            self.assertIn(keys, said)
            self.assertRegex(said, r"^train: .*step-00000030.pt: is of another training: .*remove the folder")
        with open(self.folder / "train.jsonl", "a", encoding="utf-8") as file:
            file.write('{"text": "more"}\n')
        self.assertIn("[data] train differs", self.train(code=1))

    def test_what_does_not_matter_may_change(self):
        self.train(write_config(self.folder / "some.toml", run={"minutes": 0.0003}), code=130)
        self.config = write_config(self.folder / "train.toml", run={"log_steps": 5}, schedule={"micro_rows": 2},
                                   data={"held_out": []})
        self.train()

    def test_moved_to_another_folder(self):
        self.train(write_config(self.folder / "some.toml", run={"minutes": 0.0003}), code=130)
        expected = self.undisturbed()
        os.rename(self.folder, moved := self.folder.with_name(self.folder.name + "-moved"))
        try:
            code, said = train_in_child(moved / "train.toml")
            self.assertEqual(code, 0, said)
            self.assert_same(moved / "out", moved / expected.name)
        finally:
            os.rename(moved, self.folder)

    def test_a_loss_that_is_no_number(self):
        self.config = write_config(self.folder / "train.toml", schedule={"learning_rate": 1e30, "warmup": 0.3})
        said = self.train(code=1).splitlines()[-1]
        self.assertRegex(said, r"^train: step \d+: the loss or its gradient is not a number; the batch is in .* \(")
        (file,) = self.out.glob("not-finite-*-0.json")
        self.assertIn(str(file), said)
        batch = json.loads(file.read_text())
        step = batch["step"]
        self.assertEqual(np.shape(batch["tokens"]), (4, 24))
        self.assertEqual(len(batch["rows"]), 4)
        self.assertEqual(max(line["step"] for line in metrics_of(self.out)), step - 1)
        self.assertLess(last_checkpoint(self.out)["step"] if list(self.out.glob("step-*.pt")) else 0, step)

    def test_a_gradient_that_is_no_number(self):
        def work():
            sound = trainer_module.pass_losses

            def spoiled(model, batch, passes):
                losses = sound(model, batch, passes)
                if passes > 1:
                    losses[-1].register_hook(lambda g: g * float("nan"))
                return losses

            with mock.patch.object(trainer_module, "pass_losses", spoiled):
                return support.train_here(self.config)

        self.assertEqual(wait_for(child(work, self.folder / "nan.log")), 1)
        (file,) = self.out.glob("not-finite-*-0.json")
        self.assertEqual(len(json.loads(file.read_text())["rows"]), 4)

    def test_bad_data_is_one_line(self):
        with open(self.folder / "train.jsonl", "a", encoding="utf-8") as file:
            file.write("{\n")
        said = self.train(code=1).splitlines()
        self.assertEqual(len(said), 1)
        self.assertRegex(said[0], r"^train: .*train.jsonl:61: is not JSON")

    def test_bad_folders_are_one_line(self):
        for changes, pattern in (
            ({"model": {"tokenizer": "none"}}, r"none: has no readable tokenizer.json"),
            ({"model": {"tokenizer": "", "start": "tokenizer"}}, r"tokenizer: has no readable config.json"),
        ):
            said = self.train(write_config(self.folder / "bad.toml", **changes), code=1).splitlines()
            self.assertEqual(len(said), 1, said)
            self.assertRegex(said[0], rf"^train: .*{pattern}")


class SplitTest(Case):
    """The same step in parts: in float64 the weights are the same but for rounding. Adam divides a gradient by its
    size, so that where one is about 1e-7 of others its 1e-16 of rounding is 1e-9 of a step of 3e-3."""

    ALLOWED = 1e-9

    def trained(self, out, **schedule):
        """Weights after a training in float64."""
        config = write_config(self.folder / f"{out}.toml", run={"out": out}, schedule=schedule)
        self.assertEqual(wait_for(child(lambda: self.double(config), self.folder / "split.log")), 0,
                         (self.folder / "split.log").read_text())
        return last_checkpoint(self.folder / out)

    def double(self, config):
        build = trainer_module.models.build
        with mock.patch.object(trainer_module.models, "build", lambda *a: build(*a).double()):
            return support.train_here(config)

    def assert_near(self, one, other, allowed):
        self.assertEqual(one["step"], STEPS)
        for name, value in one["model"].items():
            self.assert_close(value, other["model"][name], allowed, name)

    def test_gradients_accumulate_over_micro_batches(self):
        whole = self.trained("whole")
        for micro in (1, 3):
            self.assert_near(whole, self.trained(f"micro{micro}", micro_rows=micro), self.ALLOWED)
        different = self.trained("other", rows=3, micro_rows=3)
        self.assert_noticed(lambda: self.assert_near(whole, different, self.ALLOWED))

    def processes(self, out, port, double=True, **schedule):
        config = write_config(self.folder / f"{out}.toml", run={"out": out}, schedule=schedule)

        def work(rank):
            os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                              MASTER_PORT=str(port))
            return self.double(config)

        children = [child(lambda r=rank: work(r), self.folder / f"{out}-{rank}.log") for rank in range(2)]
        return [wait_for(pid) for pid in children]

    def free_port(self):
        import socket
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def test_two_processes_are_one(self):
        whole = self.trained("whole")
        self.assertEqual(self.processes("two", self.free_port(), micro_rows=1), [0, 0])
        self.assert_near(whole, last_checkpoint(self.folder / "two"), self.ALLOWED)
        losses = [[line["loss"] for line in metrics_of(self.folder / out) if "loss" in line]
                  for out in ("whole", "two")]
        for one, other in zip(*losses, strict=True):
            self.assert_close(one, other, self.ALLOWED)

    def test_both_processes_stop_where_one_has_no_number(self):
        codes = self.processes("nan", self.free_port(), learning_rate=1e30)
        self.assertEqual(codes, [1, 1], (self.folder / "nan-0.log").read_text())
        self.assertTrue(list((self.folder / "nan").glob("not-finite-*.json")))

    def test_more_processes_than_rows_are_refused(self):
        self.assertEqual(self.processes("few", self.free_port(), rows=1, micro_rows=1), [1, 1])
        self.assertIn("[schedule] rows: 1 cannot be shared by 2 processes", (self.folder / "few-0.log").read_text())


class ProgramTest(Case):
    """The programs as they are started."""

    def run_it(self, *command, **more):
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder, timeout=600, **more)

    def test_several_processes(self):
        done = self.run_it(*TRAIN, str(self.config), "--export", "exported", "--processes", "2")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        expected = self.undisturbed()
        losses = [[line["loss"][0] for line in metrics_of(out) if "loss" in line] for out in (self.out, expected)]
        self.assert_close(*losses, 1e-3)  # float32
        self.assertTrue((self.folder / "exported" / "model.safetensors").exists())
        record = json.loads((self.folder / "exported" / "training.json").read_text())
        self.assertEqual((record["step"], record["tokens"]), (STEPS, STEPS * 4 * 24))
        self.assertEqual((self.folder / "exported" / "training.toml").read_text(), self.config.read_text())

    def test_control_c_stops_several_processes(self):
        endless = write_config(self.folder / "train.toml", schedule={"steps": 100_000})
        going = subprocess.Popen((*TRAIN, str(endless), "--processes", "2"), cwd=self.folder, stderr=subprocess.PIPE,
                                 text=True, start_new_session=True)
        try:
            while self.steps_done() < 6:
                self.assertIsNone(going.poll())
                time.sleep(0.01)
            os.killpg(going.pid, signal.SIGINT)  # as a terminal does: the launcher and the processes
            said = going.communicate(timeout=120)[1]
        finally:
            if going.poll() is None:
                os.killpg(going.pid, signal.SIGKILL)
        self.assertEqual(going.returncode, 130, said)
        done = last_checkpoint(self.out)["step"]
        self.assertEqual(said.count(f"train: stopped after step {done}; the same command goes on from there"), 1, said)
        self.assertEqual([line["step"] for line in metrics_of(self.out) if "loss" in line], list(range(1, done + 1)))
        self.assertNotIn("Traceback", said)

    def test_throughput_is_told_by_passes(self):
        self.train()
        done = self.run_it(str(HOME / "scripts" / "train" / "throughput"), str(self.out))
        steps = collections.Counter(len(line["loss"]) for line in metrics_of(self.out) if "loss" in line)
        found = re.findall(r"^out  (\d) pass.* ([\d,]+) tokens/s +(\d+) steps measured$", done.stdout, re.MULTILINE)
        self.assertEqual({int(passes): int(count) for passes, _, count in found}, steps, done.stderr)
        self.assertTrue(all(int(speed.replace(",", "")) > 0 for _, speed, _ in found))
        done = self.run_it(str(HOME / "scripts" / "train" / "throughput"), "nowhere")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))

    def test_an_export_writes_a_new_folder(self):
        for more in ((), ("--processes", "2")):
            done = self.run_it(*TRAIN, str(self.config), "--export", "tokenizer", *more)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
            self.assertRegex(done.stderr, "^train: tokenizer: exists")
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
