/** Benchmarks of queues, whatever the device. */
@NullMarked
package io.github.iree4j.hal.schedule;

import org.jspecify.annotations.NullMarked;
