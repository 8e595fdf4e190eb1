package io.github.iree4j.hal.remote;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Ranges of memory of third nodes, copied by this node from the peer and by the peer from this node, as granted by the
 * third nodes. The bytes are read where they are, in memory of the host: no queue of the serving device is involved, so
 * no operation waiting there can delay a copy that the operation waits for. Safe from any thread.
 */
final class Fetches {
    /** Limit on the points named by a FETCH. */
    static final int POINTS_LIMIT = 16;

    /** Limit on the ranges asked for ahead, and not sent yet, by each side. */
    static final int AHEAD_LIMIT = 1 << 10;

    private final RemoteSession session;
    private final AtomicInteger asked =
            new AtomicInteger(); // ranges asked for ahead, for which the peer may still wait
    // for the peer, by the number of the transfer
    private final Map<Long, Waiting> waiting = new ConcurrentHashMap<>(); // behind points
    private final Map<Long, RangeRead> reads = new ConcurrentHashMap<>(); // behind points, or for memory still to come
    private volatile boolean closed;

    Fetches(RemoteSession session) {
        this.session = session;
    }

    /**
     * Asks the peer for a part of a range.
     *
     * @param from the first byte of the part within the range
     * @param target receives the part
     * @param stop called before each chunk: returns the cause for stopping, or null
     * @param done called once, when all bytes have arrived or nothing writes any more
     * @return withdraws the request with a reason, unless the bytes have come
     */
    Consumer<IreeException> ask(
            FetchedRange range,
            long from,
            MemorySegment target,
            Supplier<@Nullable IreeException> stop,
            Consumer<@Nullable IreeException> done) {
        return ask(range, List.of(), from, target, stop, done);
    }

    /**
     * Asks the peer for a whole range once points of the peer's lanes are reached, unless many ranges are asked for.
     *
     * @param points at most {@value #POINTS_LIMIT}
     * @param done called once, as for {@link #ask}; a lane unknown to the peer is a failure
     * @return withdraws the request with a reason, unless the bytes have come; null if nothing was asked for
     */
    @Nullable
    Consumer<IreeException> askAhead(
            FetchedRange range, List<LanePoint> points, MemorySegment target, Consumer<@Nullable IreeException> done) {
        if (asked.incrementAndGet() > AHEAD_LIMIT) {
            asked.decrementAndGet();
            return null;
        }
        return ask(range, points, 0, target, () -> null, failure -> {
            asked.decrementAndGet();
            done.accept(failure);
        });
    }

    private Consumer<IreeException> ask(
            FetchedRange range,
            List<LanePoint> points,
            long from,
            MemorySegment target,
            Supplier<@Nullable IreeException> stop,
            Consumer<@Nullable IreeException> done) {
        long number = session.transfers().next();
        session.transfers().receive(number, 0, target, false, stop, done);
        if (target.byteSize() > 0) {
            FrameWriter frame = new FrameWriter(FrameType.FETCH).u64(number).u64(range.owner());
            range.write(frame);
            frame.u64(from).u64(target.byteSize()).u8(points.size());
            points.forEach(each -> frame.u64(each.axis()).u64(each.epoch()));
            session.post(frame);
        }
        return cause -> {
            if (session.transfers().cancel(number, cause)) {
                session.post(new FrameWriter(FrameType.WITHDRAW).u64(number)); // on the stream of FETCH, so behind it
            }
        };
    }

    /** Returns the number of ranges asked for ahead. */
    int asked() {
        return asked.get();
    }

    /** Sends a part of a range to the peer, or the reason against it. */
    void serve(FrameReader in) {
        long number = session.transfers().ofPeer(in, in.u64("transfer"));
        long owner = in.u64("owner");
        FetchedRange range =
                FetchedRange.read(in, owner, session.node().identity().incarnation());
        long from = in.size("from");
        long length = in.size("bytes");
        int count = in.u8("points");
        if (count > POINTS_LIMIT) {
            throw in.corrupt("%d points, the limit is %d".formatted(count, POINTS_LIMIT));
        }
        long[] points = new long[2 * count];
        for (int i = 0; i < count; i++) {
            points[2 * i] = in.u64("axis");
            points[2 * i + 1] = in.size("epoch");
        }
        in.end();
        session.server().beginFetch(in);
        RangeRead read = new RangeRead(
                session.node(), range, session.peerIncarnation(), from, length, new Sender(number, length));
        if (reads.putIfAbsent(number, read) != null) {
            session.server().endFetch();
            session.post(aborted(
                    number,
                    IreeException.of(
                            StatusCode.ALREADY_EXISTS, "transfer %d of %s is in use".formatted(number, session))));
            return;
        }
        if (count == 0) {
            read.run();
        } else if (waiting.size() >= AHEAD_LIMIT) {
            read.end(IreeException.of( // no defect: withdrawals may come late, and the peer asks again in turn
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%s waits with %d ranges, the limit is %d".formatted(session, waiting.size(), AHEAD_LIMIT)));
        } else {
            Waiting made = new Waiting(count, read);
            waiting.put(number, made);
            made.await(number, points);
        }
        if (closed) {
            end(number, IreeException.of(StatusCode.ABORTED, session + " has ended"));
        }
    }

    /** A range for the peer, behind points of lanes. */
    private final class Waiting {
        private final RangeRead read;
        private final AtomicInteger left; // points, and the registration; the last one reads
        private final AtomicBoolean over = new AtomicBoolean();
        private final List<Cancellation> registrations = new ArrayList<>(); // guarded by this

        Waiting(int count, RangeRead read) {
            this.left = new AtomicInteger(count + 1);
            this.read = read;
        }

        void await(long number, long[] points) {
            try {
                for (int i = 0; i < points.length && !over.get(); i += 2) {
                    Cancellation registered = session.node()
                            .lane(points[i])
                            .whenReached(points[i + 1], (_, failure) -> reached(number, failure));
                    synchronized (this) {
                        registrations.add(registered);
                    }
                }
            } catch (IreeException e) { // no such lane
                reached(number, e);
            }
            reached(number, null);
            if (over.get()) {
                cancel(); // ended before all were registered
            }
        }

        private void reached(long number, @Nullable IreeException failure) {
            if (failure != null) {
                if (waiting.remove(number, this)) {
                    end(failure);
                }
            } else if (left.decrementAndGet() == 0 && waiting.remove(number, this) && over.compareAndSet(false, true)) {
                read.run();
            }
        }

        void end(IreeException cause) {
            if (over.compareAndSet(false, true)) {
                cancel();
                read.end(cause);
            }
        }

        private void cancel() {
            List<Cancellation> all;
            synchronized (this) {
                all = List.copyOf(registrations);
                registrations.clear();
            }
            all.forEach(Cancellation::cancel);
        }
    }

    /** Forgets a range withdrawn by the peer, unless the range was read before: its memory may never come. */
    void withdraw(FrameReader in) {
        long number = session.transfers().ofPeer(in, in.u64("transfer"));
        in.end();
        end(number, IreeException.of(StatusCode.CANCELLED, "transfer %d was withdrawn".formatted(number)));
    }

    private void end(long number, IreeException cause) {
        Waiting gone = waiting.remove(number);
        if (gone != null) {
            gone.end(cause);
        }
        RangeRead read = reads.get(number);
        if (read != null) {
            read.end(cause);
        }
    }

    /** Forgets all ranges after the failure of the session. */
    void failAll(IreeException cause) {
        closed = true;
        session.notifyEach(List.copyOf(reads.keySet()), number -> end(number, cause));
    }

    /** Sends a part to the peer, or the reason against the part. */
    private final class Sender implements RangeRead.Reader {
        private final long number;
        private final long length;

        Sender(long number, long length) {
            this.number = number;
            this.length = length;
        }

        @Override
        public void read(ServerObject memory, MemorySegment bytes) {
            reads.remove(number);
            session.transfers().send(number, 0, bytes, length, () -> null, _ -> {
                memory.release();
                session.server().endFetch();
            });
        }

        @Override
        public void refused(IreeException cause) {
            reads.remove(number);
            session.server().endFetch();
            session.post(aborted(number, cause));
        }
    }

    private static FrameWriter aborted(long number, IreeException cause) {
        return new FrameWriter(FrameType.ABORT).u64(number).status(cause);
    }
}
