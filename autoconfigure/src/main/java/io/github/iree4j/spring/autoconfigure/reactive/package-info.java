/** Auto-configuration for callers using Reactor. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.reactive;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
