package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A transport within the process. Frames wait for delivery in turn: {@link #step} picks a stream at random, so streams
 * overtake each other; a test can hold streams, repeat frames, change them, let streams fill up, and cut connections.
 * {@link #start} delivers on a thread instead.
 */
final class Loopback {
    private final Random random;
    private final List<Link> links = new ArrayList<>(); // guarded by this, like all of this
    private int capacity = Integer.MAX_VALUE;
    private int repeats; // of 100 frames
    private @Nullable Thread thread;
    private boolean stopped;
    long delivered;

    Loopback(long seed) {
        this.random = new Random(seed);
    }

    /** How many frames a stream holds; further frames are refused. */
    Loopback capacity(int frames) {
        capacity = frames;
        return this;
    }

    /** How many of 100 frames come twice. */
    Loopback repeats(int percent) {
        repeats = percent;
        return this;
    }

    /** A frame, the end of a connection, or word of room. */
    private record Event(byte @Nullable [] frame, @Nullable IreeException end) {}

    /** A direction of a connection. */
    final class Link implements PeerConnection {
        private final String name;
        private final Map<PeerStream, ArrayDeque<Event>> streams = new EnumMap<>(PeerStream.class);
        private final Map<PeerStream, Boolean> refused = new EnumMap<>(PeerStream.class);
        private final Map<PeerStream, Boolean> held = new EnumMap<>(PeerStream.class);
        private final Map<PeerStream, Boolean> busy = new EnumMap<>(PeerStream.class);
        private BiConsumer<PeerStream, byte[]> tap = (_, _) -> {};
        private UnaryOperator<byte[]> change = UnaryOperator.identity();

        @Nullable
        PeerListener receiver;

        @Nullable
        Link back;

        @Nullable
        NodeIdentity peer;

        private boolean closed;
        long sent;

        Link(String name) {
            this.name = name;
            for (PeerStream stream : PeerStream.values()) {
                streams.put(stream, new ArrayDeque<>());
            }
        }

        @Override
        public boolean trySend(PeerStream stream, ByteBuffer head, ByteBuffer body) {
            synchronized (Loopback.this) {
                if (closed) {
                    return true;
                }
                ArrayDeque<Event> queue = streams.get(stream);
                if (queue.size() >= capacity) {
                    refused.put(stream, true);
                    return false;
                }
                byte[] bytes = new byte[head.remaining() + body.remaining()];
                int length = head.remaining();
                head.get(bytes, 0, length);
                body.get(bytes, length, body.remaining());
                bytes = change.apply(bytes);
                tap.accept(stream, bytes);
                queue.add(new Event(bytes, null));
                sent++;
                if (random.nextInt(100) < repeats) {
                    queue.add(new Event(bytes, null));
                }
                Loopback.this.notifyAll();
                return true;
            }
        }

        @Override
        public void close(IreeException cause) {
            synchronized (Loopback.this) {
                if (closed) {
                    return;
                }
                closed = true;
                // What was sent before arrives, then the end.
                streams.get(PeerStream.CONTROL).add(new Event(null, cause));
                Loopback.this.notifyAll();
            }
        }

        @Override
        public String describe() {
            return name;
        }

        @Override
        public @Nullable NodeIdentity peer() {
            return peer;
        }

        /** Delays a stream until it is released. */
        void hold(PeerStream stream, boolean on) {
            synchronized (Loopback.this) {
                held.put(stream, on);
                Loopback.this.notifyAll();
            }
        }

        /** Takes away the next frame to be delivered. */
        byte[] take(PeerStream stream) {
            synchronized (Loopback.this) {
                return streams.get(stream).remove().frame();
            }
        }

        /** Changes each frame sent from now on. */
        void change(UnaryOperator<byte[]> how) {
            synchronized (Loopback.this) {
                change = how;
            }
        }

        private boolean isReady(PeerStream stream) {
            return !streams.get(stream).isEmpty()
                    && !held.getOrDefault(stream, false)
                    && !busy.getOrDefault(stream, false);
        }
    }

    /** Connects two nodes; the first dials. Returns the direction from the first to the second; {@code back} is the other. */
    Link connect(RemoteNode from, RemoteNode to) {
        return connect(from, to, to.identity().incarnation());
    }

    /** Also shows the frames of the first node. */
    Link connect(RemoteNode from, RemoteNode to, BiConsumer<PeerStream, byte[]> tap) {
        return connect(from, to, to.identity().incarnation(), tap);
    }

    Link connect(RemoteNode from, RemoteNode to, long expected) {
        return connect(from, to, expected, (_, _) -> {});
    }

    private Link connect(RemoteNode from, RemoteNode to, long expected, BiConsumer<PeerStream, byte[]> tap) {
        Link there = new Link("to-" + to.identity().incarnation());
        Link here = new Link("to-" + from.identity().incarnation());
        there.tap = tap;
        there.back = here;
        here.back = there;
        synchronized (this) {
            links.add(there);
            links.add(here);
        }
        there.receiver = to.accept(here);
        here.receiver = from.dial(there, expected);
        synchronized (this) {
            notifyAll();
        }
        return there;
    }

    /** Takes a connection away: nothing in flight arrives, both sides see the end. */
    void cut(Link link) {
        IreeException cause = IreeException.of(StatusCode.UNAVAILABLE, "connection " + link.name + " was cut");
        synchronized (this) {
            for (Link each : List.of(link, link.back)) {
                each.closed = true;
                each.streams.values().forEach(ArrayDeque::clear);
                each.streams.get(PeerStream.CONTROL).add(new Event(null, cause));
                each.held.clear();
            }
            notifyAll();
        }
    }

    /** Delivers a frame: a long frame of BULK in up to four pieces, of random sizes. */
    private void deliver(PeerListener receiver, PeerStream stream, byte[] frame) {
        int first = frame.length;
        List<ByteBuffer> rest = new ArrayList<>();
        synchronized (this) {
            if (stream == PeerStream.BULK && frame.length > PeerListener.PIECES_FROM) {
                first = random.nextInt(PeerListener.FIRST_PIECE, frame.length);
                for (int at = first; at < frame.length; at += rest.getLast().remaining()) {
                    int size = rest.size() == 2 ? frame.length - at : random.nextInt(1, frame.length - at + 1);
                    rest.add(ByteBuffer.wrap(frame, at, size));
                }
            }
        }
        receiver.received(stream, ByteBuffer.wrap(frame, 0, first), rest.toArray(ByteBuffer[]::new));
    }

    /** Delivers a frame of some stream; false when there is none. */
    boolean step() {
        Link link;
        PeerStream stream;
        Event event;
        boolean room;
        synchronized (this) {
            List<Object[]> ready = new ArrayList<>();
            for (Link each : links) {
                for (PeerStream one : PeerStream.values()) {
                    if (each.receiver != null && each.isReady(one)) {
                        ready.add(new Object[] {each, one});
                    }
                }
            }
            if (ready.isEmpty()) {
                return false;
            }
            Object[] chosen = ready.get(random.nextInt(ready.size()));
            link = (Link) chosen[0];
            stream = (PeerStream) chosen[1];
            event = link.streams.get(stream).remove();
            room = link.refused.getOrDefault(stream, false);
            link.refused.put(stream, false);
            link.busy.put(stream, true);
            delivered++;
        }
        if (event.frame() != null) {
            deliver(link.receiver, stream, event.frame());
        } else {
            link.receiver.closed(event.end());
        }
        if (room && link.back.receiver != null) {
            link.back.receiver.ready(stream);
        }
        synchronized (this) {
            link.busy.put(stream, false);
            notifyAll();
        }
        return true;
    }

    /** Delivers everything, including all consequences. */
    void run() {
        long steps = 0;
        while (step()) {
            if (++steps > 10_000_000) {
                throw new AssertionError("nodes never become quiet");
            }
        }
    }

    /** Delivers on a thread from now on. */
    Loopback start() {
        thread = Thread.ofPlatform().daemon().name("loopback").start(() -> {
            while (true) {
                if (!step()) {
                    synchronized (this) {
                        if (stopped) {
                            return;
                        }
                        try {
                            if (links.stream()
                                    .noneMatch(link -> link.receiver != null
                                            && java.util.Arrays.stream(PeerStream.values())
                                                    .anyMatch(link::isReady))) {
                                wait();
                            }
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                }
            }
        });
        return this;
    }

    void stop() {
        synchronized (this) {
            stopped = true;
            notifyAll();
        }
        try {
            if (thread != null) {
                thread.join();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
