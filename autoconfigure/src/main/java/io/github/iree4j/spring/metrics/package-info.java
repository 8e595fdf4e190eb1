/** Meters of the runtime. */
@NullMarked
package io.github.iree4j.spring.metrics;

import org.jspecify.annotations.NullMarked;
