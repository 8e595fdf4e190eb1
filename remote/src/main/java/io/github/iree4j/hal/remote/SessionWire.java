package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The receiving end of a session: checks the number of each frame and passes the frame on. An exception thrown for a frame ends the session. */
final class SessionWire implements PeerListener {
    private static final Logger LOG = LoggerFactory.getLogger(SessionWire.class);

    /** Limit on the bytes of a frame on CONTROL and QUEUE. */
    static final int FRAME_LIMIT = 1 << 20;

    /** Bytes of the head of a chunk. */
    static final int CHUNK_HEAD = 64;

    private final RemoteSession session;
    private final int[] last = new int[PeerStream.values().length]; // numbers; each guarded by the order of its stream
    private final Map<PeerStream, LongAdder> frames = adders();
    private final Map<PeerStream, LongAdder> bytes = adders();
    private final LongAdder dropped = new LongAdder();

    SessionWire(RemoteSession session) {
        this.session = session;
    }

    @Override
    public void received(PeerStream stream, ByteBuffer frame, ByteBuffer... rest) {
        int size = frame.remaining();
        for (ByteBuffer each : rest) {
            size += each.remaining();
        }
        Objects.requireNonNull(frames.get(stream)).increment();
        Objects.requireNonNull(bytes.get(stream)).add(size);
        if (session.failure() != null) {
            dropped.increment();
            return;
        }
        try {
            receive(stream, size, frame, rest);
        } catch (IreeException e) {
            if (e.code() == StatusCode.INCOMPATIBLE) { // the peer is notified
                session.reject(e);
            } else {
                session.fail(e.during("frame from " + session));
            }
        } catch (RuntimeException | Error e) { // of any kind: peers and waiters must not hang
            LOG.error("a frame from {} could not be handled", session, e);
            session.fail(IreeException.of(
                    StatusCode.INTERNAL, "frame from %s could not be handled: %s".formatted(session, e), e));
        }
    }

    private void receive(PeerStream stream, int size, ByteBuffer frame, ByteBuffer[] rest) {
        int limit = stream == PeerStream.BULK ? session.node().options().chunkBytes() + CHUNK_HEAD : FRAME_LIMIT;
        if (size > limit) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "frame of %d bytes on %s, the limit is %d".formatted(size, stream, limit));
        }
        FrameReader in = new FrameReader(stream, frame, rest);
        int ahead = in.number() - last[stream.ordinal()];
        if (ahead <= 0) {
            dropped.increment();
            return;
        }
        if (ahead > 1) {
            throw in.corrupt("frame %s on %s follows frame %s; the transport lost %d"
                    .formatted(
                            Integer.toUnsignedString(in.number()),
                            stream,
                            Integer.toUnsignedString(last[stream.ordinal()]),
                            ahead - 1L));
        }
        last[stream.ordinal()]++;
        dispatch(stream, in);
    }

    private void dispatch(PeerStream stream, FrameReader in) {
        if (stream != PeerStream.CONTROL) {
            session.checkOpen(in);
        }
        switch (in.type) {
            case HELLO -> session.hello(in);
            case HELLO_ACK -> session.helloAck(in);
            case READY -> session.ready(in);
            case REJECT -> session.rejected(in);
            case GOAWAY -> session.goAway(in);
            case SUBSCRIBE -> session.subscriptions().subscribe(in);
            case UNSUBSCRIBE -> session.subscriptions().unsubscribe(in);
            case ADVANCE -> session.proxies().advance(in);
            case FAIL -> session.proxies().fail(in);
            case OPEN_LANE -> session.server().openLane(in);
            case CLOSE_LANE -> session.server().closeLane(in);
            case ALLOCATE -> session.server().objects().allocate(in);
            case LOAD -> session.server().objects().load(in);
            case LOADED -> session.client().loaded(in);
            case RECORD -> session.server().objects().record(in);
            case RELEASE -> session.server().objects().release(in);
            case CONSTANT -> session.server().constants().add(in);
            case VIEW -> session.server().constants().view(in);
            case SEAL -> session.server().constants().seal(in);
            case WRITTEN -> session.client().written(in);
            case COMMAND -> session.server().command(in);
            case ACCEPTED -> session.client().accepted(in);
            case COMPLETED -> session.client().completed(in);
            case ASK -> session.client().questions().ask(in);
            case TELL -> session.server().tell(in);
            case PING -> session.roundTrips().ping(in);
            case PONG -> session.roundTrips().pong(in);
            case LINK -> session.linked(in);
            case FETCH -> session.fetches().serve(in);
            case WITHDRAW -> session.fetches().withdraw(in);
            case CREDIT -> session.transfers().credit(in);
            case DATA -> session.transfers().data(in);
            case ABORT -> session.transfers().abort(in);
        }
    }

    @Override
    public void ready(PeerStream stream) {
        if (session.outbox(stream).drain()) {
            session.resume(stream);
        }
    }

    @Override
    public void closed(IreeException cause) {
        session.fail(cause);
    }

    private static Map<PeerStream, LongAdder> adders() {
        Map<PeerStream, LongAdder> adders = new EnumMap<>(PeerStream.class);
        for (PeerStream each : PeerStream.values()) {
            adders.put(each, new LongAdder());
        }
        return adders;
    }

    long frames(PeerStream stream) {
        return Objects.requireNonNull(frames.get(stream)).sum();
    }

    long bytes(PeerStream stream) {
        return Objects.requireNonNull(bytes.get(stream)).sum();
    }

    long dropped() {
        return dropped.sum();
    }
}
