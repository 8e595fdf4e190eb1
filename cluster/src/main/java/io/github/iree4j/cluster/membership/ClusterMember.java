package io.github.iree4j.cluster.membership;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A node, and the node's address for peers.
 *
 * @param identity the node's identity
 * @param host the node's host name or address, 1 to 200 bytes in UTF-8
 * @param port the node's port for data, 1 to 65535
 */
public record ClusterMember(NodeIdentity identity, String host, int port) {

    private static final int MOST_HOST_BYTES = 200;
    private static final int FIXED_BYTES = Long.BYTES + 2 + Long.BYTES + Short.BYTES;

    /**
     * Checks the ranges.
     *
     * @throws IreeException INVALID_ARGUMENT when a part is out of range
     */
    public ClusterMember {
        int bytes = host.getBytes(StandardCharsets.UTF_8).length;
        if (bytes < 1 || bytes > MOST_HOST_BYTES || port < 1 || port > 65535) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "address '%s:%d' of a node must have a host of 1 to %d bytes and a port within [1, 65535]"
                            .formatted(host, port, MOST_HOST_BYTES));
        }
    }

    /**
     * Encodes the member.
     *
     * @return at most 220 bytes
     */
    public byte[] encode() {
        byte[] name = host.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(FIXED_BYTES + name.length)
                .putLong(identity.clusterId())
                .put((byte) identity.machine())
                .put((byte) identity.session())
                .putLong(identity.incarnation())
                .putShort((short) port)
                .put(name)
                .array();
    }

    /**
     * Decodes a member. For untrusted input.
     *
     * @param bytes the result of {@link #encode()}
     * @return the member
     * @throws IreeException DATA_LOSS when the bytes are not a member
     */
    public static ClusterMember decode(byte[] bytes) {
        try {
            ByteBuffer from = ByteBuffer.wrap(bytes);
            long clusterId = from.getLong();
            int machine = from.get() & 0xFF;
            int session = from.get() & 0xFF;
            long incarnation = from.getLong();
            int port = from.getShort() & 0xFFFF;
            String host = StandardCharsets.UTF_8.decode(from).toString();
            return new ClusterMember(new NodeIdentity(clusterId, machine, session, incarnation), host, port);
        } catch (BufferUnderflowException | IreeException e) {
            throw IreeException.of(
                    StatusCode.DATA_LOSS, "%d bytes are not a member of a cluster".formatted(bytes.length), e);
        }
    }

    /**
     * Formats the member as in {@code node 12 (m3.s1) at 10.0.0.7:7600}.
     *
     * @return the text
     */
    @Override
    public String toString() {
        return identity + " at " + host + ":" + port;
    }
}
