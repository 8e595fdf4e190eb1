package io.github.iree4j.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue to which work for a device is submitted. Each operation runs once its wait fence is reached and then signals its signal fence.
 * Fences are the only ordering, even between operations of one queue; an operation may wait for a fence before any producer has promised to
 * signal it.
 *
 * <p><b>Failure.</b> Submitting never blocks, and never throws what the signal fence can carry: an operation that cannot run (range,
 * permission, closed device, failed wait, failing kernel) fails its signal fence with the root cause. Without a signal fence, a failure
 * found before the call returns is thrown and a later one is logged.
 *
 * <p><b>Ownership.</b> Buffers, executables, command buffers, files and signal fences are retained until the operation has finished; host
 * bytes of an update and binding tables are read before the call returns. Wait fences are not retained: when no possible producer is left,
 * the operation is cancelled.
 *
 * <p>Ranges: a length of {@link Buffer#WHOLE} is everything from the offset on. Safe from any thread.
 */
public interface DeviceQueue {
    /** As an alloca flag: no single owner knows the last use. The storage is freed with the last reference; deallocating is a barrier. */
    long ALLOCA_INDETERMINATE_LIFETIME = 0x1;
    /**
     * As an alloca flag: waits for freed memory that is still in use rather than let the pool grow, even where only the host can do the
     * waiting. Without it, a pool that may grow does so, unless the device can do the waiting.
     */
    long ALLOCA_ALLOW_POOL_WAIT_FRONTIER = 0x2;
    /** As a dealloca flag: free on the queue that allocated, whichever queue this is. */
    long DEALLOCA_PREFER_ORIGIN = 0x1;
    /** As an execute flag: the buffers of the binding table need not be retained. */
    long EXECUTE_BORROW_BINDING_TABLE_LIFETIME = 0x1;
    /** As a dispatch flag: workgroup counts are read when the dispatch runs. */
    long DISPATCH_DYNAMIC_INDIRECT_PARAMETERS = 0x1;
    /** As a dispatch flag: workgroup counts are final when the operation is issued. */
    long DISPATCH_STATIC_INDIRECT_PARAMETERS = 0x2;
    /** As a dispatch flag: constants are the kernel's whole argument block. */
    long DISPATCH_CUSTOM_DIRECT_ARGUMENTS = 0x4;
    /** As a dispatch flag: arguments are read from a buffer when the dispatch runs. */
    long DISPATCH_DYNAMIC_INDIRECT_ARGUMENTS = 0x8;
    /** As a dispatch flag: arguments are read from a buffer and final when the operation is issued. */
    long DISPATCH_STATIC_INDIRECT_ARGUMENTS = 0x10;
    /** As a dispatch flag: may run while it is being submitted. */
    long DISPATCH_ALLOW_INLINE_EXECUTION = 0x20;
    /** As a dispatch flag: the caller keeps resources alive. */
    long DISPATCH_BORROW_RESOURCE_LIFETIMES = 0x40;
    /** As a host call flag: signals do not wait for the call to return, so the call may wait for them; exceptions are logged. */
    long HOST_CALL_NON_BLOCKING = 0x1;
    /** As a host call flag: busy-wait. */
    long HOST_CALL_WAIT_ACTIVE = 0x2;
    /** As a host call flag: caches need not be flushed for it. */
    long HOST_CALL_RELAXED = 0x4;

    /**
     * Returns the device.
     *
     * @return the device, borrowed
     */
    Device device();

    /**
     * Returns the index of this queue on its device.
     *
     * @return 0 to {@link Device#queueCount()} - 1
     */
    int index();

    /**
     * Returns the axis of this queue, as frontiers mention it.
     *
     * @return the axis; never used for another queue
     */
    long axis();

    /**
     * Returns how many operations the queue has run and how it resolved waits.
     *
     * @return the counters now
     */
    QueueCounters counters();

    /**
     * Returns operations that wait to be issued, the longest waiting first.
     *
     * @param limit the most to return
     * @return a snapshot; empty where operations are not held back on the host
     */
    default List<PendingOperation> pending(int limit) {
        return List.of();
    }

    /**
     * Returns operations that are not held back and will signal points that nothing has promised: those in flight on a queue that
     * does not order its operations, those executed in parts, and deferred host calls. Together with {@link #pending}, asked before,
     * they are all that may reach a point without a promise.
     *
     * @param limit the most to return
     * @return a snapshot, those that began first; they have no waits, and {@code since} is the time since they began
     */
    default List<PendingOperation> inFlight(int limit) {
        return List.of();
    }

    /**
     * Returns what the next operation runs after, as far as that is known and has not completed.
     *
     * @return the frontier; for a queue that does not order its operations, its own progress
     */
    default Frontier frontier() {
        return Frontier.EMPTY;
    }

    /**
     * Returns how often the hardware of a stream was used.
     *
     * @return the current counters; zeros for a queue that is not a stream
     */
    default StreamCounters streamCounters() {
        return StreamCounters.NONE;
    }

    /**
     * Returns the cost of merging the frontiers of its operations.
     *
     * @return the counters now
     */
    default FrontierCounters frontierCounters() {
        return FrontierCounters.NONE;
    }

    /**
     * Allocates memory in queue order. The handle is returned at once; it has storage once the signal fence is reached. Over the budget of
     * the device or the quota of the consumer, the operation waits for memory to be freed while other operations continue; it fails with
     * RESOURCE_EXHAUSTED if it can never fit.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal; null for nothing
     * @param params what kind of memory
     * @param size bytes
     * @param flags alloca flags
     * @return the buffer; the caller closes it, which frees storage that has not been deallocated
     * @throws IreeException INVALID_ARGUMENT for a size or parameters that no buffer can have
     */
    Buffer alloca(@Nullable Fence wait, @Nullable Fence signal, BufferParams params, long size, long flags);

    /**
     * Frees an allocation in queue order. Operations that use it at that moment keep it until they have finished. For a buffer that was not
     * allocated on a queue, has an indeterminate lifetime or was preserved by other owners ({@link Buffer#preserve()}), this is a barrier.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal; null for nothing
     * @param buffer what to free
     * @param flags dealloca flags
     */
    void dealloca(@Nullable Fence wait, @Nullable Fence signal, Buffer buffer, long flags);

    /**
     * Fills a range with a repeated pattern.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal; null for nothing
     * @param target needs usage TRANSFER_TARGET
     * @param offset first byte, a multiple of the pattern's length
     * @param length bytes, a multiple of the pattern's length
     * @param pattern the pattern in the low bytes, little-endian
     * @param patternLength 1, 2, 4 or 8 bytes
     * @param flags none defined
     */
    void fill(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer target,
            long offset,
            long length,
            long pattern,
            int patternLength,
            long flags);

    /**
     * Writes host bytes, which are captured by the call.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal; null for nothing
     * @param source the bytes
     * @param target needs usage TRANSFER_TARGET
     * @param targetOffset first byte written
     * @param flags none defined
     */
    void update(
            @Nullable Fence wait,
            @Nullable Fence signal,
            MemorySegment source,
            Buffer target,
            long targetOffset,
            long flags);

    /**
     * Copies between buffers; ranges of one allocation must not overlap.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal; null for nothing
     * @param source needs usage TRANSFER_SOURCE
     * @param sourceOffset first byte read
     * @param target needs usage TRANSFER_TARGET
     * @param targetOffset first byte written
     * @param length bytes
     * @param flags none defined
     */
    void copy(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer source,
            long sourceOffset,
            Buffer target,
            long targetOffset,
            long length,
            long flags);

    /**
     * Reads from a file into a buffer.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal; null for nothing
     * @param source the file
     * @param sourceOffset first byte read
     * @param target needs usage TRANSFER_TARGET
     * @param targetOffset first byte written
     * @param length bytes
     * @param flags none defined
     */
    void read(
            @Nullable Fence wait,
            @Nullable Fence signal,
            HalFile source,
            long sourceOffset,
            Buffer target,
            long targetOffset,
            long length,
            long flags);

    /**
     * Writes from a buffer into a file.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal; null for nothing
     * @param source needs usage TRANSFER_SOURCE
     * @param sourceOffset first byte read
     * @param target the file
     * @param targetOffset first byte written
     * @param length bytes
     * @param flags none defined
     */
    void write(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer source,
            long sourceOffset,
            HalFile target,
            long targetOffset,
            long length,
            long flags);

    /**
     * Runs one export of an executable.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal; null for nothing
     * @param executable the code
     * @param export ordinal of the entry point
     * @param config workgroups
     * @param constants what the export declares; read before the call returns
     * @param bindings the buffers, in the export's order
     * @param flags dispatch flags
     */
    void dispatch(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Executable executable,
            int export,
            DispatchConfig config,
            int[] constants,
            BindingTable bindings,
            long flags);

    /**
     * Executes a finished command buffer.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal; null for nothing
     * @param commands the command buffer
     * @param bindings the buffers of its slots; null when it has none
     * @param flags execute flags
     */
    void execute(
            @Nullable Fence wait,
            @Nullable Fence signal,
            CommandBuffer commands,
            @Nullable BindingTable bindings,
            long flags);

    /**
     * Signals a fence when another is reached.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal; null for nothing
     * @param flags none defined
     */
    void barrier(@Nullable Fence wait, @Nullable Fence signal, long flags);

    /**
     * Runs host code in queue order.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal when the call has returned; null for nothing
     * @param call the code
     * @param flags host call flags
     */
    void hostCall(@Nullable Fence wait, @Nullable Fence signal, HostCall call, long flags);

    /**
     * Runs host code in queue order that completes later, through its {@link HostCallCompletion}. Only the beginning has a place in the order
     * of the queue: work behind it proceeds while the call is not complete, and hardware never waits for its completion, which nothing
     * promises. What happens before its signals is what happens before its beginning, and that.
     *
     * @param wait what to wait for; null for nothing
     * @param signal what to signal when the call is {@linkplain HostCallCompletion#complete() completed}; null for nothing
     * @param call the code
     */
    void deferredHostCall(@Nullable Fence wait, @Nullable Fence signal, DeferredHostCall call);

    /** Starts the operations batched so far, in backends that batch. */
    void flush();
}
