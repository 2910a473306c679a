#!/usr/bin/env python3
"""The order of the rooms: what each file under src/ may include. Reads the list of rooms from src/CMakeLists.txt.

    tests/unit/rooms_test.py [SOURCE_FOLDER]

Relies on: the standard library.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)

# A library of somebody else, and the one place that may include it.
ONLY_IN = [
    (re.compile(r"^(oneapi/|dnnl)"), re.compile(r"^math/matmul[^/]*$"), "oneDNN belongs to math/matmul*"),
    (re.compile(r"^sleef"), re.compile(r"^math/"), "SLEEF belongs to math/"),
    (re.compile(r"^omp\.h$"), re.compile(r"^base/team\.c$"), "OpenMP belongs to base/team"),
    (re.compile(r"^cli/"), re.compile(r"^$"), "the library must not know the program"),
]


def room_order():
    listed = re.findall(r"^ss_room\((\w+)", (ROOT / "src/CMakeLists.txt").read_text(), re.MULTILINE)
    return {room: place for place, room in enumerate(listed)}


def complaint(order, file, header, quoted):
    """Why `file` (below src/) may not include `header`, or None."""
    for library, home, reason in ONLY_IN:
        if library.search(header) and not home.search(file):
            return reason
    here, there = file.split("/")[0], header.split("/")[0]
    if there in order and "/" in header:
        if order[there] > order[here]:
            return f"{there}/ comes after {here}/ in the list of src/CMakeLists.txt"
        return None
    if quoted and header != "softscope.h":
        return "rooms include each other as room/file.h"
    return None


def check(order, file, text):
    for match in INCLUDE.finditer(text):
        why = complaint(order, file, match[2], match[1] == '"')
        if why:
            yield f"src/{file}:{text.count(chr(10), 0, match.start(2)) + 1}: includes {match[2]}: {why}"


def check_itself(order):
    """The check must be able to fail."""
    wrong = [("base/a.c", '#include "math/isa.h"'), ("math/a.c", '#include "cli/options.h"'),
             ("math/isa.c", "#include <oneapi/dnnl/dnnl.h>"), ("text/a.c", "#  include <sleef.h>"),
             ("math/a.c", "#include <omp.h>"), ("math/a.c", '#include "isa.h"')]
    right = [("math/a.c", '#include "base/mem.h"'), ("math/matmul.c", "#include <oneapi/dnnl/dnnl.h>"),
             ("math/a_simd.c", "#include <sleef.h>"), ("base/a.c", '#include "softscope.h"'),
             ("base/a.c", "#include <stdio.h>"), ("base/a.c", "#include <sys/mman.h>")]
    for file, text in wrong:
        assert list(check(order, file, text)), (file, text)
    for file, text in right:
        assert not list(check(order, file, text)), (file, text)


def main():
    order = room_order()
    check_itself(order)
    files = sorted(f for f in (ROOT / "src").rglob("*") if f.suffix in (".c", ".h"))
    strangers = sorted({f.parent.name for f in files} - set(order))
    found = [f"src/{name}/: no room of this name in src/CMakeLists.txt" for name in strangers]
    for file in files:
        if file.parent.name in order:
            found += check(order, file.relative_to(ROOT / "src").as_posix(), file.read_text())
    print("\n".join(found) or f"{len(files)} files in {len(order)} rooms include only rooms listed before their own")
    return 1 if found else 0


sys.exit(main())
