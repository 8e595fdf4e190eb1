package io.github.iree4j.hal.copying;

import io.github.iree4j.async.Fence;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DeferredHostCall;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.FrontierCounters;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.HostCall;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.QueuePeaks;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A queue of a {@link CopyingDevice}. */
final class CopyingQueue implements DeviceQueue {
    private final CopyingDevice view;
    private final DeviceQueue queue;

    CopyingQueue(CopyingDevice view, DeviceQueue queue) {
        this.view = view;
        this.queue = queue;
    }

    CopyingDevice view() {
        return view;
    }

    /** Returns the queue of the device. */
    DeviceQueue plain() {
        return queue;
    }

    /** Returns the queue for a transfer with a buffer: this queue, unless the buffer is apart. */
    private DeviceQueue at(Buffer buffer) {
        return view.isApart(buffer) ? CopyingDevice.owner(buffer).queue(0) : queue;
    }

    @Override
    public Device device() {
        return view;
    }

    @Override
    public int index() {
        return queue.index();
    }

    @Override
    public long axis() {
        return queue.axis();
    }

    @Override
    public QueueCounters counters() {
        return queue.counters();
    }

    @Override
    public QueuePeaks takePeaks() {
        return queue.takePeaks();
    }

    @Override
    public List<PendingOperation> inFlight(int limit) {
        return queue.inFlight(limit);
    }

    @Override
    public List<PendingOperation> pending(int limit) {
        return queue.pending(limit);
    }

    @Override
    public Frontier frontier() {
        return queue.frontier();
    }

    @Override
    public StreamCounters streamCounters() {
        return queue.streamCounters();
    }

    @Override
    public FrontierCounters frontierCounters() {
        return queue.frontierCounters();
    }

    @Override
    public Buffer alloca(@Nullable Fence wait, @Nullable Fence signal, BufferParams params, long size, long flags) {
        return queue.alloca(wait, signal, params, size, flags);
    }

    @Override
    public void dealloca(@Nullable Fence wait, @Nullable Fence signal, Buffer buffer, long flags) {
        at(buffer).dealloca(wait, signal, buffer, flags | (view.isApart(buffer) ? DEALLOCA_PREFER_ORIGIN : 0));
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
        at(target).fill(wait, signal, target, offset, length, pattern, patternLength, flags);
    }

    @Override
    public void update(
            @Nullable Fence wait,
            @Nullable Fence signal,
            MemorySegment source,
            Buffer target,
            long targetOffset,
            long flags) {
        at(target).update(wait, signal, source, target, targetOffset, flags);
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
        if (!view.isApart(source) && !view.isApart(target)) {
            queue.copy(wait, signal, source, sourceOffset, target, targetOffset, length, flags);
            return;
        }
        CrossDeviceOperation.submit(this, wait, signal, crossing -> {
            source.require("copy source", MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER_SOURCE, MemoryAccess.READ);
            target.require("copy target", MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER_TARGET, MemoryAccess.WRITE);
            long bytes = source.checkRange("copy source", sourceOffset, length);
            target.checkRange("copy target", targetOffset, bytes);
            crossing.transfer(source, sourceOffset, target, targetOffset, bytes);
        });
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
        at(target).read(wait, signal, source, sourceOffset, target, targetOffset, length, flags);
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
        at(source).write(wait, signal, source, sourceOffset, target, targetOffset, length, flags);
    }

    /** Turns a dispatch with apart memory into a command buffer. */
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
        int count = bindings.size();
        boolean apart = false;
        for (int i = 0; i < count; i++) {
            Buffer buffer = bindings.buffer(i);
            apart |= buffer != null && view.isApart(buffer);
        }
        if (!apart) {
            queue.dispatch(wait, signal, executable, export, config, constants, bindings, flags);
            return;
        }
        try (CommandBuffer once =
                view.createCommandBuffer(CommandBuffer.ONE_SHOT, CommandBuffer.DISPATCH, QueueAffinity.ANY, count)) {
            List<BufferRef> slots = IntStream.range(0, count)
                    .mapToObj(slot -> BufferRef.slot(slot, 0, Buffer.WHOLE))
                    .toList();
            once.dispatch(executable, export, config, constants, slots, flags);
            once.finish();
            execute(wait, signal, once, bindings, 0);
        } catch (IreeException e) {
            CrossDeviceOperation.fail(signal, e);
        }
    }

    @Override
    public void execute(
            @Nullable Fence wait,
            @Nullable Fence signal,
            CommandBuffer commands,
            @Nullable BindingTable bindings,
            long flags) {
        if (!(commands instanceof CopyingCommands own)) {
            queue.execute(wait, signal, commands, bindings, flags);
            return;
        }
        BindingTable table;
        Copies copies;
        try {
            own.checkSubmission(bindings);
            table = own.complete(bindings);
            copies = table == null ? null : new Copies(view, own, table);
        } catch (IreeException e) {
            CrossDeviceOperation.fail(signal, e);
            return;
        }
        if (copies == null || copies.isEmpty()) {
            queue.execute(wait, signal, own.recorded(), table, flags);
        } else {
            // Copies are released directly after submission.
            long kept = flags & ~EXECUTE_BORROW_BINDING_TABLE_LIFETIME;
            CrossDeviceOperation.submit(this, wait, signal, crossing -> copies.execute(crossing, this, kept));
        }
    }

    @Override
    public void barrier(@Nullable Fence wait, @Nullable Fence signal, long flags) {
        queue.barrier(wait, signal, flags);
    }

    @Override
    public void hostCall(@Nullable Fence wait, @Nullable Fence signal, HostCall call, long flags) {
        queue.hostCall(wait, signal, call, flags);
    }

    @Override
    public void deferredHostCall(@Nullable Fence wait, @Nullable Fence signal, DeferredHostCall call) {
        queue.deferredHostCall(wait, signal, call);
    }

    @Override
    public void flush() {
        queue.flush();
    }

    @Override
    public String toString() {
        return queue.toString();
    }
}
