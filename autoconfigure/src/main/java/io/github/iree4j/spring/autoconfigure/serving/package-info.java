/** Auto-configuration of serving over the Open Inference Protocol. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.serving;

import org.jspecify.annotations.NullMarked;
