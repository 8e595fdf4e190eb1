package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Fence;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue for work submitted to a device. Each operation runs once its wait fence is reached and then signals its
 * signal fence. Fences are the only ordering, even between operations of one queue. An operation may wait for a fence
 * before any producer has promised to signal the fence.
 *
 * <p><b>Failure.</b> Submitting never blocks, and never throws a failure that the signal fence can carry: an operation
 * unable to run (range, permission, closed device, failed wait, failing kernel) fails its signal fence with the root
 * cause. Without a signal fence, a failure found before the call returns is thrown and a later failure is logged.
 *
 * <p><b>Ownership.</b> Buffers, executables, command buffers, files and signal fences are retained until the operation
 * has finished; host bytes of an update and binding tables are read before the call returns. Wait fences are not
 * retained: when no possible producer is left, the operation is cancelled.
 *
 * <p>Ranges: a length of {@link Buffer#WHOLE} is everything from the offset on. Safe from any thread.
 */
@NotForApplications
public interface DeviceQueue {
    /** As an alloca flag: no single owner knows the last use. The storage is freed with the last reference; deallocating is a barrier. */
    long ALLOCA_INDETERMINATE_LIFETIME = 0x1;
    /**
     * As an alloca flag: waits for freed memory still in use rather than let the pool grow, even where only the host
     * can wait. Without this flag, a pool grows if permitted, unless the device can wait.
     */
    long ALLOCA_ALLOW_POOL_WAIT_FRONTIER = 0x2;
    /** As a dealloca flag: free on the allocating queue, whichever queue this is. */
    long DEALLOCA_PREFER_ORIGIN = 0x1;
    /** As an execute flag: the buffers of the binding table need not be retained. */
    long EXECUTE_BORROW_BINDING_TABLE_LIFETIME = 0x1;
    /** As a dispatch flag: workgroup counts are read during the dispatch. */
    long DISPATCH_DYNAMIC_INDIRECT_PARAMETERS = 0x1;
    /** As a dispatch flag: workgroup counts are final when the operation is issued. */
    long DISPATCH_STATIC_INDIRECT_PARAMETERS = 0x2;
    /** As a dispatch flag: constants are the kernel's whole argument block. */
    long DISPATCH_CUSTOM_DIRECT_ARGUMENTS = 0x4;
    /** As a dispatch flag: arguments are read from a buffer when the dispatch runs. */
    long DISPATCH_DYNAMIC_INDIRECT_ARGUMENTS = 0x8;
    /** As a dispatch flag: arguments are read from a buffer and final when the operation is issued. */
    long DISPATCH_STATIC_INDIRECT_ARGUMENTS = 0x10;
    /** As a dispatch flag: may run during submission. */
    long DISPATCH_ALLOW_INLINE_EXECUTION = 0x20;
    /** As a dispatch flag: the caller keeps resources alive. */
    long DISPATCH_BORROW_RESOURCE_LIFETIMES = 0x40;
    /** As a host call flag: signals do not wait for the call to return, so the call may wait for the signals; exceptions are logged. */
    long HOST_CALL_NON_BLOCKING = 0x1;
    /** As a host call flag: busy-wait. */
    long HOST_CALL_WAIT_ACTIVE = 0x2;
    /** As a host call flag: caches need not be flushed for the call. */
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
     * Returns the axis of this queue, as used in frontiers.
     *
     * @return the axis; never used for another queue
     */
    long axis();

    /**
     * Returns the number of operations run by the queue, and the resolutions of waits.
     *
     * @return the counters now
     */
    QueueCounters counters();

    /**
     * Returns the largest numbers of operations pending and in flight since the last call of this method, for a single
     * reader.
     *
     * @return at least the present numbers; the present numbers for a queue that keeps no record
     */
    default QueuePeaks takePeaks() {
        QueueCounters now = counters();
        return new QueuePeaks(now.pending(), now.inFlight());
    }

    /**
     * Returns operations waiting to be issued, the longest waiting first.
     *
     * @param limit maximum number of operations
     * @return a snapshot; empty where operations are not held back on the host
     */
    default List<PendingOperation> pending(int limit) {
        return List.of();
    }

    /**
     * Returns operations that are not held back and will signal unpromised points: operations in flight on an unordered
     * queue, operations executed in parts, and deferred host calls. Together with an earlier snapshot of
     * {@link #pending}, these are all the operations that may reach a point without a promise.
     *
     * @param limit maximum number of operations
     * @return a snapshot, the earliest begun first; without waits, and {@code since} is the time since the beginning
     */
    default List<PendingOperation> inFlight(int limit) {
        return List.of();
    }

    /**
     * Returns the known and incomplete predecessors of the next operation.
     *
     * @return the frontier; for an unordered queue, the progress of the queue
     */
    default Frontier frontier() {
        return Frontier.EMPTY;
    }

    /**
     * Returns counters of the hardware use of a stream.
     *
     * @return the current counters; zeros for a queue other than a stream
     */
    default StreamCounters streamCounters() {
        return StreamCounters.NONE;
    }

    /**
     * Returns the cost of merging the frontiers of the queue's operations.
     *
     * @return the counters now
     */
    default FrontierCounters frontierCounters() {
        return FrontierCounters.NONE;
    }

    /**
     * Allocates memory in queue order. The handle is returned at once and has storage once the signal fence is reached.
     * Over the budget of the device or the quota of the consumer, the operation waits for memory to be freed while
     * other operations continue; an operation that can never fit fails with RESOURCE_EXHAUSTED.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal; null for nothing
     * @param params kind of the memory
     * @param size bytes
     * @param flags alloca flags
     * @return the buffer; the caller closes the buffer, freeing storage not deallocated before
     * @throws IreeException INVALID_ARGUMENT for a size or parameters impossible for a buffer
     */
    Buffer alloca(@Nullable Fence wait, @Nullable Fence signal, BufferParams params, long size, long flags);

    /**
     * Submits an operation. The other methods that submit operations, except for {@link #alloca}, create a command and call this method.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal; null for nothing
     * @param command the operation
     */
    void submit(@Nullable Fence wait, @Nullable Fence signal, QueueCommand command);

    /**
     * Frees an allocation in queue order. Operations using the allocation at that moment keep the storage until
     * completion. For a buffer allocated without a queue, with an indeterminate lifetime, or preserved by other owners
     * ({@link Buffer#preserve()}), this is a barrier.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal; null for nothing
     * @param buffer the buffer to free
     * @param flags dealloca flags
     */
    default void dealloca(@Nullable Fence wait, @Nullable Fence signal, Buffer buffer, long flags) {
        submit(wait, signal, new QueueCommand.Dealloca(buffer, flags));
    }

    /**
     * Fills a range with a repeated pattern.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal; null for nothing
     * @param target needs usage TRANSFER_TARGET
     * @param offset first byte, a multiple of the pattern's length
     * @param length bytes, a multiple of the pattern's length
     * @param pattern the pattern in the low bytes, little-endian
     * @param patternLength 1, 2, 4 or 8 bytes
     * @param flags none defined
     */
    default void fill(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer target,
            long offset,
            long length,
            long pattern,
            int patternLength,
            long flags) {
        submit(wait, signal, new QueueCommand.Fill(target, offset, length, pattern, patternLength));
    }

    /**
     * Writes host bytes, captured by the call.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal; null for nothing
     * @param source the bytes
     * @param target needs usage TRANSFER_TARGET
     * @param targetOffset first byte written
     * @param flags none defined
     */
    default void update(
            @Nullable Fence wait,
            @Nullable Fence signal,
            MemorySegment source,
            Buffer target,
            long targetOffset,
            long flags) {
        submit(wait, signal, new QueueCommand.Update(source, target, targetOffset));
    }

    /**
     * Copies between buffers; ranges of one allocation must not overlap.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal; null for nothing
     * @param source needs usage TRANSFER_SOURCE
     * @param sourceOffset first byte read
     * @param target needs usage TRANSFER_TARGET
     * @param targetOffset first byte written
     * @param length bytes
     * @param flags none defined
     */
    default void copy(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer source,
            long sourceOffset,
            Buffer target,
            long targetOffset,
            long length,
            long flags) {
        submit(wait, signal, new QueueCommand.Copy(source, sourceOffset, target, targetOffset, length));
    }

    /**
     * Reads from a file into a buffer.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal; null for nothing
     * @param source the file
     * @param sourceOffset first byte read
     * @param target needs usage TRANSFER_TARGET
     * @param targetOffset first byte written
     * @param length bytes
     * @param flags none defined
     */
    default void read(
            @Nullable Fence wait,
            @Nullable Fence signal,
            HalFile source,
            long sourceOffset,
            Buffer target,
            long targetOffset,
            long length,
            long flags) {
        submit(wait, signal, new QueueCommand.Read(source, sourceOffset, target, targetOffset, length));
    }

    /**
     * Writes from a buffer into a file.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal; null for nothing
     * @param source needs usage TRANSFER_SOURCE
     * @param sourceOffset first byte read
     * @param target the file
     * @param targetOffset first byte written
     * @param length bytes
     * @param flags none defined
     */
    default void write(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer source,
            long sourceOffset,
            HalFile target,
            long targetOffset,
            long length,
            long flags) {
        submit(wait, signal, new QueueCommand.Write(source, sourceOffset, target, targetOffset, length));
    }

    /**
     * Runs an export of an executable.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal; null for nothing
     * @param executable the code
     * @param export ordinal of the entry point
     * @param config workgroups
     * @param constants constants as declared by the export; read before the call returns
     * @param bindings the buffers, in the export's order
     * @param flags dispatch flags
     */
    default void dispatch(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Executable executable,
            int export,
            DispatchConfig config,
            int[] constants,
            BindingTable bindings,
            long flags) {
        submit(wait, signal, new QueueCommand.Dispatch(executable, export, config, constants, bindings, flags));
    }

    /**
     * Executes a finished command buffer.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal; null for nothing
     * @param commands the command buffer
     * @param bindings the buffers of the slots; null without slots
     * @param flags execute flags
     */
    default void execute(
            @Nullable Fence wait,
            @Nullable Fence signal,
            CommandBuffer commands,
            @Nullable BindingTable bindings,
            long flags) {
        submit(wait, signal, new QueueCommand.Execute(commands, bindings, flags));
    }

    /**
     * Signals a fence when another fence is reached.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal; null for nothing
     * @param flags none defined
     */
    default void barrier(@Nullable Fence wait, @Nullable Fence signal, long flags) {
        submit(wait, signal, QueueCommand.Barrier.INSTANCE);
    }

    /**
     * Runs host code in queue order.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal when the call has returned; null for nothing
     * @param call the code
     * @param flags host call flags
     */
    default void hostCall(@Nullable Fence wait, @Nullable Fence signal, HostCall call, long flags) {
        submit(wait, signal, new QueueCommand.Call(call, flags));
    }

    /**
     * Runs host code in queue order, completing later through a {@link HostCallCompletion}. Only the beginning has a
     * place in the order of the queue: later work proceeds before the call completes. Hardware never waits for the
     * completion, since nothing promises it. The predecessors of the signals are the predecessors of the beginning, and
     * the beginning.
     *
     * @param wait fence to wait for; null for nothing
     * @param signal fence to signal when the call is {@linkplain HostCallCompletion#complete() completed}; null for
     *     nothing
     * @param call the code
     */
    default void deferredHostCall(@Nullable Fence wait, @Nullable Fence signal, DeferredHostCall call) {
        submit(wait, signal, new QueueCommand.DeferredCall(call));
    }

    /** Starts the operations batched so far, in backends that batch. */
    void flush();
}
