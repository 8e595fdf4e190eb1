/** The {@code iree} actuator endpoint and the records it answers with. */
@NullMarked
package io.github.iree4j.spring.actuate.endpoint;

import org.jspecify.annotations.NullMarked;
