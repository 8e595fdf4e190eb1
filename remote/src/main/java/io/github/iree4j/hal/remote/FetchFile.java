package io.github.iree4j.hal.remote;

import io.github.iree4j.async.Completion;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A range of memory at another node, or elsewhere at this node, as the file of a queue operation: each read asks the
 * other node for the part needed. So any device takes part, in the order of its queue.
 */
final class FetchFile extends HalFile {
    private final RemoteNode node;
    private final FetchedRange range;

    FetchFile(RemoteNode node, FetchedRange range) {
        super("%d bytes at node %d".formatted(range.length(), range.holder()), MemoryAccess.READ);
        this.node = node;
        this.range = range;
    }

    @Override
    public long length() {
        return range.length();
    }

    @Override
    public boolean isAsynchronous() {
        return true;
    }

    @Override
    protected void doStartRead(
            long offset, MemorySegment target, Supplier<@Nullable IreeException> stop, Completion completion) {
        long bytes = target.byteSize();
        read(offset, target, stop, failure -> completion.ended(failure == null ? bytes : 0, failure));
    }

    private void read(
            long offset,
            MemorySegment target,
            Supplier<@Nullable IreeException> stop,
            Consumer<@Nullable IreeException> done) {
        try {
            if (range.holder() == node.identity().incarnation()) {
                ServerObject memory = Fetches.granted(node, range, range.holder());
                try {
                    target.copyFrom(Fetches.bytes(memory, range, offset, target.byteSize()));
                } finally {
                    memory.release();
                }
                done.accept(null);
            } else {
                RemoteSession holder = node.session(range.holder());
                holder.whenOpen(List.of(() -> holder.fetches().ask(range, offset, target, stop, done)));
            }
        } catch (IreeException e) {
            done.accept(e);
        }
    }

    @Override
    protected void doRead(long offset, MemorySegment target) {
        CompletableFuture<@Nullable IreeException> ended = new CompletableFuture<>();
        read(offset, target, () -> null, ended::complete);
        IreeException failure = ended.join();
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    protected void doWrite(long offset, MemorySegment source) {
        throw new IllegalStateException("read only");
    }

    @Override
    protected void destroy() {}
}
