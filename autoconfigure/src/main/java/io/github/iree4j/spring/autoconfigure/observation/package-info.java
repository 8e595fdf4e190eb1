/** Auto-configuration of observations. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.observation;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
