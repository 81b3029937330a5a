"""Times Hugging Face transformers, in a process that stays: loading PyTorch anew for every repeat would take longer
than what is timed. It reads one JSON request a line from standard input and answers each with one JSON line.

Every request has "job", and those of a model "dtype" (float32, bfloat16) and "attention" (sdpa, eager):

  versions                        {"torch", "transformers", "numpy", "blas", "torch_cpu"}
  greedy   prompt, tokens         {"tokens": [id …]}
  prefill  prompt, repeats        {"seconds": [each repeat]}: one forward of the prompt, logits of its last token
  decode   prompt, batch, tokens  {"seconds": in all}: `tokens` greedy steps of `batch` rows behind the prompt
  sgemm    shapes [[outputs, inputs, times] …], rows, repeats
                                  {"seconds": {library: [each repeat]}}: all products of one prefill in float32

Decoding is a loop over the model with its key/value cache, which is faster than generate(); prefill of the prompt is
left out of its time. A request that fails is answered with {"error": one line}.

Run: python transformers_worker.py MODEL_FOLDER THREADS
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import torch
import transformers

WARM_UP_STEPS = 4


class Models:
    """The checkpoint in each type and attention that was asked for, loaded once. Its numbers are bfloat16's, so float32
    holds the same."""

    def __init__(self, folder: str):
        self.folder = folder
        self.loaded = {}

    def get(self, dtype: str, attention: str):
        key = (dtype, attention)
        if key not in self.loaded:
            self.loaded[key] = transformers.AutoModelForCausalLM.from_pretrained(
                self.folder, dtype=getattr(torch, dtype), attn_implementation=attention
            ).eval()
        return self.loaded[key]


def first_step(model, prompt: list[int], batch: int):
    """(cache, next tokens [batch, 1]) behind a prompt: run once, and its keys and values copied for every row."""
    out = model(torch.tensor([prompt]), use_cache=True, logits_to_keep=1)
    cache = out.past_key_values
    cache.batch_repeat_interleave(batch)
    return cache, out.logits[:, -1].argmax(-1, keepdim=True).repeat(batch, 1)


def steps(model, cache, tokens, count: int):
    """`count` greedy steps: the last tokens [batch, 1] and all of the first row's."""
    row = []
    for _ in range(count):
        out = model(tokens, past_key_values=cache, use_cache=True)
        tokens = out.logits[:, -1].argmax(-1, keepdim=True)
        row.append(int(tokens[0, 0]))
    return tokens, row


def greedy(model, request: dict) -> dict:
    cache, tokens = first_step(model, request["prompt"], 1)
    _, row = steps(model, cache, tokens, request["tokens"] - 1)
    return {"tokens": [int(tokens[0, 0]), *row]}


def prefill(model, request: dict) -> dict:
    prompt = torch.tensor([request["prompt"]])
    model(prompt, use_cache=True, logits_to_keep=1)
    seconds = []
    for _ in range(request["repeats"]):
        start = time.perf_counter()
        out = model(prompt, use_cache=True, logits_to_keep=1)
        int(out.logits[0, -1].argmax())
        seconds.append(time.perf_counter() - start)
    return {"seconds": seconds}


def decode(model, request: dict) -> dict:
    cache, tokens = first_step(model, request["prompt"][:-WARM_UP_STEPS], request["batch"])
    tokens, _ = steps(model, cache, tokens, WARM_UP_STEPS)
    start = time.perf_counter()
    steps(model, cache, tokens, request["tokens"])
    return {"seconds": time.perf_counter() - start}


def timed(action, times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        action()
    return time.perf_counter() - start


def sgemm(request: dict) -> dict:
    """The products [rows, inputs] x [inputs, outputs], `times` each, by PyTorch's BLAS and by NumPy's."""
    rows, repeats = request["rows"], request["repeats"]
    seconds = {"torch": [0.0] * repeats, "numpy": [0.0] * repeats}
    for outputs, inputs, times in request["shapes"]:
        left, right = torch.randn(rows, inputs), torch.randn(outputs, inputs)
        target = torch.empty(rows, outputs)
        numpy_left, numpy_right, numpy_target = left.numpy(), right.numpy(), target.numpy()
        actions = {
            "torch": lambda: torch.mm(left, right.t(), out=target),
            "numpy": lambda: np.matmul(numpy_left, numpy_right.T, out=numpy_target),
        }
        for name, action in actions.items():
            timed(action, 2)
            for repeat in range(repeats):
                seconds[name][repeat] += timed(action, times)
    return {"seconds": seconds}


def versions() -> dict:
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "numpy": np.__version__,
        "blas": f"{blas['name']} {blas['version']}",
        "torch_cpu": torch.backends.cpu.get_cpu_capability(),
    }


MODEL_JOBS = {"greedy": greedy, "prefill": prefill, "decode": decode}


@torch.inference_mode()
def answer(models: Models, request: dict) -> dict:
    if request["job"] == "versions":
        return versions()
    if request["job"] == "sgemm":
        return sgemm(request)
    return MODEL_JOBS[request["job"]](models.get(request["dtype"], request["attention"]), request)


def main() -> None:
    torch.set_num_threads(int(sys.argv[2]))
    transformers.utils.logging.disable_progress_bar()
    models = Models(sys.argv[1])
    for line in sys.stdin:
        try:
            reply = answer(models, json.loads(line))
        except Exception as error:  # noqa: BLE001 (any failure of a peer is reported, and the driver decides)
            reply = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
