package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Ranges of memory of third nodes, copied by this node from the peer and by the peer from this node, as granted by the
 * third nodes. The bytes are read where they are, in memory of the host: no queue of the serving device is involved, so
 * no operation waiting there can delay a copy that the operation waits for. Safe from any thread.
 */
final class Fetches {
    private final RemoteSession session;

    Fetches(RemoteSession session) {
        this.session = session;
    }

    /**
     * Asks the peer for a part of a range.
     *
     * @param points lanes of the peer that write the range: the peer sends the part once these points are reached
     * @param from the first byte of the part within the range
     * @param target receives the part
     * @param stop called before each chunk: returns the cause for stopping, or null
     * @param done called once, when all bytes have arrived or nothing writes any more
     */
    void ask(
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
    }

    /** Sends a part of a range to the peer, or the reason against it. */
    void serve(FrameReader in) {
        long number = session.transfers().ofPeer(in, in.u64("transfer"));
        long owner = in.u64("owner");
        FetchedRange range =
                FetchedRange.read(in, owner, session.node().identity().incarnation());
        long from = in.size("from");
        long length = in.size("bytes");
        int count = in.count("points", in.u8("points"), 2 * Long.BYTES);
        List<LanePoint> points = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            points.add(new LanePoint(session.node().identity().incarnation(), in.u64("axis"), in.size("epoch")));
        }
        in.end();
        session.server().beginFetch(in);
        Reader reader = sender(number, length);
        AtomicInteger left = new AtomicInteger(count + 1); // the last calls back
        AtomicReference<@Nullable IreeException> failure = new AtomicReference<>();
        Consumer<@Nullable IreeException> ended = cause -> {
            failure.compareAndSet(null, cause);
            if (left.decrementAndGet() > 0) {
                return;
            }
            IreeException first = failure.get();
            if (first != null) {
                reader.refused(first);
            } else {
                read(session.node(), range, session.peerIncarnation(), from, length, reader);
            }
        };
        points.forEach(each -> session.node().whenReached(each, ended));
        ended.accept(null);
    }

    /** Returns what sends a part to the peer, or the reason against it. */
    private Reader sender(long number, long length) {
        return new Reader() {
            @Override
            public void read(ServerObject memory, MemorySegment bytes) {
                session.transfers().send(number, 0, bytes, length, () -> null, _ -> {
                    memory.release();
                    session.server().endFetch();
                });
            }

            @Override
            public void refused(IreeException cause) {
                session.server().endFetch();
                session.post(new FrameWriter(FrameType.ABORT).u64(number).status(cause));
            }
        };
    }

    /** Takes a part of a range. */
    interface Reader {
        /**
         * Takes the bytes.
         *
         * @param memory retained; the reader releases the memory after the last use of the bytes
         */
        void read(ServerObject memory, MemorySegment bytes);

        /** Takes the reason against reading. */
        void refused(IreeException cause);
    }

    /**
     * Passes a part of a range at this node to a reader: now, or once the owner's allocation has come.
     *
     * @param asking the incarnation of the node that copies
     * @param from the first byte of the part within the range
     */
    static void read(RemoteNode node, FetchedRange range, long asking, long from, long length, Reader reader) {
        ServerObject memory = null;
        MemorySegment bytes;
        try {
            ServerObjects objects = node.session(range.owner()).server().objects();
            if (!objects.isKnownOrThen(range.handle(), () -> read(node, range, asking, from, length, reader))) {
                return;
            }
            memory = objects.find(range.handle());
            bytes = part(memory, range, asking, from, length);
        } catch (IreeException e) {
            if (memory != null) {
                memory.release();
            }
            reader.refused(e);
            return;
        }
        reader.read(memory, bytes);
    }

    private static MemorySegment part(ServerObject memory, FetchedRange range, long asking, long from, long length) {
        GrantKey key = memory.key();
        if (key == null || !key.allows(range, asking)) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "node %d has not granted node %d the %d bytes at %d of memory %d"
                            .formatted(range.owner(), asking, range.length(), range.offset(), range.handle()));
        }
        Buffer buffer = RemoteServer.buffer(memory);
        if (from > range.length() || length > range.length() - from) {
            throw outside(length, from, "range", range.length());
        }
        if (range.length() > buffer.length() || range.offset() > buffer.length() - range.length()) {
            throw outside(range.length(), range.offset(), "memory", buffer.length());
        }
        if (!buffer.isMappable(MemoryAccess.READ)) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "memory %d is not in memory of the host; copy it through the node that owns it"
                            .formatted(range.handle()));
        }
        return buffer.map(MemoryAccess.READ, range.offset() + from, length);
    }

    private static IreeException outside(long length, long offset, String what, long size) {
        return IreeException.of(
                StatusCode.OUT_OF_RANGE, "%d bytes at %d of a %s of %d bytes".formatted(length, offset, what, size));
    }
}
