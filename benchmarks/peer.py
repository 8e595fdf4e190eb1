#!/usr/bin/env python3
"""Times a function of a program with iree4j and with IREE's own runtime of the newest release, in turn, and prints the ratio.

    bin/bench-peer conv                                  the convolutional network of benchmarks/src/main/mlir
    bin/bench-peer minilm                                MiniLM as bin/prepare-model makes it: 1 x 16, 3 x 16 and 16 x 128 tokens
    bin/bench-peer MODULE.vmfb --function=F --input=...  any other, with --parameters=SCOPE=FILE

Options: --threads=N of each side (2), --rounds=N (3), --seconds=N of a run (3), --peer=local-task or local-sync, which has one thread. Needs
Python 3.12 and the package index; bin/iree4j is built first. For figures that mean something the machine must have nothing else to do.
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


def conv(tools):
    """The network, compiled for this processor."""
    module = make.CACHE.parent / "bench" / f"conv_net-{RELEASE}.vmfb"
    module.parent.mkdir(parents=True, exist_ok=True)
    make.run([make.tool(tools, "iree-compile"), "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
              "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O2", HERE / "src/main/mlir/conv_net.mlir", "-o", module])
    return [("conv_net 1x66x66x16", module, [], "classify", ["1x66x66x16xf32=0.01"])]


def minilm(_):
    """The sentence encoder, if it was prepared."""
    folder = pathlib.Path(os.environ.get("IREE4J_CACHE", pathlib.Path.home() / ".cache/iree4j")) / "models/minilm"
    if not (folder / "model.vmfb").exists():
        sys.exit("iree4j: run bin/prepare-model minilm first")
    return [(f"MiniLM {shape}", folder / "model.vmfb", [f"model={folder / 'model.irpa'}"], "encoder", [f"{shape}xi64=1"] * 3)
            for shape in ("1x16", "3x16", "16x128")]


def milliseconds(command, environment=None):
    """What a benchmark says of one call: real time and processor time."""
    said = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment)
    if said.returncode:
        sys.exit(f"iree4j: {' '.join(map(str, command))}: {said.stderr[-2000:]}")
    found = json.loads(said.stdout[said.stdout.index("{"):])["benchmarks"][0]
    scale = {"ns": 1e-6, "us": 1e-3, "ms": 1.0}[found["time_unit"]]
    return found["real_time"] * scale, found["cpu_time"] * scale


def main():
    parser = argparse.ArgumentParser(prog="bin/bench-peer", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what")
    parser.add_argument("--function")
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--parameters", action="append", default=[])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--peer", choices=["local-task", "local-sync"], default="local-task")
    options = parser.parse_args()
    tools = make.install(RELEASE, PYTHON)
    known = {"conv": conv, "minilm": minilm}
    runs = (known[options.what](tools) if options.what in known
            else [(options.what, options.what, options.parameters, options.function, options.input)])
    threads = 1 if options.peer == "local-sync" else options.threads
    cores = f"0-{threads - 1}" if threads > 1 else "0"
    for name, module, parameters, function, inputs in runs:
        common = [f"--module={module}", f"--function={function}", *[f"--input={i}" for i in inputs],
                  *[f"--parameters={p}" for p in parameters], f"--benchmark_min_time={options.seconds:g}s", "--benchmark_format=json"]
        ours = ["taskset", "-c", cores, HERE.parent / "bin/iree4j", "benchmark", *common, f"--benchmark_min_warmup_time={WARMUP}"]
        theirs = ["taskset", "-c", cores, make.tool(tools, "iree-benchmark-module"), *common, f"--device={options.peer}",
                  *([f"--task_topology_max_group_count={threads}"] if options.peer == "local-task" else [])]
        ratios = []
        for _ in range(options.rounds):
            (mine, mine_cpu), (other, other_cpu) = milliseconds(ours), milliseconds(theirs)
            ratios.append(mine / other)
            print(f"{name}: {mine:.2f} ms ({mine_cpu:.2f} of processors), {options.peer} {other:.2f} ms ({other_cpu:.2f}): {ratios[-1]:.2f}", flush=True)
        print(f"{name}: ratio of the round in the middle {sorted(ratios)[len(ratios) // 2]:.2f}", flush=True)


if __name__ == "__main__":
    main()
