/** Auto-configuration of the {@code iree} part of {@code /actuator/info}. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.info;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
