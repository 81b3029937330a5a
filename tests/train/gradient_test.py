"""Gradients of the multi-pass loss against finite differences, in float64."""
import unittest
from unittest import mock

import support
from support import np, shapes, torch

import modeling_fullband as modeling
from objective import Batch, combine, pass_losses

STEP = 1e-4
TINY = dict(family="FullBandwidthLlamaForCausalLM", width=16, inner=20, heads=2, groups=1, vocab=17)
SHAPES = (shapes.Shape("glu", **TINY), shapes.Shape("additive", fusion="additive", tied=False, **TINY))


def batch():
    """Two rows of two documents each; one starts at its third token."""
    document = torch.tensor([[0] * 6 + [1] * 4, [0] * 3 + [1] * 5 + [-1] * 2])
    position = torch.tensor([[*range(6), *range(4)], [*range(3), *range(5), 0, 0]])
    tokens = torch.from_numpy(np.random.default_rng(3).integers(0, 17, (2, 10)))
    supervised = torch.zeros(2, 10, dtype=torch.bool)
    supervised[:, :-1] = (document[:, 1:] == document[:, :-1]) & (document[:, 1:] >= 0)
    start = torch.where((document == 0) & (torch.arange(2)[:, None] == 0), 3, 1)
    return Batch(tokens, document, position, supervised, start)


class GradientTest(support.Case):
    def loss(self, model):
        return combine(pass_losses(model, batch(), 3), 0.7, 1.3)

    def check(self, shape):
        """Along random directions, in each tensor alone and in all of them, the gradient is the central difference,
        with Richardson's step: of its errors the fourth power of STEP is left, and 2^-53 of the loss over STEP."""
        model, _ = support.random_model(shape)
        self.loss(model).backward()
        parameters = dict(model.named_parameters())
        self.assertIn("latent_feedback.state_proj.weight", parameters)
        random = torch.Generator().manual_seed(1)
        for names in [[name] for name in parameters] + [list(parameters)] * 3:
            direction = {name: torch.randn(parameters[name].shape, generator=random, dtype=torch.float64)
                         for name in names}
            slope = sum((parameters[name].grad * d).sum().item() for name, d in direction.items())
            size = sum((parameters[name].grad**2).sum().item() for name in names)**0.5
            self.assertGreater(size, 1e-3, names)
            wide, narrow = (self.difference(model, parameters, direction, step) for step in (STEP, STEP / 2))
            difference = (4 * narrow - wide) / 3
            self.assertLess(abs(slope - difference), 1e-6 * size + 1e-7, f"{shape.name} {names}: {slope} {difference}")

    @torch.no_grad()
    def difference(self, model, parameters, direction, step):
        """Central difference of the loss."""
        ends = []
        for sign in (1, -1):
            for name, d in direction.items():
                parameters[name] += sign * step * d
            ends.append(self.loss(model).item())
            for name, d in direction.items():
                parameters[name] -= sign * step * d
        return (ends[0] - ends[1]) / (2 * step)

    def test_every_parameter(self):
        for shape in SHAPES:
            self.check(shape)

    def test_faults(self):
        """A gradient that does not flow from pass to pass, or not through the gate."""
        shift, fuse = modeling.shift_right, modeling.LatentFeedback.forward
        for fault in (
            mock.patch.object(modeling, "shift_right", lambda h, first: shift(h.detach(), first)),
            mock.patch.object(modeling.LatentFeedback, "forward", lambda self, e, *rest: fuse(self, e.detach(), *rest)),
        ):
            self.assert_noticed(lambda: self.check(SHAPES[0]), fault)

    def test_padding_token_is_learnt_like_any_other(self):
        """nn.Embedding's padding_idx drops gradients silently: no token has it."""
        model, _ = support.random_model(SHAPES[0])
        self.assertIsNone(model.get_input_embeddings().padding_idx)


if __name__ == "__main__":
    unittest.main()
