package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.hal.stream.TransferSink;
import io.github.iree4j.nativeaccess.vulkan.VulkanWords;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Supplier;

/**
 * Writes the words of native commands. Fills and copies take any offset and length, although drivers fill only
 * multiples of four bytes.
 *
 * <p>Commands are unordered among each other until {@link #barrier} is called; each call orders its own commands where
 * needed. A single thread at a time.
 */
final class CommandEncoder implements TransferSink {
    /** Drivers fill multiples of this many bytes. */
    private static final int FILL_UNIT = 4;

    /** Bytes of device memory for patterns not filled by drivers. */
    static final int SCRATCH = 16;

    private static final int INITIAL_WORDS = 128;

    private final Supplier<StreamStorage> scratch;
    private MemorySegment words = memory(INITIAL_WORDS);
    private int count;
    private boolean scratchUsed;

    /**
     * Creates an encoder without commands.
     *
     * @param scratch supplies {@link #SCRATCH} bytes of device memory for the exclusive use of the commands; called on
     *     demand
     */
    CommandEncoder(Supplier<StreamStorage> scratch) {
        this.scratch = scratch;
    }

    private static MemorySegment memory(long count) {
        return Arena.ofAuto().allocate(count * Long.BYTES, Long.BYTES);
    }

    /** Removes all commands. */
    void clear() {
        count = 0;
        scratchUsed = false;
    }

    /** Returns whether there are commands. */
    boolean isEmpty() {
        return count == 0;
    }

    /** Returns the words; {@link #count} words are written. */
    MemorySegment words() {
        return words;
    }

    /** Returns the number of words. */
    int count() {
        return count;
    }

    /** Appends a word. Used directly for commands without a method here. */
    void word(long value) {
        long at = (long) count * Long.BYTES;
        if (at == words.byteSize()) {
            MemorySegment larger = memory(count * 2L);
            larger.copyFrom(words);
            words = larger;
        }
        words.set(ValueLayout.JAVA_LONG, at, value);
        count++;
    }

    /** Orders later commands after earlier commands, for the given stages and accesses. */
    void barrier(long sourceStages, long sourceAccess, long targetStages, long targetAccess) {
        word(VulkanWords.BARRIER);
        word(sourceStages);
        word(sourceAccess);
        word(targetStages);
        word(targetAccess);
    }

    /**
     * Orders the commands after all earlier submissions and makes the writes of earlier submissions visible: the first
     * command of every submission.
     */
    void beginAfterAll() {
        barrier(
                VulkanWords.STAGE_ALL_COMMANDS,
                VulkanWords.ACCESS_MEMORY_WRITE,
                VulkanWords.STAGE_ALL_COMMANDS,
                VulkanWords.ACCESS_MEMORY_READ | VulkanWords.ACCESS_MEMORY_WRITE);
    }

    /** Makes writes readable by the host once the submission is complete: the last command of submissions writing host-visible memory. */
    void endVisibleToHost() {
        barrier(
                VulkanWords.STAGE_ALL_COMMANDS,
                VulkanWords.ACCESS_MEMORY_WRITE,
                VulkanWords.STAGE_HOST,
                VulkanWords.ACCESS_HOST_READ);
    }

    /** Orders later transfers after earlier transfers. */
    void transferBarrier() {
        barrier(
                VulkanWords.STAGE_ALL_TRANSFER,
                VulkanWords.ACCESS_TRANSFER_WRITE,
                VulkanWords.STAGE_ALL_TRANSFER,
                VulkanWords.ACCESS_TRANSFER_READ | VulkanWords.ACCESS_TRANSFER_WRITE);
    }

    /**
     * Copies bytes. Ranges must not overlap.
     *
     * @param source the storage to read
     * @param sourceOffset first byte read, in the storage
     * @param target the storage to write
     * @param targetOffset first byte written, in the storage
     * @param length bytes
     */
    @Override
    public void copy(StreamStorage source, long sourceOffset, StreamStorage target, long targetOffset, long length) {
        copy(source.handle(), source.offset() + sourceOffset, target.handle(), target.offset() + targetOffset, length);
    }

    private void copy(long source, long from, long target, long to, long length) {
        if (length == 0) {
            return;
        }
        word(VulkanWords.COPY);
        word(source);
        word(from);
        word(target);
        word(to);
        word(length);
    }

    private void fillUnits(long buffer, long offset, long length, int pattern) {
        word(VulkanWords.FILL);
        word(buffer);
        word(offset);
        word(length);
        word(Integer.toUnsignedLong(pattern));
    }

    /**
     * Fills bytes with a repeated pattern, beginning with the first byte.
     *
     * @param target the storage to fill
     * @param offset first byte, in the storage
     * @param length bytes, a multiple of the pattern's length
     * @param pattern the pattern in the low bytes, little-endian
     * @param patternLength 1, 2, 4 or 8 bytes
     */
    @Override
    public void fill(StreamStorage target, long offset, long length, long pattern, int patternLength) {
        if (length == 0) {
            return;
        }
        long buffer = target.handle();
        long from = target.offset() + offset;
        int low = (int) pattern;
        if (patternLength == Long.BYTES && low != (int) (pattern >>> Integer.SIZE)) {
            fillLong(buffer, from, length, low, (int) (pattern >>> Integer.SIZE));
            return;
        }
        fillInt(
                buffer,
                from,
                length,
                switch (patternLength) {
                    case 1 -> (low & 0xFF) * 0x0101_0101;
                    case 2 -> low & 0xFFFF | low << Short.SIZE;
                    default -> low;
                });
    }

    /** Fills with four bytes; the first pattern byte comes first, regardless of the alignment. */
    private void fillInt(long buffer, long from, long length, int pattern) {
        int phase = (int) (from & FILL_UNIT - 1);
        int aligned = Integer.rotateLeft(pattern, phase * Byte.SIZE); // byte i belongs at addresses equal to i modulo 4
        long end = from + length;
        long first = from + FILL_UNIT - 1 & -FILL_UNIT;
        long last = end & -FILL_UNIT;
        if (first < last) {
            fillUnits(buffer, first, last - first, aligned);
        }
        if (phase == 0 && last == end) {
            return;
        }
        StreamStorage piece = beginScratch();
        fillUnits(piece.handle(), piece.offset(), SCRATCH, aligned);
        transferBarrier();
        if (first >= last) { // a few bytes around or beside a boundary
            copy(piece.handle(), piece.offset() + phase, buffer, from, length);
            return;
        }
        copy(piece.handle(), piece.offset() + phase, buffer, from, first - from);
        copy(piece.handle(), piece.offset(), buffer, last, end - last);
    }

    /** Fills with eight bytes: the first eight from scratch memory, the rest copied from the filled part, doubled each time. */
    private void fillLong(long buffer, long from, long length, int low, int high) {
        StreamStorage piece = beginScratch();
        fillUnits(piece.handle(), piece.offset(), FILL_UNIT, low);
        fillUnits(piece.handle(), piece.offset() + FILL_UNIT, FILL_UNIT, high);
        transferBarrier();
        long done = Math.min(length, Long.BYTES);
        copy(piece.handle(), piece.offset(), buffer, from, done);
        while (done < length) {
            transferBarrier();
            long more = Math.min(done, length - done);
            copy(buffer, from, buffer, from + done, more);
            done += more;
        }
    }

    private StreamStorage beginScratch() {
        if (scratchUsed) {
            transferBarrier();
        }
        scratchUsed = true;
        return scratch.get();
    }

    /**
     * Begins a dispatch, to be followed by the words of the bindings, {@link #constants}, and {@link #workgroups} or
     * {@link #indirectWorkgroups}, in this order.
     *
     * @param pipeline handle of the pipeline
     * @param mode the way of passing the bindings, see {@link VulkanWords}
     * @param bindings number of bindings
     * @param indirect whether the workgroups come from a buffer
     */
    void dispatch(long pipeline, long mode, int bindings, boolean indirect) {
        word(indirect ? VulkanWords.DISPATCH_INDIRECT : VulkanWords.DISPATCH);
        word(pipeline);
        word(mode);
        word(bindings);
    }

    /**
     * Adds the push constants of a dispatch.
     *
     * @param offset first byte of the push constants
     * @param bytes the constants
     */
    void constants(int offset, MemorySegment bytes) {
        long size = bytes.byteSize();
        word(offset);
        word(size);
        for (long at = 0; at < size; at += Long.BYTES) {
            long value = 0;
            for (long i = Math.min(size, at + Long.BYTES) - 1; i >= at; i--) {
                value = value << Byte.SIZE | Byte.toUnsignedLong(bytes.get(ValueLayout.JAVA_BYTE, i));
            }
            word(value);
        }
    }

    /** Ends a dispatch. */
    void workgroups(int x, int y, int z) {
        word(Integer.toUnsignedLong(x));
        word(Integer.toUnsignedLong(y));
        word(Integer.toUnsignedLong(z));
    }

    /** Ends a dispatch with workgroups read from a buffer during the dispatch. */
    void indirectWorkgroups(StreamStorage storage, long offset) {
        word(storage.handle());
        word(storage.offset() + offset);
    }
}
