/** Auto-configuration of meters. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.metrics;

import org.jspecify.annotations.NullMarked;
