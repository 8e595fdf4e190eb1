/** Auto-configuration for callers using Reactor. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.reactive;

import org.jspecify.annotations.NullMarked;
