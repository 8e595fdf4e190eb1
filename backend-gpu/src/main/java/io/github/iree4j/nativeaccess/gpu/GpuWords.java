package io.github.iree4j.nativeaccess.gpu;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Commands for {@link GpuDevice#run}, in growing native memory: the words of {@code shim_gpu.h}. One thread at a time. */
public final class GpuWords {
    /** The most parameters of a function: {@code SHIM_GPU_MAX_PARAMS}. */
    public static final int MAXIMUM_PARAMETERS = 512;

    private static final int WAIT = 1;
    private static final int RECORD = 2;
    private static final int FILL = 3;
    private static final int COPY = 4;
    private static final int LAUNCH = 5;
    private static final int CALL = 6;
    private static final int GRAPH = 7;
    private static final int REGION = 8;
    private static final int BRANCH = 9;

    private static final int INITIAL_WORDS = 32;

    private MemorySegment words = Arena.ofAuto().allocate((long) INITIAL_WORDS * Long.BYTES, Long.BYTES);
    private int count;
    private int commands;
    private boolean branches;

    /** Creates an empty list. */
    public GpuWords() {}

    /** Removes all commands. */
    public void clear() {
        count = 0;
        commands = 0;
        branches = false;
    }

    /** Returns the number of bytes of native memory. */
    public long capacity() {
        return words.byteSize();
    }

    /** Returns the number of commands, including commands of called lists. */
    public int commands() {
        return commands;
    }

    /** Returns whether some commands need not wait for each other: true after {@link #branch}. */
    public boolean hasBranches() {
        return branches;
    }

    /** Returns the words, valid until the next command. */
    public MemorySegment segment() {
        return words.asSlice(0, (long) count * Long.BYTES);
    }

    private int begin(int opcode, int length) {
        if ((long) (count + length) * Long.BYTES > words.byteSize()) {
            MemorySegment larger = Arena.ofAuto()
                    .allocate(Math.max(2 * words.byteSize(), (long) (count + length) * Long.BYTES), Long.BYTES);
            words = larger.copyFrom(segment());
        }
        int at = count;
        set(at, opcode);
        count += length;
        commands++;
        return at;
    }

    private void set(int at, long word) {
        words.setAtIndex(ValueLayout.JAVA_LONG, at, word);
    }

    private static long pair(int high, int low) {
        return (long) high << Integer.SIZE | low & 0xFFFF_FFFFL;
    }

    /** Later commands begin once everything before the last record of an event has ended. */
    public void await(long event) {
        set(begin(WAIT, 2) + 1, event);
    }

    /** Records an event. */
    public void record(long event) {
        set(begin(RECORD, 2) + 1, event);
    }

    /**
     * Fills memory.
     *
     * @param address first byte, a multiple of the pattern's length
     * @param length bytes, a multiple of the pattern's length
     * @param pattern the pattern in the low bytes
     * @param patternLength 1, 2 or 4 bytes
     */
    public void fill(long address, long length, int pattern, int patternLength) {
        int at = begin(FILL, 4);
        set(at + 1, address);
        set(at + 2, length);
        set(at + 3, pair(pattern, patternLength));
    }

    /** Copies bytes between two addresses. */
    public void copy(long target, long source, long length) {
        int at = begin(COPY, 4);
        set(at + 1, target);
        set(at + 2, source);
        set(at + 3, length);
    }

    /**
     * Runs a function.
     *
     * @param function the function's handle
     * @param countX workgroups along x, as for y and z
     * @param sizeX threads of a workgroup along x, as for y and z
     * @param sharedBytes dynamic shared memory
     * @param parameters the number of {@link #parameter}s, at most {@link #MAXIMUM_PARAMETERS}
     * @return position of the first parameter
     */
    public int launch(
            long function,
            int countX,
            int countY,
            int countZ,
            int sizeX,
            int sizeY,
            int sizeZ,
            int sharedBytes,
            int parameters) {
        int at = begin(LAUNCH, 6 + parameters);
        set(at + 1, function);
        set(at + 2, pair(countY, countX));
        set(at + 3, pair(sharedBytes, countZ));
        set(at + 4, pair(sizeY, sizeX));
        set(at + 5, pair(parameters, sizeZ));
        return at + 6;
    }

    /** Sets the parameter at a position to a value, or to the low bytes of a value. */
    public void parameter(int at, long value) {
        set(at, value);
    }

    /** Runs commands of another list. The other list calls no list, and must not change until these commands are submitted. */
    public void call(GpuWords other) {
        int at = begin(CALL, 3);
        set(at + 1, other.words.address());
        set(at + 2, other.count);
        commands += other.commands - 1;
    }

    /**
     * Runs some commands of another list, otherwise as {@link #call(GpuWords)}.
     *
     * @param from the position of the first command; 0 for the beginning
     * @param limit maximum number of commands
     * @return the position of the next command
     */
    public int call(GpuWords other, int from, int limit) {
        if (from == 0 && limit >= other.commands) { // nearly always: nothing is read
            call(other);
            return other.count;
        }
        int to = from;
        int taken = 0;
        while (to < other.count && taken < limit) {
            int length = other.length(to);
            taken += length > 1 ? 1 : 0; // a word alone is a region or a branch
            to += length;
        }
        int at = begin(CALL, 3);
        set(at + 1, other.words.address() + (long) from * Long.BYTES);
        set(at + 2, to - from);
        commands += taken - 1;
        return to;
    }

    private int length(int at) {
        int opcode = (int) words.getAtIndex(ValueLayout.JAVA_LONG, at);
        return switch (opcode) {
            case WAIT, RECORD, GRAPH -> 2;
            case CALL -> 3;
            case FILL, COPY -> 4;
            case LAUNCH -> 6 + (int) (words.getAtIndex(ValueLayout.JAVA_LONG, at + 5) >> Integer.SIZE);
            case REGION, BRANCH -> 1;
            default -> throw new AssertionError(opcode);
        };
    }

    /** In a graph, later commands come after everything before; a stream keeps the order of commands anyway. */
    public void region() {
        begin(REGION, 1);
        commands--; // a region is not a command
    }

    /** In a graph, later commands come after the commands before the last {@link #region}, and need not come after the commands in between. */
    public void branch() {
        begin(BRANCH, 1);
        commands--;
        branches = true;
    }

    /** Runs a graph. */
    public void graph(long graph) {
        set(begin(GRAPH, 2) + 1, graph);
    }
}
