/** Auto-configuration of what protects programs: timeouts, and Resilience4j where that is there. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.resilience;

import org.jspecify.annotations.NullMarked;
