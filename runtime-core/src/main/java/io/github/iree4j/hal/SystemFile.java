package io.github.iree4j.hal;

import io.github.iree4j.async.AsyncFile;
import io.github.iree4j.async.Completion;
import io.github.iree4j.async.SystemIo;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A file of the file system. */
final class SystemFile extends HalFile {
    /**
     * A blocking caller may pass any memory, even memory freed by another thread during the transfer, and the system
     * would not notice. So bytes go through an intermediate buffer of this size: a few pieces of the asynchronous file.
     */
    private static final int COPIED = 4 << 20;

    private final AsyncFile file;

    private SystemFile(String path, int access, AsyncFile file) {
        super("file '" + path + "'", access);
        this.file = file;
    }

    static SystemFile at(Path path, int access) {
        boolean read = (access & MemoryAccess.READ) != 0;
        boolean write = (access & MemoryAccess.WRITE) != 0;
        return new SystemFile(path.toString(), access, SystemIo.ofProcess().open(path, read, write));
    }

    @Override
    public long length() {
        return file.length();
    }

    @Override
    public boolean isConstant() {
        return access() == MemoryAccess.READ;
    }

    @Override
    public boolean isAsynchronous() {
        return true;
    }

    @Override
    protected void doStartRead(
            long offset, MemorySegment target, Supplier<@Nullable IreeException> stop, Completion completion) {
        file.readFully(offset, target, stop, completion);
    }

    @Override
    protected void doStartWrite(
            long offset, MemorySegment source, Supplier<@Nullable IreeException> stop, Completion completion) {
        file.writeFully(offset, source, stop, completion);
    }

    @Override
    protected void doRead(long offset, MemorySegment target) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment piece = arena.allocate(Math.min(COPIED, Math.max(1, target.byteSize())));
            for (long done = 0; done < target.byteSize(); done += piece.byteSize()) {
                MemorySegment part = piece.asSlice(0, Math.min(piece.byteSize(), target.byteSize() - done));
                long at = offset + done;
                await(ended -> file.readFully(at, part, ended));
                MemorySegment.copy(part, 0, target, done, part.byteSize());
            }
        }
    }

    @Override
    protected void doWrite(long offset, MemorySegment source) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment piece = arena.allocate(Math.min(COPIED, Math.max(1, source.byteSize())));
            for (long done = 0; done < source.byteSize(); done += piece.byteSize()) {
                MemorySegment part = piece.asSlice(0, Math.min(piece.byteSize(), source.byteSize() - done));
                long at = offset + done;
                MemorySegment.copy(source, done, part, 0, part.byteSize());
                await(ended -> file.writeFully(at, part, ended));
            }
        }
    }

    /** Starts a transfer with a completion. */
    @FunctionalInterface
    private interface Start {
        void start(Completion completion);
    }

    /** Waits uninterruptibly: the memory is in use until the transfer has ended. */
    private void await(Start transfer) {
        if (file.isCompletionThread()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    describe() + " cannot be awaited on the thread that runs the completions of its transfers");
        }
        CompletableFuture<@Nullable IreeException> outcome = new CompletableFuture<>();
        transfer.start((_, failure) -> outcome.complete(failure));
        IreeException failure = outcome.join();
        if (failure != null) {
            throw failure.during("transfer of " + describe());
        }
    }

    @Override
    protected void destroy() {
        file.close();
    }
}
