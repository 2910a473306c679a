"""Write src/text/unicode_tables.c: the character classes of the Hugging Face `tokenizers` library.

Every code point is put through the library's own normalisers and pre-tokenizers and what they do to it decides its
class, so the tables hold whatever edition of Unicode each part of the library stands on. Needs only `tokenizers`
(0.23.3 made the committed file):  python make_unicode.py > ../../../src/text/unicode_tables.c
"""
from tokenizers import Regex, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def bert(**steps):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**off, **steps})


def kept_by(normalizer, c):
    return normalizer.normalize_str(chr(c))


def parts(pre_tokenizer, c):
    return len(pre_tokenizer.pre_tokenize_str(f"a{chr(c)}b"))


def matches(pattern):
    split = pre_tokenizers.Split(Regex(pattern), "removed")
    return [c for c in CODE_POINTS if not split.pre_tokenize_str(chr(c))]


def ranges(members):
    merged = []
    for c in sorted(members):
        if merged and merged[-1][1] == c - 1:
            merged[-1][1] = c
        else:
            merged.append([c, c])
    return merged


def table(name, members):
    rows = ", ".join("{0x%X, 0x%X}" % tuple(r) for r in ranges(members))
    print(f"static const ss_code_range {name}_ranges[] = {{{rows}}};")
    print(f"const ss_code_class ss_class_{name} = {{{name}_ranges, sizeof {name}_ranges / sizeof *{name}_ranges}};\n")


def main():
    clean, accents, ideographs = bert(clean_text=True), bert(strip_accents=True), bert(handle_chinese_chars=True)
    bert_words = pre_tokenizers.BertPreTokenizer()
    digits = pre_tokenizers.Digits(individual_digits=True)
    print("/* Made by tests/golden/text/make_unicode.py from what the tokenizers library does to every code point; not")
    print(" * edited by hand. Relies on: text/unicode.h. */")
    print('#include "text/unicode.h"\n')
    table("space", [c for c in CODE_POINTS if parts(bert_words, c) == 2])
    table("control", [c for c in CODE_POINTS if c not in (0, 0xFFFD) and kept_by(clean, c) == ""])
    table("ideograph", [c for c in CODE_POINTS if kept_by(ideographs, c) != chr(c)])
    table("punctuation", [c for c in CODE_POINTS if parts(bert_words, c) == 3])
    table("mark", [c for c in CODE_POINTS if kept_by(accents, c) == ""])
    table("numeric", [c for c in CODE_POINTS if parts(digits, c) == 3])
    # Python's unicodedata stops at an edition no newer than Debian 12's PCRE2 (14): the rest is "late"
    import unicodedata
    assert unicodedata.unidata_version == "14.0.0", "run with Python 3.11, whose Unicode is PCRE2 10.42's"
    known = lambda c, major: unicodedata.category(chr(c))[0] == major
    table("late_letter", [c for c in matches(r"\p{L}") if not known(c, "L")])
    table("late_number", [c for c in matches(r"\p{N}") if not known(c, "N")])


main()
