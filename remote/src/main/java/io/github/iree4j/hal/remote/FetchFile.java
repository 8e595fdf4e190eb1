package io.github.iree4j.hal.remote;

import io.github.iree4j.async.io.Completion;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A range of memory at another node, or on another device of this node, as the file of a queue operation: each read asks
 * the other node for the part needed. So any device takes part, in the order of its queue.
 *
 * <p>Few bytes of a command waiting for the other node only are asked for ahead: the other node sends the bytes once the
 * awaited points are reached, at the time of the signal. A read finds the bytes here, and asks again if the bytes have
 * not come.
 */
final class FetchFile extends AsynchronousFile {
    /** Limit on the bytes asked for ahead: more bytes take longer than a message. */
    static final long AHEAD = 64 << 10;

    private final RemoteNode node;
    private final FetchedRange range;
    private @Nullable Ahead ahead; // set before the first read
    private final List<Consumer<IreeException>> withdrawals = new ArrayList<>(0); // of what is read; guarded by this
    private @Nullable IreeException abandoned; // guarded by this

    /** Bytes asked for ahead, on their way. */
    private static final class Ahead {
        final MemorySegment bytes;
        private boolean over; // guarded by this, like the rest
        private @Nullable IreeException missing; // why the bytes have not come
        private Consumer<@Nullable IreeException> actions = _ -> {};

        Ahead(int length) {
            bytes = MemorySegment.ofArray(new byte[length]);
        }

        void end(@Nullable IreeException cause) {
            Consumer<@Nullable IreeException> due;
            synchronized (this) {
                over = true;
                missing = cause;
                due = actions;
            }
            due.accept(cause);
        }

        synchronized boolean isOver() {
            return over;
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

    FetchFile(RemoteNode node, FetchedRange range) {
        super("%d bytes at node %d".formatted(range.length(), range.holder()), MemoryAccess.READ, range.length());
        this.node = node;
        this.range = range;
    }

    /**
     * Asks for the bytes before the points awaited by the command are reached, if all points are of the other node, and
     * all earlier commands of the lane have ended: then nothing else has to end before the bytes are read.
     */
    void askAhead(List<LanePoint> points) {
        boolean isBehindAll = points.size() <= Fetches.POINTS_LIMIT
                && points.stream().allMatch(each -> each.incarnation() == range.holder());
        boolean isHere = range.holder() == node.identity().incarnation();
        if (!isBehindAll || isHere || range.length() == 0 || range.length() > AHEAD) {
            return;
        }
        try {
            RemoteSession holder = node.session(range.holder());
            if (!holder.isOpen()) {
                return;
            }
            Ahead asked = new Ahead((int) range.length());
            Consumer<IreeException> withdrawal = holder.fetches().askAhead(range, points, asked.bytes, asked::end);
            if (withdrawal != null) {
                ahead = asked;
                begun(withdrawal);
            }
        } catch (IreeException e) {
            // There is no such session: the read fails.
        }
    }

    @Override
    protected void doStartRead(
            long offset, MemorySegment target, Supplier<@Nullable IreeException> stop, Completion completion) {
        long bytes = target.byteSize();
        long self = node.identity().incarnation();
        Consumer<@Nullable IreeException> done = failure -> completion.ended(failure == null ? bytes : 0, failure);
        Ahead asked = ahead;
        if (range.holder() == self) {
            RangeRead read = new RangeRead(node, range, self, offset, bytes, new RangeRead.Reader() {
                @Override
                public void read(ServerObject memory, MemorySegment source) {
                    target.copyFrom(source);
                    memory.release();
                    done.accept(null);
                }

                @Override
                public void refused(IreeException cause) {
                    done.accept(cause);
                }
            });
            begun(read::end);
            read.run();
        } else if (asked == null) {
            ask(offset, target, stop, done);
        } else {
            asked.whenOver(missing -> {
                IreeException cause = abandoned();
                IreeException stopped = cause == null ? stop.get() : cause;
                if (stopped != null) {
                    done.accept(stopped);
                } else if (missing
                        != null) { // a lane forgotten there, for example, which has reached the point nevertheless
                    ask(offset, target, stop, done);
                } else {
                    MemorySegment.copy(asked.bytes, offset, target, 0, bytes);
                    done.accept(null);
                }
            });
        }
    }

    private void ask(
            long offset,
            MemorySegment target,
            Supplier<@Nullable IreeException> stop,
            Consumer<@Nullable IreeException> done) {
        RemoteSession holder;
        try {
            holder = node.session(range.holder());
        } catch (IreeException e) {
            done.accept(IreeException.of(
                    StatusCode.UNAVAILABLE, "node %d is lost: %s".formatted(range.holder(), e.getMessage()), e));
            return;
        }
        holder.whenOpen(List.of(() -> begun(
                holder.fetches().ask(range, offset, target, stop, failure -> done.accept(reason(holder, failure))))));
    }

    /** Records something begun, to be withdrawn unless ended. */
    private void begun(Consumer<IreeException> withdrawal) {
        IreeException cause;
        synchronized (this) {
            cause = abandoned;
            if (cause == null) {
                withdrawals.add(withdrawal);
            }
        }
        if (cause != null) {
            withdrawal.accept(cause);
        }
    }

    private synchronized @Nullable IreeException abandoned() {
        return abandoned;
    }

    /** Ends all reads, present and to come: the client is lost, and its memory at the other node may never come. */
    void abandon(IreeException cause) {
        List<Consumer<IreeException>> all;
        synchronized (this) {
            abandoned = abandoned == null ? cause : abandoned;
            all = List.copyOf(withdrawals);
            withdrawals.clear();
        }
        all.forEach(each -> each.accept(cause));
    }

    /** Returns the failure of the copy: a client that uses both nodes has broken nothing between the nodes. */
    private static @Nullable IreeException reason(RemoteSession holder, @Nullable IreeException failure) {
        return failure != null && failure.equals(holder.failure()) ? holder.absence(failure) : failure;
    }

    @Override
    protected void destroy() {
        Ahead asked = ahead;
        if (asked != null && !asked.isOver()) {
            abandon(IreeException.of(StatusCode.CANCELLED, "the command has ended"));
        }
    }
}
