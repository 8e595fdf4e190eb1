/** Benchmarks of the local device. */
@NullMarked
package io.github.iree4j.hal.local;

import org.jspecify.annotations.NullMarked;
