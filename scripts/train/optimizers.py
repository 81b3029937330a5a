"""The optimizers: AdamW for all weights, or Muon for the hidden matrices and AdamW for the others."""
import torch


class Optimizers:
    """Several optimizers as one. A group's `share` scales the schedule's rate for its weights."""

    def __init__(self, parts):
        self.parts = parts

    @property
    def param_groups(self):
        return [group for part in self.parts for group in part.param_groups]

    def zero_grad(self, set_to_none=True):
        for part in self.parts:
            part.zero_grad(set_to_none=set_to_none)

    def step(self):
        for part in self.parts:
            part.step()

    def set_rate(self, rate):
        for group in self.param_groups:
            group["lr"] = rate * group["share"]

    def state_dict(self):
        return {"parts": [part.state_dict() for part in self.parts]}

    def load_state_dict(self, state):
        for part, values in zip(self.parts, state["parts"], strict=True):
            part.load_state_dict(values)


def build(model, schedule):
    """Embeddings, head and norms always go to AdamW; vectors (norms, biases) do not decay. The hidden matrices go to
    Muon where schedule.optimizer says so (their updates made orthogonal, of AdamW's size times schedule.muon_share).
    The token gate W^G has embeddings as its inputs, which are small numbers, so its own are large, and are learned at
    schedule.gate_share times the others' rate."""
    s = schedule
    outer = {id(model.get_input_embeddings().weight), id(model.get_output_embeddings().weight)}
    gate = [w for name, w in model.named_parameters() if name == "latent_feedback.token_gate.weight"]
    weights = [w for w in model.parameters() if not any(w is g for g in gate)]
    hidden = [w for w in weights if w.dim() == 2 and id(w) not in outer]
    edges = [w for w in weights if w.dim() == 2 and id(w) in outer]
    vectors = [w for w in weights if w.dim() != 2]
    adam = [{"params": edges, "share": 1.0}, {"params": vectors, "weight_decay": 0.0, "share": 1.0}]
    if s.optimizer == "adamw":
        adam += [{"params": hidden, "share": 1.0}, {"params": gate, "share": s.gate_share}]
        return Optimizers([_adamw(adam, s)])
    muon = [{"params": hidden, "share": s.muon_share}, {"params": gate, "share": s.muon_share * s.gate_share}]
    return Optimizers([_adamw(adam, s), torch.optim.Muon(
        [group for group in muon if group["params"]], lr=s.learning_rate, weight_decay=s.weight_decay,
        adjust_lr_fn="match_rms_adamw")])


def _adamw(groups, schedule):
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=schedule.learning_rate,
                             betas=(0.9, schedule.beta2), eps=1e-8, weight_decay=schedule.weight_decay)
