/** Auto-configuration of calls that are made together. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.batching;

import org.jspecify.annotations.NullMarked;
