#!/usr/bin/env python3
"""Writes the seeds of the tokenizers' fuzz targets. Needs only Python's standard library; twice gives the same bytes."""
import json
import pathlib

SEEDS = pathlib.Path(__file__).parent / "seeds"
LLAMA3 = r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEXTS = {
    "prose": "The caf\u00e9's 12 engines, aab ab; \u4e2d\u6587 \U0001f469\u200d\U0001f52c\r\n\r\n  we'LL  <s>x<|x|> [MASK]".encode(),
    "spaces": "\u00a0 \u2028\u3000\u0085\u180e\ufeff\t\n \x00a".encode(),
    "broken": b"a\x80\xc0\xaf\xed\xa0\x80\xf0\x9f\x98b\xe4\xb8",
    "marks": ("e" + "\u0301\u0323" * 40 + "\u1112\u1161\u11ab").encode(),
    "run": b"a" * 3000 + b" " * 500 + b"1" * 500,
}


def write(folder, name, content):
    (SEEDS / folder).mkdir(parents=True, exist_ok=True)
    (SEEDS / folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def bpe(**parts):
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "\u0120": 3}, "merges": ["a b"], **parts.pop("model", {})}
    return json.dumps({"model": model, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False}, **parts})


def tokenizer_json_seeds():
    split = {"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": False}
    steps = [{"type": "Digits", "individual_digits": True}, split, {"type": "ByteLevel", "use_regex": False}]
    added = [{"id": 9, "content": "<|endoftext|>", "special": True, "lstrip": True, "rstrip": True, "normalized": False},
             {"id": 10, "content": "Caf\u00e9", "single_word": True, "normalized": True}]
    template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x"}}, {"Sequence": {"id": "A"}}],
                "special_tokens": {"x": {"ids": [0]}}}
    write("tokenizer_json", "bpe", bpe(added_tokens=added, post_processor=template))
    write("tokenizer_json", "llama3", bpe(pre_tokenizer={"type": "Sequence", "pretokenizers": steps}, normalizer={"type": "NFC"},
                                          model={"ignore_merges": True, "merges": [["a", "b"]], "unk_token": "b"}))
    write("tokenizer_json", "wordpiece", json.dumps({
        "normalizer": {"type": "BertNormalizer", "strip_accents": None}, "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "caf": 1, "##e": 2, "a": 3}, "max_input_chars_per_word": 100},
        "post_processor": {"type": "BertProcessing", "cls": ["a", 3], "sep": ["a", 3]}}))
    write("tokenizer_json", "unigram", '{"model": {"type": "Unigram"}}')
    write("tokenizer_json", "huge_id", bpe(model={"vocab": {"a": 4294967295}, "merges": []}))
    nested = {"type": "ByteLevel"}
    for _ in range(50):
        nested = {"type": "Sequence", "pretokenizers": [nested]}
    write("tokenizer_json", "nested", bpe(pre_tokenizer=nested))
    costly = {"type": "Split", "pattern": {"Regex": "(a*)*(a*)*[bd]"}, "behavior": "Removed", "invert": True}
    write("tokenizer_json", "costly", bpe(pre_tokenizer={"type": "Sequence", "pretokenizers": [costly, {"type": "ByteLevel"}]}))


def main():
    for folder in ("bpe", "wordpiece"):
        for name, text in TEXTS.items():
            write(folder, name, text)
    tokenizer_json_seeds()
    write("vocabulary", "plain", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##a\n\ncaf\r\n##e\u3000\n")
    write("vocabulary", "configured", b'{"do_lower_case": false, "unk_token": {"content": "x"}}\0[UNK]\nx\nThe\n')
    write("vocabulary", "no_unknown", "a\nb\n")
    write("merges", "pair", b'{"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3}\0#version: 0.2\na b\n\n')
    write("merges", "missing", b'{"a": 0}\0a b\n')


main()
