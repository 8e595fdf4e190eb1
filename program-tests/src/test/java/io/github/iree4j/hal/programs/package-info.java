/** A checker of queue operations on real devices: random programs, a sequential oracle, an executor. */
@NullMarked
package io.github.iree4j.hal.programs;

import org.jspecify.annotations.NullMarked;
