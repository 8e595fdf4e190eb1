/** Context propagation to the threads on which calls complete: MDC, observations, security. */
@NullMarked
package io.github.iree4j.spring.context;

import org.jspecify.annotations.NullMarked;
