package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.QueueCommand;
import io.github.iree4j.hal.Transfers;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Transfers between buffers and files: directly where the memory is host-visible, otherwise through {@link Staging},
 * slot by slot. File I/O runs as host steps. For large transfers with files in memory, the hardware uses the memory of
 * the file ({@link FileWindow}).
 */
final class FileTransfers {
    private FileTransfers() {}

    /** Plans a read from a file. */
    static TransferPlan read(StreamQueue queue, QueueCommand.Read read) {
        HalFile file = read.source();
        Buffer target = read.target();
        StreamBuffer own = StreamBuffer.of(queue.streamDevice(), "read target", target);
        Transfers.requireTarget("read target", target, StreamBuffer.isCopied(queue.streamDevice(), target));
        long bytes = target.checkRange("read target", read.targetOffset(), read.length());
        file.check("read", MemoryAccess.READ, read.sourceOffset(), bytes);
        long at = target.offset() + read.targetOffset();
        return own.kind().isMappable()
                ? TransferPlan.of(() -> new FileTransfer(queue, file, read.sourceOffset(), own, at, bytes, true))
                : stagedRead(queue, file, read.sourceOffset(), own, at, bytes);
    }

    private static TransferPlan stagedRead(
            StreamQueue queue, HalFile file, long fileOffset, StreamBuffer target, long offset, long length) {
        TransferPlan plan = new TransferPlan();
        FileWindow.Sequence windows = new FileWindow.Sequence(queue, file, fileOffset, length);
        long at = 0;
        do { // a transfer of no bytes has a part, too
            StagingPiece piece = windows.piece(plan, at);
            long from = fileOffset + at;
            long to = offset + at;
            plan.add(() -> new StagedRead(queue, file, from, piece));
            plan.add(() -> new FromStaging(queue, piece, target, to, file.isConstant()));
            at += piece.size;
        } while (at < length);
        return plan;
    }

    /** Plans a write to a file. */
    static TransferPlan write(StreamQueue queue, QueueCommand.Write write) {
        Buffer source = write.source();
        HalFile file = write.target();
        long fileOffset = write.targetOffset();
        StreamBuffer own = StreamBuffer.of(queue.streamDevice(), "write source", source);
        source.require("write source", MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER_SOURCE, MemoryAccess.READ);
        long bytes = source.checkRange("write source", write.sourceOffset(), write.length());
        file.check("write", MemoryAccess.WRITE, fileOffset, bytes);
        long start = source.offset() + write.sourceOffset();
        if (own.kind().isMappable()) {
            return TransferPlan.of(() -> new FileTransfer(queue, file, fileOffset, own, start, bytes, false));
        }
        TransferPlan plan = new TransferPlan();
        FileWindow.Sequence windows = new FileWindow.Sequence(queue, file, fileOffset, bytes);
        long at = 0;
        do { // a transfer of no bytes has a part, too
            StagingPiece piece = windows.piece(plan, at);
            long from = start + at;
            long to = fileOffset + at;
            plan.add(() -> new StagedWrite(queue, piece, own, from, file, to));
            at += piece.size;
        } while (at < bytes);
        return plan;
    }

    /**
     * Reads or writes, and reports completion: at once, or later for files with asynchronous transfers.
     *
     * @param bytes must stay unchanged until completion
     */
    private static void start(
            HalFile file, boolean read, long offset, MemorySegment bytes, Consumer<@Nullable IreeException> done) {
        if (!file.isAsynchronous()) {
            transfer(file, read, offset, bytes, done);
        } else if (read) {
            file.startRead(offset, bytes, (_, failure) -> done.accept(failure));
        } else {
            file.startWrite(offset, bytes, (_, failure) -> done.accept(failure));
        }
    }

    private static void transfer(
            HalFile file, boolean read, long offset, MemorySegment bytes, Consumer<@Nullable IreeException> done) {
        if (read) {
            file.read(offset, bytes);
        } else {
            file.write(offset, bytes);
        }
        done.accept(null);
    }

    // ---- Operations.

    /** Reads a part of a file into staging memory, for {@link FromStaging}; nothing to do where the memory is of the file. */
    private static final class StagedRead extends StagedOperation implements HostStep {
        private final HalFile file;
        private final long offset;

        StagedRead(StreamQueue queue, HalFile file, long offset, StagingPiece piece) {
            super(READ, queue, piece);
            this.file = file;
            this.offset = offset;
        }

        @Override
        boolean isEmpty() {
            return true;
        }

        @Override
        void encode(TransferCommands commands) {}

        @Override
        @Nullable
        HostStep hostStep() {
            return piece.isInPlace() ? null : this;
        }

        @Override
        public void run(Consumer<@Nullable IreeException> done) {
            start(file, true, offset, piece.storage().mapped(), done);
        }

        @Override
        public void failed() {
            piece.storage().mapped().fill((byte) 0); // otherwise the target would receive bytes of another transfer
        }

        @Override
        HalFile file() {
            return file;
        }
    }

    /** Copies from staging memory. */
    private static final class FromStaging extends TransferOperation {
        private final StagingPiece piece;
        private final long offset;
        private final boolean constants;

        FromStaging(StreamQueue queue, StagingPiece piece, StreamBuffer target, long offset, boolean constants) {
            super(READ, queue, target);
            this.piece = piece;
            this.offset = offset;
            this.constants = constants;
        }

        @Override
        int target() {
            return 0;
        }

        @Override
        boolean isEmpty() {
            return piece.size == 0;
        }

        @Override
        void encode(TransferCommands commands) {
            if (constants) {
                commands.copyConstants(piece.storage(), storage(0), offset, piece.size);
            } else {
                commands.copy(piece.storage(), 0, storage(0), offset, piece.size);
            }
        }

        @Override
        protected void retain() {
            super.retain();
            piece.hold();
        }

        @Override
        protected void release() {
            super.release();
            piece.end();
        }
    }

    /** Writes a part of a buffer to a file through staging memory. */
    private static final class StagedWrite extends StagedOperation implements HostStep {
        private final long offset;
        private final HalFile file;
        private final long fileOffset;

        StagedWrite(
                StreamQueue queue,
                StagingPiece piece,
                StreamBuffer source,
                long offset,
                HalFile file,
                long fileOffset) {
            super(WRITE, queue, piece, source);
            this.offset = offset;
            this.file = file;
            this.fileOffset = fileOffset;
        }

        @Override
        boolean isEmpty() {
            return piece.size == 0;
        }

        @Override
        void encode(TransferCommands commands) {
            commands.copy(storage(0), offset, piece.storage(), 0, piece.size);
        }

        @Override
        @Nullable
        HostStep hostStep() {
            return piece.isInPlace() ? null : this;
        }

        @Override
        public void run(Consumer<@Nullable IreeException> done) {
            start(file, false, fileOffset, piece.storage().mapped(), done);
        }

        @Override
        HalFile file() {
            return file;
        }
    }

    /** A transfer between a file and host-visible memory. */
    private static final class FileTransfer extends TransferOperation implements HostStep {
        private final HalFile file;
        private final long fileOffset;
        private final long offset;
        private final long length;
        private final boolean read;
        private final boolean ofUser;

        FileTransfer(
                StreamQueue queue,
                HalFile file,
                long fileOffset,
                StreamBuffer buffer,
                long offset,
                long length,
                boolean read) {
            super(read ? READ : WRITE, queue, buffer);
            this.file = file;
            this.fileOffset = fileOffset;
            this.offset = offset;
            this.length = length;
            this.read = read;
            this.ofUser = buffer.isMemoryOfUser();
        }

        @Override
        int target() {
            return read ? 0 : NONE;
        }

        @Override
        boolean isEmpty() {
            return true;
        }

        @Override
        void encode(TransferCommands commands) {}

        @Override
        HostStep hostStep() {
            return this;
        }

        @Override
        public void run(Consumer<@Nullable IreeException> done) {
            MemorySegment bytes = storage(0).mapped().asSlice(offset, length);
            if (ofUser) {
                // The user may unmap the memory during a transfer invisible to Java.
                transfer(file, read, fileOffset, bytes, done);
            } else {
                start(file, read, fileOffset, bytes, done);
            }
        }

        @Override
        HalFile file() {
            return file;
        }
    }
}
