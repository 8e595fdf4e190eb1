package io.github.iree4j.hal.local;

import io.github.iree4j.async.Fence;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A queue whose operations the host executes. Makes them; the scheduler orders them. */
final class LocalQueue implements DeviceQueue {
    private final LocalDevice device;
    private final int index;
    private final QueueScheduler scheduler;

    LocalQueue(LocalDevice device, int index, QueueScheduler scheduler) {
        this.device = device;
        this.index = index;
        this.scheduler = scheduler;
    }

    QueueScheduler scheduler() {
        return scheduler;
    }

    @Override
    public Device device() {
        return device.facade();
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
    public int index() {
        return index;
    }

    @Override
    public Buffer alloca(@Nullable Fence wait, @Nullable Fence signal, BufferParams params, long size, long flags) {
        int placement = Buffer.PLACEMENT_ASYNCHRONOUS
                | ((flags & ALLOCA_INDETERMINATE_LIFETIME) != 0 ? Buffer.PLACEMENT_INDETERMINATE_LIFETIME : 0);
        LocalBuffer buffer = LocalBuffer.reserved(device.memory(), params, size, this, placement);
        boolean reuse = (flags & ALLOCA_ALLOW_POOL_WAIT_FRONTIER) != 0;
        try {
            IreeException failure = submit(wait, signal, () -> {
                ReservationRequest request = HostMemory.request(params, size);
                return new Alloca(buffer, device.memory().pools(), reuse ? request.preferringReuse() : request);
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
                && buffer.allocatedBuffer().origin() instanceof LocalQueue origin
                && origin != this
                && origin.device.equals(device)) {
            origin.dealloca(wait, signal, buffer, 0);
            return;
        }
        if (buffer.allocatedBuffer() instanceof StoredBuffer<?> other
                && !(other instanceof LocalBuffer)
                && other.origin() instanceof DeviceQueue origin) {
            origin.dealloca(wait, signal, buffer, 0); // that of another driver
            return;
        }
        submit(wait, signal, () -> {
            LocalBuffer local = Operations.live("deallocated buffer", buffer);
            return local.isFreedInQueueOrder() ? new Dealloca(local) : new Operations.Barrier();
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
        submit(wait, signal, () -> Operations.fill(device.guests(), target, offset, length, pattern, patternLength));
    }

    /** Memory of any CPU device is as good as one's own. */
    private @Nullable DeviceQueue elsewhere(Buffer buffer) {
        return buffer.allocatedBuffer() instanceof LocalBuffer ? null : Transfers.elsewhere(device(), buffer);
    }

    @Override
    public void update(
            @Nullable Fence wait,
            @Nullable Fence signal,
            MemorySegment source,
            Buffer target,
            long targetOffset,
            long flags) {
        DeviceQueue elsewhere = elsewhere(target);
        if (elsewhere != null) {
            elsewhere.update(wait, signal, source, target, targetOffset, flags);
            return;
        }
        submit(wait, signal, () -> new Operations.Update(source, target, targetOffset));
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
        submit(
                wait,
                signal,
                () -> Operations.copy(device.guests(), source, sourceOffset, target, targetOffset, length));
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
        DeviceQueue elsewhere = elsewhere(target);
        if (elsewhere != null) {
            elsewhere.read(wait, signal, source, sourceOffset, target, targetOffset, length, flags);
            return;
        }
        submit(wait, signal, () -> Operations.FileTransfer.read(source, sourceOffset, target, targetOffset, length));
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
        DeviceQueue elsewhere = elsewhere(source);
        if (elsewhere != null) {
            elsewhere.write(wait, signal, source, sourceOffset, target, targetOffset, length, flags);
            return;
        }
        submit(wait, signal, () -> Operations.FileTransfer.write(source, sourceOffset, target, targetOffset, length));
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
        try (LocalCommandBuffer commands =
                new LocalCommandBuffer(CommandBuffer.ONE_SHOT, CommandBuffer.DISPATCH, bindings.size())) {
            submit(wait, signal, () -> {
                List<BufferRef> refs = new ArrayList<>(bindings.size());
                for (int i = 0; i < bindings.size(); i++) {
                    refs.add(BufferRef.slot(i, 0, Buffer.WHOLE));
                }
                commands.dispatch(executable, export, config, constants, refs, flags);
                commands.finish();
                return Operations.Execute.dispatch(commands, bindings, device.guests());
            });
        }
    }

    @Override
    public void execute(
            @Nullable Fence wait,
            @Nullable Fence signal,
            CommandBuffer commands,
            @Nullable BindingTable bindings,
            long flags) {
        if (commands instanceof LocalCommandBuffer local && !local.collectives().isEmpty()) {
            CollectiveExecution.submit(scheduler, wait, signal, local, bindings, device.guests());
            return;
        }
        submit(wait, signal, () -> {
            if (!(commands instanceof LocalCommandBuffer local)) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT, "command buffer was not created by device '" + device.id() + "'");
            }
            return new Operations.Execute(local, bindings, device.guests());
        });
    }

    @Override
    public void barrier(@Nullable Fence wait, @Nullable Fence signal, long flags) {
        submit(wait, signal, Operations.Barrier::new);
    }

    @Override
    public void hostCall(@Nullable Fence wait, @Nullable Fence signal, HostCall call, long flags) {
        Objects.requireNonNull(call, "call");
        boolean detached = (flags & HOST_CALL_NON_BLOCKING) != 0;
        submit(wait, signal, () -> detached ? new Operations.DetachedCall(call) : new Operations.Call(call));
    }

    @Override
    public void flush() {
        // Nothing is gathered.
    }

    private @Nullable IreeException submit(@Nullable Fence wait, @Nullable Fence signal, Supplier<HostOperation> make) {
        return scheduler.submit(wait, signal, make);
    }
}
