"""Rebuilds tokenizer.json and tokenizer_config.json from a GGUF file's tokens, merges, types and pre-tokenizer name."""

from fault import Fault

# tokenizer.ggml.token_type
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def _split(digits):
    """The words of Llama 3 and Qwen, which differ in how many digits make one."""
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|" + digits
        + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [split, BYTE_LEVEL | {"use_regex": False}]}


# tokenizer.ggml.pre: what the name stands for.
PRE_TOKENIZERS = {
    "smollm": {
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "Digits", "individual_digits": True}, BYTE_LEVEL],
        },
        "ignore_merges": False,
    },
    "llama-bpe": {"normalizer": None, "pre_tokenizer": _split(r"\p{N}{1,3}"), "ignore_merges": True},
    "qwen2": {"normalizer": {"type": "NFC"}, "pre_tokenizer": _split(r"\p{N}"), "ignore_merges": False},
}


class GgufTokenizer:
    def __init__(self, file, vocab_size):
        self.file = file
        model, self.pre = file.get("tokenizer.ggml.model"), file.get("tokenizer.ggml.pre", None)
        if model != "gpt2":
            raise Fault(f"{file.path}: tokenizer.ggml.model", f"'{model}' is not converted", "known: gpt2")
        if self.pre not in PRE_TOKENIZERS:
            raise Fault(
                f"{file.path}: tokenizer.ggml.pre", f"'{self.pre}' is not converted",
                "known: " + ", ".join(PRE_TOKENIZERS),
            )
        self.tokens = file.get("tokenizer.ggml.tokens")
        self.types = file.get("tokenizer.ggml.token_type", [NORMAL] * len(self.tokens))
        if len(self.types) != len(self.tokens):
            raise Fault(f"{file.path}: tokenizer.ggml.token_type", "is not as long as tokenizer.ggml.tokens")
        if len(self.tokens) > vocab_size:
            raise Fault(
                f"{file.path}: tokenizer.ggml.tokens", f"has {len(self.tokens)} tokens, the embedding {vocab_size} rows"
            )
        self.merges = self._merges()
        self._check_types()

    def _merges(self):
        merges = self.file.get("tokenizer.ggml.merges")
        known = set(self.tokens)
        for merge in merges:
            parts = merge.split(" ")
            if len(parts) != 2 or not set(parts) <= known or "".join(parts) not in known:
                raise Fault(f"{self.file.path}: tokenizer.ggml.merges", f"{merge!r} does not join two tokens to a third")
        return merges

    def _check_types(self):
        for token, kind in zip(self.tokens, self.types):
            if kind not in (NORMAL, CONTROL, USER_DEFINED, UNUSED, UNKNOWN):
                raise Fault(f"{self.file.path}: tokenizer.ggml.token_type", f"{token!r} is of type {kind}, not converted")
        # Unused tokens are the padding that fills the vocabulary up; no text gives them, so they may repeat.
        used = [t for t, kind in zip(self.tokens, self.types) if kind != UNUSED]
        if len(set(used)) != len(used):
            raise Fault(f"{self.file.path}: tokenizer.ggml.tokens", "names a token twice")

    def _added(self):
        """Tokens found in text before any splitting."""
        return [
            {
                "id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": kind != USER_DEFINED,
            }
            for i, (token, kind) in enumerate(zip(self.tokens, self.types))
            if kind in (CONTROL, USER_DEFINED, UNKNOWN)
        ]

    def _vocab(self, added):
        """The BPE model's own tokens. Added tokens are among them where ids would otherwise move: readers of
        tokenizer.json number the rest on from the end."""
        plain = {t: i for i, (t, kind) in enumerate(zip(self.tokens, self.types)) if kind == NORMAL}
        end = max(plain.values()) + 1
        inside = {a["content"]: a["id"] for a in added if a["id"] < end}
        behind = [a for a in added if a["id"] >= end]
        if [a["id"] for a in behind] != list(range(end, end + len(behind))):
            inside |= {a["content"]: a["id"] for a in behind}
        return dict(sorted((plain | inside).items(), key=lambda item: item[1]))

    def _id(self, name):
        value = self.file.get(f"tokenizer.ggml.{name}_token_id", None)
        if value is not None and not 0 <= value < len(self.tokens):
            raise Fault(f"{self.file.path}: tokenizer.ggml.{name}_token_id", f"is {value}, outside the vocabulary")
        return value

    def _adds_bos(self):
        # What readers assume where the key is absent.
        default = self.pre == "llama-bpe"
        return bool(self.file.get("tokenizer.ggml.add_bos_token", default)) and self._id("bos") is not None

    def tokenizer_json(self):
        kind = PRE_TOKENIZERS[self.pre]
        if self.file.get("tokenizer.ggml.add_eos_token", False):
            raise Fault(f"{self.file.path}: tokenizer.ggml.add_eos_token", "is true, which is not converted")
        added = self._added()
        byte_level = BYTE_LEVEL | ({} if self.pre == "smollm" else {"use_regex": False})
        post = None if self.pre == "smollm" else byte_level | {"trim_offsets": False}
        if self._adds_bos():
            post = _bos_template(self.tokens[self._id("bos")], self._id("bos"))
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": added,
            "normalizer": kind["normalizer"],
            "pre_tokenizer": kind["pre_tokenizer"],
            "post_processor": post,
            "decoder": byte_level,
            "model": {
                "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                "ignore_merges": kind["ignore_merges"], "vocab": self._vocab(added), "merges": self.merges,
            },
        }

    def tokenizer_config(self, positions):
        config = {
            # The class that takes tokenizer.json as it is; model-named classes rebuild parts of it.
            "tokenizer_class": "PreTrainedTokenizerFast",
            "added_tokens_decoder": {
                str(a["id"]): {key: value for key, value in a.items() if key != "id"} for a in self._added()
            },
            "add_bos_token": self._adds_bos(),
            "add_prefix_space": False,
            "clean_up_tokenization_spaces": False,
            "model_max_length": positions,
        }
        for ours, theirs in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding")):
            if self._id(theirs) is not None:
                config[f"{ours}_token"] = self.tokens[self._id(theirs)]
        template = self.file.get("tokenizer.chat_template", None)
        if template is not None:
            config["chat_template"] = template
        return config

    def ids(self):
        """bos, eos and pad as config.json and generation_config.json have them. The end-of-turn and end-of-message
        tokens, where the file names them, end generation too."""
        ids = {f"{name}_token_id": self._id(key) for name, key in (("bos", "bos"), ("pad", "padding"))}
        ends = list(dict.fromkeys(i for i in map(self._id, ("eos", "eot", "eom")) if i is not None))
        ids["eos_token_id"] = ends[0] if len(ends) == 1 else ends or None
        return {key: value for key, value in ids.items() if value is not None}


def _bos_template(token, token_id):
    special = {"SpecialToken": {"id": token, "type_id": 0}}
    first, second = ({"Sequence": {"id": name, "type_id": kind}} for name, kind in (("A", 0), ("B", 1)))
    return {
        "type": "TemplateProcessing",
        "single": [special, first],
        "pair": [special, first, {"SpecialToken": {"id": token, "type_id": 1}}, second],
        "special_tokens": {token: {"id": token, "ids": [token_id], "tokens": [token]}},
    }
