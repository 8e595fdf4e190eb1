/** Auto-configuration of the {@code iree} actuator endpoint. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.endpoint;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
