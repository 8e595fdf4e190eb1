/** Auto-configuration of a node of a cluster. */
@NullMarked
package io.github.iree4j.spring.cluster.autoconfigure;

import org.jspecify.annotations.NullMarked;
