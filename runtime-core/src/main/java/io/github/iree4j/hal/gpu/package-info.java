/**
 * Devices with a driver of CUDA or HIP. One implementation serves both: {@link io.github.iree4j.hal.gpu.CudaDriverProvider} and
 * {@link io.github.iree4j.hal.gpu.HipDriverProvider} find their devices, a {@code GpuHardware} is one of them, a {@code GpuLane} a stream
 * with the thread that waits for it, a {@code GpuTimeline} a counter over binary events. Executables are untrusted input: their structure
 * is checked, their code runs in the driver. {@link io.github.iree4j.hal.gpu.GpuCode} is for tools. Design: {@code docs/gpu.md} and
 * decision 22.
 */
@NullMarked
package io.github.iree4j.hal.gpu;

import org.jspecify.annotations.NullMarked;
