"""The Hugging Face model against the specification in NumPy, in float64: generate() and forward(), every setting."""
import unittest
from unittest import mock

import support
from support import fbt, np, shapes, torch

import modeling_fullband as modeling

SETTINGS = ("standard", "latent", "latent@2", "latent@3", "latent@exact", "standard@2", "standard@exact",
            *(f"{setting}:{control}" for setting in ("latent", "latent@2", "latent@3", "latent@exact", "standard@2")
              for control in fbt.CONTROLS))
NEW = 5
MODELS = {shape.name: support.random_model(shape) for shape in (support.GLU, support.ADDITIVE)}
PROMPTS = [[int(t) for t in np.random.default_rng(n).integers(1, 61, n)] for n in (9, 1, 6, 2)]


def legal(name, setting):
    return name == "glu" or "constant_gate" not in setting


def generate(model, prompts, setting, **more):
    """(ids [B, NEW], logits [B, NEW, V]) of a batch, padded on the left."""
    width = max(map(len, prompts))
    ids = torch.tensor([[0] * (width - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
    options = dict(max_new_tokens=NEW, min_new_tokens=NEW, do_sample=False, pad_token_id=0, attention_mask=mask,
                   return_dict_in_generate=True, output_logits=True) | more
    out = model.generate(ids, **options, **({} if setting is None else {"setting": setting}))
    return out.sequences[:, width:], torch.stack(out.logits, 1)


class Checks(support.Case):
    def compare(self, name, prompts, setting, **more):
        model, reference = MODELS[name]
        ids, logits = generate(model, prompts, setting, **more)
        for b, prompt in enumerate(prompts):
            expected_ids, expected = fbt.decode(reference, prompt, NEW, setting)
            what = f"{name} {setting} prompt of {len(prompt)}"
            self.assertEqual(ids[b].tolist(), expected_ids, what)
            # generate() hands logits out in float32.
            self.assert_close(logits[b], expected, 2.0**-23 * np.abs(expected).max(), what)

    def check_single(self):
        for name in MODELS:
            for setting in SETTINGS:
                if legal(name, setting):
                    self.compare(name, PROMPTS[:1], setting)

    def check_batched(self):
        for name in MODELS:
            for setting in SETTINGS:
                if legal(name, setting):
                    self.compare(name, PROMPTS, setting)


class GenerateTest(Checks):
    def test_single_prompts(self):
        self.check_single()

    def test_batched_prompts_with_padding_on_the_left(self):
        self.check_batched()

    def test_a_prompt_of_one_token(self):
        for setting in SETTINGS:
            self.compare("glu", PROMPTS[1:2], setting)

    def test_the_configurations_setting_is_the_default(self):
        model, reference = MODELS["glu"]
        with mock.patch.object(model.config, "setting", "latent@2"):
            ids, _ = generate(model, PROMPTS[:1], None)
        self.assertEqual(ids[0].tolist(), fbt.decode(reference, PROMPTS[0], NEW, "latent@2")[0])

    def test_several_samples_of_one_prompt(self):
        """Each follows its own states: what it sampled has the probability that scoring gives it."""
        model, reference = MODELS["glu"]
        torch.manual_seed(1)
        ids, logits = generate(model, PROMPTS[:2], "latent@2", do_sample=True, num_return_sequences=3, temperature=2.0)
        self.assertEqual(len(ids), 6)
        self.assertGreater(len({tuple(row) for row in ids[:3].tolist()}), 1)
        for i, row in enumerate(ids.tolist()):
            found = torch.log_softmax(logits[i].double(), -1)[range(NEW), row]
            self.assert_close(found, fbt.score(reference, PROMPTS[i // 3], row, "latent@2"), 1e-5, f"sample {i}")

    def test_refused(self):
        model, _ = MODELS["glu"]
        for setting, options, word in (
            ("latent", {"num_beams": 2}, "num_beams"), ("latent@2", {"use_cache": False}, "use_cache"),
            ("standard@2", {"num_beams": 3}, "num_beams"), ("latent", {"prompt_lookup_num_tokens": 2}, "prompt_lookup"),
            ("latent", {"assistant_model": model}, "assistant_model"), ("parallel@2", {}, "scoring"),
            ("latent@2", {"prefill_chunk_size": 2}, "prefill_chunk_size"), ("standard:zero", {}, "no fused position"),
            ("latent@0", {}, "latent@0"), ("latent@2:nothing", {}, "nothing"), ("Latent", {}, "Latent"),
            ("parallel@exact", {}, "parallel@exact"), ("latent@2", {"cache_implementation": "static"}, "static"),
        ):
            with self.assertRaisesRegex(ValueError, word, msg=f"{setting} {options}"):
                generate(model, PROMPTS[:2], setting, **options)
        with self.assertRaisesRegex(ValueError, "gate"):
            generate(MODELS["additive"][0], PROMPTS[:1], "latent:constant_gate")
        generate(model, PROMPTS[:1], "standard", num_beams=2)  # needs no states


class ForwardTest(Checks):
    """Scoring a whole text: parallel@P."""

    def check_scores(self, settings=("standard", "latent", "parallel@1", "parallel@2", "latent@2", "latent@3",
                                     "standard@3", "latent@2:stale", "parallel@3:reversed", "parallel@2:zero")):
        text, at = PROMPTS[0] + PROMPTS[2], len(PROMPTS[0])
        for name, (model, reference) in MODELS.items():
            for setting in settings:
                parsed = fbt.Setting.parse(setting)
                same = f"parallel@{parsed.passes}" + (f":{parsed.control}" if parsed.control else "")
                logits = model(torch.tensor([text]), setting=setting).logits[0]
                found = torch.log_softmax(logits, -1)[range(at - 1, len(text) - 1), text[at:]]
                self.assert_close(found, fbt.score(reference, text[:at], text[at:], same), what=f"{name} {setting}")

    def test_whole_texts(self):
        self.check_scores()

    def test_the_recurrence(self):
        for name, (model, reference) in MODELS.items():
            for control in (None, "stale", "reversed"):
                setting = "latent@exact" + (f":{control}" if control else "")
                expected = fbt.recur(reference, PROMPTS[0], control=control)[0] @ reference.head().T
                self.assert_close(model(torch.tensor(PROMPTS[:1]), setting=setting).logits[0], expected, what=name)

    def test_teacher_forcing_token_by_token(self):
        for setting in SETTINGS:
            model, reference = MODELS["glu"]
            prompt, forced = PROMPTS[0], PROMPTS[2]
            out = model(torch.tensor([prompt]), setting=setting)
            found = [out.logits[0, -1]]
            for token in forced[:-1]:
                out = model(torch.tensor([[token]]), setting=setting, past_key_values=out.past_key_values,
                            states=out.states)
                found.append(out.logits[0, -1])
            # And all at once.
            start = model(torch.tensor([prompt]), setting=setting)
            at_once = model(torch.tensor([forced[:-1]]), setting=setting, past_key_values=start.past_key_values,
                            states=start.states)
            expected = fbt.score(reference, prompt, forced, setting)
            for logits in (torch.stack(found), torch.cat([start.logits[0, -1:], at_once.logits[0]])):
                self.assert_close(torch.log_softmax(logits, -1)[range(len(forced)), forced], expected, what=setting)

    def test_padding_on_the_left(self):
        model, reference = MODELS["glu"]
        width = max(map(len, PROMPTS))
        ids = torch.tensor([[7] * (width - len(p)) + p for p in PROMPTS])
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in PROMPTS])
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        for setting in ("latent@2", "latent@3:stale", "parallel@2", "latent@exact:stale"):
            logits = model(ids, attention_mask=mask, position_ids=positions, setting=setting).logits
            for b, prompt in enumerate(PROMPTS):
                h, _ = fbt.Setting.parse(setting).prefill(reference, prompt)
                self.assert_close(logits[b, width - len(prompt):], h @ reference.head().T, what=f"{setting} {b}")

    def test_labels_and_the_last_logits(self):
        model, reference = MODELS["glu"]
        ids = torch.tensor(PROMPTS[:1])
        whole = model(ids, setting="latent@2", labels=ids)
        expected = -fbt.score(reference, PROMPTS[0][:1], PROMPTS[0][1:], "parallel@2").mean()
        self.assertAlmostEqual(whole.loss.item(), expected, 5)  # transformers computes it in float32
        last = model(ids, setting="latent@2", logits_to_keep=2).logits
        self.assert_close(last, whole.logits[:, -2:])

    def test_a_cache_without_its_states_is_refused(self):
        model, _ = MODELS["glu"]
        out = model(torch.tensor(PROMPTS[:1]), setting="latent@2")
        with self.assertRaisesRegex(ValueError, "states"):
            model(torch.tensor([[1]]), setting="latent@2", past_key_values=out.past_key_values)

    def test_an_unknown_fusion_is_refused(self):
        config = support.config_of(support.GLU)
        config.latent_feedback = {"fusion": "gated"}
        with self.assertRaisesRegex(ValueError, "gated"):
            modeling.FullBandwidthLlamaForCausalLM(config)


class FaultsTest(Checks):
    def test_faults(self):
        cls, fuse, shift = modeling.FullBandwidthLlamaForCausalLM, modeling.LatentFeedback.forward, modeling.shift_right
        recur, last = cls._recur, cls._last
        update = cls._update_model_kwargs_for_generation

        def forgets_states(self, outputs, kwargs, *args, **more):
            out = update(self, outputs, kwargs, *args, **more)
            out.pop("states")
            return out

        parse = modeling.Setting.parse

        def fewer(text):
            found = parse(text)
            return modeling.Setting(found.latent, max(found.passes - 1, 1) if found.passes else 0, found.control)

        faults = {
            "states are not carried along": mock.patch.object(
                cls, "_update_model_kwargs_for_generation", forgets_states),
            "the state before the last": mock.patch.object(
                cls, "_recur", lambda self, e, s, c, states, **k: recur(
                    self, e, s, c, None if states is None else states.flip(1), **k)),
            "a pass too few": mock.patch.object(modeling.Setting, "parse", staticmethod(fewer)),
            "the control is ignored": mock.patch.object(
                modeling.LatentFeedback, "forward", lambda self, e, h, older, *rest: fuse(self, e, h, older)),
            "gate and value are swapped": mock.patch.object(
                modeling.LatentFeedback, "forward", lambda self, e, h, older, *rest: fuse(self, h, e, e, *rest)),
        }
        for what, fault in faults.items():
            self.assert_noticed(self.check_single, fault, what=what)
        padded = {
            "padding is text": mock.patch.object(
                cls, "_first", lambda self, e, cache, mask: (torch.arange(e.shape[1])[None] == 0).expand(e.shape[:2])),
            "stale states of padding": mock.patch.object(
                modeling, "shift_right", lambda h, first: shift(h, torch.zeros_like(first))),
            "stale states of padding after the prompt": mock.patch.object(
                cls, "_last", lambda self, h, first, states: last(self, h, None, states)),
        }
        for what, fault in padded.items():
            self.assert_noticed(self.check_batched, fault, what=what)
        self.assert_noticed(
            ForwardTest.check_scores.__get__(self), mock.patch.object(modeling.Setting, "parse", staticmethod(fewer)))


if __name__ == "__main__":
    unittest.main()
