#!/usr/bin/env python3
"""Makes an ONNX model into programs for this machine: bin/prepare-model FILE.onnx.

The graph becomes a program for any shape, and one more for each of the given shapes; one archive has the weights of all. Which flags of
the compiler are best depends on the graph and on the sizes, so each program is compiled with every set of flags in SETS, its results are
compared with ONNX Runtime's, and the fastest of the right ones is kept.
"""

import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime

LAST = ["--iree-preprocessing-pass-pipeline=builtin.module(util.func(iree-preprocessing-convert-conv-to-channels-last))"]
TILED = ["--iree-opt-data-tiling"]
SETS = {  # tried for every graph
    "no flags": [],
    "O2": ["--iree-opt-level=O2"],
    "tiled": TILED,
    "O2, tiled": ["--iree-opt-level=O2", *TILED],
    "tiled, microkernels": [*TILED, "--iree-llvmcpu-enable-ukernels=all"],
}
CONVOLUTION_SETS = {  # tried for convolutions, whose channels come first in ONNX
    "channels last": LAST,
    "channels last, tiled": [*LAST, *TILED],
    "O2, channels last, tiled": ["--iree-opt-level=O2", *LAST, *TILED],
}
OPSET = 17  # of older graphs, which are converted
COMPILE_SECONDS = 900
MEASURE_SECONDS = 1
ANY = 4  # the size of an open dimension where no shape is given


def fail(text):
    sys.exit(f"iree4j: {text}")


class Model:
    """A graph with some of its open dimensions."""

    def __init__(self, graph, sizes):
        self.proto = onnx.ModelProto()
        self.proto.CopyFrom(graph)
        for value in (*self.proto.graph.input, *self.proto.graph.output):
            for dimension in value.type.tensor_type.shape.dim:
                if dimension.dim_param in sizes:
                    dimension.dim_value = sizes[dimension.dim_param]
        if sizes:  # may contradict the sizes
            del self.proto.graph.value_info[:]
        self.sizes = sizes

    def inputs(self):
        weights = {each.name for each in self.proto.graph.initializer}
        return [each for each in self.proto.graph.input if each.name not in weights]


def shape(value):
    """Numbers, and names of open dimensions; names made up for dimensions without a name."""
    return [each.dim_value if each.HasField("dim_value") else each.dim_param or "_" for each in value.type.tensor_type.shape.dim]


def indices(graph):
    """How many rows the smallest table has that an input chooses from, by the input's name."""
    rows = {each.name: each.dims[0] for each in graph.initializer if each.dims}
    bounds = {}
    for node in graph.node:
        if node.op_type == "Gather" and node.input[0] in rows:
            bounds[node.input[1]] = min(bounds.get(node.input[1], 1 << 30), rows[node.input[0]])
    return bounds


def arguments_of(model, sizes):
    """Random inputs: indices within their tables, other integers 1, as masks are."""
    random, bounds, made = numpy.random.default_rng(1), indices(model.proto.graph), {}
    for value in model.inputs():
        dimensions = [sizes.get(each, ANY) if isinstance(each, str) else each for each in shape(value)]
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if numpy.issubdtype(kind, numpy.floating):
            made[value.name] = random.standard_normal(dimensions).astype(kind)
        elif value.name in bounds:
            made[value.name] = random.integers(0, bounds[value.name], dimensions).astype(kind)
        else:
            made[value.name] = numpy.ones(dimensions, kind)
    return made


class Peer:
    """ONNX Runtime's results and time in milliseconds, with all processors."""

    def __init__(self, model, given):
        session = onnxruntime.InferenceSession(model.proto.SerializeToString(), providers=["CPUExecutionProvider"])
        self.results = session.run(None, given)
        times, end = [], time.monotonic() + 2 * MEASURE_SECONDS
        while time.monotonic() < end or len(times) < 3:
            begun = time.perf_counter()
            session.run(None, given)
            times.append(1e3 * (time.perf_counter() - begun))
        self.milliseconds = statistics.median(times[len(times) // 2 :])


class Maker:
    def __init__(self, work, target, iree4j):
        self.work, self.target, self.iree4j = work, target, iree4j
        self.tools = pathlib.Path(sys.executable).parent

    def run(self, *command, limit=COMPILE_SECONDS):
        """The output, or the reason of a failure."""
        try:
            done = subprocess.run([str(each) for each in command], cwd=self.work, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return None, f"took longer than {limit} s"
        if done.returncode:
            lines = [each for each in done.stderr.splitlines() if "error" in each.lower()] or done.stderr.splitlines()
            return None, (lines or [f"ended with status {done.returncode}"])[0].strip()[:200]
        return done.stdout, None

    def load(self, model, name):
        """Translates a graph; returns the name of its function."""
        onnx.save(model.proto, self.work / f"{name}.onnx")
        version = next((each.version for each in model.proto.opset_import if not each.domain), OPSET)
        upgrade = ["--opset-version", OPSET] if version < OPSET else []
        archive = ["--no-save-params"] if (self.work / "model.irpa").exists() else ["--save-params-to", "model.irpa"]
        _, reason = self.run(self.tools / "iree-import-onnx", f"{name}.onnx", "-o", f"{name}.mlir", *upgrade,
                             "--externalize-params", "--num-elements-threshold", 100, "--params-scope", "model", *archive)
        if reason:
            fail(f"iree-import-onnx refuses '{name}': {reason}")
        with open(self.work / f"{name}.mlir") as text:
            return re.search(r'func\.func @"?([^"(]+)', text.read(1 << 16)).group(1)

    def compile(self, name, flags):
        return self.run(self.tools / "iree-compile", f"{name}.mlir", "-o", "trial.vmfb", "--iree-hal-target-device=local",
                        "--iree-hal-local-target-device-backends=llvm-cpu", f"--iree-llvmcpu-target-cpu={self.target}",
                        "--iree-llvmcpu-debug-symbols=false", *flags)[1]

    def call(self, command, function, given, *options):
        files = []
        for index, value in enumerate(given.values()):
            numpy.save(self.work / f"input{index}.npy", value)
            files.append(f"--input=@input{index}.npy")
        archive = ["--parameters=model=model.irpa"] if (self.work / "model.irpa").exists() else []
        return self.run(self.iree4j, command, "--module=trial.vmfb", *archive, f"--function={function}", *files, *options)


def difference(expected, got):
    """The largest difference, and whether it may be rounding."""
    if expected.shape != got.shape:
        return float("inf"), False
    if not numpy.issubdtype(expected.dtype, numpy.floating):
        largest = numpy.abs(expected.astype("f8") - got.astype("f8")).max(initial=0)
        return largest, largest <= 1
    rough = 1e-2 if expected.dtype == numpy.float16 else 1e-3
    scale = numpy.abs(expected).max(initial=0)
    largest = numpy.abs(expected.astype("f8") - got.astype("f8")).max(initial=0)
    return largest, bool(largest <= rough * max(scale, 1e-3))


def best(maker, name, model, sizes, sets):
    """Tries all sets of flags on a graph, prints a line for each, and returns the fastest program's file."""
    function = maker.load(model, name)
    given = arguments_of(model, sizes)
    try:
        peer = Peer(model, given)
    except Exception as reason:
        fail(f"ONNX Runtime refuses '{name}' with inputs {', '.join(f'{n} {list(v.shape)}' for n, v in given.items())}: {reason}")
    print(f"\n{name}, inputs {', '.join('x'.join(map(str, each.shape)) or 'scalar' for each in given.values())}: "
          f"ONNX Runtime {peer.milliseconds:.3g} ms", flush=True)
    print(f"  {'flags':28} {'compiled in':>11} {'ms':>9} {'ratio':>7}  largest difference", flush=True)
    kept, fastest, wrong = None, float("inf"), 0
    for flags, options in sets.items():
        begun = time.monotonic()
        reason = maker.compile(name, options)
        seconds = time.monotonic() - begun
        if reason:
            print(f"  {flags:28} refused: {reason}", flush=True)
            continue
        outputs = [f"--output=@output{index}.npy" for index in range(len(peer.results))]
        _, reason = maker.call("run", function, given, *outputs)
        if reason:
            print(f"  {flags:28} {seconds:9.1f} s failed: {reason}", flush=True)
            continue
        compared = [difference(each, numpy.load(maker.work / f"output{index}.npy")) for index, each in enumerate(peer.results)]
        largest, right = max(each for each, _ in compared), all(each for _, each in compared)
        if not right:
            wrong += 1
            print(f"  {flags:28} {seconds:9.1f} s {'':>9} {'':>7}  {largest:.1e}: wrong, not kept", flush=True)
            continue
        text, reason = maker.call("benchmark", function, given, "--benchmark_format=json", "--time_unit=us",
                                  f"--benchmark_min_warmup_time={2 * MEASURE_SECONDS}", f"--benchmark_min_time={MEASURE_SECONDS}s")
        if reason:
            print(f"  {flags:28} {seconds:9.1f} s failed: {reason}", flush=True)
            continue
        milliseconds = json.loads(text)["benchmarks"][0]["real_time"] / 1e3
        ratio = milliseconds / peer.milliseconds
        print(f"  {flags:28} {seconds:9.1f} s {milliseconds:9.3g} {ratio:7.2f}  {largest:.1e}", flush=True)
        if milliseconds < fastest:
            kept, fastest = flags, milliseconds
            (maker.work / "trial.vmfb").replace(maker.work / f"{name}.vmfb")
    if kept is None and wrong and any(each.op_type.startswith(("QLinear", "DequantizeLinear")) for each in model.proto.graph.node):
        fail("the graph is quantized (QLinear or DequantizeLinear nodes), and IREE computes it wrong with every set of flags; "
             "prepare the model before its quantization")
    if kept is None:
        fail(f"no set of flags gives a right program for '{name}', see the table; report the graph to IREE")
    print(f"  kept: {kept}, {fastest / peer.milliseconds:.2f} of ONNX Runtime's time", flush=True)
    return f"{name}.vmfb", function


def padding(model, names, sizes):
    """The open dimensions in which padding by zeros does not change the other results, as ONNX Runtime computes them."""
    session = onnxruntime.InferenceSession(model.proto.SerializeToString(), providers=["CPUExecutionProvider"])
    given = arguments_of(model, sizes)
    expected = session.run(None, given)
    kept = []
    for name in names:
        padded = {}
        for value in model.inputs():
            more = [(0, 3 if each == name else 0) for each in shape(value)]
            padded[value.name] = numpy.pad(given[value.name], more)
        try:
            results = session.run(None, padded)
        except Exception as reason:  # a size that the graph does not allow, for example
            print(f"padding of '{name}': not possible, {str(reason).splitlines()[0][:100]}")
            continue
        parts = [got[tuple(slice(0, size) for size in wanted.shape)] for got, wanted in zip(results, expected)]
        largest, right = zip(*(difference(wanted, part) for wanted, part in zip(expected, parts)))
        print(f"padding of '{name}': " + ("harmless" if all(right) else f"changes results by {max(largest):.1e}: sizes must be exact"))
        if all(right):
            kept.append(name)
    return kept


def rules(values, names, padded):
    """Shapes of arguments or results for the property: `name!` for an axis that must not be padded."""
    texts, marked = [], {name: name if name in padded else name + "!" for name in names}
    for each in values:
        text = " ".join(str(size) if isinstance(size, int) else marked.get(size, "_") for size in shape(each))
        texts.append(f"[{text}]" + (" mask" if "mask" in each.name.lower() else ""))
    return ", ".join(texts)


def parse(text, names):
    if not names:
        fail("--shapes: the model has no open dimension")
    shapes = []
    for each in text.split(","):
        sizes = each.split("x")
        if len(sizes) != len(names) or not all(size.isdigit() and int(size) > 0 for size in sizes):
            fail(f"--shapes: '{each}' must be {len(names)} sizes above 0, {'x'.join(names)}")
        shapes.append(dict(zip(names, map(int, sizes))))
    return shapes


def properties(output, module, has_archive, model, function, variants, names, padded):
    lines = [f"# Written by bin/prepare-model. Imported by: spring.config.import: \"file:{output}/application.yaml\"", "iree:",
             "  modules:", f"    {module}:", f'      location: "file:{output}/model.vmfb"']
    if has_archive:
        lines += ["      parameters:", f'        model: "file:{output}/model.irpa"']
    if variants:
        lines += ["      variants:", f'        "[{function}]":',
                  f'          shapes: "{rules(model.inputs(), names, padded)} -> {rules(model.proto.graph.output, names, padded)}"',
                  "          modules:"]
        for file, sizes in variants:
            pairs = ", ".join(f"{name}: {size}" for name, size in sizes.items())
            lines += [f'            - {{location: "file:{output}/{file}", sizes: {{{pairs}}}}}']
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=pathlib.Path, required=True, help="the ONNX model")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the directory to write to")
    parser.add_argument("--name", required=True, help="the name of the program in the properties")
    parser.add_argument("--shapes", help="sizes of the open dimensions, as 1x16,16x128, that get programs of their own")
    parser.add_argument("--target-cpu", default="host", help="as for --iree-llvmcpu-target-cpu")
    parser.add_argument("--iree4j", type=pathlib.Path, required=True, help="the command line of the runtime")
    arguments = parser.parse_args()
    try:
        graph = onnx.load(arguments.file)
        onnx.checker.check_model(graph)
    except Exception as reason:
        fail(f"'{arguments.file}' is no ONNX model: {str(reason).splitlines()[0]}")
    model = Model(graph, {})
    names = list(dict.fromkeys(each for value in model.inputs() for each in shape(value) if isinstance(each, str) and each != "_"))
    shapes = parse(arguments.shapes, names) if arguments.shapes else []
    odd = [each for each in names if not re.fullmatch(r"[A-Za-z][\w-]{0,63}", each)]
    if shapes and odd:
        fail(f"--shapes: the open dimension '{odd[0]}' must be a word of letters, digits, - and _; rename it in the model")
    print(f"inputs {', '.join(f'{each.name} {shape(each)}' for each in model.inputs())}; open dimensions: {', '.join(names) or 'none'}")
    sets = dict(SETS)
    if any("Conv" in node.op_type for node in graph.graph.node):
        sets |= CONVOLUTION_SETS
    output = arguments.output.absolute()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output) as work:
        maker = Maker(pathlib.Path(work), arguments.target_cpu, arguments.iree4j.absolute())
        file, function = best(maker, "model", model, shapes[0] if shapes else {}, sets)
        variants = []
        for sizes in shapes:
            name = "model-" + "x".join(str(each) for each in sizes.values())
            variants.append((best(maker, name, Model(graph, sizes), sizes, sets)[0], sizes))
        padded = padding(model, names, shapes[0]) if shapes else []
        text = (maker.work / "model.mlir").read_text()
        has_archive = "parameter.named" in text
        for made in [file, *(each for each, _ in variants), *(["model.irpa"] if has_archive else [])]:
            (maker.work / made).chmod(0o644)
            shutil.move(maker.work / made, output / made)  # renamed, since an application may have the old one mapped
    text = properties(output, arguments.name, has_archive, model, function, variants, names, padded)
    (output / "application.yaml").write_text(text)
    print(f"\nwrote to {output}; its application.yaml:\n\n{text}", end="")


if __name__ == "__main__":
    main()
