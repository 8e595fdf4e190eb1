package io.github.iree4j.cluster.transport;

import io.github.iree4j.status.FailureDetail;

/**
 * The node cannot listen: another process has the port, or the address is not of this machine.
 *
 * @param address the address
 * @param port the port
 */
public record CannotListen(String address, int port) implements FailureDetail {}
