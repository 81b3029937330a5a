"""Prints, as JSON, the greedy continuation of a prompt by llama.cpp through llama-cpp-python, with keys and values in
float32 and without flash attention (which rounds to float16 on a CPU).

Run: python llama_greedy.py FOLDER GGUF THREADS TOKENS ID,ID,…     (FOLDER as scripts/peers/build_llama_cpp prints it)
"""

import itertools
import json
import os
import sys


def main() -> None:
    folder, gguf, threads, tokens, prompt = sys.argv[1:]
    os.environ["LLAMA_CPP_LIB_PATH"] = os.path.join(folder, "bin")
    sys.path.insert(0, folder)
    import llama_cpp

    model = llama_cpp.Llama(
        gguf,
        n_ctx=1024,
        n_threads=int(threads),
        n_threads_batch=int(threads),
        verbose=False,
        type_k=llama_cpp.GGML_TYPE_F32,
        type_v=llama_cpp.GGML_TYPE_F32,
        flash_attn_type=llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED,
    )
    ids = model.generate([int(one) for one in prompt.split(",")], temp=0.0, top_k=1, repeat_penalty=1.0)
    found = {"tokens": [int(one) for one in itertools.islice(ids, int(tokens))], "version": llama_cpp.__version__}
    print(json.dumps(found | {"system": llama_cpp.llama_print_system_info().decode()}))


if __name__ == "__main__":
    main()
