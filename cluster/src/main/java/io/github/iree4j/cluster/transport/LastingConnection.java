package io.github.iree4j.cluster.transport;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.PeerConnection;
import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that outlives its carriers. A carrier, the three streams of a {@link GrpcConnection}, may be reset by the
 * network; then another carrier continues the connection, and no frame is lost or delivered twice. The connection ends
 * when either side closes the connection, when the peer no longer knows the connection, when no process listens at the
 * peer's address any more, or when no carrier was established within the time limit.
 *
 * <p>Both sides count the frames of each stream. Sent frames are kept until the peer has acknowledged the frames
 * ({@link LastingStream}). Whoever offers or accepts another carrier names the number of frames received, and the other
 * side sends the following frames again. Only the dialing side dials again; the accepting side looks whether a process
 * still listens at the peer's address.
 *
 * <p>On CONTROL the first byte of a message is the kind: a frame, or the counts of received frames of all streams, sent
 * for every quarter of a stream's window and {@value #ACKNOWLEDGE_MILLIS} ms after a frame. Messages of the other
 * streams are frames.
 */
final class LastingConnection implements PeerConnection {
    private static final Logger log = LoggerFactory.getLogger(LastingConnection.class);
    private static final int ACKNOWLEDGE_MILLIS = 100;
    private static final long FIRST_PAUSE_MILLIS = 50;
    private static final long LONGEST_PAUSE_MILLIS = 1_000;
    private static final long REFUSED_NANOS =
            1_000_000_000; // longer than an address is refused while a network changes
    private static final int STREAMS = PeerStream.values().length;

    private final ClusterMember peer;
    private final Duration limit;
    private final ScheduledExecutorService timer;
    private final boolean dialed;
    private final Consumer<LastingConnection> attempts;
    private final Consumer<LastingConnection> ended;
    private final LastingStream[] streams = new LastingStream[STREAMS];
    private final AtomicBoolean acknowledging =
            new AtomicBoolean(); // whether an acknowledgement is scheduled or waits for room
    private final AtomicBoolean told = new AtomicBoolean(); // whether the session knows of the end
    private volatile @Nullable PeerListener session;
    private volatile @Nullable IreeException over; // set once, under the lock of this
    private volatile String description;

    // Guarded by this.
    private @Nullable GrpcConnection carrier; // null while interrupted
    private long interruptions;
    private long pauseMillis;
    private long refusedSince; // 0 while the last attempt was not refused

    /**
     * Creates a connection with a carrier that does not deliver yet.
     *
     * @param dialed whether this node dialed
     * @param limit how long the connection lasts without a carrier; zero for not at all
     * @param attempts called when an attempt is due to establish another carrier, or to learn that there will be none;
     *     reports the result to this
     * @param ended called once, when the connection is over
     */
    LastingConnection(
            ClusterMember peer,
            GrpcConnection carrier,
            boolean dialed,
            Duration limit,
            ScheduledExecutorService timer,
            Consumer<LastingConnection> attempts,
            Consumer<LastingConnection> ended) {
        this.peer = peer;
        this.dialed = dialed;
        this.limit = limit;
        this.timer = timer;
        this.attempts = attempts;
        this.ended = ended;
        this.carrier = carrier;
        this.description = carrier.describe();
        for (PeerStream stream : PeerStream.values()) {
            LastingStream made = new LastingStream(stream);
            made.attach(carrier, 0);
            streams[stream.ordinal()] = made;
        }
    }

    /** Begins to deliver to a session. */
    void start(PeerListener receiver) {
        session = receiver;
        GrpcConnection first;
        synchronized (this) {
            first = carrier;
        }
        if (first != null) {
            first.start(new Carried(first));
        }
        if (over != null) { // closed before there was a session
            tell();
        }
    }

    ClusterMember member() {
        return peer;
    }

    /** Returns whether this node dialed. */
    boolean isDialed() {
        return dialed;
    }

    // ---- For the session.

    @Override
    public boolean trySend(PeerStream stream, ByteBuffer head, ByteBuffer body) {
        return over != null || of(stream).trySend(head, body);
    }

    @Override
    public void close(IreeException cause) {
        end(cause, true);
    }

    @Override
    public String describe() {
        return description;
    }

    // ---- Interruption and resumption.

    /** Doubts the present carrier: another carrier shows whether the peer can be reached. Loses nothing. */
    void doubt(IreeException cause) {
        GrpcConnection doubted;
        synchronized (this) {
            doubted = carrier;
        }
        if (doubted != null) {
            interrupt(doubted, cause);
            doubted.abandon(cause);
        }
    }

    /**
     * Returns the number of frames received on each stream, and receives nothing more from the present carrier: the
     * numbers hold until another carrier is attached. The present carrier is abandoned.
     */
    long[] receivedForGood() {
        long[] received = new long[STREAMS];
        for (int i = 0; i < STREAMS; i++) {
            received[i] = streams[i].stopReceiving();
        }
        GrpcConnection before;
        synchronized (this) {
            before = carrier;
        }
        if (before != null) { // the peer noticed first
            IreeException cause = IreeException.of(StatusCode.UNAVAILABLE, peer + " has another connection");
            interrupt(before, cause);
            before.abandon(cause);
        }
        return received;
    }

    /**
     * Continues with another carrier, after {@link #receivedForGood}.
     *
     * @param received the number of frames received by the peer, by the ordinal of the stream
     */
    void resume(GrpcConnection next, long[] received) {
        synchronized (this) {
            if (over == null) {
                carrier = next;
                description = next.describe();
                interruptions++; // ends the present interruption
            }
        }
        IreeException late = over;
        if (late != null) {
            next.close(late);
            return;
        }
        for (int i = 0; i < STREAMS; i++) {
            if (!streams[i].attach(next, received[i])) {
                end(
                        IreeException.of(
                                StatusCode.DATA_LOSS,
                                "%s has received %d frames of %s, which this node does not know or keep"
                                        .formatted(peer, received[i], PeerStream.values()[i])),
                        true);
                return;
            }
        }
        log.info("the connection to {} continues as {}", peer, next.describe());
        next.start(new Carried(next)); // calls ready() for each stream, which sends kept frames again
    }

    private void interrupt(GrpcConnection lost, IreeException cause) {
        long number;
        synchronized (this) {
            if (over != null || carrier != lost) {
                return;
            }
            carrier = null;
            number = ++interruptions;
            pauseMillis = 0;
            refusedSince = 0;
        }
        for (LastingStream each : streams) {
            each.detach();
        }
        boolean hasBegun = of(PeerStream.CONTROL).received() > 0; // otherwise the peer may not know of this connection
        if (lost.isFinished() || limit.isZero() || !hasBegun && !dialed) {
            end(cause, false);
            return;
        }
        log.info("{}; {} has {} to connect again", cause.getMessage(), peer, DurationText.of(limit));
        timer.schedule(() -> expire(number, cause), limit.toMillis(), TimeUnit.MILLISECONDS);
        attempt(number);
    }

    private void expire(long number, IreeException cause) {
        if (isInterrupted(number)) {
            end(
                    IreeException.of(
                            StatusCode.UNAVAILABLE,
                            "%s, and there was no other connection within %s"
                                    .formatted(cause.getMessage(), DurationText.of(limit)),
                            cause),
                    false);
        }
    }

    private synchronized boolean isInterrupted(long number) {
        return over == null && carrier == null && interruptions == number;
    }

    private void attempt(long number) {
        long pause;
        synchronized (this) {
            pause = pauseMillis;
            pauseMillis = pause == 0 ? FIRST_PAUSE_MILLIS : Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
        }
        timer.schedule(
                () -> {
                    if (isInterrupted(number)) {
                        attempts.accept(this);
                    }
                },
                pause,
                TimeUnit.MILLISECONDS);
    }

    /** An attempt did not lead to a carrier: this ends if the cause is final, otherwise the next attempt follows. */
    void failed(IreeException cause, long now) {
        boolean isFinal = cause.code() == StatusCode.NOT_FOUND || cause.code() == StatusCode.PERMISSION_DENIED;
        long number;
        synchronized (this) {
            if (over != null || carrier != null) {
                return;
            }
            if (!isRefused(cause)) {
                refusedSince = 0;
            } else if (refusedSince == 0) {
                refusedSince = now | 1; // never 0
            } else {
                isFinal |= now - refusedSince >= REFUSED_NANOS; // no process listens there
            }
            number = interruptions;
        }
        if (isFinal) {
            end(IreeException.of(cause.code(), "%s is gone: %s".formatted(peer, cause.getMessage())), false);
        } else {
            attempt(number);
        }
    }

    /** A process listens at the peer's address, and the peer has not dialed again yet. */
    void reached() {
        long number;
        synchronized (this) {
            refusedSince = 0;
            number = interruptions;
        }
        if (isInterrupted(number)) {
            attempt(number);
        }
    }

    private static boolean isRefused(Throwable cause) {
        for (Throwable each = cause; each != null; each = each.getCause()) {
            if (String.valueOf(each.getMessage()).contains("Connection refused")) {
                return true;
            }
        }
        return false;
    }

    private void end(IreeException cause, boolean telling) {
        GrpcConnection last;
        synchronized (this) {
            if (over != null) {
                return;
            }
            over = cause;
            last = carrier;
            carrier = null;
        }
        if (telling && last == null && dialed) {
            attempts.accept(this); // a last carrier, to say so: the peer would wait until the limit
        }
        for (LastingStream each : streams) {
            each.close();
        }
        ended.accept(this);
        if (last != null) {
            if (telling) {
                last.close(cause);
            } else {
                last.abandon(cause);
            }
        }
        Thread.ofVirtual().start(this::tell); // the caller may hold locks
    }

    /** Tells the session of the end, once there is a session. */
    private void tell() {
        PeerListener to = session;
        IreeException cause = over;
        if (to != null && cause != null && told.compareAndSet(false, true)) {
            to.closed(cause);
        }
    }

    // ---- Acknowledgements.

    private void acknowledgeSoon(boolean now) {
        if (now) {
            acknowledge();
        } else if (acknowledging.compareAndSet(false, true)) {
            timer.schedule(this::acknowledge, ACKNOWLEDGE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void acknowledge() {
        long[] counts = new long[STREAMS];
        acknowledging.set(false); // before the counts are read: a later frame schedules another acknowledgement
        for (int i = 0; i < STREAMS; i++) {
            counts[i] = streams[i].received();
        }
        if (!of(PeerStream.CONTROL).trySendCounts(counts)) {
            acknowledging.set(true); // again when CONTROL has room, or after the resumption, which names the counts
        }
    }

    private LastingStream of(PeerStream stream) {
        return streams[stream.ordinal()];
    }

    /** Receives what a carrier delivers, while the carrier is the present one. */
    private final class Carried implements PeerListener {
        private final GrpcConnection from;

        Carried(GrpcConnection from) {
            this.from = from;
        }

        @Override
        public void received(PeerStream stream, ByteBuffer message) {
            LastingStream of = of(stream);
            long[] counts;
            try {
                counts = of.receive(from, message, Objects.requireNonNull(session, "started"));
            } catch (IreeException e) {
                end(e, true);
                return;
            }
            if (counts == null) {
                acknowledgeSoon(of.isAcknowledgementDue());
                return;
            }
            for (PeerStream each : PeerStream.values()) {
                if (!of(each).acknowledged(from, counts[each.ordinal()])) {
                    end(
                            IreeException.of(
                                    StatusCode.DATA_LOSS,
                                    "%s acknowledges %d frames of %s, and was not sent so many"
                                            .formatted(peer, counts[each.ordinal()], each)),
                            true);
                    return;
                }
                tellReady(each);
            }
        }

        @Override
        public void ready(PeerStream stream) {
            of(stream).sendAgain();
            if (stream == PeerStream.CONTROL && acknowledging.get()) {
                acknowledge();
            }
            tellReady(stream);
        }

        private void tellReady(PeerStream stream) {
            PeerListener to = session;
            if (to != null && over == null && of(stream).takeRefusal()) {
                to.ready(stream);
            }
        }

        @Override
        public void closed(IreeException cause) {
            interrupt(from, cause);
        }
    }
}
