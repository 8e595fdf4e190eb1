package io.github.iree4j.hal.record;

import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.schedule.DispatchingOperation;
import io.github.iree4j.hal.storage.StoredBuffer;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Recorded commands: words, and the positions of regions and commands in the words. Immutable; the command buffer
 * retains all referenced objects.
 *
 * <p>Commands of a region are unordered and may run concurrently; regions run one after the other.
 */
public final class Recording {
    /*
     * A command is a word with the opcode, then the operands. A range takes three words:
     *
     *   [ slot, or ~index of a fixed buffer ] [ offset ] [ length, WHOLE possible for a slot ]
     *
     * The offset counts from the start of the allocation for a fixed buffer, from the start of the table's range for a slot.
     *
     *   FILL      opcode, range, pattern repeated to 8 bytes, length of the pattern
     *   UPDATE    opcode, range, offset of the bytes in `updates`
     *   COPY      opcode, source range, target range
     *   DISPATCH  flags of the backend | opcode, executable | export, count x | y, count z | dynamic local memory, size x | y,
     *             size z | constant count | binding count (16 bits each of the low half), constants in pairs, bindings
     *   INDIRECT  as DISPATCH, with the range of the counts in front of the constants
     *
     * where "a | b" is a in the upper and b in the lower half of a word. Sizes are at least 1.
     */
    /** Opcode of a fill. */
    public static final int FILL = 1;
    /** Opcode of an update. */
    public static final int UPDATE = 2;
    /** Opcode of a copy. */
    public static final int COPY = 3;
    /** Opcode of a dispatch. */
    public static final int DISPATCH = 4;
    /** Opcode of a dispatch with counts in a buffer. */
    public static final int INDIRECT = 5;

    /** Words of a dispatch before the constants, or before the range of the counts. */
    public static final int DISPATCH_WORDS = 6;

    /** Words of a range. */
    public static final int RANGE_WORDS = 3;

    private final long[] code;
    private final int[] commands;
    private final int[] regions;
    private final StoredBuffer<?>[] fixed;
    private final Executable[] executables;
    private final MemorySegment updates;
    private final int[] slots;

    /**
     * Creates a recording and takes ownership of the arguments.
     *
     * @param code the words
     * @param commands position in the code of each command
     * @param regions the number of the first command of each region, followed by the number of commands
     * @param fixed buffers named by ranges, by index
     * @param executables code named by dispatches, by index
     * @param updates bytes of updates, one after the other
     * @param slots slots used by commands, ascending
     */
    public Recording(
            long[] code,
            int[] commands,
            int[] regions,
            StoredBuffer<?>[] fixed,
            Executable[] executables,
            MemorySegment updates,
            int[] slots) {
        this.code = code;
        this.commands = commands;
        this.regions = regions;
        this.fixed = fixed;
        this.executables = executables;
        this.updates = updates;
        this.slots = slots;
    }

    /**
     * Returns a fill of a buffer; the caller keeps the buffer.
     *
     * @param target the buffer to fill
     * @param offset first byte, in the allocation
     * @param length bytes
     * @param pattern 8 bytes, as returned by {@link #widen}
     * @return the recording
     */
    public static Recording fill(StoredBuffer<?> target, long offset, long length, long pattern) {
        return transfer(new long[] {FILL, ~0, offset, length, pattern, Long.BYTES}, target);
    }

    /**
     * Returns a copy between two buffers, or within a buffer. The caller keeps the buffers.
     *
     * @param source the buffer to read
     * @param sourceOffset first byte, in the source's allocation
     * @param target the buffer to write
     * @param targetOffset first byte, in the target's allocation
     * @param length bytes
     * @return the recording
     */
    public static Recording copy(
            StoredBuffer<?> source, long sourceOffset, StoredBuffer<?> target, long targetOffset, long length) {
        return transfer(new long[] {COPY, ~0, sourceOffset, length, ~1, targetOffset, length}, source, target);
    }

    /**
     * Repeats a pattern to 8 bytes.
     *
     * @param pattern in the low bytes
     * @param patternLength 1, 2, 4 or 8 bytes
     * @return the pattern for a fill
     */
    public static long widen(long pattern, int patternLength) {
        return switch (patternLength) {
            case 1 -> (pattern & 0xFF) * 0x0101_0101_0101_0101L;
            case 2 -> (pattern & 0xFFFF) * 0x0001_0001_0001_0001L;
            case 4 -> (pattern & 0xFFFF_FFFFL) * 0x0000_0001_0000_0001L;
            default -> pattern;
        };
    }

    private static Recording transfer(long[] code, StoredBuffer<?>... buffers) {
        return new Recording(
                code, new int[1], new int[] {0, 1}, buffers, new Executable[0], MemorySegment.NULL, new int[0]);
    }

    /**
     * Returns some of the regions as a recording referring to the same buffers and slots.
     *
     * @param from the first region
     * @param to the region after the last
     * @return the recording, valid as long as this recording
     */
    public Recording regions(int from, int to) {
        int first = regions[from];
        int[] starts = new int[to - from + 1];
        for (int i = from; i <= to; i++) {
            starts[i - from] = regions[i] - first;
        }
        return new Recording(
                code, Arrays.copyOfRange(commands, first, regions[to]), starts, fixed, executables, updates, slots);
    }

    /** Releases the buffers and the code, retained before by the caller. */
    void release() {
        for (StoredBuffer<?> each : fixed) {
            each.release();
        }
        for (Executable each : executables) {
            each.release();
        }
    }

    /**
     * Returns the words.
     *
     * @return not to be written
     */
    public long[] code() {
        return code;
    }

    /**
     * Returns the position of each command.
     *
     * @return positions in the code, ascending; not to be written
     */
    public int[] commands() {
        return commands;
    }

    /**
     * Returns the number of regions.
     *
     * @return regions
     */
    public int regionCount() {
        return regions.length - 1;
    }

    /**
     * Returns the start of a region.
     *
     * @param region 0 to {@link #regionCount}
     * @return the number of the first command; the number of commands for the region after the last
     */
    public int firstCommand(int region) {
        return regions[region];
    }

    /**
     * Returns the fixed buffers.
     *
     * @return by index in ranges; not to be written
     */
    public StoredBuffer<?>[] fixed() {
        return fixed;
    }

    /**
     * Returns the slots used by commands.
     *
     * @return ascending; not to be written
     */
    public int[] slots() {
        return slots;
    }

    /**
     * Returns the required length of a table indexed by slot.
     *
     * @return one more than the highest slot used by commands
     */
    public int slotLimit() {
        return slots.length == 0 ? 0 : slots[slots.length - 1] + 1;
    }

    /**
     * Returns the bytes of all updates.
     *
     * @return concatenated; empty without updates
     */
    public MemorySegment updates() {
        return updates;
    }

    /**
     * Returns whether there are dispatches.
     *
     * @return false when there are only transfers, or nothing
     */
    public boolean dispatches() {
        return executables.length > 0;
    }

    /**
     * Lists the dispatches of some regions.
     *
     * @param from the first region
     * @param to the region after the last
     * @param visitor receives each dispatch, in the order of recording
     */
    public void forEachDispatch(int from, int to, DispatchingOperation.Visitor visitor) {
        for (int i = regions[from]; i < regions[to]; i++) {
            int at = commands[i];
            if (isDispatch(at)) {
                String export = executable(at).export(export(at)).name();
                boolean isCounted = opcode(at) == DISPATCH;
                visitor.dispatch(
                        export,
                        isCounted ? Integer.toUnsignedLong(workgroupCount(at, 0)) : DispatchingOperation.UNKNOWN_COUNT,
                        isCounted ? Integer.toUnsignedLong(workgroupCount(at, 1)) : DispatchingOperation.UNKNOWN_COUNT,
                        isCounted ? Integer.toUnsignedLong(workgroupCount(at, 2)) : DispatchingOperation.UNKNOWN_COUNT);
            }
        }
    }

    /**
     * Returns the opcode of a command.
     *
     * @param at start of the command
     * @return an opcode
     */
    public int opcode(int at) {
        return (int) code[at];
    }

    /**
     * Returns whether a command is a dispatch, of either kind.
     *
     * @param at start of the command
     * @return true for DISPATCH and INDIRECT
     */
    public boolean isDispatch(int at) {
        return (int) code[at] >= DISPATCH;
    }

    /**
     * Returns the backend's flags of a dispatch.
     *
     * @param at start of the dispatch
     * @return the value from {@link RecordingBackend#flags}
     */
    public int flags(int at) {
        return (int) (code[at] >>> 32);
    }

    /**
     * Returns the range written by a fill or an update, or read by a copy.
     *
     * @param at start of the command
     * @return position of the range in the code
     */
    public int range(int at) {
        return at + 1;
    }

    /**
     * Returns the range written by a copy.
     *
     * @param at start of the copy
     * @return position of the range in the code
     */
    public int copyTarget(int at) {
        return at + 1 + RANGE_WORDS;
    }

    /**
     * Returns the pattern of a fill.
     *
     * @param at start of the fill
     * @return the pattern, repeated to 8 bytes
     */
    public long pattern(int at) {
        return code[at + 1 + RANGE_WORDS];
    }

    /**
     * Returns the length of the pattern of a fill.
     *
     * @param at start of the fill
     * @return 1, 2, 4 or 8 bytes
     */
    public int patternLength(int at) {
        return (int) code[at + 2 + RANGE_WORDS];
    }

    /**
     * Returns the offset of the bytes of an update.
     *
     * @param at start of the update
     * @return position in {@link #updates}
     */
    public long updateOffset(int at) {
        return code[at + 1 + RANGE_WORDS];
    }

    /**
     * Returns the workgroup count of a direct dispatch in a dimension.
     *
     * @param at start of the dispatch
     * @param dimension 0 for x, 1 for y, 2 for z
     * @return the count, unsigned
     */
    public int workgroupCount(int at, int dimension) {
        return (int) (code[at + 2 + (dimension >> 1)] >>> ((dimension & 1) == 0 ? Integer.SIZE : 0));
    }

    /**
     * Returns a constant of a dispatch.
     *
     * @param at start of the dispatch
     * @param index from 0 to less than {@link #constantCount}
     * @return the constant
     */
    public int constant(int at, int index) {
        return (int) (code[constants(at) + (index >> 1)] >>> ((index & 1) << 5));
    }

    /**
     * Returns the code run by a dispatch.
     *
     * @param at start of the dispatch
     * @return the executable, borrowed
     */
    public Executable executable(int at) {
        return executables[(int) (code[at + 1] >>> 32)];
    }

    /**
     * Returns the entry point run by a dispatch.
     *
     * @param at start of the dispatch
     * @return ordinal of the export
     */
    public int export(int at) {
        return (int) code[at + 1];
    }

    /**
     * Returns the number of constants of a dispatch.
     *
     * @param at start of the dispatch
     * @return constants
     */
    public int constantCount(int at) {
        return (int) code[at + 5] >>> 16;
    }

    /**
     * Returns the number of bindings of a dispatch.
     *
     * @param at start of the dispatch
     * @return bindings
     */
    public int bindingCount(int at) {
        return (int) code[at + 5] & 0xFFFF;
    }

    /**
     * Returns the range of the counts of an indirect dispatch.
     *
     * @param at start of the dispatch
     * @return position in the code
     */
    public int counts(int at) {
        return at + DISPATCH_WORDS;
    }

    /**
     * Returns the position of the constants of a dispatch, two in each word, the lower half first.
     *
     * @param at start of the dispatch
     * @return position in the code
     */
    public int constants(int at) {
        return at + DISPATCH_WORDS + ((int) code[at] == INDIRECT ? RANGE_WORDS : 0);
    }

    /**
     * Returns the position of the ranges of the bindings of a dispatch.
     *
     * @param at start of the dispatch
     * @return position in the code
     */
    public int bindings(int at) {
        return constants(at) + ((constantCount(at) + 1) >> 1);
    }
}
