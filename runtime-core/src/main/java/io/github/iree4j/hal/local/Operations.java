package io.github.iree4j.hal.local;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.io.Completion;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.HostCall;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.QueueCommand;
import io.github.iree4j.hal.Transfers;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.storage.StoredBuffer;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Queue operations of the local device. The constructors make all checks possible before execution. */
final class Operations {
    /** Fixed cost of a small operation, regardless of sizes. An order of magnitude. */
    static final int STEP_NANOS = 100;

    private static final int BYTES_PER_NANO = 8;

    private static final Logger LOG = LoggerFactory.getLogger(Operations.class);

    /** Transfers of at least this many bytes are cut into pieces. */
    private static final long TILED_TRANSFER = 256 << 10;

    private Operations() {}

    /** An operation on up to two reference-counted objects. */
    private abstract static class Using extends HostOperation {
        private final RefCounted first;
        private final @Nullable RefCounted second;

        Using(String name, RefCounted first, @Nullable RefCounted second) {
            super(name);
            this.first = first;
            this.second = second;
        }

        @Override
        protected void retain() {
            retainBoth(first, second);
        }

        @Override
        protected void release() {
            releaseBoth(first, second);
        }
    }

    private static void retainBoth(RefCounted first, @Nullable RefCounted second) {
        first.retain();
        if (second != null) {
            try {
                second.retain();
            } catch (IreeException e) {
                first.release();
                throw e;
            }
        }
    }

    private static void releaseBoth(RefCounted first, @Nullable RefCounted second) {
        first.release();
        if (second != null) {
            second.release();
        }
    }

    static LocalBuffer live(String what, Buffer buffer) {
        checkLive(what, buffer);
        return LocalBuffer.of(buffer);
    }

    /** As {@link #live}, or for another device's host-visible memory. */
    private static StoredBuffer<?> usable(String what, Buffer buffer) {
        checkLive(what, buffer);
        return LocalBuffer.usable(buffer);
    }

    private static void checkLive(String what, Buffer buffer) {
        if (!buffer.isLive()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION, what + " of " + buffer.length() + " bytes is closed");
        }
    }

    /** Creates a fill; in tiles for many bytes. */
    static HostOperation fill(CallerRunners callerRunners, QueueCommand.Fill fill) {
        Buffer target = fill.target();
        StoredBuffer<?> local = usable("fill target", target);
        long bytes = Transfers.checkFill(
                target, fill.offset(), fill.length(), fill.patternLength(), LocalBuffer.isCopied(target));
        long words = Recording.widen(fill.pattern(), fill.patternLength());
        long at = target.offset() + fill.offset();
        return bytes >= TILED_TRANSFER
                ? new Transfer(HostOperation.FILL, callerRunners, Recording.fill(local, at, bytes, words), local, null)
                : new Fill(local, at, bytes, words);
    }

    /** Creates a copy; in tiles for many bytes. */
    static HostOperation copy(CallerRunners callerRunners, QueueCommand.Copy copy) {
        Buffer source = copy.source();
        Buffer target = copy.target();
        StoredBuffer<?> from = usable("copy source", source);
        StoredBuffer<?> to = usable("copy target", target);
        long bytes = Transfers.checkCopy(
                source, copy.sourceOffset(), target, copy.targetOffset(), copy.length(), LocalBuffer.isCopied(target));
        long at = source.offset() + copy.sourceOffset();
        long toAt = target.offset() + copy.targetOffset();
        return bytes >= TILED_TRANSFER
                ? new Transfer(HostOperation.COPY, callerRunners, Recording.copy(from, at, to, toAt, bytes), from, to)
                : new Copy(from, at, to, toAt, bytes);
    }

    /** A short transfer, skipped when the end is unobservable. */
    private abstract static class Moving extends Using {
        Moving(String name, RefCounted first, @Nullable RefCounted second) {
            super(name, first, second);
        }

        abstract void move();

        @Override
        final void run() {
            IreeException cause = stopped();
            if (cause != null) {
                throw cause;
            }
            move();
        }
    }

    private static final class Fill extends Moving {
        private final StoredBuffer<?> target;
        private final long offset;
        private final long length;
        private final long pattern;

        Fill(StoredBuffer<?> target, long offset, long length, long pattern) {
            super(FILL, target, null);
            this.target = target;
            this.offset = offset;
            this.length = length;
            this.pattern = pattern;
        }

        @Override
        long nanos() {
            return STEP_NANOS + length / BYTES_PER_NANO;
        }

        @Override
        void move() {
            try (PinnedTarget pinned = new PinnedTarget(target, call())) {
                TileRunner.fill(pinned.bytes(), offset, length, pattern);
            }
        }
    }

    static final class Update extends Moving {
        private MemorySegment source;
        private final LocalBuffer target;
        private final long offset;

        Update(QueueCommand.Update update) {
            super(UPDATE, live("update target", update.target()), null);
            Buffer written = update.target();
            this.source = update.source();
            Transfers.checkUpdate(written, update.targetOffset(), source.byteSize(), LocalBuffer.isCopied(written));
            this.target = LocalBuffer.of(written);
            this.offset = written.offset() + update.targetOffset();
        }

        @Override
        protected void retain() {
            super.retain();
            source = MemorySegment.ofArray(source.toArray(ValueLayout.JAVA_BYTE));
        }

        @Override
        long nanos() {
            return STEP_NANOS + source.byteSize() / BYTES_PER_NANO;
        }

        @Override
        void move() {
            try (PinnedTarget pinned = new PinnedTarget(target, call())) {
                MemorySegment.copy(source, 0, pinned.bytes(), offset, source.byteSize());
            }
        }
    }

    private static final class Copy extends Moving {
        private final StoredBuffer<?> source;
        private final long sourceOffset;
        private final StoredBuffer<?> target;
        private final long targetOffset;
        private final long length;

        Copy(StoredBuffer<?> source, long sourceOffset, StoredBuffer<?> target, long targetOffset, long length) {
            super(COPY, source, target);
            this.source = source;
            this.sourceOffset = sourceOffset;
            this.target = target;
            this.targetOffset = targetOffset;
            this.length = length;
        }

        @Override
        long nanos() {
            return STEP_NANOS + length / BYTES_PER_NANO;
        }

        @Override
        void move() {
            try (PinnedTarget to = new PinnedTarget(target, call())) { // first: the source may be the same constant
                MemorySegment from = PinnedBuffers.lent(source, call()).segment;
                try {
                    MemorySegment.copy(from, sourceOffset, to.bytes(), targetOffset, length);
                } finally {
                    source.unpin();
                }
            }
        }
    }

    /** A transfer shared by workers. */
    private static final class Transfer extends CommandOperation {
        private final Recording recording;
        private final StoredBuffer<?> first;
        private final @Nullable StoredBuffer<?> second;

        Transfer(
                String name,
                CallerRunners callerRunners,
                Recording recording,
                StoredBuffer<?> first,
                @Nullable StoredBuffer<?> second) {
            super(name, callerRunners);
            this.recording = recording;
            this.first = first;
            this.second = second;
        }

        @Override
        Recording recording() {
            return recording;
        }

        @Override
        @Nullable
        BindingTable bindings() {
            return null;
        }

        @Override
        protected void retain() {
            retainBoth(first, second);
        }

        @Override
        protected void release() {
            releaseBoth(first, second);
        }
    }

    /** A transfer between a file and a buffer, either way. */
    static final class FileTransfer extends Using {
        private final HalFile file;
        private final long fileOffset;
        private final LocalBuffer buffer;
        private final long offset;
        private final long length;
        private final boolean read;

        private FileTransfer(HalFile file, long fileOffset, Buffer buffer, long offset, long length, boolean read) {
            super(read ? READ : WRITE, live(read ? "read target" : "write source", buffer), file);
            String what = read ? "read target" : "write source";
            if (read) {
                Transfers.requireTarget(what, buffer, LocalBuffer.isCopied(buffer));
            } else {
                buffer.require(what, MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER_SOURCE, MemoryAccess.READ);
            }
            this.length = buffer.checkRange(what, offset, length);
            file.check(name(), read ? MemoryAccess.READ : MemoryAccess.WRITE, fileOffset, this.length);
            this.file = file;
            this.fileOffset = fileOffset;
            this.buffer = LocalBuffer.of(buffer);
            this.offset = buffer.offset() + offset;
            this.read = read;
        }

        static FileTransfer read(QueueCommand.Read read) {
            return new FileTransfer(
                    read.source(), read.sourceOffset(), read.target(), read.targetOffset(), read.length(), true);
        }

        static FileTransfer write(QueueCommand.Write write) {
            return new FileTransfer(
                    write.target(), write.targetOffset(), write.source(), write.sourceOffset(), write.length(), false);
        }

        @Override
        long nanos() {
            return UNKNOWN;
        }

        @Override
        boolean mayBlock() {
            return true;
        }

        @Override
        boolean start(Consumer<@Nullable IreeException> over) {
            // User memory may be unmapped during a transfer invisible to Java, and is therefore transferred
            // synchronously.
            if (!file.isAsynchronous() || buffer.isMemoryOfUser()) {
                return false;
            }
            boolean pinned = false;
            try {
                IreeException cause = stopped();
                if (cause != null) {
                    throw cause;
                }
                MemorySegment bytes = buffer.pinFor(call()).segment.asSlice(offset, length);
                pinned = true;
                Completion ended = (_, failure) -> {
                    buffer.unpin();
                    over.accept(failure);
                };
                if (read) {
                    file.startRead(fileOffset, bytes, this::stopped, ended);
                } else {
                    file.startWrite(fileOffset, bytes, this::stopped, ended);
                }
            } catch (IreeException e) {
                if (pinned) {
                    buffer.unpin();
                }
                over.accept(e);
            }
            return true;
        }

        @Override
        void run() {
            if (read) {
                try (PinnedTarget pinned = new PinnedTarget(buffer, call())) {
                    file.read(fileOffset, pinned.bytesForSystem(offset, length));
                }
                return;
            }
            MemorySegment bytes = buffer.pinFor(call()).segment.asSlice(offset, length);
            try {
                file.write(fileOffset, bytes);
            } finally {
                buffer.unpin();
            }
        }
    }

    static final class Execute extends CommandOperation {
        private final RecordedCommandBuffer commands;
        private final boolean singleDispatch;
        private @Nullable BindingTable bindings;

        Execute(RecordedCommandBuffer commands, @Nullable BindingTable bindings, CallerRunners callerRunners) {
            this(EXECUTE, commands, bindings, callerRunners);
        }

        private Execute(
                String name,
                RecordedCommandBuffer commands,
                @Nullable BindingTable bindings,
                CallerRunners callerRunners) {
            super(name, callerRunners);
            this.commands = commands;
            this.bindings = bindings;
            this.singleDispatch = name.equals(DISPATCH);
            commands.checkSubmission(bindings);
            commands.claimSubmission();
        }

        /** Creates the execution of a command buffer with a single dispatch. */
        static Execute dispatch(RecordedCommandBuffer commands, BindingTable bindings, CallerRunners callerRunners) {
            return new Execute(DISPATCH, commands, bindings, callerRunners);
        }

        @Override
        boolean isSingleDispatch() {
            return singleDispatch;
        }

        /** Returns the contents of the slots; a private copy once {@link #retain} has been called. */
        @Override
        @Nullable
        BindingTable bindings() {
            return bindings;
        }

        @Override
        Recording recording() {
            return commands.recording();
        }

        @Override
        void run(CommandRunner runner) {
            commands.retain(); // the code must not be unloaded during the run
            try {
                super.run(runner);
            } finally {
                commands.release();
            }
        }

        @Override
        protected void retain() {
            bindings = commands.retainBindings(bindings);
        }

        @Override
        protected void release() {
            commands.releaseBindings(bindings);
        }
    }

    static final class Barrier extends HostOperation {
        Barrier() {
            super(BARRIER);
        }

        @Override
        long nanos() {
            return 0;
        }

        @Override
        void run() {}

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }

    static final class Call extends HostOperation {
        private final HostCall call;

        Call(HostCall call) {
            super(HOST_CALL);
            this.call = call;
        }

        @Override
        long nanos() {
            return UNKNOWN;
        }

        @Override
        boolean mayBlock() {
            return true;
        }

        @Override
        void run() {
            call.call();
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }

    /** Starts a call without making the signals wait for the call. */
    static final class DetachedCall extends HostOperation {
        private final HostCall call;

        DetachedCall(HostCall call) {
            super(HOST_CALL);
            this.call = call;
        }

        @Override
        long nanos() {
            return UNKNOWN;
        }

        @Override
        boolean reachesOut() {
            return true;
        }

        @Override
        void run() {
            CallThreads.start("iree4j-host-call", () -> {
                try {
                    call.call();
                } catch (Throwable t) {
                    LOG.error("a host call threw; its signals did not wait for it", t);
                }
            });
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }
}
