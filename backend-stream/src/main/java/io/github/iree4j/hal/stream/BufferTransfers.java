package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.QueueCommand;
import io.github.iree4j.hal.Transfers;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Fills, copies and updates. Bytes written by the host go through {@link Staging}. A transfer that exceeds a staging
 * slot is split into parts, each an operation of the stream.
 */
final class BufferTransfers {
    private BufferTransfers() {}

    /** Fills. */
    static StreamOperation fill(StreamQueue queue, QueueCommand.Fill fill) {
        Buffer target = fill.target();
        UsedBuffer own = StreamBuffer.usable(queue.streamDevice(), "fill target", target);
        long bytes = Transfers.checkFill(
                target,
                fill.offset(),
                fill.length(),
                fill.patternLength(),
                StreamBuffer.isCopied(queue.streamDevice(), target));
        return new Fill(queue, own, target.offset() + fill.offset(), bytes, fill.pattern(), fill.patternLength());
    }

    /** Copies. */
    static StreamOperation copy(StreamQueue queue, QueueCommand.Copy copy) {
        Buffer source = copy.source();
        Buffer target = copy.target();
        StreamDevice device = queue.streamDevice();
        StreamBuffer apart = StreamBuffer.copied(device, source);
        UsedBuffer from =
                apart == null ? StreamBuffer.usable(device, "copy source", source) : StreamBuffer.used(device, apart);
        UsedBuffer to = StreamBuffer.usable(device, "copy target", target);
        boolean copied = StreamBuffer.isCopied(device, target);
        long bytes =
                Transfers.checkCopy(source, copy.sourceOffset(), target, copy.targetOffset(), copy.length(), copied);
        return new Copy(
                queue, from, source.offset() + copy.sourceOffset(), to, target.offset() + copy.targetOffset(), bytes);
    }

    /** Copies between allocations, regardless of their access flags. */
    static StreamOperation copy(
            StreamQueue queue,
            UsedBuffer source,
            long sourceOffset,
            UsedBuffer target,
            long targetOffset,
            long length) {
        return new Copy(queue, source, sourceOffset, target, targetOffset, length);
    }

    /** Copies to staging memory, regardless of the access flags of the allocation. */
    static StreamOperation readback(StreamQueue queue, UsedBuffer source, long offset, StagingPiece piece) {
        return new Readback(queue, source, offset, piece);
    }

    /** Plans an update: reads all of the source before returning. */
    static TransferPlan update(StreamQueue queue, QueueCommand.Update update) {
        MemorySegment source = update.source();
        Buffer target = update.target();
        StreamBuffer own = StreamBuffer.of(queue.streamDevice(), "update target", target);
        boolean copied = StreamBuffer.isCopied(queue.streamDevice(), target);
        Transfers.checkUpdate(target, update.targetOffset(), source.byteSize(), copied);
        return updates(queue, own, target.offset() + update.targetOffset(), source);
    }

    /** Plans writing host bytes to an allocation, regardless of the allocation's access flags. */
    static TransferPlan updates(StreamQueue queue, UsedBuffer target, long offset, MemorySegment source) {
        TransferPlan plan = new TransferPlan();
        long size = source.byteSize();
        for (long at = 0; at < size || at == 0; at += Staging.SLOT) {
            long to = offset + at;
            byte[] bytes = source.asSlice(at, Math.min(Staging.SLOT, size - at)).toArray(ValueLayout.JAVA_BYTE);
            StagingPiece piece = plan.piece(new StagingPiece(bytes.length));
            plan.add(() -> new Update(queue, piece, target, to, bytes));
        }
        return plan;
    }

    // ---- Operations.

    private static final class Fill extends TransferOperation {
        private final long offset;
        private final long length;
        private final long pattern;
        private final int patternLength;

        Fill(StreamQueue queue, UsedBuffer target, long offset, long length, long pattern, int patternLength) {
            super(FILL, queue, target);
            this.offset = offset;
            this.length = length;
            this.pattern = pattern;
            this.patternLength = patternLength;
        }

        @Override
        int target() {
            return 0;
        }

        @Override
        boolean isEmpty() {
            return length == 0;
        }

        @Override
        void encode(TransferCommands commands) {
            commands.fill(storage(0), offset, length, pattern, patternLength);
        }
    }

    private static final class Copy extends TransferOperation {
        private final long sourceOffset;
        private final long targetOffset;
        private final long length;

        Copy(
                StreamQueue queue,
                UsedBuffer source,
                long sourceOffset,
                UsedBuffer target,
                long targetOffset,
                long length) {
            super(COPY, queue, source, target);
            this.sourceOffset = sourceOffset;
            this.targetOffset = targetOffset;
            this.length = length;
        }

        @Override
        int target() {
            return 1;
        }

        @Override
        boolean isEmpty() {
            return length == 0;
        }

        @Override
        void encode(TransferCommands commands) {
            commands.copy(storage(0), sourceOffset, storage(1), targetOffset, length);
        }
    }

    private static final class Readback extends StagedOperation {
        private final long offset;

        Readback(StreamQueue queue, UsedBuffer source, long offset, StagingPiece piece) {
            super(COPY, queue, piece, source);
            this.offset = offset;
        }

        @Override
        boolean isEmpty() {
            return false;
        }

        @Override
        void encode(TransferCommands commands) {
            commands.copy(storage(0), offset, piece.storage(), 0, piece.size);
        }
    }

    /** Writes captured bytes. */
    private static final class Update extends StagedOperation {
        private final long offset;
        private final byte[] bytes;

        Update(StreamQueue queue, StagingPiece piece, UsedBuffer target, long offset, byte[] bytes) {
            super(UPDATE, queue, piece, target);
            this.offset = offset;
            this.bytes = bytes;
        }

        @Override
        int target() {
            return 0;
        }

        @Override
        boolean isEmpty() {
            return bytes.length == 0;
        }

        @Override
        void encode(TransferCommands commands) {
            StreamStorage staged = piece.storage();
            MemorySegment.copy(bytes, 0, staged.mapped(), ValueLayout.JAVA_BYTE, 0, bytes.length);
            commands.copy(staged, 0, storage(0), offset, bytes.length);
        }
    }
}
