/** Auto-configuration of observations. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.observation;

import org.jspecify.annotations.NullMarked;
