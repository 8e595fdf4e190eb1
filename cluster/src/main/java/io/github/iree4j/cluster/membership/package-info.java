/**
 * Detection of live nodes. A {@link io.github.iree4j.cluster.membership.ClusterMembership} reports views; the data
 * between nodes does not go through the membership.
 */
@NullMarked
package io.github.iree4j.cluster.membership;

import org.jspecify.annotations.NullMarked;
