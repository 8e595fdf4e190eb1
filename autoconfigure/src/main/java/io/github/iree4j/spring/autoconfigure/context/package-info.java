/** Auto-configuration of what follows callers to the threads on which their calls end. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.context;

import org.jspecify.annotations.NullMarked;
