/** Auto-configuration of a node of a cluster. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
