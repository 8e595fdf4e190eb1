/** The runtime's part of {@code /actuator/info}. */
@NullMarked
package io.github.iree4j.spring.actuate.info;

import org.jspecify.annotations.NullMarked;
