#!/usr/bin/env python3
"""Runs the cases of the command line and compares all that comes back. How a case reads: README.md.

    run.py PROGRAM [case...]

Relies on: the standard library, bash.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 120
EXIT = re.compile(r"= (\d+)(?: within (\d+) s)?$")
ANY_LINES = object()


class Case:
    def __init__(self, command, line):
        self.command, self.line = command, line
        self.expected = {">": [], "!": []}
        self.status, self.within = 0, None


def pattern(text):
    """A line in which * stands for any text, as a regular expression."""
    return re.compile(".*".join(re.escape(part) for part in text.split("*")), re.DOTALL)


def read_case_line(case, text):
    """One line after the command; False when it is none that a case may have."""
    if match := EXIT.fullmatch(text):
        case.status, case.within = int(match[1]), match[2] and int(match[2])
        return True
    expected = case.expected.get(text[:1])
    if expected is None:
        return False
    rest = text[1:]
    if rest == "...":
        expected.append(ANY_LINES)
    elif rest.startswith("* "):
        expected.append(pattern(rest[2:]))
    elif rest == "" or rest.startswith(" "):
        expected.append(rest[1:])
    else:
        return False
    return True


def read_cases(path):
    """(what the file needs, its cases)."""
    needs, cases = [], []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if text.startswith("$ "):
            cases.append(Case(text[2:], number))
        elif text.startswith("needs "):
            needs.append(text[6:])
        elif text and not text.startswith("#") and not (cases and read_case_line(cases[-1], text)):
            sys.exit(f"{path}:{number}: no line of a case: {text}")
    return needs, cases


def matches(expected, lines):
    """Do the lines match, in order and to the end?"""
    if not expected:
        return not lines
    first, rest = expected[0], expected[1:]
    if first is ANY_LINES:
        return any(matches(rest, lines[skipped:]) for skipped in range(len(lines) + 1))
    if not lines:
        return False
    fits = first == lines[0] if isinstance(first, str) else first.fullmatch(lines[0])
    return bool(fits) and matches(rest, lines[1:])


def lines_of(output):
    """A last line without its end is told apart from one with it."""
    lines = output.decode("utf-8", "backslashreplace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines[:-1] + [lines[-1] + "(no end of line)"]


def run(case, folder, environment):
    """What is wrong with the case's outcome: a list of sentences, empty when it passed."""
    begin = time.monotonic()
    try:
        done = subprocess.run(["bash", "-c", case.command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return [f"took more than {SECONDS} s"]
    seconds = time.monotonic() - begin
    outputs = {">": lines_of(done.stdout), "!": lines_of(done.stderr)}
    wrong = []
    if case.within and seconds > case.within * float(environment["PATIENCE"]):
        wrong.append(f"took {seconds:.1f} s, more than {case.within} s")
    if done.returncode != case.status or any(not matches(case.expected[k], outputs[k]) for k in outputs):
        came = [f"{kind} {line}" for kind, lines in outputs.items() for line in lines]
        wrong += ["what came was:", *came, f"= {done.returncode}"]
    return wrong


def make_environment(program):
    models = os.environ.get("SOFTSCOPE_MODELS", str(HERE.parents[1] / "build/models"))
    keep = {name: value for name, value in os.environ.items() if name in ("HOME", "TMPDIR") or name.endswith("SAN_OPTIONS")}
    return {**keep, "PATH": f"{pathlib.Path(program).resolve().parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
            "MODELS": models, "TESTS": str(HERE.parent), "SOURCE": str(HERE.parents[1]),
            "PATIENCE": os.environ.get("PATIENCE", "1")}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    environment = make_environment(sys.argv[1])
    wanted = sys.argv[2:] or sorted(p.stem for p in (HERE / "cases").glob("*.case"))
    passed = failed = 0
    for name in wanted:
        path = HERE / "cases" / f"{name.removesuffix('.case')}.case"
        needs, cases = read_cases(path)
        absent = [n for n in needs if not os.path.exists(os.path.join(environment["MODELS"], n))]
        if absent:
            print(f"skipped {name}: there is no {absent[0]} in {environment['MODELS']}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            for case in cases:
                wrong = run(case, folder, environment)
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong:
                    print(f"{path}:{case.line}: $ {case.command}", *wrong, "", sep="\n")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main())
