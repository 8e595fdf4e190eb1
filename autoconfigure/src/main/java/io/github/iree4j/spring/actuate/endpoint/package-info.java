/** The {@code iree} actuator endpoint and its response records. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
