"""scripts/make_mini as a program: the same bytes again, the committed suites, and training text without their items."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HOME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MAKE_MINI = os.path.join(HOME, "scripts", "make_mini")
SUITES = os.path.join(HOME, "tasks", "mini")
sys.path.insert(0, os.path.join(HOME, "scripts"))

from mini import choices, corpus, states  # noqa: E402  (found through the path above)


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def lines_of(path):
    return [json.loads(line) for line in bytes_of(path).decode("utf-8").splitlines()]


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_it(self, *arguments):
        return subprocess.run([sys.executable, "-B", MAKE_MINI, *arguments], capture_output=True, text=True,
                              check=False)

    def corpus(self, name, *arguments, documents=400):
        done = self.run_it("--corpus", self.path(name), "--documents", str(documents), *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class SuitesTest(Test):
    def test_the_committed_files_are_what_it_writes(self):
        done = self.run_it("--out", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [name for name in os.listdir(SUITES) if name.startswith("mini_")]
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))
        self.assertEqual(sorted(corpus.SUITES), sorted(names))
        for name in names:
            self.assertEqual(bytes_of(self.path(name)), bytes_of(os.path.join(SUITES, name)), name)

    def test_another_seed_gives_other_items(self):
        self.run_it("--out", self.folder, "--seed", "2")
        for name in corpus.SUITES:
            self.assertNotEqual(bytes_of(self.path(name)), bytes_of(os.path.join(SUITES, name)), name)

    def test_they_stay_small(self):
        self.assertLess(sum(os.path.getsize(os.path.join(SUITES, name)) for name in corpus.SUITES), 700_000)


class CorpusTest(Test):
    def test_the_same_seed_gives_the_same_bytes(self):
        self.corpus("a.jsonl", "--seed", "7")
        self.corpus("b.jsonl", "--seed", "7")
        self.corpus("c.jsonl", "--seed", "8")
        self.assertEqual(bytes_of(self.path("a.jsonl")), bytes_of(self.path("b.jsonl")))
        self.assertEqual(bytes_of(self.path("a.held_out.jsonl")), bytes_of(self.path("b.held_out.jsonl")))
        self.assertNotEqual(bytes_of(self.path("a.jsonl")), bytes_of(self.path("c.jsonl")))

    def test_documents_are_turns_of_text_and_the_held_out_ones_are_others(self):
        self.corpus("a.jsonl", documents=3000)
        documents, held_out = lines_of(self.path("a.jsonl")), lines_of(self.path("a.held_out.jsonl"))
        self.assertEqual((len(documents), len(held_out)), (3000, 30))
        for document in documents + held_out:
            self.assertEqual(list(document), ["turns"])
            self.assertLessEqual(sum(map(len, sum(document["turns"], []))), 620)
            for prompt, answer in document["turns"]:
                self.assertTrue(prompt and answer.strip(), document)
                self.assertTrue(answer.startswith((" ", "def ")), document)

    def test_held_out_documents_are_not_trained_on(self):
        """Among choices, few facts are asked in the same words again and again, with other choices."""
        self.corpus("a.jsonl", "--kinds", "choices", documents=3000)
        documents, held_out = [{json.dumps(document) for document in lines_of(self.path(name))}
                               for name in ("a.jsonl", "a.held_out.jsonl")]
        self.assertEqual(len(held_out), 30)
        self.assertTrue(documents.isdisjoint(held_out))

    def test_the_mix_is_kept(self):
        self.corpus("a.jsonl", "--mix", "walks=25,steps=75", documents=2000)
        walks = sum(document["turns"][0][0].startswith("start ") for document in lines_of(self.path("a.jsonl")))
        self.assertTrue(420 < walks < 580, walks)
        self.corpus("b.jsonl", "--kinds", "states,steps", documents=500)
        starts = {document["turns"][0][0].split(" ")[0] for document in lines_of(self.path("b.jsonl"))}
        self.assertEqual(starts, {*states.COLOURS, "start", *(f"a{letter}" for letter in states.LETTERS)})
        self.assertEqual(set(corpus.MIX), set(corpus.DOCUMENTS))
        self.assertEqual(sum(corpus.MIX.values()), 100)

    def test_no_document_asks_a_suites_item(self):
        """Even without the generator's own account of what a document asks: the items' texts are nowhere in it."""
        self.corpus("a.jsonl", documents=20000)
        asked = {item["question"] for name in corpus.SUITES for item in lines_of(os.path.join(SUITES, name))
                 if "question" in item}
        asked |= {item["query"] for item in lines_of(os.path.join(SUITES, "mini_choice.jsonl"))
                  if choices.item_key(item) == item["query"]}
        checked = 0
        for document in lines_of(self.path("a.jsonl")) + lines_of(self.path("a.held_out.jsonl")):
            story = document["turns"][0][0]
            for prompt, _ in document["turns"]:
                question = prompt.strip().removeprefix("Question: ").removesuffix("\nAnswer:")
                self.assertNotIn(question, asked)
            if re.match("a[a-f] ", story):
                story = story[:story.index(":") + 1]
                for prompt, _ in document["turns"]:
                    checked += 1
                    self.assertNotIn(story + prompt.removeprefix(story), asked)
            elif re.match(r"(start \w|(\w+ ){2,3}\w+): ", story) and "step" not in story:
                plain = ""
                for prompt, _ in document["turns"]:
                    checked += 1
                    self.assertNotIn(plain + prompt, asked)
                    plain += prompt
        self.assertGreater(checked, 50000)


class CollisionTest(Test):
    """A suite that holds what a corpus asked: the corpus must change, and say so."""

    def plant(self, name, *items):
        suites = self.path("suites")
        shutil.copytree(SUITES, suites)
        with open(os.path.join(suites, name), "a", encoding="utf-8") as file:
            file.writelines(json.dumps(item) + "\n" for item in items)
        return suites

    def collide(self, kind, name, item_of):
        said = self.corpus("before.jsonl", "--kinds", kind, documents=50)
        before = lines_of(self.path("before.jsonl"))
        suites = self.plant(name, item_of(before[20]["turns"]))
        now_said = self.corpus("after.jsonl", "--kinds", kind, "--suites", suites, documents=50)
        after = lines_of(self.path("after.jsonl"))
        left_out = [int(text.split("left out ")[1].split()[0]) for text in (said, now_said)]
        self.assertEqual(left_out[1], left_out[0] + 1)
        self.assertEqual(after[:-1], before[:20] + before[21:])

    def test_a_question_along_the_way(self):
        def last_asked(turns):
            text = ""
            for prompt, _ in turns[:-1]:
                text += prompt
            return {"question": text + turns[-1][0]}
        self.collide("swaps", "mini_state_tracking.jsonl", last_asked)

    def test_a_question_about_a_map(self):
        def last_asked(turns):
            story = turns[0][0][:turns[0][0].index(":") + 1]
            return {"question": turns[0][0] if len(turns) == 1 else story + turns[-1][0]}
        self.collide("pointers", "mini_state_tracking.jsonl", last_asked)

    def test_a_question_with_steps(self):
        self.collide("steps", "mini_state_tracking_steps.jsonl", lambda turns: {"question": turns[0][0]})

    def test_a_word_problem(self):
        self.collide("problems", "mini_gsm8k_shots.jsonl", lambda turns: {
            "question": turns[-1][0].strip().removeprefix("Question: ").removesuffix("\nAnswer:")})

    def test_mathematics(self):
        self.collide("maths", "mini_maths.jsonl", lambda turns: {
            "problem": turns[0][0].removeprefix("Problem:\n").removesuffix("\n\nSolution:")})

    def test_functions(self):
        self.collide("humaneval", "mini_humaneval.jsonl", lambda turns: {"prompt": turns[0][0]})

    def test_functions_of_the_other_layout(self):
        self.collide("mbpp", "mini_humaneval.jsonl", lambda turns: {"prompt": turns[0][0].replace(
            "Write a function to return ", '"""Return ')})

    def test_a_sum(self):
        """Whatever its choices."""
        self.corpus("before.jsonl", "--kinds", "choices", documents=300)
        before = lines_of(self.path("before.jsonl"))
        query = next(prompt for document in before for prompt, _ in document["turns"] if " plus " in prompt)
        query = query.strip().removeprefix("Question: ").removesuffix("\nAnswer:")
        suites = self.plant("mini_choice.jsonl", {"query": query, "choices": ["1", "2", "3", "4"], "gold": 0})
        self.corpus("after.jsonl", "--kinds", "choices", "--suites", suites, documents=300)
        self.assertIn(query, json.dumps(before))
        self.assertNotIn(query, json.dumps(lines_of(self.path("after.jsonl"))))

    def test_a_fact_is_kept_out_with_its_choices_only(self):
        fact = {"query": "What is the capital of Peru?", "choices": ["Oslo", "Lima", "Rome", "Cairo"]}
        other = {**fact, "choices": ["Lima", "Oslo", "Rome", "Cairo"]}
        total = {"query": "What is 2 plus 3?", "choices": ["5", "6", "7", "8"]}
        self.assertNotEqual(choices.item_key(fact), choices.item_key(other))
        self.assertEqual(choices.item_key(total), choices.item_key({**total, "choices": ["4", "5", "6", "7"]}))
        for item in lines_of(os.path.join(SUITES, "mini_choice.jsonl")):
            few = choices.item_key(item) != item["query"]
            self.assertEqual(few, item["query"].split("?")[0].startswith((
                "What is the capital of", "What is the young of", "What is the opposite of", "Which day comes",
                "Which month comes")), item)


class RefusalTest(Test):
    def refused(self, *arguments):
        done = self.run_it("--corpus", self.path("a.jsonl"), *arguments)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertFalse(os.path.exists(self.path("a.jsonl")))
        return done.stderr

    def test_unknown_kinds_and_wrong_shares(self):
        self.assertIn("swaps", self.refused("--documents", "5", "--kinds", "swap"))
        self.assertIn("swap", self.refused("--documents", "5", "--mix", "swap=100"))
        self.assertIn("90", self.refused("--documents", "5", "--mix", "swaps=40,steps=50"))
        self.assertIn("steps=x", self.refused("--documents", "5", "--mix", "swaps=40,steps=x"))
        self.assertIn("swaps=60", self.refused("--documents", "5", "--mix", "swaps=40,swaps=60"))
        self.assertIn("--kinds", self.refused("--documents", "5", "--mix", "swaps=100", "--kinds", "swaps"))

    def test_no_documents(self):
        self.assertIn("--documents", self.refused())
        self.assertIn("--documents", self.refused("--documents", "0"))

    def test_missing_and_broken_suites(self):
        said = self.refused("--documents", "5", "--suites", self.path("none"))
        self.assertIn(self.path("none"), said)
        shutil.copytree(SUITES, self.path("suites"))
        broken = os.path.join(self.path("suites"), "mini_choice.jsonl")
        with open(broken, "a", encoding="utf-8") as file:
            file.write('{"question": "no query"}\n')
        said = self.refused("--documents", "5", "--suites", self.path("suites"))
        self.assertIn(f"{broken}, line 501", said)


if __name__ == "__main__":
    unittest.main()
