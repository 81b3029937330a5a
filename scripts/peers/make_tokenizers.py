"""Makes tests/data/tokenizers/{qwen_kind,llama3_kind}: small tokenizers with those families' parts.

usage: make_tokenizers.py [FOLDER]   (needs Hugging Face's tokenizers; the result is committed)

Normalizer, pre-tokenizer, post-processor, decoder and special tokens are those of Qwen 3 and Llama 3; the vocabulary is
trained on this repository's own source text, as it is when this runs, and on seeded strings. Record the ids again
afterwards (tokenizer_ids.py).
"""

import json
import os
import subprocess
import sys

import tokenizer_strings
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

QWEN_SPECIAL = ["endoftext", "im_start", "im_end", "object_ref_start", "object_ref_end", "box_start", "box_end", "quad_start",
                "quad_end", "vision_start", "vision_end", "vision_pad", "image_pad", "video_pad"]  # fmt: skip
QWEN_PLAIN = ["<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",
              "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>", "</think>"]  # fmt: skip
LLAMA_SPECIAL = ["begin_of_text", "end_of_text", "reserved_special_token_0", "reserved_special_token_1",
                 "finetune_right_pad_id", "reserved_special_token_2", "start_header_id", "end_header_id", "eom_id", "eot_id",
                 "python_tag", *("reserved_special_token_%d" % i for i in range(3, 248))]  # fmt: skip


def corpus():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=HOME, capture_output=True, check=True).stdout.decode()
    for name in names.split("\0"):
        if name.endswith((".cc", ".h", ".py", ".md", ".txt", ".toml", ".sql")):
            with open(os.path.join(HOME, name), encoding="utf-8") as file:
                yield file.read()
    for make in (tokenizer_strings.mixed, tokenizer_strings.scripts, tokenizer_strings.code):
        for seed in range(3000):
            yield make(tokenizer_strings.Random(1_000_000 + seed))


def byte_level(**options):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False} | options


def added(tokens, first, special):
    return [
        {"id": first + i, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
         "special": special}
        for i, token in enumerate(tokens)
    ]  # fmt: skip


def trained(digits, size):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(WORDS % digits), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)]
    )
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], model["merges"]


def definition(digits, normalizer, model, added_tokens, post_processor):
    split = {"type": "Split", "pattern": {"Regex": WORDS % digits}, "behavior": "Isolated", "invert": False}
    options = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
               "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False}  # fmt: skip
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added_tokens, "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level()]}, "post_processor": post_processor,
        "decoder": byte_level(), "model": options | model,
    }  # fmt: skip


def qwen_kind():
    vocab, merges = trained(r"\p{N}", 3000)
    options = {"continuing_subword_prefix": "", "end_of_word_suffix": "", "ignore_merges": False}
    model = options | {"vocab": vocab, "merges": [" ".join(merge) for merge in merges]}  # the older way to write merges
    special = added(["<|%s|>" % name for name in QWEN_SPECIAL], len(vocab), True)
    plain = added(QWEN_PLAIN, len(vocab) + len(special), False)
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "add_bos_token": False, "add_prefix_space": False,
              "added_tokens_decoder": {str(t["id"]): {k: v for k, v in t.items() if k != "id"} for t in special + plain},
              "bos_token": None, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "unk_token": None,
              "clean_up_tokenization_spaces": False, "errors": "replace", "split_special_tokens": False}  # fmt: skip
    return definition(r"\p{N}", {"type": "NFC"}, model, special + plain, byte_level()), config


def llama3_kind():
    vocab, merges = trained(r"\p{N}{1,3}", 3000)
    # Words that merging does not make: only a model that ignores merges for whole words gives them.
    for word in ("<jupyter", "<reponame", "_stars", "\u0120latent", "setting"):
        vocab.setdefault(word, len(vocab))
    special = added(["<|%s|>" % name for name in LLAMA_SPECIAL], len(vocab), True)
    bos = special[0]["content"]
    first, second = ({"Sequence": {"id": name, "type_id": kind}} for name, kind in (("A", 0), ("B", 1)))
    around = {
        "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": bos, "type_id": 0}}, first],
        "pair": [{"SpecialToken": {"id": bos, "type_id": 0}}, first, {"SpecialToken": {"id": bos, "type_id": 1}}, second],
        "special_tokens": {bos: {"id": bos, "ids": [special[0]["id"]], "tokens": [bos]}},
    }  # fmt: skip
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": bos, "eos_token": "<|eot_id|>",
              "clean_up_tokenization_spaces": True}  # fmt: skip
    model = {"ignore_merges": True, "vocab": vocab, "merges": [list(merge) for merge in merges]}
    post = {"type": "Sequence", "processors": [byte_level(add_prefix_space=True), around]}
    return definition(r"\p{N}{1,3}", None, model, special, post), config


def write(folder, tokenizer, config):
    os.makedirs(folder, exist_ok=True)
    for name, value in (("tokenizer.json", tokenizer), ("tokenizer_config.json", config)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False, separators=(",", ":"))
            file.write("\n")


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HOME, "tests", "data", "tokenizers")
    write(os.path.join(target, "qwen_kind"), *qwen_kind())
    write(os.path.join(target, "llama3_kind"), *llama3_kind())


if __name__ == "__main__":
    main()
