"""Properties that any right implementation has, checked on the specification itself.

Run: python3 self_check.py   (needs numpy only)
The product's own tests check the same properties on the product's engine.
"""
import sys

try:
    import numpy as np
except ModuleNotFoundError:
    print("numpy is missing: run scripts/setup")
    sys.exit(77)  # skipped

import fbt_reference as fbt


def random_model(seed=7, layers=3, width=48, heads=4, groups=2, vocab=61, hidden=96, fusion="glu") -> fbt.Model:
    rng = np.random.default_rng(seed)
    head = width // heads

    def matrix(rows, columns, scale=1.0):
        return rng.normal(0, scale / np.sqrt(columns), (rows, columns))

    w = {"model.embed_tokens.weight": rng.normal(0, 1, (vocab, width)), "model.norm.weight": rng.normal(1, 0.1, width),
         "latent_feedback.state_proj.weight": matrix(width, width, 2), "latent_feedback.token_gate.weight": matrix(width, width, 2)}
    for layer in range(layers):
        p = f"model.layers.{layer}."
        w |= {p + "input_layernorm.weight": rng.normal(1, 0.1, width), p + "post_attention_layernorm.weight": rng.normal(1, 0.1, width),
              p + "self_attn.q_proj.weight": matrix(heads * head, width, 2), p + "self_attn.k_proj.weight": matrix(groups * head, width, 2),
              p + "self_attn.v_proj.weight": matrix(groups * head, width), p + "self_attn.o_proj.weight": matrix(width, heads * head),
              p + "mlp.gate_proj.weight": matrix(hidden, width, 2), p + "mlp.up_proj.weight": matrix(hidden, width),
              p + "mlp.down_proj.weight": matrix(width, hidden)}
    return fbt.Model({"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": groups,
                      "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": True, "latent_feedback": {"fusion": fusion}}, w)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


for fusion in ("glu", "additive"):
    model = random_model(fusion=fusion)
    prompt = [int(t) for t in np.random.default_rng(1).integers(0, 61, 12)]

    # 1. Pass p agrees with the exact recurrence at positions 0..p-1, so T passes are the recurrence.
    exact, _ = fbt.recur(model, prompt)
    for passes in range(1, len(prompt) + 1):
        close(fbt.prefill(model, prompt, passes)[0][:passes], exact[:passes])

    # 2. Both modes share the one-pass prefill: the first token's logits are identical, later ones are not.
    ids = {s: fbt.decode(model, prompt, 6, s) for s in ("standard", "latent", "latent@2", "latent@exact")}
    close(ids["standard"][1][0], ids["latent"][1][0])
    assert not np.allclose(ids["standard"][1][1], ids["latent"][1][1])

    # 3. Decoding's log-probabilities equal scoring of its own output under the same setting.
    for setting, (tokens, logits) in ids.items():
        close(fbt.score(model, prompt, tokens, setting), fbt.log_softmax(logits)[np.arange(6), tokens])
    close(fbt.score(model, prompt, ids["standard"][0], "parallel@1"), fbt.score(model, prompt, ids["standard"][0], "standard"))

    # Controls change latent decoding after its first token, and standard decoding never.
    for control in fbt.CONTROLS[: 4 if fusion == "glu" else 3]:
        spoiled = fbt.decode(model, prompt, 3, f"latent:{control}")[1]
        close(spoiled[0], ids["latent"][1][0])
        assert not np.allclose(spoiled[1], ids["latent"][1][1])
        close(fbt.decode(model, prompt, 3, f"standard:{control}")[1], ids["standard"][1][:3])

    # 4. Latent decoding after a one-pass prefill equals the recurrence fused from the first generated token.
    tokens, logits = ids["latent"]
    h, _ = fbt.recur(model, prompt + tokens, fused_from=len(prompt))
    close(logits, h[len(prompt) - 1 : -1] @ model.head().T)

    # 5. A prefix run before its suffix leaves the same states as one run over both (prefix caching is exact),
    #    in every pass, if the state of the last prefix position is kept for every pass.
    e = fbt.embed(model, prompt)
    cut, previous = 5, None
    for p in range(1, 4):
        cache = fbt.Cache(3)
        u = e if p == 1 else np.concatenate([e[:1], fbt.fuse(model, e[1:], previous[:-1], None)])
        split = np.concatenate([fbt.stack(model, u[:cut], cache), fbt.stack(model, u[cut:], cache)])
        close(split, fbt.prefill(model, prompt, p)[0])
        previous = split

print("all properties hold")
