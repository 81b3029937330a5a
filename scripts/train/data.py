"""Training text: documents to tokens, packed rows, and batches that depend on the seed and the step alone.

A document is a line of JSON: {"text": ...} (all of it is predicted), {"prompt": ..., "answer": ...} or {"turns":
[[prompt, answer], ...]} (the answers are), or, in a file that is not .jsonl, a paragraph between blank lines. Pieces
are tokenized one by one, as a prompt is at inference, the first after the tokens that begin every text (BOS) where the
tokenizer has such; the end-of-text token follows the last.
"""
import functools
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from objective import Batch


class DataError(Exception):
    """Names the file, the line and what is wrong."""


def pieces_of(line, where):
    """[(text, predicted)] of one JSON line."""
    try:
        value = json.loads(line)
    except ValueError as fault:
        raise DataError(f"{where}: is not JSON: {fault}") from None
    if not isinstance(value, dict):
        raise DataError(f"{where}: is not an object")
    if isinstance(value.get("text"), str):
        return [(value["text"], True)]
    turns = value.get("turns", [[value.get("prompt"), value.get("answer")]])
    if not (isinstance(turns, list) and turns and
            all(isinstance(t, list) and len(t) == 2 and all(isinstance(s, str) for s in t) for t in turns)):
        raise DataError(f'{where}: has neither "text" nor "prompt" and "answer" nor "turns" of [prompt, answer]')
    return [piece for prompt, answer in turns for piece in ((prompt, False), (answer, True))]


def read_documents(path):
    """Lists of (text, predicted) pieces, one a document."""
    path = Path(path)
    try:
        with open(path, encoding="utf-8") as file:
            if path.suffix == ".jsonl":
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield pieces_of(line, f"{path}:{number}")
            else:
                for paragraph in file.read().split("\n\n"):
                    if paragraph.strip():
                        yield [(paragraph.strip("\n"), True)]
    except OSError as fault:
        raise DataError(f"{path}: {fault.strerror}") from None
    except UnicodeDecodeError as fault:
        raise DataError(f"{path}: is not UTF-8: {fault}") from None


@dataclass
class Rows:
    """Packed rows, arrays [R, T]: tokens int32; document int32 within the row, -1 for padding; position int32 within
    the document; predicted bool, the token is to be predicted; answer bool, the token is the first of an answer.
    `digest` stands for the files that they are from."""

    tokens: np.ndarray
    document: np.ndarray
    position: np.ndarray
    predicted: np.ndarray
    answer: np.ndarray
    cut: int = 0  # documents longer than a row
    digest: str = ""

    def __len__(self):
        return len(self.tokens)


def beginning(tokenizer):
    """The ids that the tokenizer puts before every text."""
    alone, whole = (tokenizer.encode("a", add_special_tokens=special).ids for special in (False, True))
    at = next(i for i in range(len(whole)) if whole[i:i + len(alone)] == alone)
    return whole[:at]


def encode(tokenizer, documents, end, chunk=4096):
    """(ids, predicted, answer) arrays of each document."""
    begin = beginning(tokenizer)

    def flush(pending):
        flat = [text for pieces in pending for text, _ in pieces]
        encoded = iter(tokenizer.encode_batch_fast(flat, add_special_tokens=False))
        for pieces in pending:
            ids, predicted, answer = list(begin), [False] * len(begin), [False] * len(begin)
            for i, (_, loss) in enumerate(pieces):
                piece = next(encoded).ids
                ids += piece
                predicted += [loss] * len(piece)
                answer += [loss and j == 0 and i > 0 for j in range(len(piece))]
            yield (np.array(ids + [end], np.int32), np.array(predicted + [pieces[-1][1]]), np.array(answer + [False]))

    pending = []
    for document in documents:
        pending.append(document)
        if len(pending) == chunk:
            yield from flush(pending)
            pending = []
    yield from flush(pending)


def pack(encoded, length, open_rows=64):
    """Puts documents into rows of `length` tokens: into the fullest of some open rows that has room, else a new one.
    Longer documents are cut at the row's end."""
    rows, space, closed, cut = [], [], [], 0
    for document in encoded:
        size = min(len(document[0]), length)
        cut += len(document[0]) > length
        fits = [i for i, room in enumerate(space) if room >= size]
        if fits:
            i = min(fits, key=space.__getitem__)
        else:
            if len(rows) == open_rows:
                fullest = min(range(len(space)), key=space.__getitem__)
                closed.append(rows.pop(fullest))
                space.pop(fullest)
            rows.append([])
            space.append(length)
            i = len(rows) - 1
        rows[i].append(tuple(values[:size] for values in document))
        space[i] -= size
        if space[i] < 2:
            closed.append(rows.pop(i))
            space.pop(i)
    rows = closed + rows
    out = Rows(np.zeros((len(rows), length), np.int32), np.full((len(rows), length), -1, np.int32),
               np.zeros((len(rows), length), np.int32), np.zeros((len(rows), length), bool),
               np.zeros((len(rows), length), bool), cut)
    for r, documents in enumerate(rows):
        at = 0
        for d, (ids, predicted, answer) in enumerate(documents):
            part = slice(at, at + len(ids))
            out.tokens[r, part], out.document[r, part], out.position[r, part] = ids, d, np.arange(len(ids))
            out.predicted[r, part], out.answer[r, part] = predicted, answer
            at += len(ids)
    return out


def _digest_of(paths):
    digest = hashlib.sha256()
    for path in paths:
        try:
            with open(path, "rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest() + Path(path).suffix.encode() + b"\n")
        except OSError as fault:
            raise DataError(f"{path}: {fault.strerror}") from None
    return digest.hexdigest()[:16]


def load_rows(paths, tokenizer, end, length, cache):
    """The packed rows of some files, kept in folder `cache` under a hash of everything that decides them."""
    digest = _digest_of(paths)
    key = hashlib.sha256(json.dumps([digest, tokenizer.to_str(), end, length, 2]).encode()).hexdigest()[:16]
    file = Path(cache) / f"rows-{key}.npz"
    arrays = [name for name in Rows.__dataclass_fields__ if name not in ("cut", "digest")]
    if file.exists():
        with np.load(file) as stored:
            return Rows(**{name: stored[name] for name in arrays}, cut=int(stored["cut"]), digest=digest)
    documents = (document for path in paths for document in read_documents(path))
    rows = pack(encode(tokenizer, documents, end), length)
    if not (rows.predicted[:, 1:] & (rows.position[:, 1:] > 0)).any():
        raise DataError(f"{', '.join(map(str, paths))}: holds nothing to learn from")
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}.tmp.npz")
    np.savez(draft, cut=rows.cut, **{name: getattr(rows, name) for name in arrays})
    draft.replace(file)
    rows.digest = digest
    return rows


def generator(*key):
    """Random numbers that depend on the key alone: no state to save or restore."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(key)))


@functools.lru_cache(maxsize=2)
def _order(count, epoch, seed):
    return generator(seed, 1, epoch).permutation(count)


def rows_of_step(count, rows, step, seed):
    """Indices of the rows of one step (from 0): each epoch is its own permutation."""
    return np.array([_order(count, i // count, seed)[i % count] for i in range(step * rows, (step + 1) * rows)])


def make_batch(rows, indices, mixing, where, random):
    """A Batch of these rows, with the starts of fused input drawn by `random`: a share `mixing` of the documents starts
    at a place chosen as `where` says, the others at their second token."""
    document, position = rows.document[indices], rows.position[indices]
    supervised = np.zeros(document.shape, bool)
    supervised[:, :-1] = rows.predicted[indices][:, 1:] & (document[:, 1:] == document[:, :-1]) & (document[:, 1:] >= 0)
    start = np.ones(document.shape, np.int64)
    for r in range(len(indices)):
        for d in range(document[r].max() + 1):
            part = document[r] == d
            chosen, place = random.random(2)
            if chosen >= mixing:
                continue
            if where == "answer":
                places = position[r][part & rows.answer[indices[r]]]
            else:
                places = np.arange(1, part.sum())
            if len(places):
                start[r, part] = places[int(place * len(places))]
    return Batch(*(torch.from_numpy(np.ascontiguousarray(values)).long()
                   for values in (rows.tokens[indices], document, position)),
                 torch.from_numpy(supervised), torch.from_numpy(start))
