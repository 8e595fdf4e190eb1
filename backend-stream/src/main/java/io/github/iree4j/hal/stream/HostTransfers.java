package io.github.iree4j.hal.stream;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between the host and memory not host-visible, for blocking callers. Transfers are split into pieces, so
 * memory use is bounded regardless of the length, and run on the last queue of the device: a dedicated transfer queue
 * where the device has such a queue. Large transfers use host memory of the device's pools, two pieces in turn: the
 * device copies a piece while the caller copies the other.
 */
final class HostTransfers {
    /** Bytes of a piece. A guess, not measured. */
    private static final long PIECE = 8L * Staging.SLOT;

    /** Alignment of the second piece. */
    private static final long ALIGNMENT = 4096;

    private static final BufferParams HOST =
            new BufferParams(MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE, BufferUsage.MAPPING);

    private HostTransfers() {}

    private static StreamQueue queue(StreamDevice device) {
        return (StreamQueue) device.queue(device.queueCount() - 1);
    }

    /** Writes bytes of the host to a part of an allocation. */
    static void write(StreamBuffer target, long offset, MemorySegment source) {
        StreamDevice device = target.device();
        StreamQueue queue = queue(device);
        long size = source.byteSize();
        try (StreamBuffer.HostUse use = target.use();
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                StreamBuffer pieces = tryAllocate(device, size)) {
            if (pieces == null) {
                writeStaged(queue, timeline, use, offset, source);
                return;
            }
            long piece = pieces.length() / 2;
            long count = 0;
            for (long at = 0; at < size; at += piece) {
                MemorySegment bytes = source.asSlice(at, Math.min(piece, size - at));
                long from = count % 2 * piece;
                await(timeline, count - 1, use); // the memory's former transfer; another is in flight
                pieces.hostBytes(from, bytes.byteSize()).copyFrom(bytes);
                copy(queue, timeline, ++count, pieces, from, use, offset + at, bytes.byteSize());
            }
            await(timeline, count, use);
        }
    }

    private static void writeStaged(
            StreamQueue queue,
            TimelineSemaphore timeline,
            StreamBuffer.HostUse use,
            long offset,
            MemorySegment source) {
        long count = 0;
        for (long at = 0; at < source.byteSize(); at += PIECE) {
            MemorySegment bytes = source.asSlice(at, Math.min(PIECE, source.byteSize() - at));
            long to = offset + at;
            submit(queue, timeline, ++count, () -> BufferTransfers.updates(queue, use, to, bytes));
            await(timeline, count - 1, use); // a piece is in flight while the next is captured
        }
        await(timeline, count, use);
    }

    /** Reads a part of an allocation; a result is read even if the budget has no byte left. */
    static void read(StreamBuffer source, long offset, MemorySegment target) {
        StreamDevice device = source.device();
        StreamQueue queue = queue(device);
        long size = target.byteSize();
        try (StreamBuffer.HostUse use = source.use();
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                StreamBuffer pieces = tryAllocate(device, size)) {
            if (pieces == null) {
                readStaged(queue, timeline, use, offset, target);
                return;
            }
            long piece = pieces.length() / 2;
            long count = (size + piece - 1) / piece;
            for (long i = 0; i <= count; i++) {
                if (i < count) {
                    long length = Math.min(piece, size - i * piece);
                    copy(queue, timeline, i + 1, use, offset + i * piece, pieces, i % 2 * piece, length);
                }
                if (i > 0) {
                    await(timeline, i, use); // the next transfer is in flight
                    MemorySegment to = target.asSlice((i - 1) * piece, Math.min(piece, size - (i - 1) * piece));
                    to.copyFrom(pieces.hostBytes((i - 1) % 2 * piece, to.byteSize()));
                }
            }
        }
    }

    private static void copy(
            StreamQueue queue,
            TimelineSemaphore timeline,
            long value,
            UsedBuffer source,
            long sourceOffset,
            UsedBuffer target,
            long targetOffset,
            long length) {
        submit(
                queue,
                timeline,
                value,
                () -> TransferPlan.of(
                        () -> BufferTransfers.copy(queue, source, sourceOffset, target, targetOffset, length)));
    }

    /**
     * Allocates host memory for two pieces of a transfer.
     *
     * @return null where staging memory has room for all of the transfer, or the budget has none for two pieces
     */
    private static @Nullable StreamBuffer tryAllocate(StreamDevice device, long size) {
        if (size <= Staging.SLOT) {
            return null;
        }
        try {
            long piece = Math.min(PIECE, size + 2 * ALIGNMENT - 1 >> 1 & -ALIGNMENT);
            return StreamBuffer.allocated(device, HOST, 2 * piece);
        } catch (IreeException e) {
            if (e.code() != StatusCode.RESOURCE_EXHAUSTED) {
                throw e;
            }
            return null; // staging memory is outside of the budget, and slower for large transfers
        }
    }

    private static void readStaged(
            StreamQueue queue,
            TimelineSemaphore timeline,
            StreamBuffer.HostUse use,
            long offset,
            MemorySegment target) {
        long pieces = 0;
        for (long at = 0; at < target.byteSize(); at += Staging.SLOT) {
            StagingPiece piece = new StagingPiece((int) Math.min(Staging.SLOT, target.byteSize() - at));
            long from = offset + at;
            pieces++;
            try {
                submit(
                        queue,
                        timeline,
                        pieces,
                        () -> TransferPlan.of(() -> BufferTransfers.readback(queue, use, from, piece)));
                await(timeline, pieces, use);
                target.asSlice(at, piece.size).copyFrom(piece.storage().mapped());
            } finally {
                piece.end();
            }
        }
    }

    /** Submits a piece behind the piece before: both wait for staging memory, and must not change places. */
    private static void submit(
            StreamQueue queue, TimelineSemaphore timeline, long value, Supplier<TransferPlan> transfer) {
        try (Fence before = value == 1 ? null : Fence.at(timeline, value - 1);
                Fence done = Fence.at(timeline, value)) {
            TransferPlan.submit(queue, before, done, transfer);
        }
    }

    /**
     * Waits for a transfer; values below 1 are before all transfers. Once the memory's deallocation is issued, interrupts
     * do not end the wait: the deallocation waits for the caller, and for no other user of the memory.
     */
    private static void await(TimelineSemaphore timeline, long value, StreamBuffer.HostUse use) {
        if (value < 1) {
            return;
        }
        boolean interrupted = false;
        try (Fence done = Fence.at(timeline, value)) {
            while (true) {
                try {
                    done.await();
                    return;
                } catch (IreeException e) {
                    boolean goesOn =
                            e.code() == StatusCode.CANCELLED && use.outlastsTransfers() && Thread.interrupted();
                    if (!goesOn) {
                        throw e;
                    }
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
