"""Held-out loss, pass by pass."""
import torch

from data import generator, make_batch
from objective import pass_losses


@torch.no_grad()
def held_out_losses(model, rows, passes, most_rows, micro_rows, device):
    """Loss of pass 1..passes in nats/token over the first `most_rows` of `rows`, `micro_rows` at a time, fused from
    each document's second token."""
    count_rows = min(len(rows), most_rows)
    totals, count = torch.zeros(passes, dtype=torch.float64), 0
    for at in range(0, count_rows, micro_rows):
        indices = list(range(at, min(count_rows, at + micro_rows)))
        batch = make_batch(rows, indices, 0.0, "uniform", generator(0)).to(device)
        totals += torch.stack(pass_losses(model, batch, passes)).double().cpu()
        count += batch.supervised.sum().item()
    return (totals / max(count, 1)).tolist()
