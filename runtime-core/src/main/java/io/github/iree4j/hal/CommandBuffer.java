package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Commands recorded once and executed on a queue, any number of times unless {@link #ONE_SHOT}. Commands between two
 * execution barriers may run in any order and concurrently.
 *
 * <p>Recording starts when the command buffer is created and ends with {@link #finish()}. Commands are checked while
 * being recorded: ranges, usage and access of buffers, counts of constants and bindings. The range in a slot of the
 * binding table is checked at each submission against all uses of the slot. A command buffer retains all referenced
 * objects. A single thread records; a finished command buffer is immutable and safe from any thread.
 */
@NotForApplications
public abstract class CommandBuffer extends Resource {
    /** As a mode: executed at most once. */
    public static final int ONE_SHOT = 0x1;
    /** As a mode: commands may run during recording. */
    public static final int ALLOW_INLINE_EXECUTION = 0x10;
    /** As a mode: the commands are known to be valid. */
    public static final int UNVALIDATED = 0x20;
    /** As a mode: the caller keeps resources alive. */
    public static final int UNRETAINED = 0x40;
    /** As a mode: keeps metadata for profiling. */
    public static final int RETAIN_PROFILE_METADATA = 0x80;
    /** As a mode: keeps metadata for profiling dispatches. */
    public static final int RETAIN_DISPATCH_METADATA = 0x100;

    /** As a category: fills, updates and copies. */
    public static final int TRANSFER = 0x1;
    /** As a category: dispatches. */
    public static final int DISPATCH = 0x2;

    /** As a stage: the command is issued. */
    public static final int STAGE_COMMAND_ISSUE = 0x1;
    /** As a stage: the command is processed. */
    public static final int STAGE_COMMAND_PROCESS = 0x2;
    /** As a stage: dispatches run. */
    public static final int STAGE_DISPATCH = 0x4;
    /** As a stage: transfers run. */
    public static final int STAGE_TRANSFER = 0x8;
    /** As a stage: the command retires. */
    public static final int STAGE_COMMAND_RETIRE = 0x10;
    /** As a stage: the host. */
    public static final int STAGE_HOST = 0x20;

    /** Maximum number of bindings of a dispatch. */
    public static final int MAXIMUM_BINDINGS = 64;

    /** Maximum number of constants of a dispatch. */
    public static final int MAXIMUM_CONSTANTS = 64;

    /** In place of a usage: any usage permitting dispatches. A bit left free by {@link BufferUsage}. */
    private static final int ANY_DISPATCH = 1 << 31;

    /** As an access: writes needing the access flag even where {@link #isCopiedOnWrite}. A bit left free by {@link MemoryAccess}. */
    private static final int FLAGGED_WRITE = 1 << 31;

    private final int modes;
    private final int categories;
    private final int bindingCapacity;
    // Combined requirements of all uses of a slot; indexed by slot.
    private final int[] slotUsage;
    private final int[] slotAccess;
    private final long[] slotEnd;
    private int slotCount; // one above the highest slot in use
    private int debugDepth;
    private boolean finished;

    /**
     * For backends.
     *
     * @param modes mode bits
     * @param categories category bits
     * @param bindingCapacity number of slots the commands may refer to
     */
    protected CommandBuffer(int modes, int categories, int bindingCapacity) {
        if (bindingCapacity < 0 || bindingCapacity > 65536) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "binding capacity " + bindingCapacity + " is not within [0, 65536]");
        }
        this.modes = modes;
        this.categories = categories;
        this.bindingCapacity = bindingCapacity;
        this.slotUsage = new int[bindingCapacity];
        this.slotAccess = new int[bindingCapacity];
        this.slotEnd = new long[bindingCapacity];
    }

    /**
     * Returns the permitted uses of the command buffer.
     *
     * @return mode bits
     */
    public final int modes() {
        return modes;
    }

    /**
     * Returns the kinds of commands the command buffer may hold.
     *
     * @return category bits
     */
    public final int categories() {
        return categories;
    }

    /**
     * Returns the number of slots the commands may refer to.
     *
     * @return slots
     */
    public final int bindingCapacity() {
        return bindingCapacity;
    }

    /**
     * Returns whether recording has ended.
     *
     * @return true after {@link #finish()}
     */
    public final boolean isFinished() {
        return finished;
    }

    /**
     * Ends recording.
     *
     * @throws IreeException FAILED_PRECONDITION when recording has ended or a debug group is open
     */
    public final void finish() {
        checkRecording();
        if (debugDepth != 0) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION, debugDepth + " debug groups of the command buffer are not ended");
        }
        doFinish();
        finished = true;
    }

    /**
     * Orders all earlier commands before all later commands.
     *
     * @param sourceStages stages to wait for
     * @param targetStages waiting stages
     * @param flags none defined
     */
    public final void executionBarrier(int sourceStages, int targetStages, long flags) {
        checkRecording();
        recordBarrier(sourceStages, targetStages);
    }

    /**
     * Fills a range with a repeated pattern.
     *
     * @param target needs usage TRANSFER_TARGET; offset and length are multiples of the pattern's length
     * @param pattern the pattern in the low bytes, little-endian
     * @param patternLength 1, 2, 4 or 8 bytes
     * @param flags none defined
     */
    public final void fillBuffer(BufferRef target, long pattern, int patternLength, long flags) {
        checkRecording(TRANSFER, "fill");
        Transfers.checkPattern(target.offset(), target.length() == Buffer.WHOLE ? 0 : target.length(), patternLength);
        BufferRef checked = check("fill target", target, BufferUsage.TRANSFER_TARGET, MemoryAccess.WRITE);
        if (checked.length() != Buffer.WHOLE) {
            Transfers.checkPattern(checked.offset(), checked.length(), patternLength);
        }
        recordFill(checked, pattern, patternLength);
    }

    /**
     * Writes host bytes, captured by the call.
     *
     * @param source at most 65536 bytes
     * @param target needs usage TRANSFER_TARGET; as long as the source
     * @param flags none defined
     */
    public final void updateBuffer(MemorySegment source, BufferRef target, long flags) {
        checkRecording(TRANSFER, "update");
        if (source.byteSize() > Transfers.MAXIMUM_UPDATE) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "update of %d bytes exceeds the limit of %d; copy from a buffer instead"
                            .formatted(source.byteSize(), Transfers.MAXIMUM_UPDATE));
        }
        if (target.length() != Buffer.WHOLE && target.length() != source.byteSize()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "update of %d bytes does not match its target of %d bytes"
                            .formatted(source.byteSize(), target.length()));
        }
        BufferRef range = new BufferRef(target.buffer(), target.slot(), target.offset(), source.byteSize());
        recordUpdate(source, check("update target", range, BufferUsage.TRANSFER_TARGET, MemoryAccess.WRITE));
    }

    /**
     * Copies between buffers.
     *
     * @param source needs usage TRANSFER_SOURCE
     * @param target needs usage TRANSFER_TARGET; as long as the source, without overlap
     * @param flags none defined
     */
    public final void copyBuffer(BufferRef source, BufferRef target, long flags) {
        checkRecording(TRANSFER, "copy");
        if (source.length() != target.length() && source.length() != Buffer.WHOLE && target.length() != Buffer.WHOLE) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "copy source of %d bytes does not match its target of %d bytes"
                            .formatted(source.length(), target.length()));
        }
        long wanted = source.length() == Buffer.WHOLE ? target.length() : source.length();
        BufferRef from = check(
                "copy source",
                new BufferRef(source.buffer(), source.slot(), source.offset(), wanted),
                BufferUsage.TRANSFER_SOURCE,
                MemoryAccess.READ);
        BufferRef to = check(
                "copy target",
                new BufferRef(target.buffer(), target.slot(), target.offset(), from.length()),
                BufferUsage.TRANSFER_TARGET,
                MemoryAccess.WRITE);
        if (from.buffer() != null && to.buffer() != null) {
            Transfers.checkOverlap(from.buffer(), from.offset(), to.buffer(), to.offset(), from.length());
        }
        recordCopy(from, to);
    }

    /**
     * Runs workgroups of an export.
     *
     * @param executable the code
     * @param export ordinal of the entry point
     * @param config workgroups; any count of 0 records no work
     * @param constants as many as the export declares
     * @param bindings as many as the export declares; usable by dispatches
     * @param flags dispatch flags
     */
    public final void dispatch(
            Executable executable,
            int export,
            DispatchConfig config,
            int[] constants,
            List<BufferRef> bindings,
            long flags) {
        List<BufferRef> checked = checkDispatch(executable, export, constants, bindings, flags);
        recordDispatch(executable, export, config, null, constants, checked, flags);
    }

    /**
     * Runs workgroups of an export, with counts read from a buffer.
     *
     * @param executable the code
     * @param export ordinal of the entry point
     * @param workgroupCount three unsigned 32-bit counts, x, y, z; needs usage DISPATCH_INDIRECT_PARAMETERS; 4-byte
     *     aligned
     * @param constants as many as the export declares
     * @param bindings as many as the export declares; usable by dispatches
     * @param flags dispatch flags
     */
    public final void dispatchIndirect(
            Executable executable,
            int export,
            BufferRef workgroupCount,
            int[] constants,
            List<BufferRef> bindings,
            long flags) {
        List<BufferRef> checked = checkDispatch(executable, export, constants, bindings, flags);
        if (workgroupCount.length() != Buffer.WHOLE && workgroupCount.length() < 12) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "workgroup counts need 12 bytes, the range has " + workgroupCount.length());
        }
        BufferRef counts = check(
                "workgroup counts",
                new BufferRef(workgroupCount.buffer(), workgroupCount.slot(), workgroupCount.offset(), 12),
                BufferUsage.DISPATCH_INDIRECT_PARAMETERS,
                MemoryAccess.READ);
        recordDispatch(executable, export, DispatchConfig.of(0, 0, 0), counts, constants, checked, flags);
    }

    /**
     * Runs a collective operation. Consecutive collectives with nothing in between, not even a barrier, run
     * concurrently, so sends and receives may be recorded in any order.
     *
     * <p>With n elements among N participants: all-gather sends n and receives N n; all-reduce sends and receives n;
     * all-to-all sends and receives n, a multiple of N; broadcast sends n at the root and receives n elsewhere; reduce
     * sends n and receives n at the root; reduce-scatter sends N n and receives n; send, receive and send-receive move
     * n. An unused range may be null. Source and target may be the same where both are equally long; otherwise one
     * range may be this participant's part of the other.
     *
     * @param channel the participants; it is {@link Channel#ready}
     * @param operation the operation
     * @param parameter rank of the root or the peer, where the operation has one; {@link Collective#peers} for
     *     send-receive
     * @param source elements to send, if any; usable by dispatches, at least as long as needed
     * @param target target of the received elements, if any; usable by dispatches, at least as long as needed
     * @param elementCount elements, see above
     * @throws IreeException UNIMPLEMENTED when the backend has no collectives; INVALID_ARGUMENT or OUT_OF_RANGE for
     *     invalid arguments
     */
    public final void collective(
            Channel channel,
            Collective operation,
            int parameter,
            @Nullable BufferRef source,
            @Nullable BufferRef target,
            long elementCount) {
        checkRecording(DISPATCH, "collective");
        CollectiveRanges ranges =
                CollectiveRanges.of(operation, parameter, elementCount, channel.rank(), channel.count());
        BufferRef sent = collectiveRange(operation, "source", source, ranges.sourceBytes(), MemoryAccess.READ);
        BufferRef received = collectiveRange(operation, "target", target, ranges.targetBytes(), MemoryAccess.WRITE);
        recordCollective(channel, operation, parameter, sent, received, elementCount);
    }

    private @Nullable BufferRef collectiveRange(
            Collective operation, String end, @Nullable BufferRef ref, long bytes, int access) {
        if (bytes < 0) {
            return null;
        }
        String what = end + " of " + operation.name();
        if (ref == null) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, what + " is missing");
        }
        if (ref.length() != Buffer.WHOLE && ref.length() < bytes) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s needs %d bytes, the range has %d".formatted(what, bytes, ref.length()));
        }
        Buffer buffer = ref.buffer();
        if (buffer != null) {
            buffer.require(what, MemoryType.DEVICE_VISIBLE, 0, access);
        }
        int needed = (access & MemoryAccess.WRITE) == 0 ? access : access | FLAGGED_WRITE;
        return check(what, new BufferRef(buffer, ref.slot(), ref.offset(), bytes), ANY_DISPATCH, needed);
    }

    /**
     * Gives a hint about the future use of a range.
     *
     * @param target the range
     * @param advice the advice, as programs pass it
     * @param argument argument of the advice
     */
    public final void adviseBuffer(BufferRef target, long advice, long argument) {
        checkRecording();
        check("advised range", target, 0, 0);
    }

    /**
     * Begins a named group of commands, for tools.
     *
     * @param label name of the group
     */
    public final void beginDebugGroup(String label) {
        checkRecording();
        Objects.requireNonNull(label, "label");
        debugDepth++;
    }

    /**
     * Ends the innermost group.
     *
     * @throws IreeException FAILED_PRECONDITION when no group is open
     */
    public final void endDebugGroup() {
        checkRecording();
        if (debugDepth == 0) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "no debug group of the command buffer is open");
        }
        debugDepth--;
    }

    /**
     * Checks that the command buffer is finished, and that the buffer in every used slot of a binding table satisfies
     * all uses of the slot. For backends; the cost does not depend on the number of commands.
     *
     * @param table the table, or null
     * @throws IreeException FAILED_PRECONDITION, INVALID_ARGUMENT, OUT_OF_RANGE or PERMISSION_DENIED naming the slot
     */
    public final void checkSubmission(@Nullable BindingTable table) {
        checkLive();
        if (!finished) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "command buffer is still recording; finish it before submitting it");
        }
        int size = table == null ? 0 : table.size();
        for (int slot = 0; slot < slotCount; slot++) {
            int usage = slotUsage[slot];
            if (usage == 0) {
                continue; // unused slot
            }
            Buffer buffer = table == null || slot >= size ? null : table.buffer(slot);
            if (table == null || buffer == null) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "command buffer uses slot %d, but %s"
                                .formatted(
                                        slot,
                                        slot >= size
                                                ? "its binding table has " + size + " entries"
                                                : "that slot of its binding table holds no buffer"));
            }
            checkSlot(slot, usage, buffer, table.offset(slot), table.length(slot));
        }
    }

    private void checkSlot(int slot, int usage, Buffer buffer, long offset, long length) {
        // Messages are built only on failure: this code runs on every submission.
        boolean dispatchable = (usage & ANY_DISPATCH) == 0 || Dispatches.isUsable(buffer);
        int needed = usage & ~ANY_DISPATCH;
        if (!dispatchable
                || (buffer.usage() & needed) != needed
                || !isAllowed(slotAccess[slot], buffer)
                || (buffer.memoryType() & MemoryType.DEVICE_VISIBLE) == 0) {
            String what = "slot " + slot + " of the binding table";
            int access = isAllowed(slotAccess[slot], buffer) ? 0 : slotAccess[slot];
            buffer.require(what, MemoryType.DEVICE_VISIBLE, needed, access);
            throw Dispatches.notUsable(what, buffer);
        }
        long capacity = buffer.length();
        long resolved = length == Buffer.WHOLE ? capacity - offset : length;
        if (offset < 0 || resolved < 0 || offset > capacity - resolved) {
            buffer.checkRange("slot " + slot + " of the binding table", offset, length);
        }
        if (slotEnd[slot] > resolved) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "commands use slot %d up to byte %d, which does not fit its range of %d bytes"
                            .formatted(slot, slotEnd[slot], resolved));
        }
    }

    private boolean isAllowed(int access, Buffer buffer) {
        int lacking = access & MemoryAccess.ALL & ~buffer.access();
        return lacking == 0
                || lacking == MemoryAccess.WRITE && (access & FLAGGED_WRITE) == 0 && isCopiedOnWrite(buffer);
    }

    private List<BufferRef> checkDispatch(
            Executable executable, int export, int[] constants, List<BufferRef> bindings, long flags) {
        checkRecording(DISPATCH, "dispatch");
        ExecutableExport entry = executable.export(export);
        Dispatches.checkCounts(entry, constants.length, bindings.size());
        Dispatches.checkFlags(flags);
        List<BufferRef> resolved = null; // only where a length is resolved
        for (int i = 0; i < bindings.size(); i++) {
            BufferRef binding = bindings.get(i);
            if (Dispatches.isRight(binding)) { // compiled programs record at every call
                continue;
            }
            BufferRef checked = check("binding " + i + " of dispatch '" + entry.name() + "'", binding, ANY_DISPATCH, 0);
            if (!checked.equals(binding)) {
                if (resolved == null) {
                    resolved = new ArrayList<>(bindings);
                }
                resolved.set(i, checked);
            }
        }
        return resolved == null ? bindings : resolved;
    }

    /** Checks a use of a range. Resolves the length of a known buffer; otherwise records the requirements of the slot. */
    private BufferRef check(String what, BufferRef ref, int usage, int access) {
        Buffer buffer = ref.buffer();
        if (buffer != null) {
            if (usage == ANY_DISPATCH) {
                Dispatches.checkUsable(what, buffer);
            } else {
                buffer.require(what, MemoryType.DEVICE_VISIBLE, usage, isAllowed(access, buffer) ? 0 : access);
            }
            long length = buffer.checkRange(what, ref.offset(), ref.length());
            return length == ref.length() ? ref : new BufferRef(buffer, 0, ref.offset(), length);
        }
        int slot = ref.slot();
        if (slot < 0 || slot >= bindingCapacity) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s uses slot %d, the command buffer was created with %d".formatted(what, slot, bindingCapacity));
        }
        long end = ref.offset() + (ref.length() == Buffer.WHOLE ? 0 : ref.length());
        if (ref.offset() < 0 || ref.length() < Buffer.WHOLE || end < 0) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s has offset %d and length %d".formatted(what, ref.offset(), ref.length()));
        }
        slotUsage[slot] |= usage;
        slotAccess[slot] |= access;
        slotEnd[slot] = Math.max(slotEnd[slot], end);
        slotCount = Math.max(slotCount, slot + 1);
        return ref;
    }

    private void checkRecording(int category, String what) {
        checkRecording();
        if ((categories & category) == 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s needs a command buffer of category %s, this one has 0x%x"
                            .formatted(what, category == TRANSFER ? "TRANSFER" : "DISPATCH", categories));
        }
    }

    private void checkRecording() {
        checkLive();
        if (finished) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "command buffer is finished and cannot record");
        }
    }

    /**
     * Returns whether transfers may write to a buffer without write access, because transfers write to a copy belonging
     * to the call of the current thread, as with a constant of a module. Dispatches need no write access.
     *
     * @param buffer a target
     * @return true if the backend makes such copies
     */
    protected boolean isCopiedOnWrite(Buffer buffer) {
        return false;
    }

    /** Ends recording. */
    protected abstract void doFinish();

    /**
     * Records a barrier.
     *
     * @param sourceStages stages to wait for
     * @param targetStages waiting stages
     */
    protected abstract void recordBarrier(int sourceStages, int targetStages);

    /**
     * Records a checked fill.
     *
     * @param target the range; the length is resolved, except for a range of a slot
     * @param pattern the pattern
     * @param patternLength bytes of the pattern
     */
    protected abstract void recordFill(BufferRef target, long pattern, int patternLength);

    /**
     * Records a checked update.
     *
     * @param source the bytes, to be copied during this call
     * @param target the range, as long as the source
     */
    protected abstract void recordUpdate(MemorySegment source, BufferRef target);

    /**
     * Records a checked copy.
     *
     * @param source the range to read; the length is resolved, except for a range of a slot
     * @param target the range to write; as long as the source, or WHOLE when the source is a range of a slot
     */
    protected abstract void recordCopy(BufferRef source, BufferRef target);

    /**
     * Records a checked dispatch.
     *
     * @param executable the code
     * @param export ordinal of the entry point
     * @param config workgroups; counts are ignored with a {@code workgroupCount}
     * @param workgroupCount location of the counts, or null
     * @param constants the constants, only read during this call
     * @param bindings the bindings, only read during this call
     * @param flags dispatch flags
     */
    protected abstract void recordDispatch(
            Executable executable,
            int export,
            DispatchConfig config,
            @Nullable BufferRef workgroupCount,
            int[] constants,
            List<BufferRef> bindings,
            long flags);

    /**
     * Records a checked collective operation.
     *
     * @param channel the participants
     * @param operation the operation
     * @param parameter rank of the root or the peer
     * @param source elements to send, as long as needed; null when this participant sends nothing
     * @param target target of the received elements, as long as needed; null when this participant receives nothing
     * @param elementCount elements
     */
    protected void recordCollective(
            Channel channel,
            Collective operation,
            int parameter,
            @Nullable BufferRef source,
            @Nullable BufferRef target,
            long elementCount) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "this device has no collective operations");
    }

    @Override
    protected String describe() {
        return "command buffer";
    }
}
