"""Measures calls of a function with IREE's own runtime, each after a pause, and prints the median as Google Benchmark does:
DRIVER MODULE FUNCTION PAUSE_MS SECONDS SCOPE=FILE,... INPUT...; inputs are on the device, filled with a number. peer.py is the caller.
"""
import json
import sys
import time

import iree.runtime as rt
import numpy

driver, path, function, pause, seconds, parameters, *inputs = sys.argv[1:]
config = rt.Config(driver)
modules = [rt.create_hal_module(config.vm_instance, config.device)]
if parameters:
    providers = []
    for each in parameters.split(","):
        scope, file = each.split("=")
        index = rt.ParameterIndex()
        index.load(file)
        providers.append(index.create_provider(scope))
    modules.insert(0, rt.create_io_parameters_module(config.vm_instance, *providers))
program = rt.VmModule.mmap(config.vm_instance, path)
context = rt.VmContext(config.vm_instance, [*modules, program])
entry = program.lookup_function(function)
arguments = rt.VmVariantList(len(inputs))
kinds = {"f32": numpy.float32, "i64": numpy.int64}
for each in inputs:
    shape, value = each.split("=")
    *sizes, kind = shape.split("x")
    array = numpy.full([int(s) for s in sizes], float(value), kinds[kind])
    arguments.push_ref(rt.asdevicearray(config.device, array)._buffer_view)


def measure(pause, duration, at_least):
    times, used, end = [], time.process_time_ns(), time.perf_counter() + duration
    while len(times) < at_least or time.perf_counter() < end:
        if pause:
            time.sleep(pause)
        results = rt.VmVariantList(1)
        since = time.perf_counter_ns()
        context.invoke(entry, arguments, results)
        times.append(time.perf_counter_ns() - since)
    return sorted(times)[len(times) // 2], (time.process_time_ns() - used) / len(times)


measure(0, 0.5, 10)
real, processor = measure(float(pause) / 1e3, float(seconds), 1)
print(json.dumps({"benchmarks": [{"real_time": real, "cpu_time": processor, "time_unit": "ns"}]}))
