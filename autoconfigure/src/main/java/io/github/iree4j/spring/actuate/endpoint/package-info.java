/** The {@code iree} actuator endpoint and its response records. */
@NullMarked
package io.github.iree4j.spring.actuate.endpoint;

import org.jspecify.annotations.NullMarked;
