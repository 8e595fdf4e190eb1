package io.github.iree4j.spring.http;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import io.github.iree4j.status.DurationText;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * Limits on request bodies, shared by an application: the memory held by requests in flight, the time of a body, and
 * the number of bodies awaited at once, each possibly blocking a thread. Safe from any thread.
 *
 * <p>A request is charged for received bytes and for memory allocated for the request, never for announced bytes. A
 * quarter of the memory is reserved for small requests (up to a 64th of the memory), so large requests cannot crowd
 * small requests out. An answer is charged until the client has read the answer; large unread answers together have
 * half of the memory. When a request is refused for lack of memory, answers give way to later answers if their clients
 * have had the {@linkplain #timeout time of a body} for reading: the largest first.
 */
@NotForApplications
public final class BodyLimits {

    /** The property of the maximum size of a body, for messages. */
    public static final String SIZE = "iree.http.max-request-size";

    /** The property of the memory limit, for messages. */
    static final String MEMORY = "iree.http.max-in-flight-size";

    /** The property of the time limit, for messages. */
    static final String TIMEOUT = "iree.http.body-timeout";

    /** The property of the number of awaited bodies, for messages. */
    static final String CONCURRENT = "iree.http.max-concurrent-bodies";

    private static final int SMALL = 64;

    /** A body arriving, or being read, at this rate in bytes per second has no time limit. */
    private static final long RATE = 1 << 16;

    private final long memory;
    private final Duration timeout;
    private final int concurrent;
    private final LongSupplier nanoTime;
    private final Semaphore awaited;
    private final AtomicLong charged = new AtomicLong();
    private final AtomicInteger open = new AtomicInteger();
    private final UnreadAnswers answers = new UnreadAnswers();
    private final RequestCounts counts = new RequestCounts();
    private volatile @Nullable Shortage shortage;

    /**
     * Creates limits.
     *
     * @param memory maximum memory of requests in flight, in bytes
     * @param timeout maximum time of a body, see {@link #patience}
     * @param concurrent maximum number of bodies awaited at once
     * @throws IllegalArgumentException when a limit is not positive
     */
    public BodyLimits(long memory, Duration timeout, int concurrent) {
        this(memory, timeout, concurrent, System::nanoTime);
    }

    BodyLimits(long memory, Duration timeout, int concurrent, LongSupplier nanoTime) {
        if (memory < 1 || !timeout.isPositive() || concurrent < 1) {
            throw new IllegalArgumentException("limits must be positive: %d bytes, %s, %d bodies"
                    .formatted(memory, DurationText.of(timeout), concurrent));
        }
        this.memory = memory;
        this.timeout = timeout;
        this.concurrent = concurrent;
        this.nanoTime = nanoTime;
        this.awaited = new Semaphore(concurrent);
    }

    /**
     * Begins to receive a body. A body that has arrived together with the headers does not count as awaited.
     *
     * @param in the body; not closed
     * @param length the declared length in bytes; negative when unknown
     * @param maximum maximum length in bytes
     * @param property the property setting the maximum, for the message; null for a fixed maximum
     * @return the body; the caller closes the body when the request has ended
     * @throws ResponseStatusException 413 when the declared length exceeds the maximum; 503 when too many bodies are
     *     awaited
     */
    public LimitedBody receive(InputStream in, long length, long maximum, @Nullable String property) {
        LimitedBody body = new LimitedBody(this, in, length, maximum, property);
        body.begin();
        open.incrementAndGet();
        return body;
    }

    /** Charges an answer until closed. */
    LimitedBody answer(long bytes) {
        LimitedBody answer = receive(InputStream.nullInputStream(), 0, 0, MEMORY);
        try {
            answer.chargeAnswer(bytes);
        } catch (RefusedBody e) {
            answer.close();
            throw e;
        }
        answer.answered();
        return answer;
    }

    /**
     * Returns the memory charged to requests in flight.
     *
     * @return bytes
     */
    public long inFlight() {
        return charged.get();
    }

    /**
     * Returns the maximum of {@link #inFlight}.
     *
     * @return bytes
     */
    public long maximumInFlight() {
        return memory;
    }

    /**
     * Returns the maximum memory of a single request: a quarter of all memory is reserved for small requests.
     *
     * @return bytes
     */
    public long maximumOfRequest() {
        return memory - memory / 4;
    }

    /**
     * Returns the part of {@link #inFlight} held by answers not yet read by clients.
     *
     * @return bytes
     */
    public long inUnreadAnswers() {
        return answers.bytes();
    }

    /**
     * Returns the number of answers not yet read by clients.
     *
     * @return the number at some moment
     */
    public int unreadAnswers() {
        return answers.count();
    }

    /**
     * Makes room after a refusal for lack of places: of the answers {@linkplain LimitedBody#keeping keeping} places, the
     * answer unread for longest gives way if its client has had the time of a body for reading.
     */
    public void makePlace() {
        answers.makePlace();
    }

    /**
     * Returns the counts of requests, besides memory.
     *
     * @return the counts
     */
    public RequestCounts counts() {
        return counts;
    }

    /**
     * Returns the use of request memory at the latest refusal for lack of memory.
     *
     * @return null without such a refusal
     */
    @Nullable
    Shortage shortage() {
        return shortage;
    }

    /**
     * Returns the number of awaited bodies.
     *
     * @return the number at some moment
     */
    public int awaited() {
        return concurrent - awaited.availablePermits();
    }

    /**
     * Returns the maximum time of a body.
     *
     * @return a positive time
     */
    public Duration timeout() {
        return timeout;
    }

    /**
     * Returns the time limit for the arrival of the given number of bytes of a request body, or for reading such a part
     * of an answer.
     *
     * @param bytes the number of bytes
     * @return the timeout plus a second for each 64 KB, in nanoseconds
     */
    public long patience(long bytes) {
        return timeout.toNanos() + TimeUnit.SECONDS.toNanos(bytes / RATE);
    }

    long now() {
        return nanoTime.getAsLong();
    }

    void await() {
        if (!awaited.tryAcquire()) {
            counts.refuse(Reason.BODIES);
            throw new RefusedBody(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "the bodies of %d requests are already awaited; try again later, or raise '%s'"
                            .formatted(concurrent, CONCURRENT));
        }
    }

    void arrived() {
        awaited.release();
    }

    /** Charges a request that already holds the given memory. */
    void charge(long bytes, long held) {
        long limit = limit(held + bytes);
        for (long before = charged.get(); ; before = charged.get()) {
            checkFree(bytes, before, limit);
            if (charged.compareAndSet(before, before + bytes)) {
                return;
            }
        }
    }

    /** Checks whether a request that already holds the given memory could be charged now. */
    void check(long bytes, long held) {
        checkFree(bytes, charged.get(), limit(held + bytes));
    }

    /** Charges an answer against the share of unread answers; the memory itself is charged separately. */
    void chargeAnswer(long bytes) {
        long excess = answers.charge(bytes, memory, isSmall(bytes));
        if (excess > 0) {
            long limit = UnreadAnswers.limit(memory, isSmall(bytes));
            refuse(
                    excess,
                    limit,
                    "answers that clients have not read hold %d of %d bytes that this one may use, and it needs %d; try again later, or raise '%s'"
                            .formatted(limit + excess - bytes, limit, bytes, MEMORY));
        }
    }

    void refundAnswer(long bytes) {
        answers.refund(bytes);
    }

    void answered(LimitedBody answer) {
        answers.add(answer);
    }

    /** Records the closing of a body, and refunds the bytes charged to its answer. */
    void closed(LimitedBody body, long answer) {
        answers.remove(body);
        answers.refund(answer);
        open.decrementAndGet();
    }

    boolean isSmall(long total) {
        return total <= memory / SMALL;
    }

    private long limit(long total) {
        long limit = isSmall(total) ? memory : maximumOfRequest();
        if (total > limit) {
            counts.refuse(Reason.SIZE);
            throw new RefusedBody(
                    HttpStatus.CONTENT_TOO_LARGE,
                    "the request takes %d bytes of memory, of at most %d; send less, or raise '%s', which is %d"
                            .formatted(total, limit, MEMORY, memory));
        }
        return limit;
    }

    private void checkFree(long bytes, long before, long limit) {
        if (before + bytes > limit) {
            refuse(
                    before + bytes - limit,
                    limit,
                    "requests in flight hold %d of %d bytes that this one may use, and it needs %d more; try again later, or raise '%s'"
                            .formatted(before, limit, bytes, MEMORY));
        }
    }

    private void refuse(long excess, long limit, String reason) {
        counts.refuse(Reason.MEMORY);
        int unread = answers.count();
        shortage = new Shortage(
                now(), unread, answers.madeBytes(), Math.max(0, open.get() - unread), charged.get(), limit, excess);
        answers.makeRoom(excess);
        throw new RefusedBody(HttpStatus.SERVICE_UNAVAILABLE, reason);
    }

    /**
     * The use of request memory at a refusal.
     *
     * @param time of the refusal, in nanoseconds of the clock of the limits
     * @param answers number of unread answers
     * @param inAnswers bytes of unread answers
     * @param requests number of other open requests
     * @param inFlight bytes in total
     * @param limit bytes available to the refused request
     * @param excess bytes needed by the refused request beyond the limit
     */
    record Shortage(long time, int answers, long inAnswers, int requests, long inFlight, long limit, long excess) {}

    void refund(long bytes) {
        charged.addAndGet(-bytes);
    }
}
