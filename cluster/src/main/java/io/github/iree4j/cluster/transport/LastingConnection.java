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
import java.util.concurrent.Future;
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
 * peer's address any more, or when the peer has acknowledged nothing within the time limit.
 *
 * <p>Both sides count the frames of each stream. Sent frames are kept until the peer has acknowledged the frames
 * ({@link LastingStream}). Whoever offers or accepts another carrier names the number of frames received, and the other
 * side sends the following frames again. Only the dialing side dials again; the accepting side looks whether a process
 * still listens at the peer's address.
 *
 * <p>On CONTROL the first byte of a message is the kind: a frame, or the counts of received frames of all streams, sent
 * for each MiB, or a quarter of a stream's window, and {@value #ACKNOWLEDGE_MILLIS} ms after a frame. Messages of the other
 * streams are frames.
 *
 * <p>Locks, outer before inner: {@code switching}, held while the streams change carriers; the locks of a stream; the
 * lock of this. The session is called with the receiving lock of a stream at most, and never takes {@code switching}.
 */
final class LastingConnection implements PeerConnection {
    private static final Logger log = LoggerFactory.getLogger(LastingConnection.class);
    private static final int ACKNOWLEDGE_MILLIS = 100;
    private static final long FIRST_PAUSE_MILLIS = 50;
    private static final long LONGEST_PAUSE_MILLIS = 1_000;
    // longer than an address is refused while a network changes
    private static final long REFUSED_NANOS = 1_000_000_000;
    private static final long ANY = -1;
    private static final int STREAMS = PeerStream.values().length;

    private final ByteBuffer number;
    private final ClusterMember peer;
    private final boolean dialed;
    private final Duration limit;
    private final ScheduledExecutorService timer;
    private final Consumer<Attempt> attempts;
    private final Consumer<LastingConnection> ended;
    private final LastingStream[] streams = new LastingStream[STREAMS];
    private final AtomicBoolean acknowledging = new AtomicBoolean(); // whether an acknowledgement is scheduled
    private final AtomicBoolean told = new AtomicBoolean(); // whether the session knows of the end
    private final Object switching = new Object();
    private volatile @Nullable PeerListener session;
    private volatile @Nullable IreeException over; // set once, under the lock of this
    private volatile String description;

    // Guarded by this.
    private @Nullable GrpcConnection carrier; // null while interrupted
    private long interruptions; // changes with each interruption and each continuation
    private long tickets; // of the counts named last: an older carrier does not continue the connection
    private long since; // of the first interruption after which nothing was acknowledged
    private long pauseMillis;
    private long refusedSince; // 0 while the last attempt was not refused
    private @Nullable Future<?> expiry;

    /** The number of frames received on each stream, valid for the carrier that names the numbers. */
    record Received(long ticket, long[] counts) {}

    /**
     * Creates a connection with a carrier that does not deliver yet.
     *
     * @param number the random number of the connection
     * @param dialed whether this node dialed
     * @param limit how long the connection lasts without a carrier; zero for not at all
     * @param attempts called on a thread for an attempt to establish another carrier, or to learn that there will be
     *     none
     * @param ended called once, when the connection is over
     */
    LastingConnection(
            ByteBuffer number,
            ClusterMember peer,
            GrpcConnection carrier,
            boolean dialed,
            Duration limit,
            ScheduledExecutorService timer,
            Consumer<Attempt> attempts,
            Consumer<LastingConnection> ended) {
        this.number = number;
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
            notifyEnded();
        }
    }

    ByteBuffer number() {
        return number.duplicate();
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
        end(cause, ANY, true);
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
    Received received() {
        long[] counts = new long[STREAMS];
        long ticket;
        GrpcConnection before;
        synchronized (switching) {
            for (int i = 0; i < STREAMS; i++) {
                counts[i] = streams[i].stopReceiving();
            }
            synchronized (this) {
                ticket = ++tickets;
                before = carrier;
            }
        }
        if (before != null) { // the peer noticed first
            IreeException cause = IreeException.of(StatusCode.UNAVAILABLE, peer + " has another connection");
            interrupt(before, cause);
            before.abandon(cause);
        }
        return new Received(ticket, counts);
    }

    /**
     * Continues with another carrier, unless numbers were named for a later carrier.
     *
     * @param ticket of the numbers named to the peer for this carrier
     * @param received the number of frames received by the peer, by the ordinal of the stream
     */
    void resume(GrpcConnection next, long ticket, long[] received) {
        IreeException wrong = null;
        boolean isFormer;
        synchronized (switching) {
            synchronized (this) {
                isFormer = over == null && ticket != tickets;
                if (over == null && !isFormer) {
                    carrier = next;
                    description = next.describe();
                    interruptions++;
                    cancelExpiry();
                }
            }
            for (int i = 0; i < STREAMS && over == null && !isFormer && wrong == null; i++) {
                if (!streams[i].attach(next, received[i])) {
                    wrong = IreeException.of(
                            StatusCode.DATA_LOSS,
                            "%s has received %d frames of %s, which this node does not know or keep"
                                    .formatted(peer, received[i], PeerStream.values()[i]));
                }
            }
        }
        if (isFormer) {
            abandonFormer(next);
            return;
        }
        if (wrong != null) {
            end(wrong, ANY, true);
        }
        IreeException late = over;
        if (late != null) {
            next.close(late); // so the peer hears of the end
            return;
        }
        log.info("the connection to {} continues as {}", peer, next.describe());
        next.start(new Carried(next)); // calls ready() for each stream, which sends kept frames again
    }

    private static void abandonFormer(GrpcConnection former) {
        former.abandon(IreeException.of(StatusCode.CANCELLED, "a later connection continues"));
    }

    private void interrupt(GrpcConnection lost, IreeException cause) {
        long interruption;
        boolean stuck = false;
        synchronized (switching) {
            synchronized (this) {
                if (over != null || carrier != lost) {
                    return;
                }
                carrier = null;
                interruption = ++interruptions;
                refusedSince = 0;
            }
            for (LastingStream each : streams) {
                stuck |= each.isStuck();
                each.detach(lost);
            }
            synchronized (this) {
                if (!stuck || since == 0) { // otherwise the time of the interruption before counts on
                    since = System.nanoTime() | 1; // never 0
                    pauseMillis = 0;
                }
            }
        }
        boolean hasBegun = of(PeerStream.CONTROL).received() > 0; // otherwise the peer may not know of this connection
        boolean isFinal = lost.isFinished() || cause.code() == StatusCode.RESOURCE_EXHAUSTED; // a frame over the limit
        if (isFinal || limit.isZero() || !hasBegun && !dialed) {
            end(cause, interruption, !lost.isFinished());
            return;
        }
        log.info("{}; {} has {} to connect again", cause.getMessage(), peer, DurationText.of(limit));
        try {
            synchronized (this) {
                if (isInterrupted(interruption)) {
                    long left = Math.max(0, limit.toNanos() - (System.nanoTime() - since));
                    cancelExpiry();
                    expiry = timer.schedule(() -> expire(interruption, cause), left, TimeUnit.NANOSECONDS);
                }
            }
            attempt(interruption);
        } catch (RuntimeException | Error e) { // no thread, for instance; nobody else would end the connection
            end(
                    IreeException.of(
                            StatusCode.UNAVAILABLE,
                            "%s, and there can be no other connection: %s".formatted(cause.getMessage(), e),
                            e),
                    interruption,
                    false);
        }
    }

    private void cancelExpiry() { // under the lock
        Future<?> scheduled = expiry;
        expiry = null;
        if (scheduled != null) {
            scheduled.cancel(false);
        }
    }

    private void expire(long interruption, IreeException cause) {
        end(
                IreeException.of(
                        StatusCode.UNAVAILABLE,
                        "%s, and there was no other connection within %s"
                                .formatted(cause.getMessage(), DurationText.of(limit)),
                        cause),
                interruption,
                false);
    }

    private synchronized boolean isInterrupted(long interruption) {
        return over == null && carrier == null && interruptions == interruption;
    }

    private void attempt(long interruption) {
        long pause;
        synchronized (this) {
            pause = pauseMillis;
            pauseMillis = pause == 0 ? FIRST_PAUSE_MILLIS : Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
        }
        timer.schedule(
                () -> {
                    if (isInterrupted(interruption)) {
                        new Attempt(interruption).begin();
                    }
                },
                pause,
                TimeUnit.MILLISECONDS);
    }

    /** An attempt to establish another carrier, or a look whether the peer can establish one. */
    final class Attempt {
        private final long interruption;

        private Attempt(long interruption) {
            this.interruption = interruption;
        }

        /** Begins on a thread that may wait for a frame being handled; other connections need the timer. */
        private void begin() {
            Thread.ofVirtual().start(() -> {
                try {
                    attempts.accept(this);
                } catch (RuntimeException | Error e) {
                    log.warn("no attempt to connect to {} again", peer, e);
                    failed(IreeException.of(StatusCode.INTERNAL, String.valueOf(e), e));
                }
            });
        }

        LastingConnection connection() {
            return LastingConnection.this;
        }

        /** There is no carrier: the connection ends if the cause is final, otherwise the next attempt follows. */
        void failed(IreeException cause) {
            boolean isFinal = cause.code() == StatusCode.NOT_FOUND; // a wrong certificate may be replaced in time
            synchronized (LastingConnection.this) {
                long now = System.nanoTime();
                if (interruption == ANY && !isFinal && now - since < limit.toNanos()) {
                    timer.schedule(this::begin, LONGEST_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
                }
                if (!isInterrupted(interruption)) {
                    return;
                }
                if (!isRefused(cause)) {
                    refusedSince = 0;
                } else if (refusedSince == 0) {
                    refusedSince = now | 1; // never 0
                } else {
                    isFinal |= now - refusedSince >= REFUSED_NANOS; // no process listens there
                }
            }
            if (isFinal) {
                end(
                        // Calls fail with this status: NOT_FOUND would be of something else.
                        IreeException.of(StatusCode.UNAVAILABLE, "%s is gone: %s".formatted(peer, cause.getMessage())),
                        interruption,
                        false);
            } else {
                attempt(interruption);
            }
        }

        /** A process listens at the peer's address, and the peer has not dialed again yet. */
        void reached() {
            synchronized (LastingConnection.this) {
                if (!isInterrupted(interruption)) {
                    return;
                }
                refusedSince = 0;
            }
            attempt(interruption);
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

    /**
     * Ends the connection, unless the interruption is over to which the cause belongs.
     *
     * @param telling whether the peer does not know of the end
     */
    private void end(IreeException cause, long interruption, boolean telling) {
        GrpcConnection last;
        synchronized (this) {
            if (over != null || interruption != ANY && interruption != interruptions) {
                return;
            }
            over = cause;
            last = carrier;
            carrier = null;
            cancelExpiry();
        }
        for (LastingStream each : streams) {
            each.close();
        }
        ended.accept(this);
        if (last != null) {
            last.close(cause);
        } else if (telling && dialed) {
            new Attempt(ANY).begin(); // a last carrier, closed at once: the peer would wait until the limit
        }
        Thread.ofVirtual().start(this::notifyEnded); // the caller may hold locks
    }

    /** Tells the session of the end, once there is a session. */
    private void notifyEnded() {
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
            timer.schedule(this::acknowledgeLate, ACKNOWLEDGE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void acknowledgeLate() {
        acknowledging.set(false); // before the counts are read: a later frame schedules another acknowledgement
        acknowledge();
    }

    private void acknowledge() {
        long[] counts = new long[STREAMS];
        for (int i = 0; i < STREAMS; i++) {
            counts[i] = streams[i].acknowledge();
        }
        LastingStream control = of(PeerStream.CONTROL);
        if (!control.trySendCounts(counts) && control.hasCarrier()) { // otherwise the resumption names the counts
            acknowledgeSoon(false);
        }
    }

    private LastingStream of(PeerStream stream) {
        return streams[stream.ordinal()];
    }

    /** Receives messages of a carrier, while the carrier is the present one. */
    private final class Carried implements PeerListener {
        private final GrpcConnection from;

        Carried(GrpcConnection from) {
            this.from = from;
        }

        @Override
        public void received(PeerStream stream, ByteBuffer message, ByteBuffer... rest) {
            LastingStream of = of(stream);
            long[] counts;
            try {
                counts = of.receive(from, message, rest, Objects.requireNonNull(session, "started"));
            } catch (IreeException e) {
                end(e, ANY, true);
                return;
            }
            if (counts == null) {
                acknowledgeSoon(of.isAcknowledgementDue());
                return;
            }
            if (counts.length == 0) { // a former carrier, which the peer takes for the present one
                abandonFormer(from);
                return;
            }
            for (PeerStream each : PeerStream.values()) {
                if (!of(each).acknowledged(from, counts[each.ordinal()])) {
                    end(
                            IreeException.of(
                                    StatusCode.DATA_LOSS,
                                    "%s acknowledges %d frames of %s, and was not sent so many"
                                            .formatted(peer, counts[each.ordinal()], each)),
                            ANY,
                            true);
                    return;
                }
                notifyReady(each);
            }
        }

        @Override
        public void ready(PeerStream stream) {
            of(stream).sendAgain();
            notifyReady(stream);
        }

        private void notifyReady(PeerStream stream) {
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
