/** Auto-configuration of timeouts, and of Resilience4j when present. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.resilience;

import org.jspecify.annotations.NullMarked;
