/** Context propagation to the completing threads of calls: MDC, observations, security. */
@NullMarked
package io.github.iree4j.spring.context;

import org.jspecify.annotations.NullMarked;
