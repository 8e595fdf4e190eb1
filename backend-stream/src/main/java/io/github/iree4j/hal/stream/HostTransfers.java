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
 * where the device has such a queue.
 */
final class HostTransfers {
    /** Bytes of a piece. A guess, not measured. */
    private static final long PIECE = 8L * Staging.SLOT;

    private static final BufferParams READ =
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
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT)) {
            long pieces = 0;
            for (long at = 0; at < size; at += PIECE) {
                MemorySegment piece = source.asSlice(at, Math.min(PIECE, size - at));
                long to = offset + at;
                pieces++;
                submit(queue, timeline, pieces, () -> BufferTransfers.updates(queue, use, to, piece));
                if (pieces > 1) {
                    await(timeline, pieces - 1, use); // a piece is in flight while the next is captured
                }
            }
            if (pieces > 0) {
                await(timeline, pieces, use);
            }
        }
    }

    /** Reads a part of an allocation; a result is read even if the budget has no byte left. */
    static void read(StreamBuffer source, long offset, MemorySegment target) {
        long size = target.byteSize();
        if (size == 0) {
            return;
        }
        StreamDevice device = source.device();
        StreamQueue queue = queue(device);
        try (StreamBuffer.HostUse use = source.use();
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                StreamBuffer piece = size <= Staging.SLOT ? null : tryAllocate(device, Math.min(PIECE, size))) {
            if (piece == null) {
                readStaged(queue, timeline, use, offset, target);
                return;
            }
            long pieces = 0;
            for (long at = 0; at < size; at += PIECE) {
                long length = Math.min(PIECE, size - at);
                long from = offset + at;
                pieces++;
                submit(
                        queue,
                        timeline,
                        pieces,
                        () -> TransferPlan.of(() -> BufferTransfers.copy(queue, use, from, piece, length)));
                await(timeline, pieces, use);
                target.asSlice(at, length).copyFrom(piece.hostBytes(0, length));
            }
        }
    }

    private static @Nullable StreamBuffer tryAllocate(StreamDevice device, long size) {
        try {
            return StreamBuffer.allocated(device, READ, size);
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
     * Waits for a transfer. Once the memory's deallocation is issued, interrupts do not end the wait: the deallocation
     * waits for the caller, and for no other user of the memory.
     */
    private static void await(TimelineSemaphore timeline, long value, StreamBuffer.HostUse use) {
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
