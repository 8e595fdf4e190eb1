/** Auto-configuration of meters. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.metrics;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
