package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * Limits of a node, per session. A node grants the limits to peers in the handshake. A peer exceeding the chunk size,
 * the command window or the object limit has its session ended with RESOURCE_EXHAUSTED.
 *
 * @param chunkBytes bytes of a chunk of a transfer, 1 KiB to 1 MiB
 * @param commandWindow commands of a peer in progress, 1 to 65536
 * @param memoryLimit bytes allocated by a peer: on each device at the client, on all devices together at the
 *     node
 * @param objectLimit objects of a peer: allocations, executables, command buffers, queues, subscriptions
 * @param contentLimit bytes of code and constants kept for peers, in memory of the host, so that each content arrives
 *     once
 * @param outboxBytes bytes waiting for room in a stream before new work is refused
 */
public record RemoteOptions(
        int chunkBytes, int commandWindow, long memoryLimit, int objectLimit, long contentLimit, int outboxBytes) {

    /** 256 KiB chunks, 1024 commands, 1 TiB (the device's own limit is lower), 65536 objects, 256 MiB of code and constants, 4 MiB waiting. */
    public static final RemoteOptions DEFAULTS =
            new RemoteOptions(256 << 10, 1024, 1L << 40, 1 << 16, 256L << 20, 4 << 20);

    /**
     * Checks the ranges.
     *
     * @throws IreeException INVALID_ARGUMENT when a limit is out of range
     */
    public RemoteOptions {
        check("chunkBytes", chunkBytes, 1 << 10, 1 << 20);
        check("commandWindow", commandWindow, 1, 1 << 16);
        check("memoryLimit", memoryLimit, 0, Long.MAX_VALUE);
        check("objectLimit", objectLimit, 1, 1 << 24);
        check("contentLimit", contentLimit, 0, Long.MAX_VALUE);
        check("outboxBytes", outboxBytes, 1 << 10, 1 << 30);
    }

    private static void check(String what, long value, long minimum, long maximum) {
        if (value < minimum || value > maximum) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s is %d and must be within [%d, %d]".formatted(what, value, minimum, maximum));
        }
    }
}
