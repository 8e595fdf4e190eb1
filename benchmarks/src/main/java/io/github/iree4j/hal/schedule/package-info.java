/** Benchmarks of queues, independent of devices. */
@NullMarked
package io.github.iree4j.hal.schedule;

import org.jspecify.annotations.NullMarked;
