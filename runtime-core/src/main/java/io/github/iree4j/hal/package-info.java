/**
 * Devices, their queues and memory: interfaces and values shared by all backends.
 *
 * <p>Start at {@link io.github.iree4j.hal.Device}. Work is submitted to a {@link io.github.iree4j.hal.DeviceQueue} with
 * a fence to wait for and a fence to signal; fences are the only ordering. Values are immutable; devices, queues and
 * allocators are safe from any thread; command buffers and binding tables are recorded by a single thread at a time.
 * Numbers of flags and types are taken from IREE's HAL ({@code iree/hal}), because compiled programs pass these
 * numbers.
 */
@NullMarked
package io.github.iree4j.hal;

import org.jspecify.annotations.NullMarked;
