"""Hold a `softscope inspect` document against a golden one and name every number that is off.

    check_inspect.py RESULT.json GOLDEN.json      exit status 1 and a line a miss, or one line that says all is well

A golden is either one of ours (models/*/golden.json) or one of real/*.json. Tolerances: absolute 2e-5 for means,
likelihoods and sqrt(1 - theta)/2 (the distance of the best subset from one half, which is what moves with rounding);
relative 2e-5 for the largest score and hidden norms; counts, keys and ids exactly. Relies on: reference."""

import json
import math
import sys

from reference import HEAD_PLACES, SINK_THRESHOLD

TOLERANCE = 2e-5


# ---- how two numbers are compared -----------------------------------------------------------------------------

def absolute(found, expected):
    return abs(found - expected) <= TOLERANCE


def relative(found, expected):
    return abs(found - expected) <= TOLERANCE * abs(expected)


def distance(found, expected):
    """Of theta, as the best subset's distance from one half."""
    return abs(math.sqrt(max(0.0, 1 - found)) - math.sqrt(max(0.0, 1 - expected))) / 2 <= TOLERANCE


def exact(found, expected):
    return found == expected


RULES = {"theta_cert_median": distance, "theta_median": distance, "theta_min": distance, "max_logit": relative,
         "sink_key": exact, "saturated": exact, "scale_driven": exact, "genuine": exact}


class Misses:
    """Every comparison that failed, by name."""

    def __init__(self):
        self.lines, self.compared = [], 0

    def compare(self, name, found, expected, rule):
        self.compared += 1
        if found is None or expected is None or rule is exact:
            good = found == expected
        else:
            good = rule(found, expected)
        if not good:
            self.lines.append(f"{name}: {found!r}, should be {expected!r}")

    def compare_lists(self, name, found, expected, rule):
        if len(found) != len(expected):
            self.lines.append(f"{name}: {len(found)} values, should be {len(expected)}")
        for i, (f, e) in enumerate(zip(found, expected)):
            self.compare(f"{name}[{i}]", f, e, rule)


def look(document, *keys):
    """The value at a path, None where any part of it is missing or null."""
    for key in keys:
        if isinstance(document, list):
            document = document[key] if key < len(document) else None
        else:
            document = (document or {}).get(key)
    return document


# ---- parts of the document --------------------------------------------------------------------------------------

def check_theta(misses, name, measure, head, expected):
    """Where inspect does not claim to be exact, theta is a lower bound and no less than the certificate's."""
    found = look(head, *HEAD_PLACES[measure])
    if look(head, "theta_exact_share") == 1 or expected is None:
        misses.compare(name, found, expected, distance)
        return
    statistic = HEAD_PLACES[measure][-1]
    floor = look(head, "theta_cert", statistic)
    misses.compare(name, found, expected,
                   lambda f, e: f <= e + TOLERANCE and (floor is None or f >= floor - TOLERANCE))


def check_empty_head(misses, name, head, layer):
    """A head none of whose rows has two keys: what only rows measure is absent."""
    for measure, place in HEAD_PLACES.items():
        if measure not in layer:
            misses.compare(f"{name} {measure}", look(head, *place), None, exact)


def check_head(misses, name, head, layer, number):
    for measure, place in HEAD_PLACES.items():
        if measure not in layer:
            continue
        expected, full = layer[measure][number], f"{name} {measure}"
        if measure in ("theta_median", "theta_min"):
            check_theta(misses, full, measure, head, expected)
        elif measure == "saturated" and look(head, "theta_exact_share") not in (1, None):
            continue  # counted from lower bounds
        else:
            misses.compare(full, look(head, *place), expected, RULES.get(measure, absolute))
    first_key = layer["first_key"][number] if "first_key" in layer else None
    if first_key is not None:
        misses.compare(f"{name} sink_rate", look(head, "sink_rate"), int(first_key > SINK_THRESHOLD), exact)


def check_hidden(misses, name, found, expected):
    for measure, value in expected.items():
        misses.compare(f"{name} {measure}", look(found, measure), value, relative)


def check_output(misses, result, output):
    misses.compare("output nll_mean", look(result, "output", "nll_mean"), output["nll_mean"], absolute)
    for measure in ("confident_correct", "confident_wrong"):
        if output["nll_mean"] is not None:
            misses.compare(f"output {measure}", look(result, "output", measure), output[measure], exact)
    for measure, expected in output.get("tokens", {}).items():
        found = [value for value in look(result, "output", "tokens", measure) or [] if value is not None]
        misses.compare_lists(f"output tokens {measure}", found, expected, absolute)


def check_own(misses, result, golden):
    for fact, expected in golden["model"].items():
        misses.compare(f"model {fact}", look(result, "model", fact), expected, exact)
    check_hidden(misses, "embedding", look(result, "embedding"), golden["embedding"])
    for index, layer in enumerate(golden["layers"]):
        check_hidden(misses, f"layer {index} hidden", look(result, "layers", index, "hidden"), layer["hidden"])
        for number in range(golden["model"]["heads"]):
            name, head = f"layer {index} head {number}", look(result, "layers", index, "heads", number)
            for count in ("rows", "single_key_rows"):
                misses.compare(f"{name} {count}", look(head, count), golden[count], exact)
            check_head(misses, name, head, layer, number)
            if golden["rows"] == 0:
                check_empty_head(misses, name, head, layer)
    if "final" in golden:
        check_hidden(misses, "final", look(result, "final"), golden["final"])
    if "output" in golden:
        check_output(misses, result, golden["output"])


def check_real(misses, result, golden):
    """The goldens of real models: hidden norms are lists of embedding, layers, and last the final norm if any."""
    for index, layer in enumerate(golden["layers"]):
        for number in range(len(layer["entropy"])):
            head = look(result, "layers", index, "heads", number)
            check_head(misses, f"layer {index} head {number}", head, layer, number)
    states = [look(result, "embedding")] + [look(layer, "hidden") for layer in look(result, "layers") or []]
    if look(result, "final"):
        states[-1] = look(result, "final")
    for measure in ("block_inf_rms", "max_abs"):
        if f"hidden_{measure}" in golden:
            misses.compare_lists(f"hidden {measure}", [look(state, measure) for state in states],
                                 golden[f"hidden_{measure}"], relative)
    if "mean_nll" in golden:
        misses.compare("output nll_mean", look(result, "output", "nll_mean"), golden["mean_nll"], absolute)
    if "nll_first8" in golden:
        found = [value for value in look(result, "output", "tokens", "nll") or [] if value is not None]
        misses.compare_lists("output tokens nll", found[:8], golden["nll_first8"], absolute)


def check(result, golden):
    """A Misses with every number that is off."""
    misses = Misses()
    misses.compare("input ids", look(result, "input", "ids"), golden["ids"], exact)
    misses.compare("input tokens", look(result, "input", "tokens"), len(golden["ids"]), exact)
    (check_own if isinstance(golden["model"], dict) else check_real)(misses, result, golden)
    return misses


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    result, golden = (json.loads(open(path, encoding="utf-8").read()) for path in sys.argv[1:])
    misses = check(result, golden)
    print("\n".join(misses.lines) if misses.lines else f"{misses.compared} numbers agree")
    return 1 if misses.lines else 0


if __name__ == "__main__":
    sys.exit(main())
