"""The transformers library in float64: run a folder, catch what enters and leaves every softmax.
Used by make_models.py. Relies on: PyTorch, transformers 5."""

import itertools
import types

import numpy as np
import torch
import transformers
from transformers import modeling_rope_utils
from transformers.models.bert import modeling_bert
from transformers.models.gpt2 import modeling_gpt2
from transformers.models.llama import modeling_llama

MODULES = {"gpt2": modeling_gpt2, "llama": modeling_llama, "bert": modeling_bert}
KINDS = {"gpt2": transformers.GPT2LMHeadModel, "llama": transformers.LlamaForCausalLM,
         "bert": transformers.BertModel}


class wide:
    """Inside, the named modules of the library see a torch whose float32 is float64: they widen to float32 in
    norms, softmax and rotary angles whatever the model's type."""

    def __init__(self, *modules):
        self.modules = modules

    def __enter__(self):
        double = types.ModuleType("torch")
        double.__getattr__ = lambda name: getattr(torch, name)
        double.float32 = double.float = torch.float64
        for module in self.modules:
            module.torch = double

    def __exit__(self, *_):
        for module in self.modules:
            module.torch = torch


def rotary_factors(config):
    """What llama3 scaling divides the rotary frequencies by, in the float32 that a GGUF file holds; else None."""
    if (config.get("rope_scaling") or {}).get("rope_type") != "llama3":
        return None
    with wide(modeling_llama, modeling_rope_utils):
        options = transformers.LlamaConfig(**config)
        scaled, _ = modeling_rope_utils.ROPE_INIT_FUNCTIONS["llama3"](options, "cpu")
        plain, _ = modeling_llama.LlamaRotaryEmbedding.compute_default_rope_parameters(options)
    return (plain / scaled).numpy().astype(np.float32).astype(np.float64)


def shapes(case):
    """{name: shape} of the library's own model; a tied head, a pooler and buffers left out."""
    model = KINDS[case.architecture](KINDS[case.architecture].config_class(**case.config))
    left_out = ["pooler.", "position_ids"] + ["lm_head."] * case.config.get("tie_word_embeddings", False)
    return {name: tuple(t.shape) for name, t in model.state_dict().items()
            if not any(part in name for part in left_out)}


def run(architecture, folder, ids, factors=None):
    """(caught attention inputs and weights a layer, embedding, hidden states, final, logits) of a folder; rotary
    frequencies, where given, are the plain ones over `factors`."""
    module, kind = MODULES[architecture], KINDS[architecture]
    caught, hidden, plain = [], [], module.eager_attention_forward

    def catch(owner, query, key, value, mask, scaling=None, **options):
        output, weights = plain(owner, query, key, value, mask, scaling=scaling, **options)
        caught.append([x[0].numpy() for x in (query, key, value, weights)])
        return output, weights

    with wide(module, modeling_rope_utils), torch.no_grad():
        model = kind.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()
        base = model.base_model
        if factors is not None:
            plain_frequencies, _ = base.rotary_emb.compute_default_rope_parameters(base.config)
            base.rotary_emb.inv_freq = plain_frequencies / torch.tensor(factors)
        blocks = base.h if architecture == "gpt2" else base.layers if architecture == "llama" else base.encoder.layer
        for block in blocks:
            block.register_forward_hook(lambda _m, _i, out: hidden.append(out[0] if isinstance(out, tuple) else out))
        module.eager_attention_forward = catch
        try:
            out = model(torch.tensor(np.asarray(ids))[None], output_hidden_states=True, output_attentions=True)
        finally:
            module.eager_attention_forward = plain
    states = [h.reshape(len(ids), -1).numpy() for h in hidden]
    final = None if architecture == "bert" else out.hidden_states[-1][0].numpy()
    logits = None if architecture == "bert" else out.logits[0].numpy()
    assert all(x.dtype == np.float64 for x in [*states, *itertools.chain(*caught)])
    return caught, out.hidden_states[0][0].numpy(), states, final, logits
