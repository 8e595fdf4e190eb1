/** Auto-configuration of batching. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.batching;

import org.jspecify.annotations.NullMarked;
