package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.record.Recording;
import org.jspecify.annotations.Nullable;

/** Estimates how long a recording takes on one thread, in nanoseconds. Decides which thread runs it, so the order of magnitude suffices. */
final class DurationEstimate {
    private static final long DISPATCH_NANOS = 150;
    private static final long TRANSFER_NANOS = 30;
    private static final long WORKGROUP_NANOS = 250;
    private static final long BYTES_PER_NANO = 8;

    /** Longer than anything that counts as short. */
    private static final long LONG_NANOS = 10_000_000;

    /** Maximum number of commands examined; longer recordings do not count as short. */
    private static final int COMMANDS_LIMIT = 32;

    private DurationEstimate() {}

    /**
     * Estimates from earlier durations of the workgroups of its dispatches, otherwise from their number and the bytes bound to them.
     *
     * @return {@link HostOperation#UNKNOWN} when there is no basis for an estimate, or it would take long
     */
    static long nanos(Recording recording, @Nullable BindingTable table) {
        int[] commands = recording.commands();
        if (commands.length > COMMANDS_LIMIT) {
            return HostOperation.UNKNOWN;
        }
        long sum = 0;
        for (int at : commands) {
            long nanos = switch (recording.opcode(at)) {
                case Recording.FILL, Recording.UPDATE, Recording.COPY ->
                    TRANSFER_NANOS + bytes(recording, at + 1, table) / BYTES_PER_NANO;
                case Recording.DISPATCH -> dispatch(recording, at, table);
                default -> HostOperation.UNKNOWN; // the count comes from a buffer
            };
            if (nanos >= LONG_NANOS) {
                return HostOperation.UNKNOWN;
            }
            sum += nanos;
        }
        return sum;
    }

    private static long dispatch(Recording recording, int at, @Nullable BindingTable table) {
        long groups = Integer.toUnsignedLong(recording.workgroupCount(at, 0))
                * Integer.toUnsignedLong(recording.workgroupCount(at, 1))
                * recording.workgroupCount(at, 2);
        int known = LocalExecutable.of(recording, at).nanos(recording.export(at), groups);
        if (known != 0) {
            return DISPATCH_NANOS + known;
        }
        if (groups > LONG_NANOS) {
            return HostOperation.UNKNOWN;
        }
        long nanos = DISPATCH_NANOS + groups * WORKGROUP_NANOS;
        int range = recording.bindings(at);
        for (int i = recording.bindingCount(at); i > 0; i--, range += Recording.RANGE_WORDS) {
            nanos += bytes(recording, range, table) / BYTES_PER_NANO;
        }
        return nanos;
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
