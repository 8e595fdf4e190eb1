package io.github.iree4j.cluster.membership;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.InetSocketAddress;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A sign of life, sent and answered. Big-endian: flags of 8 bits (1: the sender leaves; 2: the sender is unbeaten), the
 * milliseconds since the sender joined in 64 bits, the sender's weight in 16 bits, the addresses of the members seen by the sender (a count of 16 bits; for each a port of 16 bits,
 * the length of the host's name in 8 bits, and the name in UTF-8), and the incarnations failed by the sender (a count of
 * 16 bits, 64 bits each).
 *
 * @param leaving whether the sender leaves
 * @param age milliseconds since the sender joined, at the sending; at most 2^42
 * @param seen the addresses of the sender's view, not resolved; at most 1024
 * @param standing the sender's standing
 */
record Heartbeat(boolean leaving, long age, List<InetSocketAddress> seen, Standing standing) {

    private static final int LEAVING = 1;
    private static final int UNBEATEN = 2;
    private static final long OLDEST = 1L << 42; // milliseconds; nanoseconds fit 64 bits

    /** Limit on either list; more than the number of machine indices. */
    static final int MOST = 1024;

    /** Copies. */
    Heartbeat {
        seen = List.copyOf(seen);
    }

    byte[] encode() {
        List<byte[]> hosts = new ArrayList<>();
        Set<Long> failed = standing.failed();
        int bytes = 1 + Long.BYTES + 3 * Short.BYTES + failed.size() * Long.BYTES;
        for (InetSocketAddress each : seen) {
            byte[] host = each.getHostString().getBytes(StandardCharsets.UTF_8); // of a member, so at most 200 bytes
            hosts.add(host);
            bytes += Short.BYTES + 1 + host.length;
        }
        int flags = (leaving ? LEAVING : 0) | (standing.unbeaten() ? UNBEATEN : 0);
        ByteBuffer into = ByteBuffer.allocate(bytes)
                .put((byte) flags)
                .putLong(age)
                .putShort((short) standing.weight())
                .putShort((short) seen.size());
        for (int i = 0; i < seen.size(); i++) {
            into.putShort((short) seen.get(i).getPort())
                    .put((byte) hosts.get(i).length)
                    .put(hosts.get(i));
        }
        into.putShort((short) failed.size());
        failed.forEach(into::putLong);
        return into.array();
    }

    /**
     * Decodes a sign of life. For untrusted input.
     *
     * @throws IreeException DATA_LOSS when the bytes are not a sign of life
     */
    static Heartbeat decode(byte[] bytes) {
        try {
            ByteBuffer from = ByteBuffer.wrap(bytes);
            int flags = from.get();
            long age = from.getLong();
            if (age < 0 || age > OLDEST) {
                throw IreeException.of(StatusCode.INVALID_ARGUMENT, "an age of %d ms".formatted(age));
            }
            int weight = count(from.getShort());
            List<InetSocketAddress> seen = new ArrayList<>();
            for (int left = count(from.getShort()); left > 0; left--) {
                int port = from.getShort() & 0xFFFF;
                byte[] host = new byte[from.get() & 0xFF];
                from.get(host);
                if (port == 0 || host.length == 0) {
                    throw IreeException.of(StatusCode.INVALID_ARGUMENT, "an address without a host or port");
                }
                seen.add(InetSocketAddress.createUnresolved(new String(host, StandardCharsets.UTF_8), port));
            }
            Set<Long> failed = new HashSet<>();
            for (int left = count(from.getShort()); left > 0; left--) {
                failed.add(from.getLong());
            }
            if (from.hasRemaining()) {
                throw IreeException.of(StatusCode.INVALID_ARGUMENT, from.remaining() + " bytes are left");
            }
            return new Heartbeat(
                    (flags & LEAVING) != 0, age, seen, new Standing(failed, weight, (flags & UNBEATEN) != 0));
        } catch (BufferUnderflowException | IreeException e) {
            throw IreeException.of(StatusCode.DATA_LOSS, "%d bytes are not a sign of life".formatted(bytes.length), e);
        }
    }

    private static int count(short encoded) {
        int count = encoded & 0xFFFF;
        if (count > MOST) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "%d nodes, the limit is %d".formatted(count, MOST));
        }
        return count;
    }
}
