package io.github.iree4j.spring.http;

import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * Limits on bodies of requests, for all of an application: the memory that requests in flight hold, the time that a
 * body may take, and the number of bodies that are awaited at once, each of which may block a thread. Safe from any
 * thread.
 *
 * <p>A request is charged for what it has sent, and for memory allocated for it, never for what it has announced. A
 * quarter of the memory is reserved for small requests, those of up to a 64th of it, so that large ones cannot crowd
 * them out.
 */
public final class BodyLimits {

    /** The property of the memory, in messages. */
    static final String MEMORY = "iree.http.max-in-flight-size";

    /** The property of the time, in messages. */
    static final String TIMEOUT = "iree.http.body-timeout";

    /** The property of the number, in messages. */
    static final String CONCURRENT = "iree.http.max-concurrent-bodies";

    private static final int SMALL = 64;

    /** A body that arrives at this rate, in bytes per second, or is read at it, may take as long as it likes. */
    private static final long RATE = 1 << 16;

    private final long memory;
    private final Duration timeout;
    private final int concurrent;
    private final LongSupplier nanoTime;
    private final Semaphore awaited;
    private final AtomicLong charged = new AtomicLong();

    /**
     * Creates limits.
     *
     * @param memory maximum memory of requests in flight, bytes
     * @param timeout maximum time of a body, see {@link #patience}
     * @param concurrent maximum number of bodies awaited at once
     * @throws IllegalArgumentException when one is not positive
     */
    public BodyLimits(long memory, Duration timeout, int concurrent) {
        this(memory, timeout, concurrent, System::nanoTime);
    }

    BodyLimits(long memory, Duration timeout, int concurrent, LongSupplier nanoTime) {
        if (memory < 1 || !timeout.isPositive() || concurrent < 1) {
            throw new IllegalArgumentException(
                    "limits must be positive: %d bytes, %s, %d bodies".formatted(memory, timeout, concurrent));
        }
        this.memory = memory;
        this.timeout = timeout;
        this.concurrent = concurrent;
        this.nanoTime = nanoTime;
        this.awaited = new Semaphore(concurrent);
    }

    /**
     * Begins to receive a body. A body that has arrived with its headers does not count as awaited.
     *
     * @param in the body; not closed
     * @param length its declared length in bytes; negative when unknown
     * @param maximum maximum length in bytes
     * @param property the property that sets the maximum, for the message
     * @return the body; the caller closes it when the request has ended
     * @throws ResponseStatusException 413 when the declared length exceeds the maximum; 503 when too many bodies are
     *     awaited
     */
    public LimitedBody receive(InputStream in, long length, long maximum, String property) {
        LimitedBody body = new LimitedBody(this, in, length, maximum, property);
        body.begin();
        return body;
    }

    /** Charges an answer until it is closed. */
    LimitedBody answer(long bytes) {
        LimitedBody answer = receive(InputStream.nullInputStream(), 0, 0, MEMORY);
        answer.charge(bytes);
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
     * Returns the most memory that one request may take: a quarter of all is reserved for small ones.
     *
     * @return bytes
     */
    public long maximumOfRequest() {
        return memory - memory / 4;
    }

    /**
     * Returns the number of bodies that are awaited.
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
     * Returns how long it may take until that much of a body of a request has arrived, or of an answer has been read.
     *
     * @param bytes their number
     * @return the timeout and a second for each 64 KB, in nanoseconds
     */
    public long patience(long bytes) {
        return timeout.toNanos() + TimeUnit.SECONDS.toNanos(bytes / RATE);
    }

    long now() {
        return nanoTime.getAsLong();
    }

    void await() {
        if (!awaited.tryAcquire()) {
            throw new Busy(
                    "%d requests are already awaited; try again later, or raise '%s'".formatted(concurrent, CONCURRENT),
                    null);
        }
    }

    void arrived() {
        awaited.release();
    }

    /** Charges a request that already holds some memory. */
    void charge(long bytes, long held) {
        long limit = limit(held + bytes);
        for (long before = charged.get(); ; before = charged.get()) {
            checkFree(bytes, before, limit);
            if (charged.compareAndSet(before, before + bytes)) {
                return;
            }
        }
    }

    /** Checks that a request that already holds some memory could be charged now. */
    void check(long bytes, long held) {
        checkFree(bytes, charged.get(), limit(held + bytes));
    }

    boolean isSmall(long total) {
        return total <= memory / SMALL;
    }

    private long limit(long total) {
        long limit = isSmall(total) ? memory : maximumOfRequest();
        if (total > limit) {
            throw new ResponseStatusException(
                    HttpStatus.CONTENT_TOO_LARGE,
                    "the request takes %d bytes of memory, of at most %d; send less, or raise '%s', which is %d"
                            .formatted(total, limit, MEMORY, memory));
        }
        return limit;
    }

    private void checkFree(long bytes, long before, long limit) {
        if (before + bytes > limit) {
            throw new Busy(
                    "requests in flight hold %d of %d bytes that this one may use, and it needs %d more; try again later, or raise '%s'"
                            .formatted(before, limit, bytes, MEMORY),
                    null);
        }
    }

    void refund(long bytes) {
        charged.addAndGet(-bytes);
    }

    /** The server is busy; the same request may succeed later. */
    private static final class Busy extends ResponseStatusException {
        private static final long serialVersionUID = 1L;

        Busy(String reason, @Nullable Throwable cause) {
            super(HttpStatus.SERVICE_UNAVAILABLE, reason, cause);
        }

        @Override
        public HttpHeaders getHeaders() {
            HttpHeaders headers = new HttpHeaders();
            headers.set(HttpHeaders.RETRY_AFTER, "1");
            return headers;
        }
    }
}
