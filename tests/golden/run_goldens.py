"""Hold the program against every golden: `softscope inspect` on each tiny model at each instruction set and thread
count, and on the real models where they are at hand.

    run_goldens.py SOFTSCOPE [fixtures | levels | real | NAME...]      all three when none is named

fixtures: each tiny model against its golden.   levels: instruction sets and thread counts against each other.
real: SmolLM2 and MiniLM in $SOFTSCOPE_MODELS (smollm2.gguf, minilm/) against real/.   NAME: one tiny model.
Exit status 0 when all agree, 1 when not, 77 when nothing could be run (no NumPy, no models).
Relies on: reference/check_inspect."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "reference"))
import check_inspect  # noqa: E402
import reference  # noqa: E402  (leaves with status 77 where there is no NumPy)

LEVELS = ("base", "avx2", "avx512")
THREADS = (1, 2)
SKIPPED = 77
ROUNDING = 1e-5     # between two levels of instructions, relative above 1
SHOWN_MISSES = 10
PATIENCE = 300      # seconds for one run, of which most take a fraction of one
PATIENT = {**os.environ, "OMP_WAIT_POLICY": "passive"}  # threads that spin slow each other down on a busy machine


class Report:
    """Counts what passed and prints what did not."""

    def __init__(self):
        self.passed = self.failed = 0

    def add(self, name, misses):
        if not misses:
            self.passed += 1
            return
        self.failed += 1
        print(f"{name}: {len(misses)} wrong")
        for line in misses[:SHOWN_MISSES]:
            print(f"    {line}")
        if len(misses) > SHOWN_MISSES:
            print("    ...")


def inspect(program, model, *options):
    """(document, misses): the result of one run, or why there is none."""
    command = [program, "inspect", str(model), *map(str, options), "--json", "-"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=PATIENT)
    except subprocess.TimeoutExpired:
        return None, [f"no answer after {PATIENCE} s"]
    if run.returncode:
        return None, [f"exit status {run.returncode}: {run.stderr.strip()}"]
    try:
        return json.loads(run.stdout, parse_constant=lambda word: sys.exit(f"{word} in JSON")), []
    except json.JSONDecodeError as error:
        return None, [f"no JSON: {error}"]


def fixtures(names=()):
    """(folder, model, golden) of the tiny models."""
    for path in sorted(reference.FIXTURES.glob("*/golden.json")):
        if not names or path.parent.name in names:
            yield path.parent, reference.fixture_model(path.parent), json.loads(path.read_text())


# ---- the three parts ------------------------------------------------------------------------------------------

def check_fixtures(program, report, names=()):
    for folder, model, golden in fixtures(names):
        document, misses = inspect(program, model, "--tokens", folder / "ids.txt")
        report.add(folder.name, misses or check_inspect.check(document, golden).lines)


def numbers(document, where=""):
    """Every leaf of the document's measurements with its path."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from numbers(value, f"{where}.{key}")
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from numbers(value, f"{where}[{index}]")
    else:
        yield where, document


def measured(document):
    parts = ("embedding", "layers", "final", "output")
    return dict(pair for part in parts for pair in numbers(document.get(part), part))


def close(found, expected):
    if isinstance(found, (int, float)) and isinstance(expected, (int, float)):
        return abs(found - expected) <= ROUNDING * max(1, abs(expected))
    return found == expected


# theta comes from exact search over weights that differ in their last bits, a map from rounding to bytes
def comparable(path):
    return ".map" not in path and "theta" not in path


def differences(found, expected):
    found, expected = measured(found), measured(expected)
    missing = [f"{path}: in one document only" for path in found.keys() ^ expected.keys() if comparable(path)]
    return missing + [f"{path}: {found[path]!r}, was {expected[path]!r}" for path in expected
                      if path in found and comparable(path) and not close(found[path], expected[path])]


def check_levels(program, report):
    """A level that the processor lacks falls back to one it has, so that this runs everywhere."""
    for folder, model, golden in fixtures():
        first = None
        for level in LEVELS:
            for threads in THREADS:
                document, misses = inspect(program, model, "--tokens", folder / "ids.txt", "--isa", level,
                                           "--threads", threads)
                name = f"{folder.name} --isa {level} --threads {threads}"
                report.add(name, misses or check_inspect.check(document, golden).lines)
                if document and first:
                    report.add(f"{name} against --isa {LEVELS[0]}", differences(document, first))
                first = first or document


# golden in real/: model in $SOFTSCOPE_MODELS, text in real/ (None: the golden's own ids)
REAL = {"smollm2-135m": ("smollm2.gguf", "lighthouse.txt"), "minilm-l6": ("minilm", "lighthouse.txt"),
        "smollm2-135m-long": ("smollm2.gguf", "genesis-multiscript.txt"), "minilm-l6-long": ("minilm", None)}


def check_real(program, report):
    models = os.environ.get("SOFTSCOPE_MODELS")
    for name, (model, text) in REAL.items():
        if not models or not (Path(models) / model).exists():
            print(f"{name} left out: scripts/get_models.sh gets {model}, SOFTSCOPE_MODELS says where it is")
            continue
        golden = json.loads((HERE / "real" / f"{name}.json").read_text())
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as ids:
            print(*golden["ids"], file=ids, flush=True)
            source = ("--text", HERE / "real" / text) if text else ("--tokens", ids.name)
            document, misses = inspect(program, Path(models) / model, *source)
        report.add(name, misses or check_inspect.check(document, golden).lines)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program, chosen = sys.argv[1], sys.argv[2:] or ["fixtures", "levels", "real"]
    report = Report()
    names = [name for name in chosen if name not in ("fixtures", "levels", "real")]
    if "fixtures" in chosen or names:
        check_fixtures(program, report, names)
    if "levels" in chosen:
        check_levels(program, report)
    if "real" in chosen:
        check_real(program, report)
    if report.passed + report.failed == 0:
        return SKIPPED
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
