"""Writes a perceptron 64-128-10 as mlp.onnx and mlp.vmfb, for requests to ONNX Runtime and to iree4j in one application.

Needs the packages onnx, numpy and iree-base-compiler[onnx].
"""
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
random = numpy.random.default_rng(7)


def weights(name, *shape):
    return numpy_helper.from_array(random.normal(0, 0.1, shape).astype(numpy.float32), name)


graph = helper.make_graph(
    [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["y"]),
    ],
    "mlp",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
    [weights("w1", 64, 128), weights("b1", 128), weights("w2", 128, 10), weights("b2", 10)],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
onnx.checker.check_model(model)
onnx.save(model, f"{folder}/mlp.onnx")
subprocess.run(["iree-import-onnx", f"{folder}/mlp.onnx", "-o", f"{folder}/mlp.mlir"], check=True)
subprocess.run(
    [
        "iree-compile",
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
        f"{folder}/mlp.mlir",
        "-o",
        f"{folder}/mlp.vmfb",
    ],
    check=True,
)
