package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.record.Recording;
import org.jspecify.annotations.Nullable;

/**
 * Estimates how long a recording takes on one thread, and on all workers at once. Decides which threads run it, so the order of magnitude
 * suffices. Confined to the thread that has the operation.
 */
final class DurationEstimate {
    private static final long DISPATCH_NANOS = 150;
    private static final long TRANSFER_NANOS = 30;
    private static final long WORKGROUP_NANOS = 250;
    private static final long BYTES_PER_NANO = 8;

    /** What a region costs in addition when several threads run it: they meet at its end, and its data moves between their caches. */
    private static final long MEETING_NANOS = 4_000;

    /** A guess may be wrong by any factor: work that seems to take longer than this may be worth any number of workers. */
    private static final long GUESS_NANOS = 10_000;

    /** Longer than anything that counts as short. */
    private static final long LONG_NANOS = 10_000_000;

    private long nanos = HostOperation.UNKNOWN;
    private long shared = HostOperation.UNKNOWN;
    private boolean isGuess;

    /**
     * Estimates from earlier durations of the workgroups of its dispatches, otherwise from their number and the bytes bound to them.
     *
     * @param from the first region
     * @param to the region after the last
     * @param workers that may share the work
     */
    DurationEstimate(Recording recording, int from, int to, @Nullable BindingTable table, int workers) {
        long alone = 0;
        long together = 0;
        int[] commands = recording.commands();
        for (int i = from; i < to; i++) {
            long sum = 0;
            long longest = 0; // what only one thread can do
            for (int j = recording.firstCommand(i); j < recording.firstCommand(i + 1); j++) {
                int at = commands[j];
                long one = command(recording, at, table);
                isGuess |= recording.opcode(at) == Recording.DISPATCH && measured(recording, at) == 0;
                if (one >= LONG_NANOS) {
                    return;
                }
                sum += one;
                longest = Math.max(longest, one / parts(recording, at, table));
            }
            alone += sum;
            together += Math.min(sum, Math.max(longest, sum / workers) + MEETING_NANOS);
            if (alone >= LONG_NANOS) {
                return;
            }
        }
        nanos = alone;
        shared = together;
    }

    /** On one thread; {@link HostOperation#UNKNOWN} when there is no basis for an estimate, or it would take long. */
    long nanos() {
        return nanos;
    }

    /** Whether the work is over earlier when workers are woken for it, or may be. */
    boolean isWorthSharing(long wakeNanos) {
        return nanos == HostOperation.UNKNOWN || (isGuess ? nanos > GUESS_NANOS : nanos - shared > wakeNanos);
    }

    private static long command(Recording recording, int at, @Nullable BindingTable table) {
        return switch (recording.opcode(at)) {
            case Recording.FILL, Recording.UPDATE, Recording.COPY ->
                TRANSFER_NANOS + bytes(recording, at + 1, table) / BYTES_PER_NANO;
            case Recording.DISPATCH -> dispatch(recording, at, table);
            default -> HostOperation.UNKNOWN; // the count comes from a buffer
        };
    }

    /** In how many parts a command can be cut. */
    private static long parts(Recording recording, int at, @Nullable BindingTable table) {
        if (recording.opcode(at) != Recording.DISPATCH) {
            return (bytes(recording, at + 1, table) >>> Region.PIECE_SHIFT) + 1;
        }
        LocalExecutable program = LocalExecutable.of(recording, at);
        return program.export(recording.export(at)).isSequential() ? 1 : Math.max(1, workgroups(recording, at));
    }

    private static int measured(Recording recording, int at) {
        long groups = workgroups(recording, at);
        return LocalExecutable.of(recording, at).nanos(recording.export(at), groups, groups);
    }

    private static long workgroups(Recording recording, int at) {
        return Integer.toUnsignedLong(recording.workgroupCount(at, 0))
                * Integer.toUnsignedLong(recording.workgroupCount(at, 1))
                * recording.workgroupCount(at, 2);
    }

    private static long dispatch(Recording recording, int at, @Nullable BindingTable table) {
        long groups = workgroups(recording, at);
        int known = measured(recording, at);
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
