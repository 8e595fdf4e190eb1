/** Auto-configuration of the {@code iree} health contributor. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.health;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
