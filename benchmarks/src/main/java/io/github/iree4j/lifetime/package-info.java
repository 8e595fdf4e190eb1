/** Benchmarks of reference counting. */
@NullMarked
package io.github.iree4j.lifetime;

import org.jspecify.annotations.NullMarked;
