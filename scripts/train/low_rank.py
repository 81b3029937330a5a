"""What a training changed, small enough to carry away: new tensors whole, changed matrices as products of low rank.

An update is a folder: update.json (what it is of, and its files' hashes), training.toml, and update-N.safetensors with,
for each matrix W of m rows and n columns, W.left [m, r] and W.right [r, n] in bfloat16, so that the trained matrix is
about the old one + left @ right; and whole, in float32, the vectors and the fusion's weights.
"""
import hashlib
import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

FORMAT = 1
MIB = 1 << 20


class UpdateError(Exception):
    """Names the file and what to do."""


def file_hash(path):
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        raise UpdateError(f"{path}: {fault.strerror}") from None


def weights_hashes(folder):
    """{name: SHA-256} of a checkpoint's weight files."""
    return {file.name: file_hash(file) for file in sorted(Path(folder).glob("*.safetensors"))}


def weights_of(model):
    """The model's own tensors by name, float32 on the CPU; a tied head is the embedding and not named."""
    state = {name: value.detach().float().cpu().clone() for name, value in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        state.pop("lm_head.weight", None)
    return state


def _is_whole(name, value, before):
    return value.dim() != 2 or name not in before or name.startswith("latent_feedback.")


@torch.no_grad()
def _directions(change, device):
    """The change [m, n] in its own basis: (strengths, basis), squared singular values, largest first, and as columns
    the right singular vectors where n <= m, else the left ones. Of the Gram matrix, in float64, whose size is the
    model's width at most."""
    change = change.to(device, torch.float64)
    tall = change if change.shape[0] >= change.shape[1] else change.T
    strengths, basis = torch.linalg.eigh(tall.T @ tall)
    return strengths.flip(0).clamp(min=0).cpu(), basis.flip(1).float().cpu()


def _factors(change, basis, rank):
    """(left [m, r], right [r, n]): the projection of the change onto its strongest directions."""
    basis = basis[:, :rank]
    if change.shape[0] >= change.shape[1]:
        return (change @ basis).bfloat16().contiguous(), basis.T.bfloat16().contiguous()
    return basis.bfloat16().contiguous(), (basis.T @ change).bfloat16().contiguous()


def _bytes(value):
    return value.numel() * value.element_size()


def _header_bytes(name):
    return len(name) + 120  # of a tensor's entry in a file: generous


def choose_ranks(strengths, shapes, budget, most_bytes):
    """The rank of each matrix, such that the factors together take at most `budget` bytes and each at most
    `most_bytes`: those directions that explain most of the whole change a byte."""
    gains, owners = [], []
    for i, (name, values) in enumerate(strengths.items()):
        rows, columns = shapes[name]
        most = min(len(values), most_bytes // (2 * max(rows, columns)))
        budget -= 2 * _header_bytes(f"{name}.right")
        gains.append(values[:most] / (2 * (rows + columns)))
        owners.append(torch.full((most,), i))
    names = list(strengths)
    ranks = dict.fromkeys(names, 0)
    if not names:
        return ranks
    gains, owners = torch.cat(gains), torch.cat(owners)
    # A matrix's directions come strongest first, so what is taken of each is a beginning.
    for k in gains.argsort(descending=True, stable=True).tolist():
        name = names[owners[k]]
        size = 2 * sum(shapes[name])
        if gains[k] <= 0 or size > budget:
            break
        budget -= size
        ranks[name] += 1
    return ranks


class Change:
    """From weights `before` to `after`, both {name: float32 tensor on the CPU}; taken apart once, then approximated."""

    def __init__(self, before, after, device="cpu"):
        self.whole = {name: value.contiguous() for name, value in after.items() if _is_whole(name, value, before)}
        changes = {name: after[name] - before[name] for name in after if name not in self.whole}
        self.changes = {name: change for name, change in changes.items() if change.any()}
        self.directions = {name: _directions(change, device) for name, change in self.changes.items()}

    def approximate(self, budget, most_bytes):
        """(tensors, report): the update's tensors, of at most `budget` bytes together and `most_bytes` each. The report
        says how much of the change is left out: ‖change − left @ right‖ / ‖change‖, over all matrices and by kind."""
        budget -= sum(_bytes(value) + _header_bytes(name) for name, value in self.whole.items())
        if budget < 0:
            raise UpdateError("the fusion and the vectors alone do not fit into an update of this size")
        ranks = choose_ranks({name: strengths for name, (strengths, _) in self.directions.items()},
                             {name: tuple(change.shape) for name, change in self.changes.items()}, budget, most_bytes)
        tensors, left_out = dict(self.whole), {}
        for name, change in self.changes.items():
            rest = change
            if ranks[name]:
                left, right = _factors(change, self.directions[name][1], ranks[name])
                tensors |= {f"{name}.left": left, f"{name}.right": right}
                rest = change - left.float() @ right.float()
            left_out[name] = (rest.square().sum().item(), change.square().sum().item())
        return tensors, {"residual": _ratio(left_out), "residual_by_kind": _by_kind(left_out), "ranks": ranks}


def _ratio(left_out):
    total = sum(change for _, change in left_out.values())
    return (sum(rest for rest, _ in left_out.values()) / total) ** 0.5 if total else 0.0


def _by_kind(left_out):
    kinds = {}
    for name, sums in left_out.items():
        kinds.setdefault(name.removesuffix(".weight").rsplit(".", 1)[-1], {})[name] = sums
    return {kind: _ratio(sums) for kind, sums in sorted(kinds.items())}


def pack(tensors, most_files, most_bytes):
    """The tensors dealt out to at most `most_files` files of `most_bytes`, largest first; None where they do not
    fit."""
    files, room = [], []
    for name in sorted(tensors, key=lambda name: (-_bytes(tensors[name]), name)):
        size = _bytes(tensors[name]) + _header_bytes(name)
        fits = [i for i, left in enumerate(room) if left >= size]
        if not fits:
            if len(files) == most_files or size > most_bytes:
                return None
            files.append({})
            room.append(most_bytes)
            fits = [len(files) - 1]
        files[fits[0]][name] = tensors[name]
        room[fits[0]] -= size
    return files


def save(folder, before, after, base, source, most_files, most_bytes, device="cpu"):
    """Writes the update from weights `before` to `after` into a new folder, in at most `most_files` files of weights of
    `most_bytes` each; its report. base: the checkpoint folder of `before`; source: the training's TOML."""
    folder, budget, change = Path(folder), most_files * most_bytes, Change(before, after, device)
    while (files := pack((update := change.approximate(budget, most_bytes))[0], most_files, most_bytes)) is None:
        budget -= max(budget // 50, 1)  # what files cannot share is lost
    report = update[1]
    folder.mkdir(parents=True)
    hashes = {}
    for number, part in enumerate(files, 1):
        name = f"update-{number}.safetensors"
        save_file(part, folder / name, metadata={"format": "pt"})
        hashes[name] = file_hash(folder / name)
    (folder / "training.toml").write_text(source, encoding="utf-8")
    hashes["training.toml"] = file_hash(folder / "training.toml")
    about = {"format": FORMAT, "base": weights_hashes(base), "files": hashes, **report}
    (folder / "update.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return report


def load(folder, base):
    """(tensors, what update.json says) of an update that is whole and of the checkpoint folder `base`."""
    folder = Path(folder)
    try:
        about = json.loads((folder / "update.json").read_text(encoding="utf-8"))
        files, of = about["files"], about["base"]
    except OSError as fault:
        raise UpdateError(f"{folder / 'update.json'}: {fault.strerror}") from None
    except (ValueError, KeyError, TypeError) as fault:
        raise UpdateError(f"{folder / 'update.json'}: describes no update: {fault!r}") from None
    if about.get("format") != FORMAT:
        raise UpdateError(f"{folder / 'update.json'}: is of format {about.get('format')}; this program reads {FORMAT}")
    if of != weights_hashes(base):
        raise UpdateError(f"{base}: its weights are not those that the update was made from ({', '.join(sorted(of))}: "
                          f"{', '.join(value[:12] for _, value in sorted(of.items()))}…)")
    tensors = {}
    for name, expected in files.items():
        if Path(name).name != name or file_hash(folder / name) != expected:
            raise UpdateError(f"{folder / name}: is not the file that update.json describes; copy the update again")
        if name.endswith(".safetensors"):
            tensors |= load_file(folder / name)
    return tensors, about


@torch.no_grad()
def apply(model, tensors, where):
    """Adds an update's tensors to a model that has the weights they were made from. where: named in errors."""
    state = model.state_dict()  # shares memory with the model
    for name, value in tensors.items():
        target = name.removesuffix(".left").removesuffix(".right")
        if target not in state:
            raise UpdateError(f"{where}: {name}: the model has no tensor {target}")
        if name.endswith(".right"):
            continue
        if name.endswith(".left"):
            if f"{target}.right" not in tensors:
                raise UpdateError(f"{where}: {target}.right is missing")
            value = value.float() @ tensors[f"{target}.right"].float()
        if value.shape != state[target].shape:
            raise UpdateError(f"{where}: {name}: is for a tensor of {list(value.shape)}; the model's is "
                              f"{list(state[target].shape)}")
        if name == target:
            state[target].copy_(value)
        else:
            state[target].add_(value.to(state[target].device))
