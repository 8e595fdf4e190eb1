/** Benchmarks of waiting. */
@NullMarked
package io.github.iree4j.async;

import org.jspecify.annotations.NullMarked;
