package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.record.Recording;
import org.jspecify.annotations.Nullable;

/**
 * Estimates the duration of a recording on a single thread, and on all workers at once. Decides about the executing threads,
 * so the order of magnitude suffices. Confined to the thread owning the operation.
 */
final class DurationEstimate {
    private static final long DISPATCH_NANOS = 150;
    private static final long TRANSFER_NANOS = 30;
    private static final long BYTES_PER_NANO = 8;

    /** Additional cost of a region run by several threads: the threads meet at the end, and the data moves between their caches. */
    private static final long MEETING_NANOS = 4_000;

    /** Longer than anything that counts as short. */
    private static final long LONG_NANOS = 10_000_000;

    private final @Nullable BindingTable table;
    private long nanos = HostOperation.UNKNOWN;
    private long shared = HostOperation.UNKNOWN;
    private long undivided; // the longest indivisible part of a region

    /**
     * Estimates from earlier durations of the dispatches' workgroups and from the bytes of transfers.
     *
     * @param from the first region
     * @param to the region after the last
     * @param workers workers able to share the work
     */
    DurationEstimate(Recording recording, int from, int to, @Nullable BindingTable table, int workers) {
        this.table = table;
        long alone = 0;
        long together = 0;
        int[] commands = recording.commands();
        for (int i = from; i < to; i++) {
            long sum = 0;
            undivided = 0;
            for (int j = recording.firstCommand(i); j < recording.firstCommand(i + 1); j++) {
                long one = command(recording, commands[j]);
                if (one >= LONG_NANOS) {
                    return;
                }
                sum += one;
            }
            alone += sum;
            together += Math.min(sum, Math.max(undivided, sum / workers) + MEETING_NANOS);
            if (alone >= LONG_NANOS) {
                return;
            }
        }
        nanos = alone;
        shared = together;
    }

    /** Returns the duration on a single thread; {@link HostOperation#UNKNOWN} if any part is unknown, or for long work. */
    long nanos() {
        return nanos;
    }

    /**
     * Returns the time by which all workers end the work earlier than a single thread, in nanoseconds, without the time to
     * wake the workers; {@link HostOperation#UNKNOWN} if any part is unknown, or for long work.
     */
    long gain() {
        return nanos == HostOperation.UNKNOWN ? HostOperation.UNKNOWN : nanos - shared;
    }

    private long command(Recording recording, int at) {
        return switch (recording.opcode(at)) {
            case Recording.FILL, Recording.UPDATE, Recording.COPY -> transfer(bytes(recording, at + 1));
            case Recording.DISPATCH -> dispatch(recording, at);
            default -> HostOperation.UNKNOWN; // the count comes from a buffer
        };
    }

    private long transfer(long bytes) {
        return divided(TRANSFER_NANOS + bytes / BYTES_PER_NANO, (bytes >>> Region.PIECE_SHIFT) + 1);
    }

    private long dispatch(Recording recording, int at) {
        long groups = Integer.toUnsignedLong(recording.workgroupCount(at, 0))
                * Integer.toUnsignedLong(recording.workgroupCount(at, 1))
                * recording.workgroupCount(at, 2);
        LocalExecutable program = LocalExecutable.of(recording, at);
        int export = recording.export(at);
        long sum = program.nanos(export, groups, groups);
        if (sum == 0 && groups != 0) {
            return HostOperation.UNKNOWN;
        }
        return divided(DISPATCH_NANOS + sum, program.export(export).isSequential() ? 1 : Math.max(1, groups));
    }

    private long divided(long sum, long parts) {
        undivided = Math.max(undivided, sum / parts);
        return sum;
    }

    private long bytes(Recording recording, int range) {
        long recorded = recording.code()[range + 2];
        if (recorded != Buffer.WHOLE || table == null) {
            return recorded;
        }
        int slot = (int) recording.code()[range];
        long bytes = table.length(slot);
        Buffer buffer = table.buffer(slot);
        return bytes != Buffer.WHOLE ? bytes : buffer == null ? 0 : buffer.length();
    }
}
