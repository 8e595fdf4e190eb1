/** Benchmarks of frontiers. */
@NullMarked
package io.github.iree4j.frontier;

import org.jspecify.annotations.NullMarked;
