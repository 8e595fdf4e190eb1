package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.status.IreeException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A transport on a virtual clock: a frame arrives a tick after sending. Counts the frames. Confined to a single thread.
 */
final class VirtualNetwork {
    /** Bytes of an ADVANCE or a COMPLETED before the entries of its frontier. */
    private static final Map<FrameType, Integer> BEFORE_ENTRIES =
            Map.of(FrameType.ADVANCE, 8 + 16 + 8, FrameType.COMPLETED, 8 + 24 + 1 + 8);

    private final VirtualClock clock;
    private final Map<FrameType, Long> frames = new EnumMap<>(FrameType.class);
    private final List<Integer> entries = new ArrayList<>(); // of frontiers sent
    private final Set<List<Long>> pairs = new HashSet<>();
    private long bytes;

    VirtualNetwork(VirtualClock clock) {
        this.clock = clock;
    }

    /** Gives two nodes a session, unless present. */
    void connect(RemoteNode one, RemoteNode other) {
        boolean ordered = one.identity().incarnation() < other.identity().incarnation();
        RemoteNode from = ordered ? one : other;
        RemoteNode to = ordered ? other : one;
        if (!pairs.add(List.of(from.identity().incarnation(), to.identity().incarnation()))) {
            return;
        }
        Direction there = new Direction();
        Direction back = new Direction();
        there.receiver = to.accept(back);
        back.receiver = from.dial(there, to.identity().incarnation());
        clock.runUntilIdle();
        from.session(to.identity().incarnation());
    }

    int sessions() {
        return pairs.size();
    }

    /** Forgets the counts so far. */
    void reset() {
        frames.clear();
        entries.clear();
        bytes = 0;
    }

    long frames(FrameType type) {
        return frames.getOrDefault(type, 0L);
    }

    long frames() {
        return frames.values().stream().mapToLong(each -> each).sum();
    }

    long bytes() {
        return bytes;
    }

    /** The sizes of the frontiers sent, ascending. */
    int[] entries() {
        int[] sorted = entries.stream().mapToInt(each -> each).toArray();
        Arrays.sort(sorted);
        return sorted;
    }

    private final class Direction implements PeerConnection {
        @Nullable
        PeerListener receiver;

        private boolean closed;

        @Override
        public boolean trySend(PeerStream stream, ByteBuffer head, ByteBuffer body) {
            if (closed) {
                return true;
            }
            ByteBuffer frame = ByteBuffer.allocate(head.remaining() + body.remaining());
            frame.put(head).put(body).flip();
            FrameType type = FrameType.of(frame.get(0), stream);
            frames.merge(type, 1L, Long::sum);
            bytes += frame.remaining();
            Integer before = BEFORE_ENTRIES.get(type);
            if (before != null
                    && (type == FrameType.ADVANCE || frame.get(32) == 0)) { // a status other than OK has a text
                entries.add((frame.remaining() - before) / 16);
            }
            clock.schedule(1, () -> receiver.received(stream, frame));
            return true;
        }

        @Override
        public void close(IreeException cause) {
            if (!closed) {
                closed = true;
                clock.schedule(1, () -> receiver.closed(cause));
            }
        }

        @Override
        public String describe() {
            return "virtual network";
        }
    }
}
