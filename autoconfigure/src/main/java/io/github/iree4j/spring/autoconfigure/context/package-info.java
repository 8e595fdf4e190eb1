/** Auto-configuration of context propagation to the threads on which calls complete. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.context;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
