#!/usr/bin/env python3
"""Count the tests in ctest's JUnit report and print "PASSED FAILED".

A cmocka program runs many tests and says how many passed and failed; any other program counts as one. A program
that died before its summary counts as one failure more. Relies on: the standard library.
"""
import re
import sys
import xml.etree.ElementTree as xml

SUMMARY = re.compile(r"\[  (PASSED|FAILED)  \] (\d+) test\(s\)")


def count(case):
    """(passed, failed) of one <testcase>."""
    ok = case.get("status") == "run"
    if case.get("status") in ("disabled", "notrun") and case.find("skipped") is not None:
        return 0, 0
    found = {"PASSED": 0, "FAILED": 0}
    for word, number in SUMMARY.findall(case.findtext("system-out") or ""):
        found[word] += int(number)
    passed, failed = found["PASSED"], found["FAILED"]
    if ok:
        return max(passed, 1), 0
    return passed, max(failed, 1)


def main():
    counts = [count(case) for case in xml.parse(sys.argv[1]).getroot().iter("testcase")]
    print(sum(c[0] for c in counts), sum(c[1] for c in counts))


main()
