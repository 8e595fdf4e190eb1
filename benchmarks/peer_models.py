"""Graphs as ONNX files, with random weights, for benchmarks/peer.py: peer_models.py NAME FILE.onnx, run by a Python that has onnx and numpy.

decoder  a step of a language model: two layers of 64 numbers, four heads, a cache of any length that is given back longer by one
lstm     an LSTM of 64 numbers over 20 steps
unet     a U-Net of two levels over 64 x 64 pixels
resnet   a residual network of four stages over 64 x 64 pixels
plain    six convolutions of 3 x 3 over 64 x 64 pixels; the third and the fifth halve the picture
"""
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

RANDOM = np.random.default_rng(20261125)


class Graph:
    """Nodes in their order; each call adds one and returns the name of its first result."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def __call__(self, operator, *inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def weights(self, *shape):
        return self.constant((RANDOM.standard_normal(shape) / np.sqrt(np.prod(shape[1:] or shape))).astype(np.float32))

    def save(self, file, inputs, outputs):
        made = [[helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in values] for values in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, "main", *made, self.constants)
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)


def decoder(file, width=64, heads=4, layers=2, words=256):
    g = Graph()
    head = width // heads
    inputs, outputs = [("token", TensorProto.INT64, [1, 1])], []
    x = g("Gather", g.weights(words, width), "token")

    def normal(value):
        return g("LayerNormalization", value, g.constant(np.ones(width, np.float32)), g.constant(np.zeros(width, np.float32)), axis=-1)

    def split(value):
        shaped = g("Reshape", value, g.constant(np.array([1, 1, heads, head], np.int64)))
        return g("Transpose", shaped, perm=[0, 2, 1, 3])

    for i in range(layers):
        before = normal(x)
        query, key, value = (split(g("MatMul", before, g.weights(width, width))) for _ in range(3))
        for kind, new in (("key", key), ("value", value)):
            name = f"{kind}{i}"
            inputs.append((name, TensorProto.FLOAT, [1, heads, "past", head]))
            longer = g("Concat", name, new, axis=2)
            outputs.append((longer, TensorProto.FLOAT, [1, heads, "length", head]))
            key, value = (longer, value) if kind == "key" else (key, longer)
        scores = g("Div", g("MatMul", query, g("Transpose", key, perm=[0, 1, 3, 2])), g.constant(np.float32(np.sqrt(head))))
        seen = g("MatMul", g("Softmax", scores, axis=-1), value)
        joined = g("Reshape", g("Transpose", seen, perm=[0, 2, 1, 3]), g.constant(np.array([1, 1, width], np.int64)))
        x = g("Add", x, g("MatMul", joined, g.weights(width, width)))
        inner = g("Relu", g("MatMul", normal(x), g.weights(width, 4 * width)))
        x = g("Add", x, g("MatMul", inner, g.weights(4 * width, width)))
    outputs.insert(0, (g("MatMul", normal(x), g.weights(width, words)), TensorProto.FLOAT, [1, 1, words]))
    g.save(file, inputs, outputs)


def lstm(file, steps=20, width=64):
    g = Graph()
    every, last, _ = g("LSTM", "x", g.weights(1, 4 * width, width), g.weights(1, 4 * width, width), g.weights(1, 8 * width),
                       outputs=3, hidden_size=width)
    g.save(file, [("x", TensorProto.FLOAT, [steps, 1, width])],
           [(every, TensorProto.FLOAT, [steps, 1, 1, width]), (last, TensorProto.FLOAT, [1, 1, width])])


def convolution(g, x, come, go, size=3, stride=1):
    return g("Conv", x, g.weights(go, come, size, size), g.weights(go), pads=[size // 2] * 4, strides=[stride] * 2)


def unet(file, width=16):
    g = Graph()

    def twice(x, come, go):
        return g("Relu", convolution(g, g("Relu", convolution(g, x, come, go)), go, go))

    top = twice("x", 3, width)
    middle = twice(g("MaxPool", top, kernel_shape=[2, 2], strides=[2, 2]), width, 2 * width)
    x = twice(g("MaxPool", middle, kernel_shape=[2, 2], strides=[2, 2]), 2 * width, 4 * width)
    for level, other in ((2, middle), (1, top)):
        up = g("ConvTranspose", x, g.weights(2 * level * width, level * width, 2, 2), strides=[2, 2])
        x = twice(g("Concat", up, other, axis=1), 2 * level * width, level * width)
    g.save(file, [("x", TensorProto.FLOAT, [1, 3, 64, 64])], [(convolution(g, x, width, 1, 1), TensorProto.FLOAT, [1, 1, 64, 64])])


def resnet(file, width=16, stages=4):
    g = Graph()
    x = g("Relu", convolution(g, "x", 3, width, 7, 2))
    come = width
    for stage in range(stages):
        go = width << stage
        for block in range(2):
            stride = 2 if stage > 0 and block == 0 else 1
            inner = convolution(g, g("Relu", convolution(g, x, come, go, 3, stride)), go, go)
            x = g("Relu", g("Add", inner, x if come == go else convolution(g, x, come, go, 1, stride)))
            come = go
    pooled = g("Flatten", g("GlobalAveragePool", x))
    g.save(file, [("x", TensorProto.FLOAT, [1, 3, 64, 64])],
           [(g("MatMul", pooled, g.weights(come, 10)), TensorProto.FLOAT, [1, 10])])


def plain(file):
    g = Graph()
    x, come = "x", 3
    for go, stride in ((16, 1), (16, 1), (32, 2), (32, 1), (64, 2), (64, 1)):
        x, come = g("Relu", convolution(g, x, come, go, 3, stride)), go
    g.save(file, [("x", TensorProto.FLOAT, [1, 3, 64, 64])], [(x, TensorProto.FLOAT, [1, 64, 16, 16])])


if __name__ == "__main__":
    {"decoder": decoder, "lstm": lstm, "unet": unet, "resnet": resnet, "plain": plain}[sys.argv[1]](sys.argv[2])
