package io.github.iree4j.hal.remote;

import io.github.iree4j.async.Completion;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A range of memory at another node, or on another device of this node, as the file of a queue operation: each read asks
 * the other node for the part needed. So any device takes part, in the order of its queue.
 *
 * <p>Few bytes of a command waiting for the other node only are asked for ahead: the other node sends the bytes behind
 * the awaited points, so the bytes come with the signal. A read finds the bytes here, and asks again if the bytes have
 * not come.
 */
final class FetchFile extends AsynchronousFile {
    /** Limit on the bytes asked for ahead: more bytes take longer than a message. */
    static final long AHEAD = 64 << 10;

    private final RemoteNode node;
    private final FetchedRange range;

    /** Bytes on their way, asked for ahead. */
    private static final class Ahead {
        final MemorySegment bytes;
        private boolean over; // guarded by this, like the rest
        private @Nullable IreeException missing; // why the bytes have not come
        private Consumer<@Nullable IreeException> actions = _ -> {};

        Ahead(int length) {
            bytes = MemorySegment.ofArray(new byte[length]);
        }

        void end(@Nullable IreeException cause) {
            synchronized (this) {
                over = true;
                missing = cause;
            }
            actions.accept(cause);
        }

        /** Calls back once nothing writes the bytes any more: with null if all bytes have come. */
        void whenOver(Consumer<@Nullable IreeException> action) {
            synchronized (this) {
                if (!over) {
                    actions = actions.andThen(action);
                    return;
                }
            }
            action.accept(missing);
        }
    }

    private @Nullable Ahead ahead; // set before the first read, like the limit
    private @Nullable AheadBytes limit;

    FetchFile(RemoteNode node, FetchedRange range) {
        super("%d bytes at node %d".formatted(range.length(), range.holder()), MemoryAccess.READ, range.length());
        this.node = node;
        this.range = range;
    }

    /**
     * Asks for the bytes before the points awaited by the command are reached, if all points are of the other node, and
     * all earlier commands of the lane have ended: then nothing else has to end before the bytes are read.
     */
    void askAhead(List<LanePoint> points, AheadBytes taken) {
        boolean isBehindAll = points.stream().allMatch(each -> each.incarnation() == range.holder());
        boolean isHere = range.holder() == node.identity().incarnation();
        if (!isBehindAll || isHere || range.length() == 0 || range.length() > AHEAD || !taken.tryTake(range.length())) {
            return;
        }
        Ahead asked = new Ahead((int) range.length());
        ahead = asked;
        limit = taken;
        ask(points, 0, asked.bytes, () -> null, asked::end);
    }

    @Override
    protected void doStartRead(
            long offset, MemorySegment target, Supplier<@Nullable IreeException> stop, Completion completion) {
        long bytes = target.byteSize();
        long self = node.identity().incarnation();
        Ahead asked = ahead;
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
        } else if (asked == null) {
            ask(List.of(), offset, target, stop, failure -> completion.ended(failure == null ? bytes : 0, failure));
        } else {
            asked.whenOver(missing -> {
                if (missing == null) {
                    MemorySegment.copy(asked.bytes, offset, target, 0, bytes);
                    completion.ended(bytes, null);
                } else { // a lane forgotten there, for example, which has reached the point nevertheless
                    ask(
                            List.of(),
                            offset,
                            target,
                            stop,
                            failure -> completion.ended(failure == null ? bytes : 0, failure));
                }
            });
        }
    }

    private void ask(
            List<LanePoint> points,
            long offset,
            MemorySegment target,
            Supplier<@Nullable IreeException> stop,
            Consumer<@Nullable IreeException> done) {
        try {
            RemoteSession holder = node.session(range.holder());
            holder.whenOpen(List.of(() -> holder.fetches()
                    .ask(range, points, offset, target, stop, failure -> done.accept(reason(holder, failure)))));
        } catch (IreeException e) {
            done.accept(e);
        }
    }

    @Override
    protected void destroy() {
        Ahead asked = ahead;
        AheadBytes taken = limit;
        if (asked != null && taken != null) {
            asked.whenOver(_ -> taken.giveBack(asked.bytes.byteSize()));
        }
    }

    /** The client has broken nothing between this node and the holder. */
    private static @Nullable IreeException reason(RemoteSession holder, @Nullable IreeException failure) {
        return failure != null && failure.equals(holder.failure()) ? holder.absence(failure) : failure;
    }
}
