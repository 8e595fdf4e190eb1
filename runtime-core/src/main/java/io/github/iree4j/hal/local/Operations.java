package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.HostCall;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.Transfers;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** The queue operations of the local device. Their constructors make the checks that need no execution. */
final class Operations {
    private Operations() {}

    /** An operation on up to two reference-counted things. */
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

        @Override
        protected void release() {
            first.release();
            if (second != null) {
                second.release();
            }
        }
    }

    private static LocalBuffer live(String what, Buffer buffer) {
        if (!buffer.isLive()) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION, what + " of " + buffer.length() + " bytes is closed");
        }
        return LocalCommandBuffer.local(buffer);
    }

    static final class Alloca extends Using {
        private final LocalBuffer buffer;
        private final BufferParams params;

        Alloca(LocalBuffer buffer, BufferParams params) {
            super("alloca", buffer, null);
            this.buffer = buffer;
            this.params = params;
        }

        @Override
        void run() {
            buffer.commit(params);
        }

        @Override
        protected void failed(IreeException cause) {
            buffer.fail(cause);
        }
    }

    static final class Dealloca extends Using {
        private final LocalBuffer buffer;

        Dealloca(Buffer buffer) {
            super("dealloca", live("deallocated buffer", buffer), null);
            this.buffer = LocalCommandBuffer.local(buffer);
        }

        @Override
        void run() {
            if ((buffer.placement() & Buffer.PLACEMENT_ASYNCHRONOUS) != 0) {
                buffer.deallocate();
            }
        }
    }

    static final class Fill extends Using {
        private final LocalBuffer target;
        private final long offset;
        private final long length;
        private final long pattern;

        Fill(Buffer target, long offset, long length, long pattern, int patternLength) {
            super("fill", live("fill target", target), null);
            this.target = LocalCommandBuffer.local(target);
            this.length = Transfers.checkFill(target, offset, length, patternLength);
            this.offset = target.offset() + offset;
            this.pattern = LocalCommandBuffer.widen(pattern, patternLength);
        }

        @Override
        void run() {
            MemorySegment bytes = target.pin().segment;
            try {
                CommandRunner.fill(bytes, offset, length, pattern);
            } finally {
                target.unpin();
            }
        }
    }

    static final class Update extends Using {
        private MemorySegment source;
        private final LocalBuffer target;
        private final long offset;

        Update(MemorySegment source, Buffer target, long offset) {
            super("update", live("update target", target), null);
            Transfers.checkUpdate(target, offset, source.byteSize());
            this.source = source;
            this.target = LocalCommandBuffer.local(target);
            this.offset = target.offset() + offset;
        }

        @Override
        protected void retain() {
            super.retain();
            source = MemorySegment.ofArray(source.toArray(ValueLayout.JAVA_BYTE));
        }

        @Override
        void run() {
            MemorySegment bytes = target.pin().segment;
            try {
                MemorySegment.copy(source, 0, bytes, offset, source.byteSize());
            } finally {
                target.unpin();
            }
        }
    }

    static final class Copy extends Using {
        private final LocalBuffer source;
        private final long sourceOffset;
        private final LocalBuffer target;
        private final long targetOffset;
        private final long length;

        Copy(Buffer source, long sourceOffset, Buffer target, long targetOffset, long length) {
            super("copy", live("copy source", source), live("copy target", target));
            this.length = Transfers.checkCopy(source, sourceOffset, target, targetOffset, length);
            this.source = LocalCommandBuffer.local(source);
            this.sourceOffset = source.offset() + sourceOffset;
            this.target = LocalCommandBuffer.local(target);
            this.targetOffset = target.offset() + targetOffset;
        }

        @Override
        void run() {
            MemorySegment from = source.pin().segment;
            try {
                MemorySegment to = target.pin().segment;
                try {
                    MemorySegment.copy(from, sourceOffset, to, targetOffset, length);
                } finally {
                    target.unpin();
                }
            } finally {
                source.unpin();
            }
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
            super(read ? "read" : "write", live(read ? "read target" : "write source", buffer), file);
            String what = read ? "read target" : "write source";
            int usage = read ? BufferUsage.TRANSFER_TARGET : BufferUsage.TRANSFER_SOURCE;
            int access = read ? MemoryAccess.WRITE : MemoryAccess.READ;
            buffer.require(what, MemoryType.DEVICE_VISIBLE, usage, access);
            this.length = buffer.checkRange(what, offset, length);
            file.check(name(), read ? MemoryAccess.READ : MemoryAccess.WRITE, fileOffset, this.length);
            this.file = file;
            this.fileOffset = fileOffset;
            this.buffer = LocalCommandBuffer.local(buffer);
            this.offset = buffer.offset() + offset;
            this.read = read;
        }

        static FileTransfer read(HalFile file, long fileOffset, Buffer target, long offset, long length) {
            return new FileTransfer(file, fileOffset, target, offset, length, true);
        }

        static FileTransfer write(Buffer source, long offset, HalFile file, long fileOffset, long length) {
            return new FileTransfer(file, fileOffset, source, offset, length, false);
        }

        @Override
        void run() {
            MemorySegment bytes = buffer.pin().segment.asSlice(offset, length);
            try {
                if (read) {
                    file.read(fileOffset, bytes);
                } else {
                    file.write(fileOffset, bytes);
                }
            } finally {
                buffer.unpin();
            }
        }
    }

    static final class Execute extends HostOperation {
        private final LocalCommandBuffer commands;
        private final Workers workers;
        private @Nullable BindingTable bindings;

        Execute(LocalCommandBuffer commands, @Nullable BindingTable bindings, Workers workers) {
            super("execute");
            this.commands = commands;
            this.bindings = bindings;
            this.workers = workers;
            commands.checkSubmission(bindings);
            commands.claimSubmission();
        }

        /** What the slots hold; our own copy once {@link #retain} has been called. */
        @Nullable
        BindingTable bindings() {
            return bindings;
        }

        @Override
        void run() {
            commands.retain(); // its code must not be unloaded under it
            try {
                CommandRunner.run(commands, bindings, workers, 0, commands.code().length);
            } finally {
                commands.release();
            }
        }

        @Override
        protected void retain() {
            commands.retain();
            BindingTable table = bindings;
            if (table == null) {
                return;
            }
            table = table.copy();
            int retained = 0;
            try {
                for (int slot : commands.slots()) {
                    if (table.buffer(slot) instanceof Buffer buffer) {
                        buffer.retain();
                    }
                    retained++;
                }
            } catch (IreeException e) {
                release(table, retained);
                commands.release();
                throw e;
            }
            bindings = table;
        }

        @Override
        protected void release() {
            if (bindings != null) {
                release(bindings, commands.slots().length);
            }
            commands.release();
        }

        private void release(BindingTable table, int count) {
            for (int i = 0; i < count; i++) {
                if (table.buffer(commands.slots()[i]) instanceof Buffer buffer) {
                    buffer.release();
                }
            }
        }
    }

    static final class Barrier extends HostOperation {
        Barrier() {
            super("barrier");
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
            super("host call");
            this.call = call;
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
}
