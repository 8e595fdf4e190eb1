/** Auto-configuration of timeouts, and of Resilience4j when present. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.resilience;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
