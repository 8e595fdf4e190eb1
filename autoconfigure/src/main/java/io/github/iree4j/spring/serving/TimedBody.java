package io.github.iree4j.spring.serving;

import io.github.iree4j.status.DurationText;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/**
 * The body of a request as a blocking stream with a time limit for each read, even if single bytes keep arriving.
 * Subscribes to the body when bytes are first asked for: a stream closed before its subscription has arrived would keep the buffers
 * that follow. Read by one thread.
 */
final class TimedBody extends InputStream {

    /** Number of buffers requested at a time. */
    private static final int DEMAND = 8;

    /** Maximum number of bytes of a read, so that a client sending at a slow but fair rate is in time. */
    private static final int PART = 1 << 16;

    /** Time for the bytes sent together with the headers: the event loop hands them over after the subscription. */
    private static final long BRIEF_MILLIS = 100;

    private final Flux<DataBuffer> buffers;
    private final Duration limit;
    private final Scheduler scheduler;
    private final CountDownLatch first = new CountDownLatch(1); // until a part has arrived, or the body has ended
    private final AtomicInteger unread = new AtomicInteger(); // bytes arrived
    private volatile @Nullable InputStream in; // null until the first read
    private volatile @Nullable Disposable look; // null until the first read
    private volatile long since; // when the current read began; 0 without a current read
    private volatile boolean late;
    private volatile boolean closed;

    /**
     * Creates a body.
     *
     * @param buffers the body
     * @param limit of each read
     * @param scheduler checks whether a read is late
     */
    TimedBody(Flux<DataBuffer> buffers, Duration limit, Scheduler scheduler) {
        this.buffers = buffers;
        this.limit = limit;
        this.scheduler = scheduler;
    }

    private InputStream subscribed() {
        InputStream body = in;
        if (body == null) {
            body = DataBufferUtils.subscriberInputStream(
                    buffers.doOnSubscribe(subscription -> {
                                if (closed) { // meanwhile: the buffers are nobody's
                                    subscription.cancel();
                                }
                            })
                            .doOnNext(each -> {
                                unread.addAndGet(each.readableByteCount());
                                first.countDown();
                            })
                            .doFinally(_ -> first.countDown()),
                    DEMAND);
            in = body;
            lookAfter(limit.toNanos());
        }
        return body;
    }

    private void lookAfter(long nanos) {
        Disposable next = scheduler.schedule(this::look, nanos, TimeUnit.NANOSECONDS);
        look = next;
        if (closed) {
            next.dispose();
        }
    }

    private long now() {
        return Math.max(1, scheduler.now(TimeUnit.NANOSECONDS));
    }

    private void look() {
        long begun = since;
        long left = limit.toNanos() - (begun == 0 ? 0 : now() - begun);
        if (left > 0) {
            lookAfter(left);
            return;
        }
        late = true;
        try {
            subscribed().close(); // wakes the reader
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int wanted) throws IOException {
        InputStream body = subscribed();
        since = now();
        int read;
        try {
            read = body.read(target, offset, Math.min(wanted, PART));
        } finally {
            since = 0;
        }
        if (late) {
            throw new SocketTimeoutException("a part of the body has not arrived in " + DurationText.of(limit));
        }
        unread.addAndGet(-Math.max(0, read));
        return read;
    }

    /** Returns the number of bytes that have arrived; waits briefly for the first. */
    @Override
    public int available() {
        subscribed();
        try {
            return first.await(BRIEF_MILLIS, TimeUnit.MILLISECONDS) ? unread.get() : 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        InputStream body = in;
        Disposable last = look;
        if (last != null) {
            last.dispose();
        }
        if (body != null) {
            body.close();
        }
    }
}
