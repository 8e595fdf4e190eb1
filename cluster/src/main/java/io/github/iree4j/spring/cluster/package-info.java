/** The operators' view of a cluster: the part {@code cluster} of the {@code iree} endpoint, health, and meters. */
@NullMarked
package io.github.iree4j.spring.cluster;

import org.jspecify.annotations.NullMarked;
