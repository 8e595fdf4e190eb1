/** Benchmarks of calls through the public API. */
@NullMarked
package io.github.iree4j;

import org.jspecify.annotations.NullMarked;
