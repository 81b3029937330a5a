"""Compares `fullband tokenize` with the recorded ids of Hugging Face's tokenizers and of llama.cpp.

usage: peers_test.py FULLBAND   (standard library only)

On every string of tokenizer_strings.py: the ids, and the text they decode to. Data sets that are not there and SmolLM2
where it has not been converted are left out, with a message. Then faults are planted, which must all be noticed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(HOME, "scripts", "peers"))

import tokenizer_ids as peers  # noqa: E402
import tokenizer_strings  # noqa: E402

FLAGS = {"plain": ["--no-special"], "added": [], "split": ["--no-special", "--split-special"]}


def datasets():
    """The shared data sets: $FULLBAND_SHARED, else beside the source folder or above it."""
    if "FULLBAND_SHARED" in os.environ:
        return os.path.join(os.environ["FULLBAND_SHARED"], "datasets")
    folder = HOME
    while folder != os.path.dirname(folder):
        if os.path.isdir(os.path.join(folder, "shared", "datasets")):
            return os.path.join(folder, "shared", "datasets")
        folder = os.path.dirname(folder)
    return None


def tokenize(program, folder, values, flags):
    command = [program, "tokenize", "--model", folder, *flags]
    lines = "".join(json.dumps(value) + "\n" for value in values)
    done = subprocess.run(command, input=lines.encode(), capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit("%s failed: %s" % (" ".join(command), done.stderr.decode()))
    return [json.loads(line) for line in done.stdout.decode().removesuffix("\n").split("\n")]


def differing(recorded, hashes):
    """Rows whose hash is not the recorded one."""
    if len(recorded) != 4 * len(hashes):
        sys.exit("the record has %d strings, not %d: record it again" % (len(recorded) // 4, len(hashes)))
    return [i for i, value in enumerate(hashes) if recorded[4 * i : 4 * i + 4] != value]


def compare(program, folder, group, strings, recorded):
    """(variant or "decoded", row) of what is not as recorded."""
    out = []
    for variant in peers.variants_of(group):
        ids = [row["ids"] for row in tokenize(program, folder, strings, FLAGS[variant])]
        out += [(variant, row) for row in differing(recorded[variant], list(map(peers.hash_ids, ids)))]
        if sum(map(len, ids)) != recorded[variant + "_tokens"]:
            out.append((variant + "_tokens", sum(map(len, ids))))
        if variant == "plain":
            texts = [row["text"] for row in tokenize(program, folder, ids, ["--decode"])]
            expected = {int(row): value for row, value in recorded["decoded"].items()}
            out += [
                ("decoded", i) for i, text in enumerate(texts)
                if (peers.hash_text(text) != expected[i] if i in expected else text != strings[i])
            ]  # fmt: skip
    return out


def check(program, name, folder, groups):
    """Number of strings compared; ends the test where one differs."""
    with open(os.path.join(peers.PEERS, "tokenizer_ids_%s.json" % name), encoding="utf-8") as file:
        fixture = json.load(file)
    if peers.hash_definition(folder) != fixture["definition"]:
        print("%s: note: not the tokenizer.json that was recorded" % name)
    if fixture.get("llama_cpp", {}).get("differing"):
        sys.exit("%s: the record has strings on which llama.cpp differs" % name)
    count = 0
    for group, strings in groups:
        recorded = fixture["groups"][group]
        if recorded["strings"] != peers.hash_strings(strings):
            sys.exit("%s: the strings of %s are not those that were recorded: record them again" % (name, group))
        faults = compare(program, folder, group, strings, recorded)
        if faults:
            sys.exit("%s: %s: %d differences, the first %s" % (name, group, len(faults), faults[:5]))
        count += len(strings)
    return count


def read_tokenizer(folder):
    with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
        return json.load(file)


def replace_words(definition, old, new):
    regex = definition["pre_tokenizer"]["pretokenizers"][0]["pattern"]
    assert old in regex["Regex"]
    regex["Regex"] = regex["Regex"].replace(old, new)


# Each makes another tokenizer of the one it is given.
FAULTS = [
    ("qwen_kind", "no normalizer", lambda d: d.update(normalizer=None)),
    ("qwen_kind", "words without the sign before", lambda d: replace_words(d, r"[^\r\n\p{L}\p{N}]?\p{L}+", r"\p{L}+")),
    ("qwen_kind", "merges the other way round", lambda d: d["model"]["merges"].reverse()),
    ("qwen_kind", "no added tokens", lambda d: d.update(added_tokens=[])),
    ("llama3_kind", "single digits", lambda d: replace_words(d, r"\p{N}{1,3}", r"\p{N}")),
    ("llama3_kind", "merges not ignored", lambda d: d["model"].update(ignore_merges=False)),
    ("llama3_kind", "no BOS", lambda d: d.update(post_processor=None)),
    ("smollm2", "digits not split", lambda d: d["pre_tokenizer"]["pretokenizers"].pop(0)),
]


def plant(program, name, what, spoil, groups):
    folder = peers.FOLDERS[name]
    definition = read_tokenizer(folder)
    spoil(definition)
    with open(os.path.join(peers.PEERS, "tokenizer_ids_%s.json" % name), encoding="utf-8") as file:
        fixture = json.load(file)
    with tempfile.TemporaryDirectory() as spoiled:
        with open(os.path.join(spoiled, "tokenizer.json"), "w", encoding="utf-8") as file:
            json.dump(definition, file)
        if definition["added_tokens"]:  # which tokenizer_config.json names again
            shutil.copy(os.path.join(folder, "tokenizer_config.json"), spoiled)
        for group, strings in groups:
            if group in peers.SOME_GROUPS and compare(program, spoiled, group, strings, fixture["groups"][group]):
                return
    sys.exit("%s with a planted fault, %s, gave the recorded ids" % (name, what))


def main():
    program = sys.argv[1]
    found = datasets()
    if not found:
        print("skipped: the data sets' texts ($FULLBAND_SHARED names their folder)")
    groups = list(tokenizer_strings.groups(found))
    present = set()
    for name, folder in peers.FOLDERS.items():
        if not os.path.exists(os.path.join(folder, "tokenizer.json")):
            print("skipped: %s, which scripts/quickstart converts to %s" % (name, os.path.relpath(folder, HOME)))
            continue
        present.add(name)
        print("%s: %d strings as recorded" % (name, check(program, name, folder, groups)))
    for name, what, spoil in FAULTS:
        if name in present:
            plant(program, name, what, spoil, groups)
            print("noticed: %s, %s" % (name, what))


if __name__ == "__main__":
    main()
