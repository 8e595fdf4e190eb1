package io.github.iree4j.hal.copying;

import io.github.iree4j.async.Fence;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.FrontierCounters;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.hal.QueueCommand;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.QueuePeaks;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.status.IreeException;
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
    public void submit(@Nullable Fence wait, @Nullable Fence signal, QueueCommand command) {
        switch (command) {
            case QueueCommand.Dealloca freed -> {
                Buffer buffer = freed.buffer();
                long origin = view.isApart(buffer) ? DEALLOCA_PREFER_ORIGIN : 0;
                at(buffer).dealloca(wait, signal, buffer, freed.flags() | origin);
            }
            case QueueCommand.Fill fill -> at(fill.target()).submit(wait, signal, fill);
            case QueueCommand.Update update -> at(update.target()).submit(wait, signal, update);
            case QueueCommand.Copy copy -> submit(wait, signal, copy);
            case QueueCommand.Read read -> at(read.target()).submit(wait, signal, read);
            case QueueCommand.Write write -> at(write.source()).submit(wait, signal, write);
            case QueueCommand.Dispatch dispatch -> submit(wait, signal, dispatch);
            case QueueCommand.Execute execute -> submit(wait, signal, execute);
            case QueueCommand.Barrier _, QueueCommand.Call _, QueueCommand.DeferredCall _ ->
                queue.submit(wait, signal, command);
        }
    }

    private void submit(@Nullable Fence wait, @Nullable Fence signal, QueueCommand.Copy copy) {
        Buffer source = copy.source();
        Buffer target = copy.target();
        if (!view.isApart(source) && !view.isApart(target)) {
            queue.submit(wait, signal, copy);
            return;
        }
        CrossDeviceOperation.submit(this, wait, signal, operation -> {
            source.require("copy source", MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER_SOURCE, MemoryAccess.READ);
            target.require("copy target", MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER_TARGET, MemoryAccess.WRITE);
            long bytes = source.checkRange("copy source", copy.sourceOffset(), copy.length());
            target.checkRange("copy target", copy.targetOffset(), bytes);
            operation.transfer(source, copy.sourceOffset(), target, copy.targetOffset(), bytes);
        });
    }

    /** Turns a dispatch with apart memory into a command buffer. */
    private void submit(@Nullable Fence wait, @Nullable Fence signal, QueueCommand.Dispatch dispatch) {
        BindingTable bindings = dispatch.bindings();
        int count = bindings.size();
        boolean apart = false;
        for (int i = 0; i < count; i++) {
            Buffer buffer = bindings.buffer(i);
            apart |= buffer != null && view.isApart(buffer);
        }
        if (!apart) {
            queue.submit(wait, signal, dispatch);
            return;
        }
        try (CommandBuffer once =
                view.createCommandBuffer(CommandBuffer.ONE_SHOT, CommandBuffer.DISPATCH, QueueAffinity.ANY, count)) {
            List<BufferRef> slots = IntStream.range(0, count)
                    .mapToObj(slot -> BufferRef.slot(slot, 0, Buffer.WHOLE))
                    .toList();
            once.dispatch(
                    dispatch.executable(),
                    dispatch.export(),
                    dispatch.config(),
                    dispatch.constants(),
                    slots,
                    dispatch.flags());
            once.finish();
            execute(wait, signal, once, bindings, 0);
        } catch (IreeException e) {
            CrossDeviceOperation.fail(signal, e);
        }
    }

    private void submit(@Nullable Fence wait, @Nullable Fence signal, QueueCommand.Execute execute) {
        if (!(execute.commands() instanceof CopyingCommands own)) {
            queue.submit(wait, signal, execute);
            return;
        }
        BindingTable table;
        Copies copies;
        try {
            own.checkSubmission(execute.bindings());
            table = own.complete(execute.bindings());
            copies = table == null ? null : new Copies(view, own, table);
        } catch (IreeException e) {
            CrossDeviceOperation.fail(signal, e);
            return;
        }
        if (copies == null || copies.isEmpty()) {
            queue.execute(wait, signal, own.recorded(), table, execute.flags());
        } else {
            // Copies are released directly after submission.
            long kept = execute.flags() & ~EXECUTE_BORROW_BINDING_TABLE_LIFETIME;
            CrossDeviceOperation.submit(this, wait, signal, operation -> copies.execute(operation, this, kept));
        }
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
