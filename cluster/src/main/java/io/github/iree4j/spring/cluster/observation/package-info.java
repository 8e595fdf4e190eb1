/** Observations of commands run by a node for other nodes, in the traces of the submitters. */
@NullMarked
package io.github.iree4j.spring.cluster.observation;

import org.jspecify.annotations.NullMarked;
