#!/usr/bin/env python3
"""Count the tests in ctest's JUnit report and print "PASSED FAILED".

A program of many tests says how many passed and failed, in one of three forms; any other counts as one.
A program that died before its summary counts as one failure more. Relies on: the standard library.
"""
import re
import sys
import xml.etree.ElementTree as xml

# How cmocka, our own scripts and node --test say it.
SUMMARIES = {
    word: re.compile(rf"\[  {word.upper()}  \] (\d+) test\(s\)|\b(\d+) {word}\b|^(?:#|\u2139) {word[:4]} (\d+)", re.MULTILINE)
    for word in ("passed", "failed")
}


def total(word, output):
    return sum(int(next(filter(None, numbers), 0)) for numbers in SUMMARIES[word].findall(output))


def count(case):
    """(passed, failed) of one <testcase>."""
    if case.get("status") in ("disabled", "notrun") and case.find("skipped") is not None:
        return 0, 0
    output = case.findtext("system-out") or ""
    passed, failed = total("passed", output), total("failed", output)
    if case.get("status") == "run":
        return max(passed, 1), 0
    return passed, max(failed, 1)


def main():
    counts = [count(case) for case in xml.parse(sys.argv[1]).getroot().iter("testcase")]
    print(sum(c[0] for c in counts), sum(c[1] for c in counts))


main()
