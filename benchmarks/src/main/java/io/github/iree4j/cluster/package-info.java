/** Benchmarks of nodes in several processes. */
@NullMarked
package io.github.iree4j.cluster;

import org.jspecify.annotations.NullMarked;
