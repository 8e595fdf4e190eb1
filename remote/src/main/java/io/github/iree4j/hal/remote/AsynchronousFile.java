package io.github.iree4j.hal.remote;

import io.github.iree4j.async.io.Completion;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Bytes of other nodes as a file without resources. The class of a kind of bytes starts the reads, or the writes. */
abstract class AsynchronousFile extends HalFile {
    private final long length;

    AsynchronousFile(String name, int access, long length) {
        super(name, access);
        this.length = length;
    }

    @Override
    public final long length() {
        return length;
    }

    @Override
    public final boolean isAsynchronous() {
        return true;
    }

    @Override
    protected final void doRead(long offset, MemorySegment target) {
        await(completion -> doStartRead(offset, target, () -> null, completion));
    }

    @Override
    protected final void doWrite(long offset, MemorySegment source) {
        await(completion -> doStartWrite(offset, source, () -> null, completion));
    }

    private static void await(Consumer<Completion> start) {
        CompletableFuture<@Nullable IreeException> done = new CompletableFuture<>();
        start.accept((_, failure) -> done.complete(failure));
        IreeException failure = done.join();
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    protected void destroy() {}
}
