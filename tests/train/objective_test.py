"""The multi-pass objective against the specification in NumPy, in float64: states, losses, packing, prefix mixing."""
import unittest
from unittest import mock

import support
from support import fbt, np, torch

import modeling_fullband as modeling
import objective
from objective import Batch, combine, pass_losses, pass_states

DOCUMENTS = (7, 1, 9, 4, 8)  # tokens; two rows of 18, the second with padding
ROW = 18
MODELS = {shape.name: support.random_model(shape) for shape in (support.GLU, support.ADDITIVE)}


def batch_of(seed=0, starts=(1, 1, 1, 1, 1), row=ROW):
    """The documents packed in order, with the position from which each is fused; all of their tokens but the first are
    predicted, but for every third."""
    rng = np.random.default_rng(seed)
    values = [[[], [], [], [], []]]
    for d, (size, start) in enumerate(zip(DOCUMENTS, starts)):
        if len(values[-1][0]) + size > row:
            values.append([[], [], [], [], []])
        ids = rng.integers(0, 61, size)
        for name, part in enumerate((ids, [d] * size, range(size), [t % 3 != 2 and t + 1 < size for t in range(size)],
                                     [start] * size)):
            values[-1][name] += list(part)
    padding = (0, -1, 0, False, 1)
    columns = [[one[name] + [padding[name]] * (row - len(one[name])) for one in values] for name in range(5)]
    return Batch(*(torch.tensor(c, dtype=torch.bool if name == 3 else torch.int64) for name, c in enumerate(columns)))


def documents_of(batch):
    """(document, its place (row, columns), its ids, its start)."""
    for d in range(len(DOCUMENTS)):
        rows, columns = (batch.document == d).nonzero(as_tuple=True)
        place = rows[0].item(), slice(columns[0].item(), columns[-1].item() + 1)
        yield d, place, batch.tokens[place].tolist(), batch.start[place][0].item()


class Checks(support.Case):
    def check_passes(self, name, starts=(1, 1, 1, 1, 1), passes=4):
        """Every document's states, in every pass, are the reference's of the document alone."""
        model, reference = MODELS[name]
        batch = batch_of(starts=starts)
        states = pass_states(model, batch, passes)
        self.assertEqual(len(states), passes)
        for d, place, ids, start in documents_of(batch):
            for p in range(1, passes + 1):
                expected, _ = fbt.prefill(reference, ids, p, fused_from=start)
                self.assert_close(states[p - 1][place], expected, what=f"{name} document {d} pass {p}")

    def check_recurrence(self, name, starts=(1, 1, 1, 1, 1), passes=4):
        """Pass p is the recurrence at positions below p, counted from the last plain one before the start."""
        model, reference = MODELS[name]
        batch = batch_of(starts=starts)
        states = pass_states(model, batch, passes)
        for d, (row, columns), ids, start in documents_of(batch):
            expected, _ = fbt.recur(reference, ids, fused_from=start)
            for p in range(1, passes + 1):
                known = min(start - 1 + p, len(ids))
                found = states[p - 1][row, columns.start:columns.start + known]
                self.assert_close(found, expected[:known], what=f"{name} document {d} pass {p}")
                if len(ids) > known:  # and no more than that
                    other = states[p - 1][row, columns.start + known].detach().numpy()
                    self.assertGreater(np.abs(other - expected[known]).max(), 1e-4)

    def check_untouched(self):
        """Positions before the start are the first pass's in every pass, bit for bit; those from it on are not."""
        model, _ = MODELS["glu"]
        batch = batch_of(starts=(3, 1, 8, 2, 5))
        states = pass_states(model, batch, 4)
        before, fused = batch.position < batch.start, batch.position >= batch.start
        for later in states[1:]:
            self.assertTrue(torch.equal(later[before], states[0][before]))
            self.assertGreater((later[fused] - states[0][fused]).abs().amax(-1).min().item(), 1e-3)

    def check_apart(self):
        """Changing one document changes nothing in the others, in float32, bit for bit."""
        model, _ = support.random_model(support.GLU, dtype=torch.float32)
        batch, changed = batch_of(), batch_of()
        chosen = batch.document == 0
        changed.tokens[chosen] = 60 - batch.tokens[chosen]
        for one, other in zip(pass_states(model, batch, 3), pass_states(model, changed, 3)):
            kept = ~chosen & (batch.document >= 0)
            self.assertTrue(torch.equal(one[kept], other[kept]))
            self.assertFalse(torch.isclose(one[chosen], other[chosen]).all(-1).any())


class PassesTest(Checks):
    def test_each_pass_of_packed_documents_is_that_of_each_alone(self):
        for name in MODELS:
            self.check_passes(name)

    def test_pass_p_is_the_recurrence_at_positions_below_p(self):
        for name in MODELS:
            self.check_recurrence(name)

    def test_as_many_passes_as_tokens_are_the_recurrence(self):
        for name, (model, reference) in MODELS.items():
            batch = batch_of()
            states = pass_states(model, batch, max(DOCUMENTS))[-1]
            for d, place, ids, _ in documents_of(batch):
                self.assert_close(states[place], fbt.recur(reference, ids)[0], what=f"{name} document {d}")

    def test_prefix_mixing(self):
        for name in MODELS:
            self.check_passes(name, starts=(3, 1, 8, 1, 5))
            self.check_recurrence(name, starts=(3, 1, 8, 1, 5))

    def test_prefix_mixing_leaves_positions_before_the_start_untouched(self):
        self.check_untouched()

    def test_documents_share_nothing(self):
        self.check_apart()

    def test_controls_are_the_references(self):
        for name, (model, reference) in MODELS.items():
            batch = batch_of()
            inputs = dict(attention_mask=batch.attention_mask(), position_ids=batch.position)
            for control in fbt.CONTROLS[:4 if name == "glu" else 3]:
                e = model.get_input_embeddings()(batch.tokens)
                states = model.run_passes(e, batch.fused(), batch.position == 0, 3, control, **inputs)
                for d, place, ids, _ in documents_of(batch):
                    expected, _ = fbt.prefill(reference, ids, 3, control=control)
                    self.assert_close(states[2][place], expected, what=f"{name} {control} document {d}")


class LossTest(support.Case):
    def check_losses(self):
        model, reference = MODELS["glu"]
        batch = batch_of(starts=(3, 1, 1, 2, 1))
        expected = np.zeros(3)
        for _, place, ids, start in documents_of(batch):
            for p in range(3):
                h, _ = fbt.prefill(reference, ids, p + 1, fused_from=start)
                logprobs = fbt.log_softmax(h @ reference.head().T)
                for t in batch.supervised[place].nonzero().flatten().tolist():
                    expected[p] -= logprobs[t, ids[t + 1]]
        losses = pass_losses(model, batch, 3)
        self.assert_close(torch.stack(losses), expected, 1e-8)

    def test_each_pass_has_the_references_loss(self):
        self.check_losses()
        faulty = mock.patch.object(objective, "pass_states", lambda *a: pass_states(*a)[::-1])
        self.assert_noticed(self.check_losses, faulty, what="passes in another order")

    def test_first_pass_plus_the_mean_of_the_later_ones(self):
        self.assertEqual(combine([3.0]), 3.0)
        self.assertEqual(combine([3.0, 5.0]), 8.0)
        self.assertEqual(combine([3.0, 5.0, 6.0, 10.0]), 10.0)
        self.assertEqual(combine([3.0, 5.0, 7.0], 0.5, 2.0), 13.5)

    def test_the_loss_of_a_row_without_predictions_is_zero_and_has_gradients(self):
        model, _ = support.random_model(support.GLU)
        batch = batch_of()
        batch.supervised[:] = False
        total = combine(pass_losses(model, batch, 2))
        total.backward()
        self.assertEqual(total.item(), 0.0)
        self.assertTrue(all(p.grad is not None and not p.grad.any() for p in model.parameters()))

    def test_computed_in_float32_at_least(self):
        model, _ = support.random_model(support.GLU, dtype=torch.float32)
        batch = batch_of()
        exact = pass_losses(model, batch, 2)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            rough = pass_losses(model, batch, 2)
        for one, other in zip(exact, rough):
            self.assertEqual(other.dtype, torch.float32)
            self.assertLess(abs(one.item() - other.item()), 0.05 * one.item())
            self.assertNotEqual(one.item(), other.item())


_fuse, _shift, _mask = modeling.LatentFeedback.forward, modeling.shift_right, Batch.attention_mask


class FaultsTest(Checks):
    """The comparisons above notice mistakes that are easily made."""

    def check_all(self):
        for check in (self.check_passes, self.check_recurrence):
            check("glu", starts=(3, 1, 8, 1, 5))

    def test_faults(self):
        def causal(batch):
            length = batch.tokens.shape[1]
            return torch.ones(len(batch.tokens), 1, length, length, dtype=torch.bool).tril()

        everywhere = mock.patch.object(Batch, "fused", lambda b: b.position >= 0)
        faults = {
            "states of two positions before": mock.patch.object(
                modeling, "shift_right", lambda h, first: (_shift(h, first)[1],) * 2),
            "states not shifted": mock.patch.object(modeling, "shift_right", lambda h, first: (h, h)),
            "attention across documents": mock.patch.object(Batch, "attention_mask", causal),
            "feedback across documents": everywhere,
            "the start is ignored": mock.patch.object(Batch, "fused", lambda b: b.position >= 1),
            "the start is one too late": mock.patch.object(Batch, "fused", lambda b: b.position > b.start),
            "the gate is of the state": mock.patch.object(
                modeling.LatentFeedback, "forward", lambda self, e, h, older, *rest: _fuse(self, h, e, e, *rest)),
            "the first pass's states in every pass": mock.patch.object(
                modeling.FullBandwidthLlamaForCausalLM, "_fused_inputs",
                lambda self, e, h, fused, first, control: e * 1.0),
        }
        for what, fault in faults.items():
            self.assert_noticed(self.check_all, fault, what=what)
        self.assert_noticed(self.check_apart, mock.patch.object(Batch, "attention_mask", causal))
        self.assert_noticed(self.check_apart, everywhere)
        self.assert_noticed(self.check_untouched, mock.patch.object(Batch, "fused", lambda b: b.position >= 1))


if __name__ == "__main__":
    unittest.main()
