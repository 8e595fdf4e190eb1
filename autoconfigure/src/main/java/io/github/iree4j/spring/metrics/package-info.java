/** Meters of the runtime. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.metrics;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
