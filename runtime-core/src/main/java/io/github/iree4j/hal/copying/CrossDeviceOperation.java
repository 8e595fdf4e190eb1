package io.github.iree4j.hal.copying;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A sequence of operations on queues of several devices, a single operation to the submitter: the first operation
 * performs the waits, the last operation signals. Submitted by a single thread; keeps no state afterwards.
 */
final class CrossDeviceOperation implements AutoCloseable {
    /** Alignment of slots in copies, so that bindings are aligned as in the original. At least the alignment required for bindings by any device. */
    static final long ALIGNMENT = 256;

    private static final int USAGES =
            BufferUsage.DEFAULT | BufferUsage.DISPATCH_INDIRECT_PARAMETERS | BufferUsage.DISPATCH_UNIFORM_READ;

    private final CopyingQueue queue;
    private final TimelineSemaphore order;
    private final List<Fence> steps = new ArrayList<>();
    private final List<Buffer> copies = new ArrayList<>();
    private @Nullable Fence before;

    private CrossDeviceOperation(CopyingQueue queue, @Nullable Fence wait) {
        this.queue = queue;
        this.before = wait;
        this.order = queue.plain().device().createSemaphore(0, 0);
    }

    /** Submits operations. */
    static void submit(
            CopyingQueue queue,
            @Nullable Fence wait,
            @Nullable Fence signal,
            Consumer<CrossDeviceOperation> operations) {
        try (CrossDeviceOperation operation = new CrossDeviceOperation(queue, wait)) {
            operations.accept(operation);
            operation.end(signal);
        } catch (IreeException e) {
            fail(signal, e);
        } catch (RuntimeException | Error e) { // of any kind: waiters must not hang
            if (signal != null) {
                signal.fail(IreeException.of(StatusCode.INTERNAL, "work of several devices failed: " + e, e));
            }
            throw e;
        }
    }

    /** Fails the signal; without a signal, throws the cause. */
    static void fail(@Nullable Fence signal, IreeException cause) {
        if (signal == null) {
            throw cause;
        }
        signal.fail(cause);
    }

    /** Submits the next operation with a wait and a signal. */
    void next(BiConsumer<@Nullable Fence, Fence> operation) {
        if (before != null) {
            before.failure().ifPresent(failure -> {
                throw failure; // nothing behind the failed operation runs
            });
        }
        Fence after = Fence.at(order, steps.size() + 1);
        steps.add(after);
        operation.accept(before, after);
        before = after;
    }

    /** Deallocates the copies, so that the memory of the copies is free when the signal comes. */
    private void end(@Nullable Fence signal) {
        while (!copies.isEmpty()) {
            free(copies.getLast());
        }
        queue.plain().barrier(before, signal, 0);
    }

    private void free(Buffer copy) {
        next((wait, gone) -> origin(copy).dealloca(wait, gone, copy, 0));
        copies.remove(copy);
        copy.close();
    }

    private static DeviceQueue origin(Buffer copy) {
        DeviceQueue origin = copy.origin();
        return origin == null ? CopyingDevice.owner(copy).queue(0) : origin;
    }

    /** Allocates memory of the queue's device, until the operation is complete. */
    Buffer copy(long bytes) {
        return allocated(queue.plain(), MemoryType.DEVICE_LOCAL, USAGES, bytes);
    }

    private Buffer allocated(DeviceQueue where, int memoryType, int usage, long bytes) {
        BufferParams params = new BufferParams(
                memoryType,
                usage,
                MemoryAccess.ALL,
                QueueAffinity.ANY,
                ALIGNMENT,
                queue.view().consumer());
        next((wait, signal) -> copies.add(where.alloca(wait, signal, params, bytes, 0)));
        return copies.getLast();
    }

    /** Moves bytes between buffers of any devices. */
    void transfer(Buffer source, long from, Buffer target, long to, long length) {
        if (length == 0) {
            return;
        }
        Device giver = CopyingDevice.owner(source);
        Device taker = CopyingDevice.owner(target);
        DeviceQueue takes = queueOf(taker);
        if (giver.equals(taker)) {
            next((wait, signal) -> takes.copy(wait, signal, source, from, target, to, length, 0));
        } else if (isSeenByHost(target)) {
            write(queueOf(giver), source, from, target, to, length);
        } else if (isSeenByHost(source)) {
            try (HalFile file = new BufferFile(source)) {
                next((wait, signal) -> takes.read(wait, signal, file, from, target, to, length, 0));
            }
        } else if (taker.canCopyFrom(giver)) {
            next((wait, signal) -> takes.copy(wait, signal, source, from, target, to, length, 0));
        } else {
            Buffer between = allocated(
                    takes,
                    MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE,
                    BufferUsage.TRANSFER | BufferUsage.MAPPING,
                    length);
            write(queueOf(giver), source, from, between, 0, length);
            next((wait, signal) -> takes.copy(wait, signal, between, 0, target, to, length, 0));
            free(between);
        }
    }

    private void write(DeviceQueue gives, Buffer source, long from, Buffer target, long to, long length) {
        try (HalFile file = new BufferFile(target)) {
            next((wait, signal) -> gives.write(wait, signal, source, from, file, to, length, 0));
        }
    }

    private DeviceQueue queueOf(Device device) {
        return device.equals(queue.plain().device()) ? queue.plain() : device.queue(0);
    }

    private static boolean isSeenByHost(Buffer buffer) {
        return (buffer.memoryType() & MemoryType.HOST_VISIBLE) != 0;
    }

    @Override
    public void close() {
        copies.forEach(Buffer::close);
        steps.forEach(Fence::close);
        order.close();
    }
}
