package io.github.iree4j.cluster.membership;

import io.github.iree4j.api.NotForApplications;

/**
 * An address where a node looks for other nodes without success, and the cause.
 *
 * @param address host and port, or the name whose address records are the nodes
 * @param refuses whether something answers and refuses this node, or is refused; false where nothing answers
 * @param cause the cause
 */
@NotForApplications
public record Unreached(String address, boolean refuses, String cause) {}
