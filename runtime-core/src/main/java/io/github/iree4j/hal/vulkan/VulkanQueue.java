package io.github.iree4j.hal.vulkan;

import io.github.iree4j.async.Fence;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.FrontierCounters;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.HostCall;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.QueueScheduler;
import io.github.iree4j.hal.StoredBuffer;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.hal.Transfers;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A queue of a Vulkan device. Makes operations; the scheduler orders them, a {@link VulkanStream} puts them on the hardware. */
final class VulkanQueue implements DeviceQueue {
    private final VulkanDevice device;
    private final int index;
    private final VulkanStream stream;
    private final QueueScheduler scheduler;
    private final boolean computes;

    VulkanQueue(VulkanDevice device, int index, VulkanStream stream, QueueScheduler scheduler) {
        this.device = device;
        this.index = index;
        this.stream = stream;
        this.scheduler = scheduler;
        this.computes = VulkanDriver.computes(device.properties(), family());
    }

    QueueScheduler scheduler() {
        return scheduler;
    }

    VulkanDevice vulkanDevice() {
        return device;
    }

    VulkanStream stream() {
        return stream;
    }

    /** The queue family that commands for this queue are recorded for. */
    int family() {
        return stream.queue().family;
    }

    /**
     * Refuses dispatches on hardware that only copies.
     *
     * @throws IreeException FAILED_PRECONDITION
     */
    void checkComputes() {
        if (!computes) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "queue %d of device '%s' only copies; dispatches run on queue 0".formatted(index, device.id()));
        }
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public int index() {
        return index;
    }

    @Override
    public long axis() {
        return scheduler.axis();
    }

    @Override
    public QueueCounters counters() {
        return scheduler.counters();
    }

    @Override
    public List<PendingOperation> pending(int limit) {
        return scheduler.pending(limit);
    }

    @Override
    public Frontier frontier() {
        return scheduler.frontier();
    }

    @Override
    public StreamCounters streamCounters() {
        return scheduler.streamCounters();
    }

    @Override
    public FrontierCounters frontierCounters() {
        return scheduler.frontierCounters();
    }

    @Override
    public Buffer alloca(@Nullable Fence wait, @Nullable Fence signal, BufferParams params, long size, long flags) {
        int placement = Buffer.PLACEMENT_ASYNCHRONOUS
                | ((flags & ALLOCA_INDETERMINATE_LIFETIME) != 0 ? Buffer.PLACEMENT_INDETERMINATE_LIFETIME : 0);
        VulkanMemory memory = device.memory();
        VulkanBuffer buffer = VulkanBuffer.reserved(device, params, size, this, placement);
        boolean reuse = (flags & ALLOCA_ALLOW_POOL_WAIT_FRONTIER) != 0;
        try {
            IreeException failure = submit(wait, signal, () -> {
                ReservationRequest request = memory.request(params, buffer.kind(), size);
                return new Allocations.Alloca(buffer, memory, reuse ? request.preferringReuse() : request);
            });
            if (failure != null) {
                buffer.fail(failure); // whoever uses the handle gets the root cause
            }
        } catch (IreeException e) {
            buffer.close();
            throw e;
        }
        return buffer;
    }

    @Override
    public void dealloca(@Nullable Fence wait, @Nullable Fence signal, Buffer buffer, long flags) {
        if ((flags & DEALLOCA_PREFER_ORIGIN) != 0
                && buffer.allocatedBuffer().origin() instanceof VulkanQueue origin
                && origin != this
                && origin.device.equals(device)) {
            origin.dealloca(wait, signal, buffer, 0);
            return;
        }
        if (buffer.allocatedBuffer() instanceof StoredBuffer<?> other
                && !(other instanceof VulkanBuffer)
                && other.origin() instanceof DeviceQueue origin) {
            origin.dealloca(wait, signal, buffer, 0); // that of another driver
            return;
        }
        submit(wait, signal, () -> {
            VulkanBuffer own = VulkanBuffer.of(device, "deallocated buffer", buffer);
            return own.isFreedInQueueOrder() ? new Allocations.Dealloca(this, own) : new HostOperations.Barrier();
        });
    }

    @Override
    public void fill(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer target,
            long offset,
            long length,
            long pattern,
            int patternLength,
            long flags) {
        submit(wait, signal, () -> VulkanTransfers.fill(this, target, offset, length, pattern, patternLength));
    }

    @Override
    public void update(
            @Nullable Fence wait,
            @Nullable Fence signal,
            MemorySegment source,
            Buffer target,
            long targetOffset,
            long flags) {
        DeviceQueue elsewhere = Transfers.elsewhere(device, target);
        if (elsewhere != null) {
            elsewhere.update(wait, signal, source, target, targetOffset, flags);
            return;
        }
        VulkanTransfers.update(this, wait, signal, source, target, targetOffset);
    }

    @Override
    public void copy(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer source,
            long sourceOffset,
            Buffer target,
            long targetOffset,
            long length,
            long flags) {
        submit(wait, signal, () -> VulkanTransfers.copy(this, source, sourceOffset, target, targetOffset, length));
    }

    @Override
    public void read(
            @Nullable Fence wait,
            @Nullable Fence signal,
            HalFile source,
            long sourceOffset,
            Buffer target,
            long targetOffset,
            long length,
            long flags) {
        DeviceQueue elsewhere = Transfers.elsewhere(device, target);
        if (elsewhere != null) {
            elsewhere.read(wait, signal, source, sourceOffset, target, targetOffset, length, flags);
            return;
        }
        FileTransfers.read(this, wait, signal, source, sourceOffset, target, targetOffset, length);
    }

    @Override
    public void write(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer source,
            long sourceOffset,
            HalFile target,
            long targetOffset,
            long length,
            long flags) {
        DeviceQueue elsewhere = Transfers.elsewhere(device, source);
        if (elsewhere != null) {
            elsewhere.write(wait, signal, source, sourceOffset, target, targetOffset, length, flags);
            return;
        }
        FileTransfers.write(this, wait, signal, source, sourceOffset, target, targetOffset, length);
    }

    @Override
    public void dispatch(
            @Nullable Fence wait,
            @Nullable Fence signal,
            Executable executable,
            int export,
            DispatchConfig config,
            int[] constants,
            BindingTable bindings,
            long flags) {
        // A command buffer of one command that this call owns; a submission that has to wait retains it.
        try (VulkanCommandBuffer commands = VulkanDispatches.forDispatch(device, bindings)) {
            submit(
                    wait,
                    signal,
                    () -> VulkanDispatches.dispatch(
                            this, commands, executable, export, config, constants, bindings, flags));
        }
    }

    @Override
    public void execute(
            @Nullable Fence wait,
            @Nullable Fence signal,
            CommandBuffer commands,
            @Nullable BindingTable bindings,
            long flags) {
        submit(wait, signal, () -> VulkanDispatches.execute(this, commands, bindings));
    }

    @Override
    public void barrier(@Nullable Fence wait, @Nullable Fence signal, long flags) {
        submit(wait, signal, HostOperations.Barrier::new);
    }

    @Override
    public void hostCall(@Nullable Fence wait, @Nullable Fence signal, HostCall call, long flags) {
        Objects.requireNonNull(call, "call");
        boolean detached = (flags & HOST_CALL_NON_BLOCKING) != 0;
        submit(wait, signal, () -> new HostOperations.Call(call, detached));
    }

    @Override
    public void flush() {
        // What is issued is submitted at once.
    }

    private @Nullable IreeException submit(
            @Nullable Fence wait, @Nullable Fence signal, Supplier<? extends VulkanOperation> make) {
        return scheduler.submit(wait, signal, make);
    }
}
