#!/usr/bin/env python3
"""Trains a byte-level BPE tokenizer on training text and writes it as a Hugging Face folder.

    scripts/train/train_tokenizer --out DIR [--vocabulary 1024] FILE...

Digits are tokens of their own, as in SmolLM2's tokenizer. The end-of-text token is `<|endoftext|>`, id 0.
"""
import argparse
import json
import sys
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

sys.path.insert(0, str(Path(__file__).resolve().parent))
from data import DataError, read_documents  # noqa: E402

END = "<|endoftext|>"


def train(files, vocabulary, documents):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=[END], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())

    def texts():
        for file in files:
            for number, pieces in enumerate(read_documents(file)):
                if number == documents:
                    break
                yield "".join(text for text, _ in pieces)

    tokenizer.train_from_iterator(texts(), trainer)
    return tokenizer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--vocabulary", type=int, default=1024, help="tokens, at least 257")
    parser.add_argument("--documents", type=int, default=50000, help="at most so many of each file")
    options = parser.parse_args()
    try:
        tokenizer = train(options.files, options.vocabulary, options.documents)
    except DataError as fault:
        print(f"train_tokenizer: {fault}", file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(options.out / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": END, "pad_token": END,
                "model_max_length": 1000000000, "clean_up_tokenization_spaces": False, "add_bos_token": False}
    (options.out / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    print(f"{tokenizer.get_vocab_size()} tokens in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
