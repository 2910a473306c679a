#!/usr/bin/env python3
"""Writes the seeds of the formats' fuzz targets: small valid files and the hostile ones of the case list.

Run from anywhere; needs only Python's standard library. Running it twice gives the same bytes.
"""
import io
import json
import pathlib
import struct
import zipfile

SEEDS = pathlib.Path(__file__).parent / "seeds"


def write(folder, name, content):
    (SEEDS / folder).mkdir(parents=True, exist_ok=True)
    (SEEDS / folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


# ---- JSON ----------------------------------------------------------------------------------------


def json_seeds():
    write("json", "config", '{"n": 30, "x": 1e-5, "s": "silu", "b": true, "z": null, "a": [1, [2, {"c": "\\u00e9"}]]}')
    write("json", "big_integer", '{"n": 1000000000000000019884624838656}')
    write("json", "duplicate", '{"n": 1, "n": 2}')
    write("json", "deep", "[" * 200 + "]" * 200)
    write("json", "broken_utf8", b'{"s": "\xc3\x28\xf0\x28"}')
    write("json", "surrogate", '{"s": "\\ud800"}')


# ---- safetensors ---------------------------------------------------------------------------------


def safetensors(header, data=b"", length=None):
    text = header if isinstance(header, str) else json.dumps(header)
    return struct.pack("<Q", len(text) if length is None else length) + text.encode() + data


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_seeds():
    good = {"__metadata__": {"format": "pt"}, "w": tensor("F16", [2, 3], 0, 12), "b": tensor("F32", [], 12, 16)}
    write("safetensors", "good", safetensors(good, bytes(16)))
    write("safetensors", "float8", safetensors({"q": tensor("F8_E4M3", [4], 0, 4)}, bytes(4)))
    for name, length in [("minus5", 0xFFFFFFFFFFFFFFFB), ("max", 0x7FFFFFFFFFFFFFFF), ("zero", 0), ("one_more", 3)]:
        write("safetensors", "length_" + name, safetensors("{}", length=length))
    write("safetensors", "overlap", safetensors({"a": tensor("U8", [4], 0, 4), "b": tensor("U8", [5], 3, 8)}, bytes(8)))
    write("safetensors", "hole", safetensors({"a": tensor("U8", [3], 0, 3), "b": tensor("U8", [4], 4, 8)}, bytes(8)))
    write("safetensors", "overflow", safetensors({"a": tensor("F32", [1 << 32, 1 << 32], 0, 8)}, bytes(8)))
    write("safetensors", "empty_tensor", safetensors({"a": tensor("I64", [0, 5], 0, 0)}))


# ---- GGUF ----------------------------------------------------------------------------------------

U8, U32, F32, BOOL, STRING, ARRAY, U64 = 0, 4, 6, 7, 8, 9, 10


def gguf_string(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def key(name, kind, value):
    return gguf_string(name) + struct.pack("<I", kind) + value


def array(kind, count, items=b""):
    return struct.pack("<IQ", kind, count) + items


def info(name, extents, kind, offset):
    return gguf_string(name) + struct.pack(f"<I{len(extents)}QIQ", len(extents), *extents, kind, offset)


def gguf(keys=(), tensors=(), data=b"", version=3, key_count=None):
    body = struct.pack("<4sIQQ", b"GGUF", version, len(tensors), len(keys) if key_count is None else key_count)
    body += b"".join(keys) + b"".join(tensors)
    return body + bytes(-len(body) % 32) + data if data else body


def gguf_seeds():
    keys = [
        key("general.architecture", STRING, gguf_string("llama")),
        key("general.alignment", U32, struct.pack("<I", 32)),
        key("x.count", U64, struct.pack("<Q", 7)),
        key("x.epsilon", F32, struct.pack("<f", 1e-5)),
        key("x.flag", BOOL, b"\1"),
        key("x.tokens", ARRAY, array(STRING, 3, gguf_string("a") + gguf_string("") + gguf_string("bc"))),
        key("x.types", ARRAY, array(U32, 2, struct.pack("<2I", 1, 3))),
        key("x.nested", ARRAY, array(ARRAY, 1, array(U8, 1, b"\7"))),
    ]
    tensors = [info("m", [3, 2], 0, 0), info("q", [32, 2], 3, 32), info("z", [32], 2, 96), info("k", [256], 14, 128)]
    data = struct.pack("<6f", *range(1, 7)) + bytes(8) + bytes(64) + bytes(32) + bytes(210)
    write("gguf", "good_v3", gguf(keys, tensors, data))
    write("gguf", "good_v2", gguf(keys[:2], tensors[:1], data, version=2))
    write("gguf", "big_endian", gguf(version=0x03000000))
    write("gguf", "dims_overflow", gguf([], [info("t", [1 << 32, 1 << 32], 0, 0)], bytes(8)))
    write("gguf", "nine_dims", gguf([], [info("t", [1] * 9, 0, 0)], bytes(8)))
    write("gguf", "string_2_63", gguf([gguf_string("s") + struct.pack("<IQ", STRING, 1 << 63)]))
    deep = b"".join(array(ARRAY, 1) for _ in range(100)) + array(U8, 0)
    write("gguf", "deep_arrays", gguf([key("a", ARRAY, deep)]))
    for alignment in (0, 3, 1 << 31):
        write("gguf", f"alignment_{alignment}", gguf([key("general.alignment", U32, struct.pack("<I", alignment))]))
    write("gguf", "key_count_2_60", gguf(key_count=1 << 60))


# ---- tokenizers in GGUF files --------------------------------------------------------------------


def tokenizer_key(name, kind, value):
    return key("tokenizer.ggml." + name, kind, value)


def strings(*texts):
    return array(STRING, len(texts), b"".join(map(gguf_string, texts)))


def tokenizer_gguf_seeds():
    bpe = [
        tokenizer_key("model", STRING, gguf_string("gpt2")),
        tokenizer_key("tokens", ARRAY, strings("a", "b", "ab", "\u0120", "\u0120a", "\u010a", "<|endoftext|>", "<x>")),
        tokenizer_key("merges", ARRAY, strings("a b", "\u0120 a")),
        tokenizer_key("token_type", ARRAY, array(U32, 8, struct.pack("<8I", 1, 1, 1, 1, 1, 1, 3, 4))),
        tokenizer_key("bos_token_id", U32, struct.pack("<I", 6)),
        tokenizer_key("add_bos_token", BOOL, b"\1"),
    ]
    for pre in ("smollm", "llama-bpe", "qwen2"):
        write("tokenizer_gguf", pre, gguf(bpe + [tokenizer_key("pre", STRING, gguf_string(pre))]))
    write("tokenizer_gguf", "bert", gguf([
        tokenizer_key("model", STRING, gguf_string("bert")),
        tokenizer_key("tokens", ARRAY, strings("[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2581caf", "e", "\u2581a", "\u2581the")),
        tokenizer_key("seperator_token_id", U32, struct.pack("<I", 3)),
        tokenizer_key("add_eos_token", BOOL, b"\0"),
    ]))
    write("tokenizer_gguf", "types_short", gguf(bpe[:3] + [tokenizer_key("token_type", ARRAY, array(U32, 1, bytes(4)))]))


# ---- configurations of models --------------------------------------------------------------------


def config_seeds():
    llama = {"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
             "num_key_value_heads": 1, "intermediate_size": 12, "vocab_size": 9, "rms_norm_eps": 1e-5}
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 64}
    write("config", "llama_4", json.dumps(llama | {"rope_theta": 100.0, "rope_scaling": scaling}))
    write("config", "llama_5", json.dumps(llama | {"rope_parameters": {"rope_type": "linear", "factor": 2}}))
    write("config", "llama_options", json.dumps(llama | {"head_dim": 6, "attention_bias": True, "mlp_bias": False,
          "attn_logit_softcapping": 50.0, "partial_rotary_factor": 0.5, "hidden_act": "relu", "surprise": [1]}))
    write("config", "gpt2", json.dumps({"model_type": "gpt2", "n_embd": 8, "n_layer": 1, "n_head": 2, "n_inner": None,
          "vocab_size": 9, "scale_attn_weights": False, "activation_function": "gelu_new", "attn_pdrop": 0.1}))
    write("config", "bert", json.dumps({"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 1,
          "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 9, "position_embedding_type": "absolute"}))
    sizes = {"block_count": 2, "embedding_length": 8, "attention.head_count": 2, "context_length": 16,
             "feed_forward_length": 12, "attention.head_count_kv": 1, "vocab_size": 9, "rope.dimension_count": 4}
    keys = [key("general.architecture", STRING, gguf_string("llama"))]
    keys += [key("llama." + name, U32, struct.pack("<I", value)) for name, value in sizes.items()]
    keys += [key("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-5)),
             key("llama.rope.scaling.type", STRING, gguf_string("linear")),
             key("llama.rope.scaling.factor", F32, struct.pack("<f", 2)),
             key("llama.attention.causal", BOOL, b"\1")]
    write("config", "gguf", gguf(keys))


# ---- NPY and NPZ ---------------------------------------------------------------------------------


def npy(descr, shape, data, order=False, major=1, least=0):
    text = f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape!r}, }}".ljust(least) + "\n"
    length = struct.pack("<H" if major == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([major, 0]) + length + text.encode() + data


def zipped(members, method=zipfile.ZIP_DEFLATED, force_zip64=False):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = method
            with archive.open(entry, "w", force_zip64=force_zip64) as out:
                out.write(content)
    return stream.getvalue()


def npy_seeds():
    six = struct.pack("<6f", *range(1, 7))
    write("npy", "float32", npy("<f4", (2, 3), six))
    write("npy", "fortran", npy("<f4", (2, 3), six, order=True))
    write("npy", "big_endian", npy(">f4", (1,), b"\x3f\x80\x00\x00"))
    write("npy", "scalar", npy("<f8", (), bytes(8)))
    write("npy", "version2", npy("<i8", (2,), bytes(16), major=2))
    write("npy", "version3", npy("|b1", (2,), b"\0\1", major=3))
    write("npy", "long_header", npy("<f4", (1,), bytes(4), least=5000))
    write("npy", "bfloat16", npy("<V2", (1,), b"\x80\x3f"))
    write("npy", "objects", npy("|O", (1,), b"cos\nsystem\n"))
    write("npy", "overflow", npy("<f8", (1 << 62, 8), bytes(8)))
    members = {"a.npy": npy("<f4", (2, 3), six), "b.npy": npy("<f2", (40,), bytes(80)), "note.txt": b"no array"}
    write("npz", "deflated", zipped(members))
    write("npz", "stored", zipped(members, zipfile.ZIP_STORED))
    write("npz", "zip64", zipped(members, force_zip64=True))
    bomb = bytearray(zipped({"a.npy": npy("<u1", (4096,), bytes(4096))}))
    at = bomb.index(b"PK\1\2")
    bomb[at + 24 : at + 28] = struct.pack("<I", 0xF0000000)
    write("npz", "bomb", bytes(bomb))
    write("npz", "empty", zipped({}))


# ---- CSV -----------------------------------------------------------------------------------------


def csv_seeds():
    write("csv", "commas", "a,b,c\n1,2.5,-3e-4\n# note\n\n4,nan,inf\n")
    write("csv", "semicolons", "\ufeff1;2\r\n3;4\r\n")
    write("csv", "blanks", " 1 2\t3\n4 5 6")
    write("csv", "ragged", "1,2\n3\n")
    write("csv", "decimal_comma", "0,5;0,5\n")
    write("csv", "long_number", "1." + "0" * 600 + "\n")


if __name__ == "__main__":
    for make in (json_seeds, safetensors_seeds, gguf_seeds, tokenizer_gguf_seeds, config_seeds, npy_seeds, csv_seeds):
        make()
