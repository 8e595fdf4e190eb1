/**
 * Devices with a driver of CUDA or HIP. A single implementation serves both:
 * {@link io.github.iree4j.hal.gpu.CudaDriverProvider} and {@link io.github.iree4j.hal.gpu.HipDriverProvider} find the
 * devices, a {@code GpuHardware} is a device, a {@code GpuLane} is a stream with its waiting thread, and a
 * {@code GpuTimeline} is a counter over binary events. Executables are untrusted input: the structure is checked, the
 * code runs in the driver. {@link io.github.iree4j.hal.gpu.GpuCode} is for tools. Design: {@code docs/gpu.md} and
 * decision 22.
 */
@NullMarked
package io.github.iree4j.hal.gpu;

import org.jspecify.annotations.NullMarked;
