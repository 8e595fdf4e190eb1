package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.StoredBuffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Recorded commands: words, and where regions and commands begin in them. Immutable; what it refers to is kept by the command buffer.
 *
 * <p>Commands of a region have nothing between them and may run at once, on any thread; regions run one after the other.
 */
final class Recording {
    /*
     * A command is a word with its opcode, then its operands. A range takes three words:
     *
     *   [ slot, or ~index of a fixed buffer ] [ offset ] [ length, WHOLE possible for a slot ]
     *
     * The offset counts from the start of the allocation for a fixed buffer, from the start of the table's range for a slot.
     *
     *   FILL      opcode, range, pattern widened to 8 bytes
     *   UPDATE    opcode, range, index of the bytes
     *   COPY      opcode, source range, target range
     *   DISPATCH  opcode, executable | export, count x | y, count z | dynamic local memory, size x | y,
     *             size z | constant count | binding count (16 bits each of the low half), constants in pairs, bindings
     *   INDIRECT  as DISPATCH, with the range of the counts in front of the constants
     *
     * where "a | b" is a in the upper and b in the lower half of a word.
     */
    static final int FILL = 1;
    static final int UPDATE = 2;
    static final int COPY = 3;
    static final int DISPATCH = 4;
    static final int INDIRECT = 5;

    /** Words of a dispatch in front of its constants, or of the range of its counts. */
    static final int DISPATCH_WORDS = 6;

    /** Words of a range. */
    static final int RANGE_WORDS = 3;

    /** The most commands of a region; a barrier that nobody asked for follows. What is kept for each while they run is bounded by it. */
    static final int REGION_LIMIT = 255;

    // What things take, for nanos(). Of the right order, no more.
    private static final long DISPATCH_NANOS = 150;
    private static final long TRANSFER_NANOS = 30;
    private static final long WORKGROUP_NANOS = 250;
    private static final long BYTES_PER_NANO = 8;

    /** Longer than anything that is to be called short. */
    private static final long LONG_NANOS = 10_000_000;

    /** So many commands are looked at; more are not called short. */
    private static final int ESTIMATED_COMMANDS = 32;

    final long[] code;
    private final int[] commands;
    private final int[] regions;
    final StoredBuffer<?>[] fixed;
    final LocalExecutable[] programs;
    final MemorySegment[] updates;
    final int[] slots;

    /**
     * Takes everything over.
     *
     * @param code the words
     * @param commands where in the code each command begins
     * @param regions the number of the first command of each region, and at the end that of commands
     * @param fixed buffers that ranges name by index
     * @param programs executables that dispatches name by index
     * @param updates bytes that updates name by index
     * @param slots slots that commands use, ascending
     */
    Recording(
            long[] code,
            int[] commands,
            int[] regions,
            StoredBuffer<?>[] fixed,
            LocalExecutable[] programs,
            MemorySegment[] updates,
            int[] slots) {
        this.code = code;
        this.commands = commands;
        this.regions = regions;
        this.fixed = fixed;
        this.programs = programs;
        this.updates = updates;
        this.slots = slots;
    }

    /** A fill of one buffer. The caller keeps it. */
    static Recording fill(StoredBuffer<?> target, long offset, long length, long pattern) {
        return transfer(new long[] {FILL, ~0, offset, length, pattern}, target);
    }

    /** A copy from one buffer to another, or within one. The caller keeps them. */
    static Recording copy(
            StoredBuffer<?> source, long sourceOffset, StoredBuffer<?> target, long targetOffset, long length) {
        return transfer(new long[] {COPY, ~0, sourceOffset, length, ~1, targetOffset, length}, source, target);
    }

    private static Recording transfer(long[] code, StoredBuffer<?>... buffers) {
        return new Recording(
                code, new int[1], new int[] {0, 1}, buffers, new LocalExecutable[0], new MemorySegment[0], new int[0]);
    }

    int regionCount() {
        return regions.length - 1;
    }

    /** Returns the number of the first command of a region; that of commands for the region after the last. */
    int firstCommand(int region) {
        return regions[region];
    }

    int commandCount() {
        return commands.length;
    }

    /** Returns where in the code a command begins. */
    int command(int number) {
        return commands[number];
    }

    /** One more than the highest slot that commands use. */
    int slotLimit() {
        return slots.length == 0 ? 0 : slots[slots.length - 1] + 1;
    }

    LocalExecutable program(int at) {
        return programs[(int) (code[at + 1] >>> 32)];
    }

    int export(int at) {
        return (int) code[at + 1];
    }

    int constantCount(int at) {
        return (int) code[at + 5] >>> 16;
    }

    int bindingCount(int at) {
        return (int) code[at + 5] & 0xFFFF;
    }

    /**
     * Returns what running it on one thread is likely to take, in nanoseconds: from how long the workgroups of its dispatches took before,
     * else from how many there are and the bytes they are given.
     *
     * @return {@link HostOperation#UNKNOWN} when that cannot be told or takes long to find out
     */
    long nanos(@Nullable BindingTable table) {
        if (commands.length > ESTIMATED_COMMANDS) {
            return HostOperation.UNKNOWN;
        }
        long sum = 0;
        for (int at : commands) {
            long nanos = switch ((int) code[at]) {
                case FILL, UPDATE, COPY -> TRANSFER_NANOS + bytes(at + 1, table) / BYTES_PER_NANO;
                case DISPATCH -> dispatchNanos(at, table);
                default -> HostOperation.UNKNOWN; // the count comes from a buffer
            };
            if (nanos >= LONG_NANOS) {
                return HostOperation.UNKNOWN;
            }
            sum += nanos;
        }
        return sum;
    }

    private long dispatchNanos(int at, @Nullable BindingTable table) {
        long groups = Integer.toUnsignedLong((int) (code[at + 2] >>> 32))
                * Integer.toUnsignedLong((int) code[at + 2])
                * (int) (code[at + 3] >>> 32);
        int known = program(at).nanos(export(at), groups);
        if (known != 0) {
            return DISPATCH_NANOS + known;
        }
        if (groups > LONG_NANOS) {
            return HostOperation.UNKNOWN;
        }
        long nanos = DISPATCH_NANOS + groups * WORKGROUP_NANOS;
        int range = at + DISPATCH_WORDS + ((constantCount(at) + 1) >> 1);
        for (int i = bindingCount(at); i > 0; i--, range += RANGE_WORDS) {
            nanos += bytes(range, table) / BYTES_PER_NANO;
        }
        return nanos;
    }

    private long bytes(int range, @Nullable BindingTable table) {
        long recorded = code[range + 2];
        if (recorded != Buffer.WHOLE || table == null) {
            return recorded;
        }
        int slot = (int) code[range];
        long bytes = table.length(slot);
        Buffer buffer = table.buffer(slot);
        return bytes != Buffer.WHOLE ? bytes : buffer == null ? 0 : buffer.length();
    }
}
