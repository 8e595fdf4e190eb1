/** Observations of what a node runs for others, in the traces of those who submitted it. */
@NullMarked
package io.github.iree4j.spring.cluster.observation;

import org.jspecify.annotations.NullMarked;
