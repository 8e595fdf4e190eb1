/** Context propagation to the completing threads of calls: MDC, observations, security. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.context;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
