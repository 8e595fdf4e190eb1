package io.github.iree4j.cluster.membership;

/**
 * An address at which a node looks for others, and why it has not reached the node there.
 *
 * @param address host and port of the membership, the second of the three ports of a node
 * @param refuses whether something is there and does not let this node in, or is not let in; false where nothing answers
 * @param cause why
 */
public record Unreached(String address, boolean refuses, String cause) {}
