/** Auto-configuration of the {@code iree} actuator endpoint. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.endpoint;

import org.jspecify.annotations.NullMarked;
