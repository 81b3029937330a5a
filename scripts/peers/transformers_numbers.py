"""Records what Hugging Face transformers computes with SmolLM2 in float32 (CPU, eager attention).

Greedy traces of 50 GSM8K questions as ChatML turns x 128 tokens, with the gap between the two best logits where it is small, and
the log-probabilities of 20 of them x 64 tokens, once with the converted checkpoint and once with transformers' own
loading of the GGUF file. Prompts are the token ids of the converted tokenizer in both cases.

Run: python scripts/peers/transformers_numbers.py --gguf FILE
"""
from __future__ import annotations

import argparse
from pathlib import Path

import torch
import transformers

import common

TRACES, TRACE_TOKENS = 50, 128
SCORED, SCORED_TOKENS = 20, 64
NEAR = 0.01


@torch.inference_mode()
def greedy(model, prompt: list[int], count: int, end_tokens: set[int]):
    """Token ids, and for each step where the two best logits are closer than NEAR: [step, gap]."""
    ids, near_ties = [], []
    inputs, cache = torch.tensor([prompt]), None
    for _ in range(count):
        out = model(inputs, past_key_values=cache, use_cache=True)
        cache, logits = out.past_key_values, out.logits[0, -1]
        best = torch.topk(logits, 2)
        token = int(logits.argmax())
        gap = float(best.values[0] - best.values[1])
        if gap < NEAR:
            near_ties.append([len(ids), round(gap, 6)])
        ids.append(token)
        if token in end_tokens:
            break
        inputs = torch.tensor([[token]])
    return ids, near_ties


@torch.inference_mode()
def score(model, context: list[int], continuation: list[int]) -> list[float]:
    logits = model(torch.tensor([context + continuation])).logits[0, len(context) - 1 : -1]
    table = torch.log_softmax(logits.double(), -1)
    return [float(table[i, token]) for i, token in enumerate(continuation)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gguf", type=Path, required=True, help="the GGUF file that the checkpoint was made from")
    arguments = parser.parse_args()

    load = dict(torch_dtype=torch.float32, attn_implementation="eager")
    converted = transformers.AutoModelForCausalLM.from_pretrained(common.SMOLLM2, **load)
    own_gguf = transformers.AutoModelForCausalLM.from_pretrained(arguments.gguf.parent, gguf_file=arguments.gguf.name, **load)
    tokenizer = transformers.AutoTokenizer.from_pretrained(common.SMOLLM2)
    ends = converted.generation_config.eos_token_id
    ends = set(ends if isinstance(ends, list) else [ends])

    prompts = [tokenizer(common.gsm8k_prompt(q))["input_ids"] for q in common.gsm8k_questions(TRACES)]
    traces = []
    for row, prompt in enumerate(prompts):
        ids, near_ties = greedy(converted, prompt, TRACE_TOKENS, ends)
        traces.append({"item": str(row), "prompt_tokens": len(prompt), "prompt_hash": common.hash_ids(prompt), "tokens": ids,
                       "near_ties": near_ties})
        print(f"trace {row + 1}/{len(prompts)}: {len(ids)} tokens", flush=True)

    # Scored continuations: the first tokens of the greedy traces.
    scores = []
    for row in range(SCORED):
        continuation = traces[row]["tokens"][:SCORED_TOKENS]
        if len(continuation) < SCORED_TOKENS:  # the trace ended early: unlikely tokens follow
            continuation = (continuation + prompts[row] + prompts[(row + 1) % SCORED])[:SCORED_TOKENS]
        scores.append({"item": str(row), "continuation": continuation,
                       "converted": [round(x, 7) for x in score(converted, prompts[row], continuation)],
                       "gguf": [round(x, 7) for x in score(own_gguf, prompts[row], continuation)]})
        print(f"score {row + 1}/{SCORED}", flush=True)

    common.write_fixture("transformers_smollm2.json", {
        "transformers": transformers.__version__, "torch": torch.__version__.split("+")[0], "traces": traces, "scores": scores})


if __name__ == "__main__":
    main()
