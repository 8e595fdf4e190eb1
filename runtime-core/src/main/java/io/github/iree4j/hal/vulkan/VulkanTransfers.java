package io.github.iree4j.hal.vulkan;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.OperationParts;
import io.github.iree4j.hal.StorageRequest;
import io.github.iree4j.hal.Transfers;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Fills, copies, updates, and transfers between buffers and files. What goes between the host and memory that it does not see goes
 * through {@link Staging}; what is larger than a slot of that in several parts, each an operation of the stream.
 */
final class VulkanTransfers {
    private VulkanTransfers() {}

    /** Fills. */
    static VulkanOperation fill(
            VulkanQueue queue, Buffer target, long offset, long length, long pattern, int patternLength) {
        VulkanBuffer own = VulkanBuffer.of(queue.vulkanDevice(), "fill target", target);
        long bytes = Transfers.checkFill(target, offset, length, patternLength);
        return new Fill(queue, own, target.offset() + offset, bytes, pattern, patternLength);
    }

    /** Copies. */
    static VulkanOperation copy(
            VulkanQueue queue, Buffer source, long sourceOffset, Buffer target, long targetOffset, long length) {
        VulkanBuffer from = VulkanBuffer.of(queue.vulkanDevice(), "copy source", source);
        VulkanBuffer to = VulkanBuffer.of(queue.vulkanDevice(), "copy target", target);
        long bytes = Transfers.checkCopy(source, sourceOffset, target, targetOffset, length);
        return new Copy(queue, from, source.offset() + sourceOffset, to, target.offset() + targetOffset, bytes);
    }

    /** Copies between allocations, whatever access others have to them. */
    static VulkanOperation copy(
            VulkanQueue queue, VulkanBuffer source, long sourceOffset, VulkanBuffer target, long length) {
        return new Copy(queue, source, sourceOffset, target, 0, length);
    }

    /** Submits an update: reads all of the source before it returns. */
    static void update(
            VulkanQueue queue,
            @Nullable Fence wait,
            @Nullable Fence signal,
            MemorySegment source,
            Buffer target,
            long offset) {
        submit(queue, wait, signal, () -> {
            VulkanBuffer own = VulkanBuffer.of(queue.vulkanDevice(), "update target", target);
            Transfers.checkUpdate(target, offset, source.byteSize());
            return updates(queue, own, target.offset() + offset, source);
        });
    }

    /** What writes bytes of the host to an allocation, whatever access others have to that. */
    static List<Supplier<VulkanOperation>> updates(
            VulkanQueue queue, VulkanBuffer target, long offset, MemorySegment source) {
        List<Supplier<VulkanOperation>> parts = new ArrayList<>();
        long size = source.byteSize();
        for (long at = 0; at < size || at == 0; at += Staging.SLOT) {
            long to = offset + at;
            byte[] bytes = source.asSlice(at, Math.min(Staging.SLOT, size - at)).toArray(ValueLayout.JAVA_BYTE);
            parts.add(() -> new Update(queue, target, to, bytes));
        }
        return parts;
    }

    /** Submits a read from a file. */
    static void read(
            VulkanQueue queue,
            @Nullable Fence wait,
            @Nullable Fence signal,
            HalFile file,
            long fileOffset,
            Buffer target,
            long offset,
            long length) {
        submit(queue, wait, signal, () -> {
            VulkanBuffer own = VulkanBuffer.of(queue.vulkanDevice(), "read target", target);
            target.require("read target", MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER_TARGET, MemoryAccess.WRITE);
            long bytes = target.checkRange("read target", offset, length);
            file.check("read", MemoryAccess.READ, fileOffset, bytes);
            long at = target.offset() + offset;
            return own.kind().isMappable()
                    ? List.of(() -> new FileTransfer(queue, file, fileOffset, own, at, bytes, true))
                    : stagedRead(queue, file, fileOffset, own, at, bytes);
        });
    }

    private static List<Supplier<VulkanOperation>> stagedRead(
            VulkanQueue queue, HalFile file, long fileOffset, VulkanBuffer target, long offset, long length) {
        List<Supplier<VulkanOperation>> parts = new ArrayList<>();
        for (long at = 0; at < length || at == 0; at += Staging.SLOT) {
            int size = (int) Math.min(Staging.SLOT, length - at);
            long from = fileOffset + at;
            long to = offset + at;
            Piece piece = new Piece(size);
            parts.add(() -> new StagedRead(queue, file, from, piece));
            parts.add(() -> new FromStaging(queue, piece, target, to));
        }
        return parts;
    }

    /** Submits a write to a file. */
    static void write(
            VulkanQueue queue,
            @Nullable Fence wait,
            @Nullable Fence signal,
            Buffer source,
            long offset,
            HalFile file,
            long fileOffset,
            long length) {
        submit(queue, wait, signal, () -> {
            VulkanBuffer own = VulkanBuffer.of(queue.vulkanDevice(), "write source", source);
            source.require("write source", MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER_SOURCE, MemoryAccess.READ);
            long bytes = source.checkRange("write source", offset, length);
            file.check("write", MemoryAccess.WRITE, fileOffset, bytes);
            long start = source.offset() + offset;
            if (own.kind().isMappable()) {
                return List.of(() -> new FileTransfer(queue, file, fileOffset, own, start, bytes, false));
            }
            List<Supplier<VulkanOperation>> parts = new ArrayList<>();
            for (long at = 0; at < bytes || at == 0; at += Staging.SLOT) {
                int size = (int) Math.min(Staging.SLOT, bytes - at);
                long from = start + at;
                long to = fileOffset + at;
                parts.add(() -> new StagedWrite(queue, own, from, size, file, to));
            }
            return parts;
        });
    }

    // ---- Parts.

    /**
     * Submits one operation, or several as parts of one, each after the one before.
     *
     * @param plan checks, and says how to make them
     */
    static void submit(
            VulkanQueue queue,
            @Nullable Fence wait,
            @Nullable Fence signal,
            Supplier<List<Supplier<VulkanOperation>>> plan) {
        List<Supplier<VulkanOperation>> makers;
        try {
            makers = plan.get();
        } catch (IreeException e) {
            queue.scheduler().submit(wait, signal, () -> {
                throw e;
            });
            return;
        }
        if (makers.size() == 1) {
            queue.scheduler().submit(wait, signal, makers.getFirst());
            return;
        }
        submitParts(queue, wait, signal, makers);
    }

    private static void submitParts(
            VulkanQueue queue, @Nullable Fence wait, @Nullable Fence signal, List<Supplier<VulkanOperation>> makers) {
        if (signal != null && !signal.isLive()) {
            queue.scheduler().submit(wait, signal, makers.getFirst()); // which throws
            return;
        }
        OperationParts parts;
        try {
            parts = queue.scheduler().beginParts(signal);
        } catch (IreeException e) {
            if (signal == null) {
                throw e;
            }
            signal.fail(e);
            return;
        }
        SemaphoreOptions order = SemaphoreOptions.DEFAULT.withScope(SemaphoreScope.DEVICE_LOCAL);
        try (TimelineSemaphore timeline = TimelineSemaphore.create(order)) {
            int count = makers.size();
            timeline.whenReached(count, (value, failure) -> parts.end(failure != null));
            for (int i = 0; i < count; i++) {
                Supplier<VulkanOperation> make = makers.get(i);
                try (Fence done = Fence.at(timeline, i + 1);
                        Fence before = i == 0 ? null : Fence.at(timeline, i);
                        Fence last = i == count - 1 && signal != null
                                ? Objects.requireNonNull(Fence.join(List.of(done, signal)))
                                : null) {
                    parts.submit(i == 0 ? wait : before, last != null ? last : done, make);
                }
            }
        }
    }

    // ---- Operations.

    private static final class Fill extends RecordedOperation {
        private final long offset;
        private final long length;
        private final long pattern;
        private final int patternLength;

        Fill(VulkanQueue queue, VulkanBuffer target, long offset, long length, long pattern, int patternLength) {
            super("fill", queue, target);
            this.offset = offset;
            this.length = length;
            this.pattern = pattern;
            this.patternLength = patternLength;
        }

        @Override
        boolean isEmpty() {
            return length == 0;
        }

        @Override
        void encode(CommandEncoder encoder) {
            encoder.fill(storage(0), offset, length, pattern, patternLength);
        }
    }

    private static final class Copy extends RecordedOperation {
        private final long sourceOffset;
        private final long targetOffset;
        private final long length;

        Copy(
                VulkanQueue queue,
                VulkanBuffer source,
                long sourceOffset,
                VulkanBuffer target,
                long targetOffset,
                long length) {
            super("copy", queue, source, target);
            this.sourceOffset = sourceOffset;
            this.targetOffset = targetOffset;
            this.length = length;
        }

        @Override
        boolean isEmpty() {
            return length == 0;
        }

        @Override
        void encode(CommandEncoder encoder) {
            encoder.copy(storage(0), sourceOffset, storage(1), targetOffset, length);
        }
    }

    /** Staging memory of one part of a transfer: in line before that, if need be. */
    private static final class Piece {
        final int size;
        private Staging.@Nullable Lease lease; // guarded by this, as the next two
        private @Nullable Cancellation waiting;
        private boolean over;

        Piece(int size) {
            this.size = size;
        }

        synchronized boolean tryLease(Staging staging) {
            if (lease == null && !over) {
                lease = staging.tryLease(size);
            }
            return lease != null;
        }

        void lease(Staging staging, Consumer<@Nullable IreeException> done) {
            Cancellation line = staging.lease(size, granted -> {
                if (keep(granted)) {
                    done.accept(null);
                } else {
                    granted.close();
                }
            });
            boolean late;
            synchronized (this) {
                waiting = line;
                late = over;
            }
            if (late) {
                line.cancel();
            }
        }

        private synchronized boolean keep(Staging.Lease granted) {
            if (over) {
                return false;
            }
            lease = granted;
            return true;
        }

        synchronized VulkanStorage storage() {
            return Objects.requireNonNull(lease).storage;
        }

        /** Gives the memory back, or leaves the line. */
        void end() {
            Staging.Lease had;
            Cancellation line;
            synchronized (this) {
                over = true;
                had = lease;
                line = waiting;
            }
            if (line != null) {
                line.cancel();
            }
            if (had != null) {
                had.close();
            }
        }
    }

    /** An operation that needs staging memory before it can be issued. Others may overtake it while there is none. */
    private abstract static class Staged extends RecordedOperation implements StorageRequest {
        final Piece piece;

        Staged(String name, VulkanQueue queue, Piece piece, VulkanBuffer... buffers) {
            super(name, queue, buffers);
            this.piece = piece;
        }

        @Override
        public boolean tryReservePresent(Frontier after, NativeTimepoints timepoints) {
            return piece.tryLease(device.staging());
        }

        @Override
        public boolean tryReserve(Frontier after, NativeTimepoints timepoints) {
            return piece.tryLease(device.staging());
        }

        @Override
        public void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done) {
            piece.lease(device.staging(), done);
        }

        @Override
        public List<NativeTimepoint> marks() {
            return List.of();
        }

        @Override
        public void issued(Frontier frontier) {}

        @Override
        protected void failed(IreeException cause) {
            super.failed(cause);
            piece.end();
        }
    }

    /** Writes bytes that were captured. */
    private static final class Update extends Staged {
        private final long offset;
        private final byte[] bytes;

        Update(VulkanQueue queue, VulkanBuffer target, long offset, byte[] bytes) {
            super("update", queue, new Piece(bytes.length), target);
            this.offset = offset;
            this.bytes = bytes;
        }

        @Override
        boolean isEmpty() {
            return bytes.length == 0;
        }

        @Override
        void encode(CommandEncoder encoder) {
            VulkanStorage staged = piece.storage();
            MemorySegment.copy(bytes, 0, staged.mapped(), ValueLayout.JAVA_BYTE, 0, bytes.length);
            encoder.copy(staged, 0, storage(0), offset, bytes.length);
        }

        @Override
        protected void release() {
            super.release();
            piece.end();
        }
    }

    /** Reads a part of a file into staging memory, for {@link FromStaging}, which gives that back. */
    private static final class StagedRead extends Staged implements HostStep {
        private final HalFile file;
        private final long offset;

        StagedRead(VulkanQueue queue, HalFile file, long offset, Piece piece) {
            super("read", queue, piece);
            this.file = file;
            this.offset = offset;
        }

        @Override
        boolean isEmpty() {
            return true;
        }

        @Override
        void encode(CommandEncoder encoder) {}

        @Override
        HostStep hostStep() {
            return this;
        }

        @Override
        public void run(Consumer<@Nullable IreeException> done) {
            MemorySegment staged = piece.storage().mapped();
            if (file.isAsynchronous()) {
                file.startRead(offset, staged, (_, failure) -> done.accept(failure));
                return;
            }
            file.read(offset, staged);
            done.accept(null);
        }

        @Override
        protected void retain() {
            file.retain();
        }

        @Override
        protected void release() {
            super.release();
            file.release();
        }
    }

    /** Copies from staging memory, which it gives back. */
    private static final class FromStaging extends RecordedOperation {
        private final Piece piece;
        private final long offset;

        FromStaging(VulkanQueue queue, Piece piece, VulkanBuffer target, long offset) {
            super("read", queue, target);
            this.piece = piece;
            this.offset = offset;
        }

        @Override
        boolean isEmpty() {
            return piece.size == 0;
        }

        @Override
        void encode(CommandEncoder encoder) {
            encoder.copy(piece.storage(), 0, storage(0), offset, piece.size);
        }

        @Override
        protected void release() {
            super.release();
            piece.end();
        }
    }

    /** Writes a part of a buffer to a file through staging memory. */
    private static final class StagedWrite extends Staged implements HostStep {
        private final long offset;
        private final HalFile file;
        private final long fileOffset;

        StagedWrite(VulkanQueue queue, VulkanBuffer source, long offset, int size, HalFile file, long fileOffset) {
            super("write", queue, new Piece(size), source);
            this.offset = offset;
            this.file = file;
            this.fileOffset = fileOffset;
        }

        @Override
        boolean isEmpty() {
            return piece.size == 0;
        }

        @Override
        void encode(CommandEncoder encoder) {
            encoder.copy(storage(0), offset, piece.storage(), 0, piece.size);
        }

        @Override
        HostStep hostStep() {
            return this;
        }

        @Override
        public void run(Consumer<@Nullable IreeException> done) {
            MemorySegment staged = piece.storage().mapped();
            if (file.isAsynchronous()) {
                file.startWrite(fileOffset, staged, (_, failure) -> done.accept(failure));
                return;
            }
            file.write(fileOffset, staged);
            done.accept(null);
        }

        @Override
        protected void retain() {
            super.retain();
            try {
                file.retain();
            } catch (IreeException e) {
                super.release();
                throw e;
            }
        }

        @Override
        protected void release() {
            super.release();
            piece.end();
            file.release();
        }
    }

    /** A transfer between a file and memory that the host sees. */
    private static final class FileTransfer extends RecordedOperation implements HostStep {
        private final HalFile file;
        private final long fileOffset;
        private final long offset;
        private final long length;
        private final boolean read;

        FileTransfer(
                VulkanQueue queue,
                HalFile file,
                long fileOffset,
                VulkanBuffer buffer,
                long offset,
                long length,
                boolean read) {
            super(read ? "read" : "write", queue, buffer);
            this.file = file;
            this.fileOffset = fileOffset;
            this.offset = offset;
            this.length = length;
            this.read = read;
        }

        @Override
        boolean isEmpty() {
            return true;
        }

        @Override
        void encode(CommandEncoder encoder) {}

        @Override
        HostStep hostStep() {
            return this;
        }

        @Override
        public void run(Consumer<@Nullable IreeException> done) {
            MemorySegment bytes = storage(0).mapped().asSlice(offset, length);
            if (read) {
                file.read(fileOffset, bytes);
            } else {
                file.write(fileOffset, bytes);
            }
            done.accept(null);
        }

        @Override
        protected void retain() {
            super.retain();
            try {
                file.retain();
            } catch (IreeException e) {
                super.release();
                throw e;
            }
        }

        @Override
        protected void release() {
            super.release();
            file.release();
        }
    }
}
