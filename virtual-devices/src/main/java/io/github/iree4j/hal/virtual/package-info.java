/**
 * Devices on a virtual clock, for tests and for experiments with the order of work: queues are FIFO or unordered,
 * durations and failures are set by a script, and no threads are used. Execution is deterministic.
 *
 * <p>Start at {@link io.github.iree4j.hal.virtual.VirtualDevice}. Memory and code are the CPU's; only time and queues
 * are virtual.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.hal.virtual;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
