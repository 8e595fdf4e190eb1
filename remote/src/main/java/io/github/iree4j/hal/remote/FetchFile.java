package io.github.iree4j.hal.remote;

import io.github.iree4j.async.Completion;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A range of memory at another node, or on another device of this node, as the file of a queue operation: each read asks
 * the other node for the part needed. So any device takes part, in the order of its queue.
 */
final class FetchFile extends AsynchronousFile {
    private final RemoteNode node;
    private final FetchedRange range;

    FetchFile(RemoteNode node, FetchedRange range) {
        super("%d bytes at node %d".formatted(range.length(), range.holder()), MemoryAccess.READ, range.length());
        this.node = node;
        this.range = range;
    }

    @Override
    protected void doStartRead(
            long offset, MemorySegment target, Supplier<@Nullable IreeException> stop, Completion completion) {
        long bytes = target.byteSize();
        long self = node.identity().incarnation();
        if (range.holder() == self) {
            Fetches.read(node, range, self, offset, bytes, new Fetches.Reader() {
                @Override
                public void read(ServerObject memory, MemorySegment source) {
                    target.copyFrom(source);
                    memory.release();
                    completion.ended(bytes, null);
                }

                @Override
                public void refused(IreeException cause) {
                    completion.ended(0, cause);
                }
            });
            return;
        }
        try {
            RemoteSession holder = node.session(range.holder());
            holder.whenOpen(List.of(() -> holder.fetches()
                    .ask(
                            range,
                            offset,
                            target,
                            stop,
                            failure -> completion.ended(failure == null ? bytes : 0, failure))));
        } catch (IreeException e) {
            completion.ended(0, e);
        }
    }
}
