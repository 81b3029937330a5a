"""Compares graders on GSM8K's reference solutions rewritten by rule, and on what SmolLM2 wrote, through
`fullband grade`.

`lmeval_strict` and `lmeval_flexible` must extract and judge as lm-evaluation-harness itself did
(scripts/peers/lm_eval_graders.py recorded it). `number` must judge every rewritten solution as its rule says.

    gsm8k_mutations_test.py PATH/TO/fullband [--list]     # --list prints every difference
"""

import sys
from collections import Counter

import graded
from graded import REPOSITORY, SKIP

sys.path.insert(0, str(REPOSITORY / "scripts" / "peers"))
import gsm8k_outputs  # noqa: E402
from hashes import hash_of  # noqa: E402

PEERS = {"lmeval_strict": 1, "lmeval_flexible": 2}  # the bits of a recorded verdict
AT_LEAST = 2000


def peer_failures(fixture, outputs, items):
    """How many outputs the mirroring graders judge or extract otherwise than recorded."""
    failures = 0
    for i, output in enumerate(outputs):
        verdict = sum(bit for name, bit in PEERS.items() if items[name][i]["outcome"] == "correct")
        extractions = [items[name][i]["extracted"] for name in PEERS]
        if (
            verdict != int(fixture["verdicts"][i])
            or hash_of(extractions)[:4] != fixture["extractions"][4 * i : 4 * i + 4]
        ):
            failures += 1
            print(
                f"not as lm-evaluation-harness: '{output.rule}': {verdict}, {extractions}; recorded {fixture['verdicts'][i]}"
            )
    return failures


def compare_rewritten(fullband, data, show_all):
    outputs = list(gsm8k_outputs.outputs(data))
    pairs = [(output.completion, output.gold) for output in outputs]
    fixture = graded.peer_fixture("lm_eval_gsm8k_rewritten.json")
    if fixture["outputs"] != hash_of([list(pair) for pair in pairs]) or len(fixture["verdicts"]) != len(outputs):
        print("the outputs are not those that were recorded (run scripts/record_peers after a change of the rules)")
        return 1
    items = {name: graded.graded(fullband, name, pairs) for name in ("number", *PEERS)}
    failures = peer_failures(fixture, outputs, items)
    differ = Counter()
    for i, output in enumerate(outputs):
        ours = items["number"][i]
        if (ours["outcome"] == "correct") != output.right:
            failures += 1
            print(f"number is wrong, {ours}, '{output.rule}': {output.completion[-60:]!r}")
        for name in PEERS:
            peers = items[name][i]
            if (peers["outcome"] == "correct") != (ours["outcome"] == "correct"):
                differ["right" if output.right else "wrong", output.rule, name] += 1
                if show_all:
                    print(
                        f"{name} {peers['outcome']} {peers['extracted']!r}, number {ours['outcome']} {ours['extracted']!r}, "
                        f"'{output.rule}': {output.completion[-40:]!r}"
                    )
    print(f"{len(outputs)} rewritten solutions, {sum(output.right for output in outputs)} of them right")
    print(
        "where number differs (the solution; how it was rewritten; outputs that strict and flexible judge otherwise); number is right:"
    )
    for kind, rule in sorted({key[:2] for key in differ}):
        print(f"  {kind}; {rule}; {differ[kind, rule, 'lmeval_strict']}; {differ[kind, rule, 'lmeval_flexible']}")
    return failures + (len(outputs) < AT_LEAST)


def compare_model(fullband, fixture_name):
    """What a model wrote: nothing says what is right, so that differences of `number` are printed to be read."""
    cases = graded.peer_fixture(fixture_name)["cases"]
    items = {
        name: graded.graded(fullband, name, [(case["completion"], case["gold"]) for case in cases])
        for name in ("number", *PEERS)
    }
    failures = 0
    for i, case in enumerate(cases):
        for name in PEERS:
            item, peers = items[name][i], case[name.removeprefix("lmeval_")]
            if (item["outcome"] == "correct", item["extracted"]) != (peers["correct"], peers["extracted"]):
                failures += 1
                print(f"{name} is not lm-evaluation-harness, item {case['item']}: {item}; {peers}")
            if (items["number"][i]["outcome"] == "correct") != peers["correct"]:
                print(
                    f"item {case['item']}: number {items['number'][i]['extracted']!r}, {name} {peers['extracted']!r}, "
                    f"gold {case['gold']}: {case['completion'][-80:]!r}"
                )
    print(f"{len(cases)} outputs of {fixture_name}")
    return failures


def main():
    fullband, options = sys.argv[1], sys.argv[2:]
    data = graded.data_file("gsm8k/test.jsonl")
    failures = sum(
        compare_model(fullband, name) for name in ("lm_eval_gsm8k_outputs.json", "lm_eval_gsm8k_chat_outputs.json")
    )
    if data is None:
        print("skipped: the public data files are not there")
        return 1 if failures else SKIP
    return 1 if failures + compare_rewritten(fullband, data, "--list" in options) else 0


if __name__ == "__main__":
    sys.exit(main())
