/** Auto-configuration for callers that use Reactor. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.reactive;

import org.jspecify.annotations.NullMarked;
