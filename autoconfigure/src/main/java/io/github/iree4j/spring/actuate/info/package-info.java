/** The runtime's part of {@code /actuator/info}. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.actuate.info;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
