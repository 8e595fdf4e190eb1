/** Observations of calls. */
@NullMarked
package io.github.iree4j.spring.observation;

import org.jspecify.annotations.NullMarked;
