"""The folders that models are written to and start from, as transformers, the specification and the engine read them.

Run: models_test.py PROGRAM
"""
import dataclasses
import json
import subprocess
import sys
import unittest
from unittest import mock

import support
from support import compare_engine, faults, fbt, np, shapes, torch
from transformers import (AutoConfig, AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, Qwen2Config,
                          Qwen2ForCausalLM)

import models
import modeling_fullband as modeling
import settings
import trainer as trainer_module

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
GLU, ADDITIVE = (dataclasses.replace(shape, vocab=270) for shape in (support.GLU, support.ADDITIVE))
PROMPT = [int(t) for t in np.random.default_rng(5).integers(1, 270, 11)]
FORCED = [int(t) for t in np.random.default_rng(6).integers(1, 270, compare_engine.NEW_TOKENS)]
SETTINGS = ("standard", "latent", "latent@2", "latent@3", "latent@exact", "standard@2", "latent:stale",
            "latent@2:reversed", "latent@3:zero", "latent@2:constant_gate")


class Case(support.Case):
    in_float64 = False

    def setUp(self):
        super().setUp()
        self.training = settings.read(support.write_training(self.folder / "t"))

    def fusing(self, fusion, **model):
        model = dataclasses.replace(self.training.model, fusion=fusion, **model)
        return dataclasses.replace(self.training, model=model)

    def exported(self, shape, **options):
        model, _ = support.random_model(shape, dtype=torch.float32)
        folder = self.folder / f"exported-{shape.name}"
        models.export(model, self.fusing(shape.fusion or "none"), folder, **options)
        return model, folder


class RoundTripTest(Case):
    def load(self, folder, **more):
        return AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True, **more).eval()

    @torch.no_grad()
    def check_same(self, model, other):
        ids = torch.tensor([PROMPT])
        for setting in ("standard", "latent@2", "latent@exact", "latent@3:stale"):
            logits = [m(ids, setting=setting).logits for m in (model, other)]
            self.assertTrue(torch.equal(*logits), setting)

    def test_transformers_reads_it_back_bit_for_bit(self):
        for shape in (GLU, ADDITIVE):
            model, folder = self.exported(shape)
            loaded = self.load(folder)
            self.assertEqual(type(loaded).__name__, "FullBandwidthLlamaForCausalLM")
            self.assertIsNot(type(loaded), type(model))  # the folder's own code
            self.assertEqual(loaded.dtype, torch.float32)
            self.check_same(model, loaded)
            with torch.no_grad():
                loaded.latent_feedback.state_proj.weight[3, 4] += 1e-4
            self.assert_noticed(lambda: self.check_same(model, loaded))

    def test_saved_by_transformers_and_read_again(self):
        model, folder = self.exported(GLU)
        loaded = self.load(folder, setting="latent@2")
        loaded.save_pretrained(self.folder / "again")
        self.check_same(model, self.load(self.folder / "again"))
        config = json.loads((self.folder / "again" / "config.json").read_text())
        self.assertEqual((config["architectures"], config["latent_feedback"]),
                         (["FullBandwidthLlamaForCausalLM"], {"fusion": "glu"}))
        self.assertNotIn("setting", config)

    @torch.no_grad()
    def test_a_setting_of_its_own(self):
        model, folder = self.exported(GLU)
        ids = torch.tensor([PROMPT])
        loaded = self.load(folder, setting="latent@2")
        self.assertTrue(torch.equal(loaded(ids).logits, model(ids, setting="latent@2").logits))
        self.assertFalse(torch.equal(loaded(ids).logits, model(ids).logits))
        self.assertTrue(torch.equal(loaded(ids, setting="standard").logits, model(ids).logits))
        decoded = [m.generate(ids, max_new_tokens=8, do_sample=False, **more).tolist()
                   for m, more in ((loaded, {}), (model, {"setting": "latent@2"}), (model, {}))]
        self.assertEqual(decoded[0], decoded[1])
        self.assertNotEqual(decoded[0], decoded[2])
        self.assertEqual(self.load(folder).config.setting, "standard")
        self.assertEqual(AutoConfig.from_pretrained(folder, trust_remote_code=True).latent_feedback, {"fusion": "glu"})

    def test_half_precision(self):
        model, folder = self.exported(GLU, dtype=torch.bfloat16)
        loaded = self.load(folder)
        self.assertEqual(loaded.dtype, torch.bfloat16)
        for name, value in model.state_dict().items():
            self.assertTrue(torch.equal(value.bfloat16(), loaded.state_dict()[name]), name)

    def test_the_tokenizer_and_the_end(self):
        _, folder = self.exported(GLU)
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
        own, end = models.load_tokenizer(self.training.model)
        text = "count 1 2 3 to Ann, then ünï"
        self.assertEqual(tokenizer(text)["input_ids"], own.encode(text).ids)
        self.assertEqual((tokenizer.eos_token_id, tokenizer.decode(own.encode(text).ids)), (end, text))
        model = models.build(self.training, own, end)
        models.export(model, self.training, self.folder / "scratch")
        loaded = self.load(self.folder / "scratch")
        self.assertEqual((loaded.config.eos_token_id, loaded.generation_config.eos_token_id), (end, end))
        self.assertIsNone(loaded.config.bos_token_id)

    def test_without_fusion_it_is_an_ordinary_llama(self):
        model, _ = support.random_model(GLU, dtype=torch.float32)
        models.export(model, self.fusing("none"), self.folder / "plain")
        loaded = AutoModelForCausalLM.from_pretrained(self.folder / "plain").eval()
        self.assertIs(type(loaded), LlamaForCausalLM)
        with torch.no_grad():
            ids = torch.tensor([PROMPT])
            self.assertTrue(torch.equal(loaded(ids).logits, model(ids).logits))
        self.assertFalse((self.folder / "plain" / "modeling_fullband.py").exists())
        self.assertTrue(models.is_ordinary(self.folder / "plain"))

    def test_a_folder_is_whole_or_not_there(self):
        model, folder = self.exported(GLU)
        with self.assertRaisesRegex(settings.ConfigError, "exists"):
            models.export(model, self.training, folder)
        with mock.patch.object(models.shutil, "copyfile", side_effect=OSError("no space")), self.assertRaises(OSError):
            models.export(model, self.training, self.folder / "broken")
        self.assertFalse((self.folder / "broken").exists())


class StartTest(Case):
    def llama(self, **more):
        """An ordinary checkpoint as transformers saves it, with the tokenizer."""
        torch.manual_seed(3)
        config = LlamaConfig(vocab_size=270, hidden_size=32, intermediate_size=56, num_hidden_layers=2,
                             num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128, eos_token_id=0,
                             **({"tie_word_embeddings": True} | more))
        model = LlamaForCausalLM(config).eval()
        folder = self.folder / "llama"
        model.save_pretrained(folder)
        AutoTokenizer.from_pretrained(self.training.model.tokenizer).save_pretrained(folder)
        return model, folder

    def started(self, folder, fusion="glu"):
        training = self.fusing(fusion, start=str(folder), tokenizer="")
        return training, models.build(training, *models.load_tokenizer(training.model)).eval()

    def test_an_ordinary_checkpoint_keeps_its_standard_logits(self):
        rope = {"rope_type": "llama3", "rope_theta": 1e5, "factor": 8.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": 32}
        for fusion, more in (("glu", {}), ("additive", {"tie_word_embeddings": False, "attention_bias": True}),
                             ("none", {"pad_token_id": 2}), ("glu", {"rope_parameters": rope, "rms_norm_eps": 1e-4})):
            with self.subTest(fusion=fusion, **more), torch.no_grad():
                ordinary, folder = self.llama(**more)
                training, model = self.started(folder, fusion)
                ids = torch.tensor([PROMPT])
                self.assertTrue(torch.equal(model(ids).logits, ordinary(ids).logits))
                self.assertEqual(model.config.eos_token_id, 0)
                self.assertIsNone(model.get_input_embeddings().padding_idx)
                out = self.folder / f"started-{fusion}-{len(more)}"
                models.export(model, training, out)
                loaded = AutoModelForCausalLM.from_pretrained(out, trust_remote_code=True).eval()
                self.assertTrue(torch.equal(loaded(ids).logits, ordinary(ids).logits))

    def test_a_latent_checkpoint_is_continued(self):
        model, folder = self.exported(GLU)
        _, started = self.started(folder)
        for name, value in model.state_dict().items():
            self.assertTrue(torch.equal(value, started.state_dict()[name]), name)
        with self.assertRaisesRegex(settings.ConfigError, "fusion: additive is not that of .*, glu"):
            self.started(folder, "additive")

    def test_trained_from_an_ordinary_checkpoint(self):
        ordinary, folder = self.llama()
        for name, start in (("a", folder), ("b", None)):
            config = support.write_config(self.folder / "t" / f"{name}.toml", run={"out": name}, model={
                "start": str(start or self.folder / "exported-a"), "tokenizer": ""})
            code, said = support.train_in_child(config, "--export", self.folder / f"exported-{name}")
            self.assertEqual(code, 0, said)
            held_out = [line["held_out"] for line in support.metrics_of(self.folder / "t" / name) if "held_out" in line]
            self.assertEqual(len(held_out[-1]), 3)
            self.assertLess(held_out[-1][0], 5.0)  # log(270) is 5.6
        self.assertLess(held_out[0][0], 4.0)  # the second goes on from the first
        trained = AutoModelForCausalLM.from_pretrained(self.folder / "exported-b", trust_remote_code=True)
        for name, value in ordinary.state_dict().items():
            self.assertFalse(torch.equal(value, trained.state_dict()[name]), name)

    def test_other_checkpoints_are_refused(self):
        config = Qwen2Config(vocab_size=270, hidden_size=32, intermediate_size=56, num_hidden_layers=1,
                             num_attention_heads=4, num_key_value_heads=2)
        Qwen2ForCausalLM(config).save_pretrained(self.folder / "qwen")
        AutoTokenizer.from_pretrained(self.training.model.tokenizer).save_pretrained(self.folder / "qwen")
        with self.assertRaisesRegex(settings.ConfigError, "qwen: is a qwen2 model"):
            self.started(self.folder / "qwen")
        _, folder = self.llama()
        (folder / "model.safetensors").write_bytes(b"short")
        with self.assertRaisesRegex(settings.ConfigError, "llama: cannot be loaded"):
            self.started(folder)


class FusionStartTest(Case):
    def resemblance(self, fusion, scale):
        """(correlation of fused and plain inputs over the positions that are fused, each coordinate by itself and then
        averaged; size of their difference relative to the plain ones)."""
        trainer = trainer_module.Trainer(self.fusing(fusion), say=lambda text: None)
        with torch.no_grad():
            trainer.model.get_input_embeddings().weight *= scale
            micro = list(trainer.batch(0))
            trainer._start_fusion(micro)
            batch, model = micro[0][0], trainer.model
            fused = (batch.document >= 0) & (batch.position > 0)
            e = model.get_input_embeddings()(batch.tokens)
            h = trainer_module.pass_states(model, batch, 1)[0]
            u = model.fuse(e, *modeling.shift_right(h, batch.position == 0))[fused]
            e = e[fused]
            a, b = u - u.mean(0), e - e.mean(0)
            correlation = ((a * b).mean(0) / (a.square().mean(0) * b.square().mean(0)).sqrt()).mean().item()
            return correlation, ((u - e).square().mean() / e.square().mean()).sqrt().item()

    def check_near(self):
        for scale in (0.1, 1.0, 30.0):
            self.assertGreater(self.resemblance("glu", scale)[0], 0.8, scale)
            correlation, difference = self.resemblance("additive", scale)
            self.assertGreater(correlation, 0.98, scale)
            self.assertTrue(0.03 < difference < 0.2, (scale, difference))

    def test_fused_inputs_start_near_the_plain_ones(self):
        """Whatever the size of the embeddings."""
        self.check_near()
        self.assert_noticed(self.check_near, mock.patch.object(models, "start_fusion", lambda *_: None))


@unittest.skipUnless(PROGRAM, "give the program as argument")
class EngineTest(Case):
    """Exported folders in `fullband`, within the tolerances that tests/reference derives."""

    def check(self, folder, shape, settings_=SETTINGS, expected=None):
        """Failures of decode and score; `expected`: the reference's model, the folder's own by default."""
        model = expected or fbt.Model.load(folder)
        for setting in settings_:
            if shape.fusion == "additive" and "constant_gate" in setting:
                continue
            for kind in ("decode", "score"):
                case = compare_engine.Case(shape, folder, kind, setting, PROMPT, FORCED)
                compare_engine.ask(PROGRAM, case)
                logprobs = compare_engine.reference_logprobs(model, case)
                allowed = compare_engine.tolerance(model, case, logprobs)
                self.assertLess(allowed.max(), compare_engine.CEILING)
                self.assertEqual(compare_engine.compare(case, logprobs, allowed), [], case.name)

    def test_exported_folders(self):
        for shape in (ADDITIVE, GLU):
            _, folder = self.exported(shape)
            self.check(folder, shape)
        swapped = faults.swap_fusion_weights(fbt.Model.load(folder))
        self.assert_noticed(lambda: self.check(folder, GLU, ("latent",), swapped))

    def test_the_reference_reads_the_weights_that_pytorch_has(self):
        for shape in (GLU, ADDITIVE):
            model, folder = self.exported(shape)
            read, own = fbt.Model.load(folder), support.reference_of(model)
            for name, value in read.w.items():
                self.assertTrue(np.array_equal(value, own.w[name]), name)
            self.assertEqual(set(own.w) - set(read.w), {"lm_head.weight"} if shape.tied else set())

    def test_a_trained_model(self):
        """From the trainer to the engine, bf16 too."""
        config = support.write_config(self.folder / "t" / "train.toml")
        code, said = support.train_in_child(config, "--export", self.folder / "trained")
        self.assertEqual(code, 0, said)
        self.check(self.folder / "trained", shapes.Shape("trained"), ("standard", "latent@2"))
        found = self.inspect(self.folder / "trained")
        self.assertEqual(found["family"], "FullBandwidthLlamaForCausalLM")
        self.assertEqual(found["latent_feedback"], {"fusion": "glu"})
        self.assertEqual((found["layers"], found["hidden_size"], found["tied_embeddings"]), (1, 16, True))

    def test_without_fusion(self):
        model, _ = support.random_model(GLU, dtype=torch.float32)
        models.export(model, self.fusing("none"), self.folder / "plain")
        self.assertEqual((self.inspect(self.folder / "plain")["family"],
                          self.inspect(self.folder / "plain")["latent_feedback"]), ("LlamaForCausalLM", None))
        self.check(self.folder / "plain", dataclasses.replace(GLU, fusion=None), ("standard",))

    def inspect(self, folder):
        with mock.patch.dict("os.environ", FULLBAND_CACHE=str(self.folder / "cache")):
            done = subprocess.run([PROGRAM, "inspect", "--model", str(folder), "--json"], capture_output=True,
                                  text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


if __name__ == "__main__":
    unittest.main()
