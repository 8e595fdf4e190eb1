/** Benchmarks of memory in queue order. */
@NullMarked
package io.github.iree4j.hal.pool;

import org.jspecify.annotations.NullMarked;
