/** Auto-configuration of the {@code iree} part of {@code /actuator/info}. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.info;

import org.jspecify.annotations.NullMarked;
