package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.record.Recording;
import org.jspecify.annotations.Nullable;

/**
 * Estimates the durations of recorded commands, from earlier durations of the dispatches' workgroups and from the bytes
 * of transfers. Decides about the executing threads, so the order of magnitude suffices.
 */
final class DurationEstimate {
    /** Additional cost of a region run by several threads: the threads meet at the end, and the data moves between their caches. */
    static final long MEETING_NANOS = 4_000;

    /** Longer than anything that counts as short. */
    static final long LONG_NANOS = 10_000_000;

    private static final long DISPATCH_NANOS = 150;
    private static final long TRANSFER_NANOS = 30;
    private static final long BYTES_PER_NANO = 8;

    private DurationEstimate() {}

    /** Returns the duration of a command on a single thread, in nanoseconds; {@link HostOperation#UNKNOWN} if any part is unknown. */
    static long nanos(Recording recording, int at, @Nullable BindingTable table) {
        return switch (recording.opcode(at)) {
            case Recording.FILL, Recording.UPDATE, Recording.COPY ->
                TRANSFER_NANOS + bytes(recording, at + 1, table) / BYTES_PER_NANO;
            case Recording.DISPATCH -> dispatch(recording, at);
            default -> HostOperation.UNKNOWN; // the count comes from a buffer
        };
    }

    private static long dispatch(Recording recording, int at) {
        long groups = groups(recording, at);
        long sum = LocalExecutable.of(recording, at).nanos(recording.export(at), groups, groups);
        return sum == 0 && groups != 0 ? HostOperation.UNKNOWN : DISPATCH_NANOS + sum;
    }

    private static long groups(Recording recording, int at) {
        return Integer.toUnsignedLong(recording.workgroupCount(at, 0))
                * Integer.toUnsignedLong(recording.workgroupCount(at, 1))
                * recording.workgroupCount(at, 2);
    }

    /** Returns the number of parts into which threads can divide a command with a known duration; at least 1. */
    static long parts(Recording recording, int at, @Nullable BindingTable table) {
        return recording.opcode(at) != Recording.DISPATCH
                ? (bytes(recording, at + 1, table) >>> Region.PIECE_SHIFT) + 1
                : LocalExecutable.of(recording, at).export(recording.export(at)).isSequential()
                        ? 1
                        : Math.max(1, groups(recording, at));
    }

    private static long bytes(Recording recording, int range, @Nullable BindingTable table) {
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
