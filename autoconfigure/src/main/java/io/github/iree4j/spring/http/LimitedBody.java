package io.github.iree4j.spring.http;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * The body of a request within {@link BodyLimits}. Reading fails with status 413 for a body that is too long, and with
 * 408 for a body that takes too long. A late body is detected when bytes arrive or the server's own connection timeout
 * ends the wait. Read by one thread; closed by any.
 */
@NotForApplications
public final class LimitedBody extends InputStream {

    /** Maximum length of a body read before the body counts as awaited. */
    private static final int EARLY = 1 << 16;

    private final BodyLimits limits;
    private final InputStream in;
    private final long length;
    private final long maximum;
    private final @Nullable String property;
    private final long begun;
    private byte[] early = {};
    private int earlyRead;
    private long count;
    private int weight;
    private boolean awaited; // guarded by this, as are the next fields
    private boolean closed;
    private long charged;
    private boolean answered;
    private volatile long answer; // the answer's part of the charged memory; written under the monitor
    private volatile long answeredAt;
    private final AtomicBoolean givenUp = new AtomicBoolean();
    private final AtomicReference<@Nullable Runnable> ending = new AtomicReference<>();
    private final AtomicReference<@Nullable Runnable> place = new AtomicReference<>();

    LimitedBody(BodyLimits limits, InputStream in, long length, long maximum, @Nullable String property) {
        this.limits = limits;
        this.in = in;
        this.length = length;
        this.maximum = maximum;
        this.property = property;
        this.begun = limits.now();
    }

    void begin() {
        if (length > maximum) {
            throw tooLarge("of %d bytes".formatted(length));
        }
        if (length == 0) {
            return;
        }
        if (length > 0 && length <= EARLY) {
            readEarly();
            if (early.length == length) {
                return;
            }
        }
        limits.await();
        synchronized (this) {
            awaited = true;
        }
    }

    /** Reads the bytes that have arrived, without waiting. */
    private void readEarly() {
        ByteArrayOutputStream arrived = new ByteArrayOutputStream();
        try {
            for (int some = in.available(); arrived.size() < length && some > 0; some = in.available()) {
                byte[] part = new byte[Math.min(some, (int) length - arrived.size())]; // a read may wait for more
                int read = in.read(part);
                if (read < 0) {
                    break;
                }
                arrived.write(part, 0, read);
            }
        } catch (IOException e) {
            // The next read reports the failure.
        }
        early = arrived.toByteArray();
    }

    /**
     * Charges memory for each further byte of the body, for readers keeping the bytes. A body whose declared length
     * cannot be charged now fails before being read.
     *
     * @param bytes memory per byte of the body
     * @return this
     * @throws ResponseStatusException as {@link #charge}
     */
    public synchronized LimitedBody weighing(int bytes) {
        weight = bytes;
        if (length > 0) {
            try {
                limits.check(remaining() * bytes, charged);
            } catch (RefusedBody e) {
                close();
                throw e;
            }
        }
        return this;
    }

    /**
     * Returns the maximum number of bytes left.
     *
     * @return bytes
     */
    public long remaining() {
        return (length < 0 ? maximum : length) - count;
    }

    /**
     * Fails for a body without a length, of which more bytes follow than the limit permits.
     *
     * @param bytes further bytes, as told by the body
     * @throws ResponseStatusException 413 when the body would be too long
     */
    public void checkTold(long bytes) {
        if (length < 0 && bytes > remaining()) {
            throw tooLarge("without a length");
        }
    }

    /**
     * Charges memory allocated for the request until {@link #close}.
     *
     * @param bytes additional memory
     * @throws ResponseStatusException 503 when requests in flight hold too much; 413 when this request alone exceeds
     *     the limit
     */
    public synchronized void charge(long bytes) {
        if (!closed) {
            limits.charge(bytes, charged);
            charged += bytes;
        }
    }

    /**
     * Returns memory before the request has ended.
     *
     * @param bytes number of charged bytes to return
     */
    public synchronized void refund(long bytes) {
        if (!closed) {
            charged -= bytes;
            limits.refund(bytes);
        }
    }

    /**
     * Charges memory for the answer, as {@link #charge}, and against the common share of unread answers.
     *
     * @param bytes of the answer
     * @throws ResponseStatusException as {@link #charge}
     */
    public synchronized void chargeAnswer(long bytes) {
        if (closed) {
            return;
        }
        limits.chargeAnswer(bytes);
        try {
            charge(bytes);
        } catch (RefusedBody e) {
            limits.refundAnswer(bytes);
            throw e;
        }
        answer += bytes;
    }

    /**
     * Reports that the answer is complete: the received bytes are no longer needed, and from now on the client has the
     * time of a body before the answer gives way to others.
     */
    public synchronized void answered() {
        if (!closed && !answered) {
            answered = true;
            refund(charged - answer);
            answeredAt = limits.now();
            limits.answered(this);
        }
    }

    /**
     * Sets the action ending the connection of a client that has not read the answer, instead of failing a later write.
     *
     * @param end runs once at most, on a dedicated thread
     */
    public void endUnread(Runnable end) {
        ending.set(end);
        if (givenUp.get()) {
            run(ending);
        }
    }

    /**
     * Sets the action giving back the place that the request keeps among computed requests while the answer is unread.
     * An answer that has given way needs no place, even where the connection ends only later.
     *
     * @param leave idempotent, on a dedicated thread; null once the request keeps no place
     */
    public void keeping(@Nullable Runnable leave) {
        place.set(leave);
        if (givenUp.get()) {
            run(place);
        }
    }

    private static void run(AtomicReference<@Nullable Runnable> action) {
        Runnable taken = action.getAndSet(null);
        if (taken != null) {
            Thread.ofVirtual().name("iree4j-unread").start(taken); // callers hold locks of other requests
        }
    }

    long answerBytes() {
        return answer;
    }

    /** Returns whether the client has had the time of a body, and the answer has not given way yet. */
    boolean mayGiveWay() {
        return !givenUp.get() && unreadFor() > limits.timeout().toNanos();
    }

    /** Returns the time since the answer was complete, in nanoseconds. */
    long unreadFor() {
        return limits.now() - answeredAt;
    }

    /**
     * Returns the time left to the client for reading more of a complete answer.
     *
     * @param bytes read so far
     * @return nanoseconds; not positive once the client is too slow
     */
    public long patience(long bytes) {
        return limits.patience(bytes) - unreadFor();
    }

    boolean keepsPlace() {
        return place.get() != null;
    }

    boolean isGivenUp() {
        return givenUp.get();
    }

    /** Makes the answer give way to others. */
    void giveUp() {
        if (givenUp.compareAndSet(false, true)) {
            limits.counts().refuse(Reason.UNREAD);
            run(ending);
            run(place);
        }
    }

    /**
     * Returns whether the request is small, see {@link BodyLimits}, judging by the memory charged so far.
     *
     * @return false for a request that should let others go first
     */
    public synchronized boolean isSmall() {
        return limits.isSmall(charged);
    }

    /**
     * Counts and charges bytes of a body that does not arrive through this stream; zero only checks the time.
     *
     * @param bytes number of bytes arrived since the last call
     * @throws ResponseStatusException 413 when the body is too long; 408 when the body takes too long; otherwise as
     *     {@link #charge}
     */
    public void receive(int bytes) {
        received(bytes);
        charge(bytes);
    }

    /** Reports that a body not arriving through this stream is complete, and no longer awaited. */
    public void complete() {
        arrived();
    }

    /** Counts bytes that have arrived. */
    void received(int bytes) {
        count += bytes;
        if (count > maximum) {
            throw tooLarge("without a length");
        }
        if (limits.now() - begun > limits.patience(count)) {
            throw tooSlow(null);
        }
        if (weight > 0) {
            charge((long) bytes * weight);
        }
        if (count == length) {
            arrived();
        }
    }

    private synchronized void arrived() {
        if (awaited) {
            awaited = false;
            limits.arrived();
        }
    }

    private RefusedBody tooLarge(String size) {
        limits.counts().refuse(Reason.SIZE);
        String text = "the body %s is larger than %d bytes; send less".formatted(size, maximum);
        if (property != null) {
            text += ", or raise '%s'".formatted(property);
            long memory = limits.maximumOfRequest();
            if (memory < maximum) {
                text += ", and '%s', by which a request takes at most %d bytes of memory"
                        .formatted(BodyLimits.MEMORY, memory);
            }
        }
        return new RefusedBody(HttpStatus.CONTENT_TOO_LARGE, text);
    }

    RefusedBody tooSlow(@Nullable Exception cause) {
        limits.counts().refuse(Reason.SLOW);
        return new RefusedBody(
                HttpStatus.REQUEST_TIMEOUT,
                "the body is too slow: %d bytes in %d ms; send it faster, or raise '%s'"
                        .formatted(count, TimeUnit.NANOSECONDS.toMillis(limits.now() - begun), BodyLimits.TIMEOUT),
                cause);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int wanted) throws IOException {
        if (wanted == 0) {
            return 0;
        }
        int read;
        if (earlyRead < early.length) {
            read = Math.min(wanted, early.length - earlyRead);
            System.arraycopy(early, earlyRead, target, offset, read);
            earlyRead += read;
        } else {
            try {
                // One byte beyond the limit, so that a body of exactly the limit is accepted.
                read = in.read(target, offset, (int) Math.min(wanted, maximum - count + 1));
            } catch (SocketTimeoutException e) {
                throw tooSlow(e);
            }
        }
        if (read < 0) {
            arrived();
        } else {
            received(read);
        }
        return read;
    }

    @Override
    public int available() throws IOException {
        return early.length - earlyRead + in.available();
    }

    /**
     * Limits the client's time for reading the answer, like the time of the body, and further when the answer gives way
     * to others. After the limit, writing to the returned stream fails. The limit is detected after part of the answer
     * has been read. A client reading nothing is left to the server's own connection timeout, unless the connection can
     * be ended in {@linkplain #endUnread another way}.
     *
     * @param out writes the answer
     * @return the stream to use from now on
     */
    public OutputStream timed(OutputStream out) {
        return new TimedOutput(limits, this, out);
    }

    /** Ends the request's use of memory. Idempotent; does not close the stream. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            arrived();
            limits.refund(charged);
            charged = 0;
            limits.closed(this, answer);
            ending.set(null);
            place.set(null);
        }
    }
}
