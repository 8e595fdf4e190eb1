/** Benchmarks of calls through the front door. */
@NullMarked
package io.github.iree4j;

import org.jspecify.annotations.NullMarked;
