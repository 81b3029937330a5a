"""Training text: how documents become tokens, rows and batches."""
import dataclasses
import json
import unittest
from unittest import mock

import support
from support import np, torch

import data
import models
import settings
from data import DataError, encode, generator, load_rows, make_batch, pack, read_documents, rows_of_step
from trainer import Trainer

DOCUMENTS = [
    {"turns": [["one two", " three"], [" four", " five six"]]}, {"prompt": "count 1 2 3", "answer": " 4 5"},
    {"text": "the ball goes to Ann, then to Bob"}, {"prompt": "a b", "answer": ""}, {"prompt": "", "answer": "c d e"},
    {"prompt": "ünï", "answer": " çödé \U0001f600"},
]


def pieces(document):
    """[(text, predicted)], written apart from the trainer's own."""
    if "text" in document:
        return [(document["text"], True)]
    turns = document.get("turns") or [[document["prompt"], document["answer"]]]
    return [(text, i == 1) for turn in turns for i, text in enumerate(turn)]


class Case(support.Case):
    def setUp(self):
        super().setUp()
        self.tokenizer, self.end = models.load_tokenizer(
            settings.Model(tokenizer=str(support.write_tokenizer(self.folder / "tokenizer"))))

    def file(self, name, *lines):
        path = self.folder / name
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    def documents(self, documents=DOCUMENTS, name="some.jsonl"):
        return self.file(name, *map(json.dumps, documents))

    def encoded(self, documents=DOCUMENTS):
        return list(encode(self.tokenizer, read_documents(self.documents(documents)), self.end))

    def many(self, count=200, seed=1):
        """Documents of random ids, as encode() gives them: their first id is their number."""
        rng = np.random.default_rng(seed)
        for d in range(count):
            size = int(rng.integers(1, 40))
            ids = np.concatenate([[1000 + d], rng.integers(1, 50, size)]).astype(np.int32)
            answer = np.zeros(size + 1, bool)
            answer[rng.integers(1, size + 1)] = True
            yield ids, np.cumsum(answer) > 0, answer


class EncodeTest(Case):
    def check_documents(self):
        for document, (ids, predicted, answer) in zip(DOCUMENTS, self.encoded(), strict=True):
            expected, loss, begins = [], [], []
            for i, (text, wanted) in enumerate(pieces(document)):
                alone = self.tokenizer.encode(text).ids
                expected += alone
                loss += [wanted] * len(alone)
                begins += [wanted and i > 0] * len(alone[:1]) + [False] * len(alone[1:])
            self.assertEqual(ids.tolist(), [*expected, self.end], document)
            self.assertEqual(predicted.tolist(), [*loss, True], document)
            self.assertEqual(answer.tolist(), [*begins, False], document)

    def test_pieces_are_tokenized_alone_and_the_end_follows(self):
        self.check_documents()
        joined = self.tokenizer.encode("one two three four five six").ids
        self.assertNotEqual(self.encoded()[0][0].tolist()[:-1], joined + [0])
        pieces_of = data.pieces_of
        for fault in (lambda *a: [(text, True) for text, _ in pieces_of(*a)], lambda *a: pieces_of(*a)[::-1]):
            self.assert_noticed(self.check_documents, mock.patch.object(data, "pieces_of", fault))

    def test_the_end_token_is_id_zero_and_named_by_the_tokenizer(self):
        self.assertEqual((self.end, self.tokenizer.id_to_token(0)), (0, "<|endoftext|>"))

    def test_the_first_piece_begins_as_every_text_does(self):
        from tokenizers.processors import TemplateProcessing
        self.tokenizer.add_special_tokens(["<s>"])
        begin = self.tokenizer.token_to_id("<s>")
        self.tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", begin)])
        ids, predicted, answer = self.encoded(DOCUMENTS[:1])[0]
        inference = self.tokenizer.encode("one two").ids
        self.assertEqual((inference[0], ids[:len(inference)].tolist()), (begin, inference))
        self.assertEqual((ids == begin).sum(), 1)
        self.assertFalse(predicted[0] or answer[0])

    def test_many_documents_keep_their_order(self):
        """Over the borders of the chunks that are tokenized at once."""
        documents = [{"prompt": f"{n}", "answer": " x" * (n % 3)} for n in range(50)]
        path = self.documents(documents)
        whole, parts = (list(encode(self.tokenizer, read_documents(path), self.end, chunk)) for chunk in (4096, 7))
        self.assertEqual([d[0].tolist() for d in whole], [d[0].tolist() for d in parts])
        self.assertEqual(len(whole), 50)

    def test_plain_text(self):
        path = self.file("some.txt", "first", "line two", "", "", "second", "")
        self.assertEqual(list(read_documents(path)), [[("first\nline two", True)], [("second", True)]])

    def test_refused(self):
        for line, word in (
            ("{", "not JSON"), ("[1]", "not an object"), ('{"prompt": "a"}', "neither"), ('{"turns": []}', "neither"),
            ('{"turns": [["a"]]}', "neither"), ('{"turns": [["a", 1]]}', "neither"), ('{"text": 3}', "neither"),
            ('{"answer": "a"}', "neither"),
        ):
            path = self.file("bad.jsonl", '{"text": "good"}', "", line)
            with self.assertRaisesRegex(DataError, f"bad.jsonl:3: .*{word}"):
                list(read_documents(path))
        (self.folder / "bytes.jsonl").write_bytes(b'{"text": "\xff"}\n')
        with self.assertRaisesRegex(DataError, "bytes.jsonl: is not UTF-8"):
            list(read_documents(self.folder / "bytes.jsonl"))
        with self.assertRaisesRegex(DataError, "none.jsonl: No such file"):
            list(read_documents(self.folder / "none.jsonl"))


class PackTest(Case):
    LENGTH = 32

    def check_pack(self, open_rows=5):
        documents = list(self.many())
        rows = pack(iter(documents), self.LENGTH, open_rows)
        found = {}
        for r in range(len(rows)):
            used = rows.document[r] >= 0
            self.assertEqual(used.sum(), used.argmin() if not used.all() else self.LENGTH)  # padding at the end only
            self.assertTrue((np.diff(rows.document[r][used]) >= 0).all())
            for d in range(rows.document[r].max() + 1):
                part = rows.document[r] == d
                values = [getattr(rows, name)[r][part].tolist()
                          for name in ("tokens", "position", "predicted", "answer")]
                self.assertNotIn(values[0][0], found)
                found[values[0][0]] = values
            for name in ("tokens", "position", "predicted", "answer"):
                self.assertFalse(getattr(rows, name)[r][~used].any())
        self.assertEqual(sorted(found), [1000 + d for d in range(len(documents))])
        for ids, predicted, answer in documents:
            n = min(len(ids), self.LENGTH)
            expected = [ids[:n].tolist(), list(range(n)), predicted[:n].tolist(), answer[:n].tolist()]
            self.assertEqual(found[ids[0]], expected)
        self.assertEqual(rows.cut, sum(len(d[0]) > self.LENGTH for d in documents))
        self.assertGreater((rows.document >= 0).mean(), 0.85)

    def test_each_document_is_there_once_and_whole_unless_cut(self):
        self.check_pack()
        self.check_pack(open_rows=64)
        real = pack
        faults = (lambda documents, *rest: real(list(documents)[1:], *rest),  # loses one
                  lambda documents, length, *rest: real(documents, length - 1, *rest))  # cuts too early
        for fault in faults:
            self.assert_noticed(self.check_pack, mock.patch(f"{__name__}.pack", fault))

    def test_the_cache(self):
        path, cache = self.documents(), self.folder / "cache"
        one = load_rows([path], self.tokenizer, self.end, 16, cache)
        with mock.patch.object(data, "encode", side_effect=AssertionError("tokenized again")):
            other = load_rows([path], self.tokenizer, self.end, 16, cache)
        for name in ("tokens", "document", "position", "predicted", "answer"):
            self.assertTrue(np.array_equal(getattr(one, name), getattr(other, name)), name)
        self.assertEqual((one.cut, one.digest), (other.cut, other.digest))
        self.assertEqual(len(list(cache.iterdir())), 1)
        load_rows([path], self.tokenizer, self.end, 17, cache)
        self.documents(DOCUMENTS[1:])
        changed = load_rows([path], self.tokenizer, self.end, 16, cache)
        self.assertNotEqual(changed.digest, one.digest)
        self.assertEqual(len(list(cache.iterdir())), 3)

    def test_nothing_to_learn(self):
        for documents in ([], [{"text": ""}]):
            with self.assertRaisesRegex(DataError, "some.jsonl: holds nothing to learn from"):
                load_rows([self.documents(documents)], self.tokenizer, self.end, 16, self.folder)
        # The end of text, after a prompt.
        load_rows([self.documents([{"prompt": "a", "answer": ""}])], self.tokenizer, self.end, 16, self.folder)
        with self.assertRaisesRegex(DataError, "none.jsonl: No such file"):
            load_rows([self.folder / "none.jsonl"], self.tokenizer, self.end, 16, self.folder)


class BatchTest(Case):
    def setUp(self):
        super().setUp()
        self.rows = pack(self.many(), 32)

    def check_supervised(self):
        batch = make_batch(self.rows, np.arange(len(self.rows)), 0.5, "uniform", generator(1))
        for r, t in np.ndindex(*self.rows.tokens.shape):
            following = t + 1 < 32 and self.rows.document[r, t] >= 0 and self.rows.document[r, t + 1] == \
                self.rows.document[r, t]
            wanted = bool(following and self.rows.predicted[r, t + 1])
            self.assertEqual(batch.supervised[r, t].item(), wanted, (r, t))
        self.assertEqual(batch.tokens.tolist(), self.rows.tokens.tolist())
        self.assertEqual(batch.position.tolist(), self.rows.position.tolist())

    def test_the_next_token_is_predicted_inside_its_document_only(self):
        self.check_supervised()
        late = mock.patch.object(self.rows, "predicted", np.roll(self.rows.predicted, 1, 1))
        real = make_batch
        with late:
            spoiled = real(self.rows, np.arange(len(self.rows)), 0.5, "uniform", generator(1))
        self.assert_noticed(self.check_supervised, mock.patch(f"{__name__}.make_batch", lambda *a: spoiled))

    def starts(self, mixing, where):
        """(start, size, positions of answers) of each document."""
        batch = make_batch(self.rows, np.arange(len(self.rows)), mixing, where, generator(7))
        for r in range(len(self.rows)):
            for d in range(self.rows.document[r].max() + 1):
                part = torch.from_numpy(self.rows.document[r] == d)
                (start,) = set(batch.start[r][part].tolist())
                yield start, int(part.sum()), self.rows.position[r][part.numpy() & self.rows.answer[r]].tolist()

    def test_starts(self):
        self.assertEqual({start for start, _, _ in self.starts(0.0, "uniform")}, {1})
        for start, _, answers in self.starts(1.0, "answer"):
            self.assertIn(start, answers or [1])
        places = [(start - 1) / (size - 1) for start, size, _ in self.starts(1.0, "uniform") if size > 20]
        self.assertTrue(all(0 <= place < 1 for place in places))
        # 76 draws from [0, 1): the mean's standard deviation is 0.033; all miss a given quarter once in 1e9.
        self.assertLess(abs(np.mean(places) - 0.5), 0.15)
        self.assertEqual({int(4 * place) for place in places}, {0, 1, 2, 3})
        mixed = [start > 1 for start, size, _ in self.starts(0.5, "uniform") if size > 20]
        self.assertTrue(0.25 < np.mean(mixed) < 0.7, np.mean(mixed))

    def test_each_row_once_an_epoch_in_another_order_each_time(self):
        count, rows = 23, 5
        flat = np.concatenate([rows_of_step(count, rows, step, 3) for step in range(46)])
        epochs = flat.reshape(-1, count)
        self.assertEqual(len(epochs), 10)
        for epoch in epochs:
            self.assertEqual(sorted(epoch), list(range(count)))
        self.assertEqual(len({tuple(epoch) for epoch in epochs}), 10)
        self.assertNotEqual(rows_of_step(count, rows, 0, 3).tolist(), rows_of_step(count, rows, 0, 4).tolist())
        self.assertEqual(len(rows_of_step(3, 8, 0, 1)), 8)  # more than one epoch in a step

    def check_batches(self):
        training = settings.read(support.write_training(self.folder / "t"))
        trainer, other = (Trainer(training, say=lambda text: None) for _ in range(2))
        whole = {step: next(trainer.batch(step))[0] for step in (0, 7, 29)}
        other.t = dataclasses.replace(training, schedule=dataclasses.replace(training.schedule, micro_rows=1))
        for step in (29, 0, 7):
            parts = {}
            for rank in range(2):
                with mock.patch.multiple(other, rank=rank, world=2):
                    for i, (batch, _) in enumerate(other.batch(step)):
                        self.assertEqual(len(batch.tokens), 1)
                        parts[2 * i + rank] = batch
            for name, value in vars(whole[step]).items():
                self.assertTrue(torch.equal(torch.cat([getattr(parts[i], name) for i in range(4)]), value), name)
        self.assertFalse(torch.equal(whole[0].tokens, whole[7].tokens))

    def test_a_batch_depends_on_seed_and_step_alone(self):
        """Not on the steps before it, nor on how it is split into micro-batches and processes."""
        self.check_batches()
        stream = np.random.default_rng(1)
        self.assert_noticed(self.check_batches, mock.patch("trainer.generator", lambda *key: stream))


if __name__ == "__main__":
    unittest.main()
