#!/usr/bin/env python3
"""Makes the fastest right programs of an ONNX graph: bin/prepare-model FILE.onnx.

For each of some sizes of the graph's open dimensions (a bucket), and for any sizes, this compiles the graph with each known set of flags,
compares the results of our runtime with ONNX Runtime's for random inputs, and keeps the fastest program that is right, by the ratio to ONNX
Runtime measured just before it. One archive has the weights of all programs. Nothing else should run meanwhile.

A bucket without a right program, or a graph without one for any sizes, is left out, and the others are written. Exit status: 0 if something
was written, 1 for a graph or a place that cannot be used, 3 if there is no right program at all; then nothing is written.
"""

import argparse
import contextlib
import errno
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime
from onnx import helper

TILING, MICROKERNELS = "--iree-opt-data-tiling", "--iree-llvmcpu-enable-ukernels=all"
CHANNELS_LAST = "--iree-preprocessing-pass-pipeline=builtin.module(util.func(iree-preprocessing-convert-conv-to-channels-last))"
O2, O3 = "--iree-opt-level=O2", "--iree-opt-level=O3"
SETS = [
    ("none", []),
    ("O2", [O2]),
    ("O3", [O3]),
    ("tiling", [TILING]),
    ("tiling, microkernels", [TILING, MICROKERNELS]),
    ("O2, tiling", [O2, TILING]),
    ("O2, tiling, microkernels", [O2, TILING, MICROKERNELS]),
]
OF_CONVOLUTIONS = [
    ("channels-last, tiling", [CHANNELS_LAST, TILING]),
    ("channels-last, O2, tiling", [CHANNELS_LAST, O2, TILING]),
    ("channels-last, tiling, microkernels", [CHANNELS_LAST, TILING, MICROKERNELS]),
]
COMPILE_SECONDS, RUN_SECONDS = 300, 120
MEASURED_SIZE = 4  # of an open dimension, where no shapes are given
MOST_ELEMENTS = 1 << 28  # of the inputs of a bucket
BY_HAND = "compile by hand (docs/bring-your-own-model.md)"
QUANTIZED = (
    "the graph is quantised, and IREE 3.13 computes MaxPool of uint8, and QLinearConv with a bias and scales for each channel, wrong, in IREE's own "
    "runtime too; export the graph without quantisation, or with QuantizeLinear and DequantizeLinear around operations on floats"
)


def fail(message, status=1):
    print(f"iree4j: {message}", file=sys.stderr, flush=True)
    sys.exit(status)


def on_signals(action):
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, action)


def ends(*_):
    """Of a signal: what was begun is taken back, however often one presses Ctrl-C."""
    on_signals(signal.SIG_IGN)
    raise KeyboardInterrupt


class Model:
    """An ONNX graph, whose open dimensions all have names."""

    def __init__(self, path):
        try:
            self.proto = onnx.load(path)  # with the files of weights beside it
            if sum(len(each.raw_data) for each in self.proto.graph.initializer) >= 1 << 31:
                raise ValueError("more than 2 GB of weights, which this command cannot rewrite")
            onnx.checker.check_model(self.proto)
        except Exception as e:  # of protobuf, of the checker and of the system
            reason = (str(e).strip() or type(e).__name__).splitlines()[0].rstrip(".")
            fail(f"'{path}' cannot be read as an ONNX graph: {reason}; export the graph again, together with its files of weights, or {BY_HAND}")
        graph = self.proto.graph
        del graph.value_info[:]  # of other sizes
        weights = {each.name for each in graph.initializer}
        values = [each for each in graph.input if each.name not in weights]
        del graph.input[:]
        graph.input.extend(values)
        self.inputs, self.outputs = list(graph.input), list(graph.output)
        self.axes, names = [], {}
        for value in self.inputs + self.outputs:
            if not value.type.HasField("tensor_type"):
                fail(f"'{value.name}' of '{path}' is no tensor; export the graph with tensors alone")
            if not value.type.tensor_type.HasField("shape") and value in self.inputs:
                fail(f"the input '{value.name}' of '{path}' has no rank; export the graph with shapes")
            for i, dim in enumerate(value.type.tensor_type.shape.dim):
                if dim.HasField("dim_value") and dim.dim_value > 0:
                    continue
                given = dim.dim_param or (value.name, i)
                if given not in names:  # as rules of shapes and YAML write them, and without taking two for one
                    name = re.sub("[^A-Za-z0-9_]+", "-", dim.dim_param or f"{value.name}-{i}").strip("-_")[:50]
                    name = name if name[:1].isalpha() else f"d{name}"
                    names[given] = name if name not in names.values() else f"{name}-{len(names)}"
                dim.dim_param = names[given]
                if value in self.inputs and dim.dim_param not in self.axes:
                    self.axes.append(dim.dim_param)
        operations = {each.op_type for each in graph.node}
        self.convolutions = bool(operations & {"Conv", "QLinearConv"})
        self.known_wrong = bool(operations & {"MaxPool", "QLinearConv"})
        self.quantized = any(each == "QuantizeLinear" or each.startswith("QLinear") or each.endswith("Integer") for each in operations)
        self.limits = self.index_limits()
        self.opset = max([each.version for each in self.proto.opset_import if each.domain in ("", "ai.onnx")], default=0)

    def index_limits(self):
        """By name of an input of integers that picks rows of weights: the number of rows."""
        shapes = {each.name: each.dims for each in self.proto.graph.initializer}
        same, limits = {}, {}
        for node in self.proto.graph.node:
            if node.op_type in ("Cast", "Identity", "Reshape", "Flatten", "Unsqueeze", "Squeeze"):
                same[node.output[0]] = same.get(node.input[0], node.input[0])
            if node.op_type == "Gather" and node.input[0] in shapes:
                axis = next((each.i for each in node.attribute if each.name == "axis"), 0)
                name = same.get(node.input[1], node.input[1])
                limits[name] = min(limits.get(name, 1 << 31), shapes[node.input[0]][axis])
        return limits

    def fixed(self, function, sizes):
        """The graph with these sizes of open dimensions, under the name of a function."""
        model = onnx.ModelProto()
        model.CopyFrom(self.proto)
        model.graph.name = function
        for value in [*model.graph.input, *model.graph.output]:
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_param in sizes:
                    dim.dim_value = sizes[dim.dim_param]
        return model

    def random_inputs(self, sizes):
        """Of normal distribution; integers that pick rows of weights, or 0 and 1; masks of ones."""
        numbers, inputs = numpy.random.default_rng(0), {}
        for value in self.inputs:
            kind = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            shape = [dim.dim_value or sizes[dim.dim_param] for dim in value.type.tensor_type.shape.dim]
            if kind.kind not in "fiub":
                fail(f"the input '{value.name}' has elements of {kind}, which this command has no random numbers for; {BY_HAND}")
            if is_mask(value):
                data = numpy.ones(shape)
            elif kind.kind in "iub":
                quantized = numpy.iinfo(kind).max + 1 if kind in (numpy.int8, numpy.uint8) else 2
                data = numbers.integers(0, self.limits.get(value.name, quantized), shape)
            else:
                data = numbers.standard_normal(shape)
            inputs[value.name] = numpy.asarray(data).astype(kind)
        return inputs

    def right(self, expected, got):
        """Whether results are those of ONNX Runtime, and the greatest difference."""
        if expected.shape != got.shape:
            return False, float("inf")
        if expected.size == 0:
            return True, 0.0
        if expected.dtype.kind in "ui" and got.dtype.itemsize == expected.dtype.itemsize:
            got = got.view(expected.dtype)  # programs know no signs
        exact = not numpy.issubdtype(expected.dtype, numpy.floating)
        small = expected.dtype == numpy.float16
        expected, got = expected.astype(numpy.float64), got.astype(numpy.float64)
        difference = numpy.abs(expected - got)
        greatest = float(numpy.nanmax(difference)) if not numpy.isnan(difference).all() else 0.0
        if exact:
            return greatest <= (1 if self.quantized else 0), greatest
        share, floor = (2e-2, 2e-2) if self.quantized or small else (1e-3, 1e-4)
        atol = floor * float(numpy.nanmax(numpy.abs(expected), initial=0)) + 1e-7
        return numpy.allclose(got, expected, rtol=share, atol=atol, equal_nan=True), greatest


def is_mask(value):
    return "mask" in value.name.lower() and len(value.type.tensor_type.shape.dim) > 0


def result_of(model, inputs):
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, inputs)


def milliseconds(model, inputs):
    """The median of calls of ONNX Runtime in about a second, in milliseconds. Its threads are gone afterwards, as they would go on spinning."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    times, end = [], time.perf_counter() + 1
    while time.perf_counter() < end or len(times) < 5:
        begin = time.perf_counter()
        session.run(None, inputs)
        times.append(time.perf_counter() - begin)
    return float(numpy.median(times[len(times) // 5 :])) * 1e3


def padded_axes(model, sizes):
    """The axes along which zeros behind the given elements leave the other results alone, as ONNX Runtime computes them."""
    padded = []
    for axis in sizes:
        if sizes[axis] < 2:
            continue
        fewer = {**sizes, axis: sizes[axis] - 1}
        inputs = model.random_inputs(fewer)
        filled = {}
        for value in model.inputs:
            dims = value.type.tensor_type.shape.dim
            filled[value.name] = numpy.pad(inputs[value.name], [(0, int(dim.dim_param == axis)) for dim in dims])
        try:
            expected, got = result_of(model.proto, inputs), result_of(model.proto, filled)
        except Exception:  # the graph refuses these sizes
            continue
        cut = []
        for value, array in zip(model.outputs, got):
            dims = value.type.tensor_type.shape.dim
            cut.append(array[tuple(slice(0, -1) if dim.dim_param == axis else slice(None) for dim in dims)])
        if all(model.right(a, b)[0] for a, b in zip(expected, cut)):
            padded.append(axis)
    return padded


def named(sizes):
    return ", ".join(f"{axis} {size}" for axis, size in sizes.items())


def first_error(text):
    lines = [line for line in text.splitlines() if "error:" in line] or text.strip().splitlines() or ["no reason was given"]
    return lines[0].split("error:")[-1].strip().replace("|", "/")[:100]


class Maker:
    """Compiles, compares and measures, in a directory for that."""

    def __init__(self, model, work, cpu):
        self.model, self.work, self.cpu = model, work, cpu
        self.tools, self.root = pathlib.Path(sys.executable).parent, pathlib.Path(__file__).resolve().parents[4]
        self.archive = False
        self.rows, self.failed = [], []
        try:
            self.call(900, self.root / "bin/iree4j", "--help")  # which builds itself, once
        except RuntimeError as e:
            fail(f"bin/iree4j, which runs the programs, fails: {e}; run it alone and see what it says")

    def call(self, seconds, *command):
        """What a command printed, or its failure."""
        pipe = subprocess.PIPE
        done = subprocess.Popen([str(each) for each in command], cwd=self.work, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
        try:
            out, errors = done.communicate(timeout=seconds)
        except BaseException as e:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.killpg(done.pid, signal.SIGKILL)  # iree-compile is a script that starts the compiler
            done.communicate()
            if isinstance(e, subprocess.TimeoutExpired):
                raise RuntimeError(f"took more than {seconds} s") from None
            raise
        if done.returncode and "No space left on device" in errors + out:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # which is no fault of the graph
        if done.returncode:
            raise RuntimeError(first_error(errors or out))
        return out

    def imported(self, proto, name):
        onnx.save(proto, self.work / f"{name}.onnx")
        options = ["--opset-version", 17] if self.model.opset < 17 else []
        save = ["--no-save-params"] if self.archive else ["--save-params-to", "model.irpa"]
        try:
            self.call(COMPILE_SECONDS, self.tools / "iree-import-onnx", f"{name}.onnx", "-o", f"{name}.mlir", *options,
                      "--externalize-params", "--num-elements-threshold", 100, "--params-scope", "model", *save)
        except RuntimeError as e:
            raise RuntimeError(f"iree-import-onnx refuses the graph: {e}; export the graph with other operations, or {BY_HAND}") from None
        self.archive = "parameter.named<" in (self.work / f"{name}.mlir").read_text()

    def makes(self, name, function, sizes, measured):
        """Whether there is a right program of some sizes, measured with others where it is for any; else says why not."""
        bucket = named(sizes) or ("any sizes" if measured else "fixed sizes")
        try:
            self.best(name, function, bucket, sizes, measured)
            return True
        except RuntimeError as e:
            self.failed.append(f"there is no program for {bucket}: {e}")
            print(f"iree4j: {self.failed[-1]}", file=sys.stderr, flush=True)
            return False

    def best(self, name, function, bucket, sizes, measured):
        proto = self.model.fixed(function, sizes)
        inputs = self.model.random_inputs(measured)
        try:
            expected = result_of(proto, inputs)
        except Exception as e:
            reason = str(e).strip().splitlines()[0][:300]
            raise RuntimeError(f"ONNX Runtime refuses the graph for {named(measured) or 'random inputs'}: {reason}; choose other --shapes") from None
        for i, value in enumerate(self.model.inputs):
            numpy.save(self.work / f"input{i}.npy", inputs[value.name])
        self.imported(proto, name)
        parameters = ["--parameters=model=model.irpa"] if self.archive else []
        call = [f"--input=@input{i}.npy" for i in range(len(inputs))]
        kept, tried = None, {}
        for label, flags in SETS + (OF_CONVOLUTIONS if self.model.convolutions else []):
            begin = time.perf_counter()
            seconds = ms = peer = greatest = None
            try:
                made = f"{name}.tried.vmfb"
                self.call(COMPILE_SECONDS, self.tools / "iree-compile", f"{name}.mlir", "-o", made, "--iree-hal-target-device=local",
                          "--iree-hal-local-target-device-backends=llvm-cpu", f"--iree-llvmcpu-target-cpu={self.cpu}",
                          "--iree-llvmcpu-debug-symbols=false", *flags)
                seconds = time.perf_counter() - begin
                same = tried.setdefault((self.work / made).read_bytes(), label)
                if same != label:  # whose other time would be noise
                    self.row(bucket, label, seconds, None, None, None, f"the program of '{same}'")
                    continue
                program = [f"--module={made}", *parameters, f"--function={function}", *call]
                outputs = [f"--output=@output{i}.npy" for i in range(len(expected))]
                self.call(RUN_SECONDS, self.root / "bin/iree4j", "run", *program, *outputs)
                compared = [self.model.right(a, numpy.load(self.work / f"output{i}.npy")) for i, a in enumerate(expected)]
                greatest = max(difference for _, difference in compared)
                verdict = "" if all(right for right, _ in compared) else "wrong"
                if not verdict:
                    peer = milliseconds(proto, inputs)  # each time, since machines change their speed
                    report = json.loads(self.call(RUN_SECONDS, self.root / "bin/iree4j", "benchmark", *program, "--benchmark_min_time=0.5s",
                                                  "--benchmark_min_warmup_time=5", "--benchmark_repetitions=3", "--benchmark_format=json", "--time_unit=ms"))
                    ms = next(each["real_time"] for each in report["benchmarks"] if each["name"].endswith("_median"))
                    if kept is None or ms / peer < kept[0]:
                        kept = ms / peer, label, ms
                        (self.work / made).replace(self.work / f"{name}.vmfb")
            except RuntimeError as e:
                verdict = str(e)
            self.row(bucket, label, seconds, ms, ms and ms / peer, greatest, verdict)
        if kept:
            missed = ", more than the aim of 1.2" if kept[0] > 1.2 else ""
            print(f"{bucket}: {kept[1]}, {kept[2]:.3g} ms, {kept[0]:.3g} times ONNX Runtime{missed}", flush=True)
        else:
            reason = "the numbers are wrong" if verdict == "wrong" else verdict
            remedy = "give the graph fixed sizes" if self.model.axes and not sizes else "fix the graph"
            raise RuntimeError("no set of flags makes a right one: " + (QUANTIZED if self.model.quantized and self.model.known_wrong else
                               f"{reason}; {remedy}, or {BY_HAND} with other flags"))

    def row(self, bucket, label, seconds, ms, ratio, greatest, verdict):
        if not self.rows:
            self.rows = ["| Bucket | Flags | Compiled in s | ms | / ONNX Runtime | Difference | |", "|---|---|---|---|---|---|---|"]
            print("\n".join(self.rows))
        cells = ["" if each is None else f"{each:.3g}" for each in (seconds, ms, ratio, greatest)]
        self.rows.append(f"| {' | '.join([bucket, label, *cells, verdict])} |")
        print(self.rows[-1], flush=True)


def buckets(text, model):
    """The sizes of each of the buckets: batch=1:length=16,batch=4:length=16."""
    found = []
    for bucket in text.split(",") if text else []:
        sizes = {}
        for each in bucket.split(":"):
            axis, _, size = each.partition("=")
            if axis not in model.axes:
                known = ", ".join(model.axes)
                fail(f"--shapes: the graph has no open dimension '{axis}'; " + (f"it has {known}" if known else "all sizes are fixed: leave --shapes out"))
            if axis in sizes or not re.fullmatch("[1-9][0-9]{0,8}", size):
                fail(f"--shapes: '{bucket}' does not give one size of {axis}; write {axis}=NUMBER once")
            sizes[axis] = int(size)
        missing = [axis for axis in model.axes if axis not in sizes]
        if missing:
            fail(f"--shapes: '{bucket}' gives no size of {missing[0]}; add :{missing[0]}=NUMBER")
        dims = [[dim.dim_value or sizes[dim.dim_param] for dim in value.type.tensor_type.shape.dim] for value in model.inputs]
        if sum(math.prod(each) for each in dims) > MOST_ELEMENTS:
            fail(f"--shapes: the inputs of '{bucket}' have more than {MOST_ELEMENTS} elements; choose smaller sizes")
        sizes = {axis: sizes[axis] for axis in model.axes}
        if sizes in found:
            fail(f"--shapes: '{bucket}' is there twice; leave one out")
        found.append(sizes)
    return found


def rules(model, padded):
    """The rules of the property; `axis!` for an axis that must not be padded."""

    def text(value, masks):
        dims = value.type.tensor_type.shape.dim
        marked = {axis: axis if axis in padded else axis + "!" for axis in model.axes}
        parts = [str(dim.dim_value) if dim.HasField("dim_value") else marked.get(dim.dim_param, "_") for dim in dims]
        mask = masks and is_mask(value) and any(dim.dim_param in model.axes for dim in dims)
        return "[" + " ".join(parts) + "]" + (" mask" if mask else "") if parts else "_"

    return ", ".join(text(each, True) for each in model.inputs) + " -> " + ", ".join(text(each, False) for each in model.outputs)


def properties(name, output, model, archive, variants, padded):
    """The properties; variants are programs with their functions, of which the first is the module's own."""
    program, function = variants[0]
    lines = [
        f"# Written by bin/prepare-model. Imported by: spring.config.import: \"file:{output}/application.yaml\"",
        "iree:",
        "  modules:",
        f"    \"{name}\":",
        f"      location: \"file:{output}/{program}.vmfb\"",
    ]
    if archive:
        lines += ["      parameters:", f"        model: \"file:{output}/model.irpa\""]
    names = [each.name for each in model.inputs + model.outputs]
    if all(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", each) for each in names) and len(set(names)) == len(names):
        signature = [", ".join(f"%{each.name}" for each in values) for values in (model.inputs, model.outputs)]
        lines += ["      functions:", f"        \"[{function}]\":", f"          signature: \"({signature[0]}) -> ({signature[1]})\""]
    if variants != [("model", "main")]:
        sizes = "x".join(f"{{{axis}}}" for axis in model.axes)
        own = ["\"main\""] if function == "main" else []
        lines += ["      variants:"] + ([] if own else ["        # None is for any sizes: calls that fit none of these fail with INVALID_ARGUMENT."])
        lines += ["        main:", f"          shapes: \"{rules(model, padded)}\"", f"          functions: [{', '.join(own + [f'\"main_{sizes}\"'])}]"]
        lines += ["          modules:"] if variants[1:] else []
        lines += [f"            - location: \"file:{output}/{program}.vmfb\"" for program, _ in variants[1:]]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--shapes", default="", help="sizes of open dimensions, as batch=1:length=16,batch=4:length=16")
    parser.add_argument("--target-cpu", default="host", help="as for --iree-llvmcpu-target-cpu")
    arguments = parser.parse_args()
    on_signals(ends)
    model = Model(arguments.file)
    shapes = buckets(arguments.shapes, model)
    print(f"open dimensions: {', '.join(model.axes) or 'none'}")
    output = arguments.output.absolute()
    is_new = False
    try:
        str(output).encode()  # as YAML will
        is_new = not output.exists()
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=output) as work:
            make(model, shapes, output, Maker(model, pathlib.Path(work), arguments.target_cpu), arguments.name)
    except (OSError, UnicodeError) as e:
        fail(f"cannot write to {str(output)!r}: {e}; name another folder by --output=DIRECTORY")
    finally:
        if is_new and output.is_dir() and not any(output.iterdir()):
            output.rmdir()


def make(model, shapes, output, maker, name):
    bucketed = [("x".join(str(size) for size in sizes.values()), sizes) for sizes in shapes]
    made = [(text, sizes) for text, sizes in bucketed if maker.makes(f"model-{text}", f"main_{text}", sizes, sizes)]
    shapes = [sizes for _, sizes in made] or shapes
    # The program for any sizes is measured with the first of the buckets; it takes what fits none.
    any_sizes = maker.makes("model", "main", {}, shapes[0] if shapes else {axis: MEASURED_SIZE for axis in model.axes})
    variants = [("model", "main")] * any_sizes + [(f"model-{text}", f"main_{text}") for text, _ in made]
    if not variants:
        fail("there is no right program; nothing was written", 3)
    padded = set(made and model.axes)
    for _, sizes in made:
        padded &= set(padded_axes(model, sizes)) | {axis for axis in sizes if sizes[axis] < 2}
    padded -= {axis for axis in padded if all(sizes[axis] < 2 for _, sizes in made)}
    (maker.work / "application.yaml").write_text(properties(name, output, model, maker.archive, variants, padded), encoding="utf-8")
    (maker.work / "tried.md").write_text("\n".join(maker.rows + [""] + maker.failed).strip() + "\n", encoding="utf-8")
    files = [f"{program}.vmfb" for program, _ in variants] + ["model.irpa"] * maker.archive + ["application.yaml", "tried.md"]
    on_signals(signal.SIG_IGN)  # all files or none
    for each in files:  # renamed, since an application may have the old one mapped
        (maker.work / each).chmod(0o644)
        os.replace(maker.work / each, output / each)
    if made:
        exact = [axis for axis in model.axes if axis not in padded]
        print(f"calls are padded along {', '.join(axis for axis in model.axes if axis in padded) or 'no dimension'}"
              + (f"; of {', '.join(exact)} programs take their own sizes only" if exact else ""))
    for each in maker.failed:
        print(f"not made: {each}")
    if not any_sizes:
        print("calls that fit no bucket fail with INVALID_ARGUMENT, since there is no program for any sizes; name their sizes by --shapes, too")
    print(f"wrote {', '.join(files[:-1])} and {files[-1]} to {output}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        fail("interrupted; nothing was written", 130)
