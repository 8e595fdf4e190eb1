#!/usr/bin/env python3
"""Times functions of programs with iree4j and with IREE's own runtime of the newest release, in turn, and prints the ratios: of real time to
the better of IREE's `local-sync`, which has one thread, and `local-task`, and of processor time to `local-sync`.

    bin/bench-peer small                                 programs of small kernels, and networks that peer_models.py makes
    bin/bench-peer conv                                  the convolutional network of src/main/mlir
    bin/bench-peer minilm                                MiniLM as bin/prepare-model makes it: 1 x 16, 3 x 16 and 16 x 128 tokens
    bin/bench-peer MODULE.vmfb --function=F --input=...  any other, with --parameters=SCOPE=FILE

Options: --threads=N of ours and local-task (2), --rounds=N (3), --seconds=N of a run (3), --only=NAME of those that have a name; --pause=MS
calls through InvocationService (benchmarks/onnxruntime, built by -Ponnxruntime) and through IREE's Python package, each call after a pause.
Needs Python 3.12 and the package index; bin/iree4j is built first. For figures that mean something the machine must have nothing else to do.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "fixtures"))
import make  # noqa: E402

RELEASE, PYTHON = "3.13.0", "3.12"
WARMUP = 10  # seconds, in which our side is compiled


def compiled(tools, source, *flags):
    """A program, compiled for this processor unless that was done."""
    module = make.CACHE.parent / "bench" / f"{source.stem}-{RELEASE}.vmfb"
    module.parent.mkdir(parents=True, exist_ok=True)
    if not module.exists() or module.stat().st_mtime < source.stat().st_mtime:
        make.run([make.tool(tools, "iree-compile"), "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
                  "--iree-llvmcpu-target-cpu=host", *flags, source, "-o", module])
    return module


def imported(tools, name):
    """A network of peer_models.py, compiled."""
    source = make.CACHE.parent / "bench" / f"{name}.mlir"
    source.parent.mkdir(parents=True, exist_ok=True)
    script = HERE / "peer_models.py"
    if not source.exists() or source.stat().st_mtime < script.stat().st_mtime:
        make.run([tools / "bin/pip", "install", "-q", "onnx==1.19.1"])
        make.run([tools / "bin/python", script, name, source.with_suffix(".onnx")])
        make.run([tools / "bin/iree-import-onnx", source.with_suffix(".onnx"), "-o", source])
    return compiled(tools, source, "--iree-opt-data-tiling")


def small(tools):
    """Programs most of which are done before another thread has woken."""
    programs = HERE.parent / "fixtures/programs"
    cache = ["1x4x32x16xf32=0.1"] * 4
    return [
        ("add", compiled(tools, programs / "add.mlir"), [], "add", ["4xf32=1", "4xf32=2"]),
        ("matmul", compiled(tools, programs / "matmul_f32.mlir"), [], "matmul", ["8x16xf32=1", "16x12xf32=1"]),
        ("state", compiled(tools, programs / "state_tensor.mlir"), [], "add", ["4xf32=1"]),
        ("six functions", compiled(tools, HERE / "src/main/mlir/six_functions.mlir"), [], "math", ["6xf32=0.5"]),
        ("perceptron", compiled(tools, HERE / "src/main/mlir/perceptron.mlir"), [], "classify", ["8x128xf32=0.1"]),
        ("decoder step", imported(tools, "decoder"), [], "main", ["1x1xi64=5", *cache]),
        ("LSTM", imported(tools, "lstm"), [], "main", ["20x1x64xf32=0.1"]),
        ("U-Net", imported(tools, "unet"), [], "main", ["1x3x64x64xf32=0.1"]),
        ("ResNet", imported(tools, "resnet"), [], "main", ["1x3x64x64xf32=0.1"]),
    ]


def conv(tools):
    """The network."""
    return [("conv_net 1x66x66x16", compiled(tools, HERE / "src/main/mlir/conv_net.mlir", "--iree-opt-level=O2"), [], "classify",
             ["1x66x66x16xf32=0.01"])]


def minilm(_):
    """The sentence encoder, if it was prepared."""
    folder = pathlib.Path(os.environ.get("IREE4J_CACHE", pathlib.Path.home() / ".cache/iree4j")) / "models/minilm"
    if not (folder / "model.vmfb").exists():
        sys.exit("iree4j: run bin/prepare-model minilm first")
    return [(f"MiniLM {shape}", folder / "model.vmfb", [f"model={folder / 'model.irpa'}"], "encoder", [f"{shape}xi64=1"] * 3)
            for shape in ("1x16", "3x16", "16x128")]


def microseconds(command):
    """What a benchmark says of one call: real time and processor time."""
    said = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if said.returncode:
        sys.exit(f"iree4j: {' '.join(map(str, command))}: {said.stderr[-2000:]}")
    found = json.JSONDecoder().raw_decode(said.stdout, said.stdout.index("{"))[0]["benchmarks"][0]
    scale = {"ns": 1e-3, "us": 1.0, "ms": 1e3}[found["time_unit"]]
    return found["real_time"] * scale, found["cpu_time"] * scale


def middle(values):
    return sorted(values)[len(values) // 2]


def compare(tools, name, module, parameters, function, inputs, options):
    """Runs the three in turn, and prints the medians of the rounds."""
    common = [f"--module={module}", f"--function={function}", *[f"--input={i}" for i in inputs],
              *[f"--parameters={p}" for p in parameters], f"--benchmark_min_time={options.seconds:g}s", "--benchmark_format=json"]
    cores = ["taskset", "-c", f"0-{options.threads - 1}"]
    theirs = [make.tool(tools, "iree-benchmark-module"), *common]
    sides = {
        "ours": [*cores, HERE.parent / "bin/iree4j", "benchmark", *common, f"--benchmark_min_warmup_time={WARMUP}"],
        "local-sync": ["taskset", "-c", "0", *theirs, "--device=local-sync"],
        "local-task": [*cores, *theirs, "--device=local-task", f"--task_topology_max_group_count={options.threads}"],
    }
    if options.pause is not None:
        home = subprocess.run([HERE.parent / "bin/find-jdk", "25"], check=True, capture_output=True, text=True).stdout.strip()
        service = [f"{home}/bin/java", "--enable-native-access=ALL-UNNAMED", "-Diree.modules.peer.location=file:" + str(module),
                   *[f"-Diree.modules.peer.parameters.{p.replace('=', '=file:', 1)}" for p in parameters], f"-Diree.task.workers={options.threads}",
                   "-Dloader.main=io.github.iree4j.peer.ServiceCalls", "-cp", HERE / "onnxruntime/target/onnxruntime.jar",
                   "org.springframework.boot.loader.launch.PropertiesLauncher", function, options.pause, options.seconds, *inputs]
        python = [tools / "bin/python", HERE / "peer_paused.py"]
        rest = [module, function, options.pause, options.seconds, ",".join(map(str, parameters)), *inputs]
        sides = {"ours": [*cores, *service], "local-sync": ["taskset", "-c", "0", *python, "local-sync", *rest],
                 "local-task": [*cores, *python, "local-task", *rest]}
    rounds = [{side: microseconds(command) for side, command in sides.items()} for _ in range(options.rounds)]
    real, processor = ({side: middle([each[side][i] for each in rounds]) for side in sides} for i in (0, 1))
    print(f"{name}: " + ", ".join(f"{side} {real[side]:.1f} us ({processor[side]:.1f})" for side in sides)
          + f"; {real['ours'] / min(real['local-sync'], real['local-task']):.2f} of the better,"
          + f" processor time {processor['ours'] / processor['local-sync']:.2f} of local-sync", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="bin/bench-peer", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what")
    parser.add_argument("--function")
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--parameters", action="append", default=[])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--pause", type=int)
    parser.add_argument("--only")
    options = parser.parse_args()
    tools = make.install(RELEASE, PYTHON)
    known = {"small": small, "conv": conv, "minilm": minilm}
    runs = (known[options.what](tools) if options.what in known
            else [(options.what, options.what, options.parameters, options.function, options.input)])
    for name, *run in runs:
        if options.only in (None, name):
            compare(tools, name, *run, options)


if __name__ == "__main__":
    main()
