/** Auto-configuration of context propagation to the threads on which calls complete. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.context;

import org.jspecify.annotations.NullMarked;
