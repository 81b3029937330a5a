"""The multi-pass objective: arXiv 2608.08888, training.

Each pass shifts the previous pass's top-layer states right by one position, fuses them with the token embeddings and
runs all positions again. Documents packed in one row share neither attention nor feedback, and a document's first
`start` positions enter plain in every pass (prefix mixing), as a prompt does before `latent` decoding.

Shapes: B rows, T positions, D model width.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class Batch:
    """tokens [B, T] int64; document [B, T] int64, equal within a document, in order; position [B, T] int64 within the
    document; supervised [B, T] bool, whether the *next* token is to be predicted here; start [B, T] int64, the position
    from which the document is fused (at least 1)."""

    tokens: torch.Tensor
    document: torch.Tensor
    position: torch.Tensor
    supervised: torch.Tensor
    start: torch.Tensor

    def to(self, device):
        return Batch(*(value.to(device) for value in vars(self).values()))

    def fused(self):
        """[B, T] bool: the positions that take the state of the position before, in every pass but the first."""
        return self.position >= self.start.clamp(min=1)

    def attention_mask(self):
        """[B, 1, T, T] bool, true where position t (third) attends to s (fourth): s <= t, in the same document."""
        length = self.tokens.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool, device=self.tokens.device).tril()
        return (self.document[:, None, :, None] == self.document[:, None, None, :]) & causal


def pass_states(model, batch, passes):
    """The states [B, T, D] of each pass."""
    e = model.get_input_embeddings()(batch.tokens)
    return model.run_passes(e, batch.fused(), batch.position == 0, passes, attention_mask=batch.attention_mask(),
                            position_ids=batch.position)


def pass_losses(model, batch, passes):
    """Sum over the supervised positions of -log p(next token), in nats, for each pass: a list of scalars."""
    return [_loss(model, h, batch) for h in pass_states(model, batch, passes)]


def _loss(model, h, batch):
    # The head only where there is something to predict: most positions of a prompt have nothing.
    rows, columns = batch.supervised.nonzero(as_tuple=True)
    logits = model.lm_head(h[rows, columns])
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return F.cross_entropy(logits, batch.tokens[rows, columns + 1], reduction="sum")


def combine(losses, first_weight=1.0, later_weight=1.0):
    """Loss of the first pass plus the mean over later passes."""
    total = first_weight * losses[0]
    if len(losses) > 1:
        total = total + later_weight * sum(losses[1:]) / (len(losses) - 1)
    return total
