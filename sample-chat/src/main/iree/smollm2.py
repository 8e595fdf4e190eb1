#!/usr/bin/env python3
"""Makes a program and its files of a published language model: SmolLM2-135M-Instruct, from weights of 4 bits in a file of the format
GGUF, which are stored as numbers of 16 bits. Needs IREE's packages, numpy and gguf; bin/prepare-model smollm2 has them.

    sample-chat/src/main/iree/smollm2.py --weights=FILE.gguf --out=FOLDER [--target-cpu=CPU]
"""

import argparse
import json
import pathlib
import sys

import gguf
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "fixtures" / "generation"))
import decoder

CONTROL = 3  # token type of GGUF


def fields(reader):
    return {name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")}


def sizes(known, context):
    """Arguments of decoder.py."""
    n = {name.removeprefix("llama."): value for name, value in known.items() if name.startswith("llama.")}
    return [f"--width={n['embedding_length']}", f"--layers={n['block_count']}", f"--heads={n['attention.head_count']}",
            f"--kv-heads={n['attention.head_count_kv']}", f"--ffn={n['feed_forward_length']}", f"--vocabulary={n['vocab_size']}",
            f"--rope-theta={n['rope.freq_base']}", f"--epsilon={n['attention.layer_norm_rms_epsilon']}", f"--context={context}",
            "--weights=f16", "--prefill-position"]


def weights(reader, model):
    """The archive's entries. The file has no output.weight: the embeddings are the outputs, too."""
    given = {tensor.name: tensor for tensor in reader.tensors}
    entries = {}
    for name, shape in model.parameters().items():
        tensor = given[name if name in given else "token_embd.weight"]
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).reshape(shape)
        entries[name] = values.astype({"f32": numpy.float32, "f16": numpy.float16}[model.kind(name)])
    return entries


def tokenizer(known):
    """In the form of Hugging Face's tokenizers."""
    tokens, types = known["tokenizer.ggml.tokens"], known["tokenizer.ggml.token_type"]
    special = [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
               for i, text in enumerate(tokens) if types[i] == CONTROL]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, level]},
            "post_processor": None, "decoder": level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                      "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": {text: i for i, text in enumerate(tokens)}, "merges": known["tokenizer.ggml.merges"]}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--weights", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--context", type=int, default=2048)
    parser.add_argument("--target-cpu", default="host")
    own = parser.parse_args()
    reader = gguf.GGUFReader(own.weights)
    known = fields(reader)
    model = decoder.Model(decoder.arguments_of(
        [*sizes(known, own.context), f"--out={own.out}", "--compile", f"--target-cpu={own.target_cpu}"]))
    decoder.write(model, weights(reader, model))
    tokens = known["tokenizer.ggml.tokens"]
    (own.out / "tokenizer.json").write_text(json.dumps(tokenizer(known), ensure_ascii=False) + "\n")
    (own.out / "tokenizer_config.json").write_text(json.dumps(
        {"bos_token": tokens[known["tokenizer.ggml.bos_token_id"]], "eos_token": tokens[known["tokenizer.ggml.eos_token_id"]],
         "add_bos_token": False, "model_max_length": own.context, "chat_template": known["tokenizer.chat_template"]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
