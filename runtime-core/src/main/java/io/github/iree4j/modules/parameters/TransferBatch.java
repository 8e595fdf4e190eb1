package io.github.iree4j.modules.parameters;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Transfers between parameters and buffers, running together between a wait fence and a signal fence.
 *
 * <p>Transfers are distributed over a few timelines, so that some transfers run concurrently and thousands of
 * parameters do not need thousands of timelines. Each transfer waits for the previous transfer on the same timeline; if
 * a transfer fails, so do all later transfers and finally the signal fence.
 */
final class TransferBatch implements AutoCloseable {
    private static final int MAX_TIMELINES = 4; // a guess: a device queue rarely profits from more

    /** Larger transfers are split into pieces of this size, run concurrently and reported piece by piece. A multiple of every pattern. */
    static final long PIECE = 64L << 20; // a guess

    private final Device device;
    private final DeviceQueue queue;
    private final @Nullable Fence wait;
    private final @Nullable LoadProgress progress;
    private final List<Timeline> timelines = new ArrayList<>();
    private int next;

    private static final class Timeline {
        final TimelineSemaphore semaphore;
        long value;

        Timeline(TimelineSemaphore semaphore) {
            this.semaphore = semaphore;
        }
    }

    TransferBatch(Device device, long affinity, @Nullable Fence wait, @Nullable LoadProgress progress) {
        this.device = device;
        this.queue = device.queueFor(affinity);
        this.wait = wait;
        this.progress = progress;
    }

    /** A transfer of some bytes between two fences. */
    @FunctionalInterface
    private interface Transfer {
        void submit(@Nullable Fence before, Fence after, long done, long length);
    }

    /** Writes {@code [offset, offset + length)} of a parameter into a buffer. */
    void load(ParameterEntry entry, long offset, Buffer target, long targetOffset, long length) {
        inPieces(
                entry,
                length,
                (before, after, done, size) ->
                        read(before, after, entry, offset + done, target, targetOffset + done, size));
    }

    /** Writes a range of a buffer into a writable parameter. */
    void store(ParameterEntry.Stored entry, long offset, Buffer source, long sourceOffset, long length) {
        inPieces(entry, length, (before, after, done, size) -> {
            try (HalFile stored = fileOf(entry)) {
                if (stored != null) {
                    long place = placeOf(entry) + offset + done;
                    queue.write(before, after, source, sourceOffset + done, stored, place, size, 0);
                    return;
                }
            }
            try (HalFile file = HalFile.ofMemory(entry.data(), MemoryAccess.WRITE, entry.owner())) {
                queue.write(before, after, source, sourceOffset + done, file, offset + done, size, 0);
            }
        });
    }

    /**
     * Returns the file with the bytes of an entry, or null for bytes outside files. The file is read and written
     * without blocking a thread on page faults, and without the SIGBUS raised by accesses to a mapping of a truncated
     * file. The caller closes the result.
     */
    private static @Nullable HalFile fileOf(ParameterEntry.Stored entry) {
        return entry.owner() instanceof MappedFile mapped ? mapped.file() : null;
    }

    /** Returns the offset of an entry's bytes in the file. */
    private static long placeOf(ParameterEntry.Stored entry) {
        MappedFile mapped = (MappedFile) Objects.requireNonNull(entry.owner());
        return entry.data().address() - mapped.bytes().address();
    }

    private void inPieces(ParameterEntry entry, long length, Transfer transfer) {
        for (long done = 0; done < length; done += PIECE) {
            long size = Math.min(PIECE, length - done);
            Timeline timeline = nextTimeline();
            long value = timeline.value + 1;
            Fence before = timeline.value == 0 ? wait : Fence.at(timeline.semaphore, timeline.value);
            try (Fence after = Fence.at(timeline.semaphore, value)) {
                transfer.submit(before, after, done, size);
                timeline.value = value;
            } finally {
                if (before != null && before != wait) {
                    before.close();
                }
            }
            if (progress != null) {
                timeline.semaphore.whenReached(value, (_, failure) -> {
                    if (failure == null) {
                        progress.arrived(entry, size);
                    } else {
                        progress.failed();
                    }
                });
            }
        }
    }

    private Timeline nextTimeline() {
        int index = next++ % MAX_TIMELINES;
        if (index == timelines.size()) {
            timelines.add(new Timeline(device.createSemaphore(0, Device.SEMAPHORE_DEFAULT)));
        }
        return timelines.get(index);
    }

    private void read(
            @Nullable Fence before,
            Fence after,
            ParameterEntry entry,
            long offset,
            Buffer target,
            long targetOffset,
            long length) {
        switch (entry) {
            case ParameterEntry.Stored stored -> {
                try (HalFile inFile = fileOf(stored)) {
                    if (inFile != null) {
                        queue.read(before, after, inFile, placeOf(stored) + offset, target, targetOffset, length, 0);
                        return;
                    }
                }
                try (HalFile file = HalFile.ofMemory(stored.data(), MemoryAccess.READ, stored.owner())) {
                    queue.read(before, after, file, offset, target, targetOffset, length, 0);
                }
            }
            case ParameterEntry.Splat splat -> {
                byte[] pattern = splat.pattern();
                if (pattern.length <= Long.BYTES && (offset | targetOffset | length) % pattern.length == 0) {
                    queue.fill(before, after, target, targetOffset, length, value(pattern), pattern.length, 0);
                } else {
                    try (HalFile file = new SplatFile(splat)) {
                        queue.read(before, after, file, offset, target, targetOffset, length, 0);
                    }
                }
            }
        }
    }

    private static long value(byte[] pattern) {
        long value = 0;
        for (int i = pattern.length - 1; i >= 0; i--) {
            value = value << 8 | Byte.toUnsignedLong(pattern[i]);
        }
        return value;
    }

    /** Submits the operation signalling the fence after all transfers have finished. */
    void end(@Nullable Fence signal) {
        List<Fence> last = new ArrayList<>(timelines.size());
        Fence all = null;
        try {
            for (Timeline timeline : timelines) {
                last.add(Fence.at(timeline.semaphore, timeline.value));
            }
            all = Fence.joinNullable(last);
            queue.barrier(all == null ? wait : all, signal, 0);
        } finally {
            last.forEach(Fence::close);
            if (all != null) {
                all.close();
            }
        }
    }

    /** Releases the timelines; submitted transfers retain all objects in use. */
    @Override
    public void close() {
        timelines.forEach(timeline -> timeline.semaphore.close());
    }

    /** A repeated pattern as a file, for patterns and offsets unsupported by the queue's fill. */
    private static final class SplatFile extends HalFile {
        private final ParameterEntry.Splat splat;

        SplatFile(ParameterEntry.Splat splat) {
            super("splat parameter '" + splat.key() + "'", MemoryAccess.READ);
            this.splat = splat;
        }

        @Override
        public long length() {
            return splat.length();
        }

        @Override
        protected void doRead(long offset, MemorySegment target) {
            splat.fill(offset, target);
        }

        @Override
        protected void doWrite(long offset, MemorySegment source) {
            throw new UnsupportedOperationException(); // refused earlier: the file is read-only
        }

        @Override
        protected void destroy() {}
    }
}
