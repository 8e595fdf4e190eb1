/**
 * Devices on a virtual clock, for tests and for trying out how work is ordered: queues are FIFO or unordered, take as long as a script
 * says, fail when it says so, and use no threads. Whatever is done on them happens in the same order each time.
 *
 * <p>Start at {@link io.github.iree4j.hal.virtual.VirtualDevice}. Memory and code are the CPU's; only time and queues are not.
 */
@NullMarked
package io.github.iree4j.hal.virtual;

import org.jspecify.annotations.NullMarked;
