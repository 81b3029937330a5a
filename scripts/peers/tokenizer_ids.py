"""Records the ids that Hugging Face's tokenizers give, and for SmolLM2 checks llama.cpp's against them.

usage: tokenizer_ids.py [--gguf FILE] [--check]

Writes tests/data/peers/tokenizer_ids_*.json: of every string of tokenizer_strings.py a hash of its ids (no text). With
--check nothing is written; the exit status says whether the recorded files still hold. SmolLM2 needs its converted
folder, models/smollm2-135m-instruct; --gguf names the GGUF file it was converted from, for llama.cpp.
"""

import argparse
import base64
import hashlib
import http.client
import json
import os
import struct
import sys

import tokenizer_strings

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATASETS = os.path.join(os.environ.get("FULLBAND_SHARED", os.path.join(HOME, "..", "shared")), "datasets")
PEERS = os.path.join(HOME, "tests", "data", "peers")
FOLDERS = {
    "smollm2": os.path.join(HOME, "models", "smollm2-135m-instruct"),
    "qwen_kind": os.path.join(HOME, "tests", "data", "tokenizers", "qwen_kind"),
    "llama3_kind": os.path.join(HOME, "tests", "data", "tokenizers", "llama3_kind"),
}
# How strings are encoded: what the post-processor adds is left out or kept; special tokens are found or split.
VARIANTS = ("plain", "added", "split")
SOME_GROUPS = ("mixed", "special", "code")  # for all variants but the first


def hash_ids(ids):
    """24 bits of the ids' SHA-256 (little-endian int32) as four characters."""
    digest = hashlib.sha256(struct.pack("<%di" % len(ids), *ids)).digest()
    return base64.b64encode(digest[:3]).decode()


def hash_text(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:3]).decode()


def hash_strings(strings):
    """SHA-256 of a group's strings, to tell another version of a data set from a fault."""
    return hashlib.sha256("\0".join(strings).encode()).hexdigest()


def hash_definition(folder):
    """SHA-256 of tokenizer.json with sorted keys and no white space: the layout of the file does not matter."""
    with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
        text = json.dumps(json.load(file), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def variants_of(group):
    return VARIANTS if group in SOME_GROUPS else VARIANTS[:1]


def encode(tokenizer, strings, variant):
    """Ids as transformers gives them, in one call a group."""
    tokenizer.backend_tokenizer.encode_special_tokens = variant == "split"
    encoded = tokenizer(strings, add_special_tokens=variant == "added", split_special_tokens=variant == "split")
    return encoded["input_ids"]


def record(tokenizer, groups):
    """What the fixture has of each group; `decoded` only of the rows whose decoded text is not the string."""
    out = {}
    for group, strings in groups:
        entry = {"strings": hash_strings(strings)}
        for variant in variants_of(group):
            ids = encode(tokenizer, strings, variant)
            entry[variant] = "".join(map(hash_ids, ids))
            entry[variant + "_tokens"] = sum(map(len, ids))
            if variant == "plain":
                texts = [tokenizer.decode(row, skip_special_tokens=False) for row in ids]
                entry["decoded"] = {str(i): hash_text(t) for i, t in enumerate(texts) if t != strings[i]}
        out[group] = entry
    return out


class LlamaCpp:
    """llama.cpp's tokenizer behind its server, in this process."""

    def __init__(self, gguf):
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = gguf
        parameters.n_ctx, parameters.n_parallel, parameters.warmup = 256, 1, False
        self.server = xllamacpp.Server(parameters)
        self.connection = http.client.HTTPConnection(self.server.listening_address.split("//")[1])

    def encode(self, text):
        body = json.dumps({"content": text, "add_special": False, "parse_special": True})
        self.connection.request("POST", "/tokenize", body, {"Content-Type": "application/json"})
        return json.load(self.connection.getresponse())["tokens"]


def llama_cpp_differences(gguf, groups, recorded):
    """(group, row) of every string whose ids are not Hugging Face's."""
    peer = LlamaCpp(gguf)
    out = []
    for group, strings in groups:
        for i, text in enumerate(strings):
            if hash_ids(peer.encode(text)) != recorded[group]["plain"][4 * i : 4 * i + 4]:
                out.append((group, i))
    return out


def dump(content):
    return json.dumps(content, sort_keys=True, indent=1) + "\n"


def keep(name, content, check):
    """Writes the fixture, or says whether it is still the same."""
    path = os.path.join(PEERS, "tokenizer_ids_%s.json" % name)
    if check:
        with open(path, encoding="utf-8") as file:
            recorded = json.load(file)
        recorded.pop("llama_cpp", None)
        same = recorded == {key: value for key, value in content.items() if key != "llama_cpp"}
        print("%s: %s" % (name, "as recorded" if same else "differs from the record"))
        return same
    os.makedirs(PEERS, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(dump(content))
    print("wrote %s (%d bytes)" % (os.path.relpath(path, HOME), os.path.getsize(path)))
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gguf", help="the GGUF file of SmolLM2, for llama.cpp")
    parser.add_argument("--check", action="store_true", help="compare with the recorded files, write nothing")
    arguments = parser.parse_args()
    import tokenizers
    import transformers

    groups = list(tokenizer_strings.groups(DATASETS))
    good = True
    for name, folder in FOLDERS.items():
        if not os.path.exists(os.path.join(folder, "tokenizer.json")):
            print("%s: skipped, there is no %s (scripts/convert_gguf makes it)" % (name, os.path.relpath(folder, HOME)))
            continue
        content = {
            "definition": hash_definition(folder),
            "peers": {"tokenizers": tokenizers.__version__, "transformers": transformers.__version__},
            "groups": record(transformers.AutoTokenizer.from_pretrained(folder), groups),
        }
        if name == "smollm2" and arguments.gguf:
            differing = llama_cpp_differences(arguments.gguf, groups, content["groups"])
            content["llama_cpp"] = {"strings": sum(len(s) for _, s in groups), "differing": differing}
            print("smollm2: llama.cpp differs on %d of %d strings" % (len(differing), content["llama_cpp"]["strings"]))
            good &= not differing
        good &= keep(name, content, arguments.check)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
