package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import io.grpc.Context;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ResponseStatusException;

/**
 * The arriving messages of a call. The transport keeps a message until the message is complete. Bytes are charged on
 * arrival, and a message that takes too long or too much memory ends the call. Called by the transport's threads.
 */
final class GrpcArrival extends ServerStreamTracer {

    /** Context key for the arrival of the current call. */
    static final Context.Key<GrpcArrival> KEY = Context.key("iree4j-arrival");

    private static final long LOOK_SECONDS = 1;

    private final BodyLimits limits;
    private final long maximum;
    private final @Nullable ScheduledExecutorService timer;
    // guarded by this, as are the next fields except the context
    private final Deque<Arrived> complete = new ArrayDeque<>();
    private @Nullable LimitedBody body;
    private long charged;
    private @Nullable Future<?> look;
    private @Nullable RuntimeException refusal;
    private @Nullable Consumer<RuntimeException> listener;
    private volatile Context.@Nullable CancellableContext context;
    private boolean closed;

    /**
     * A message that has arrived.
     *
     * @param body the limits of the message; the receiver closes the body when the request has ended
     * @param charged number of bytes charged so far
     */
    record Arrived(LimitedBody body, long charged) {}

    /**
     * Creates the arrival of a call.
     *
     * @param limits the limits of all requests
     * @param maximum maximum length of a message in bytes
     * @param timer looks for messages that take too long; null for a transport delivering whole messages
     */
    GrpcArrival(BodyLimits limits, long maximum, @Nullable ScheduledExecutorService timer) {
        this.limits = limits;
        this.maximum = maximum;
        this.timer = timer;
    }

    /** Expects a message from now on, rather than from the first byte of the message. */
    synchronized void expect() {
        begin();
    }

    @Override
    public synchronized Context filterContext(Context parent) {
        Context.CancellableContext own = parent.withValue(KEY, this).withCancellation();
        context = own;
        return own;
    }

    @Override
    public synchronized void inboundWireSize(long bytes) {
        if (closed || refusal != null) {
            return;
        }
        begin();
        if (body != null) {
            try {
                body.receive((int) bytes);
                charged += bytes;
            } catch (ResponseStatusException e) {
                refuse(e);
            }
        }
    }

    @Override
    public synchronized void inboundMessageRead(int number, long wireSize, long size) {
        begin(); // an empty message
        if (body != null) {
            body.complete();
            complete.add(new Arrived(body, charged));
            body = null;
            charged = 0;
            stopLooking();
        }
    }

    @Override
    public synchronized void streamClosed(Status status) {
        closed = true;
        stopLooking();
        if (body != null) {
            body.close();
            body = null;
        }
        complete.forEach(each -> each.body().close());
        complete.clear();
        if (context != null) {
            context.cancel(null);
        }
    }

    private void begin() {
        if (body != null || closed || refusal != null) {
            return;
        }
        try {
            body = limits.receive(InputStream.nullInputStream(), -1, maximum, BodyLimits.SIZE);
            look(limits.timeout().toNanos());
        } catch (ResponseStatusException e) {
            refuse(e);
        }
    }

    private void look(long nanos) {
        if (timer != null) {
            look = timer.schedule(this::checkTime, nanos, TimeUnit.NANOSECONDS);
        }
    }

    private synchronized void checkTime() {
        if (body == null || closed || refusal != null) {
            return;
        }
        try {
            body.receive(0);
            look(TimeUnit.SECONDS.toNanos(LOOK_SECONDS));
        } catch (ResponseStatusException e) {
            refuse(e);
        }
    }

    private void stopLooking() {
        if (look != null) {
            look.cancel(false);
        }
    }

    private void refuse(RuntimeException failure) {
        refusal = failure;
        stopLooking();
        if (body != null) {
            body.close();
            body = null;
        }
        Consumer<RuntimeException> notified = listener;
        if (notified != null) {
            Thread.ofVirtual().name("iree4j-serving").start(() -> notified.accept(failure)); // not on the event loop
        }
    }

    /** Registers a callback, run once if the call is refused; immediately if the call has been refused already. */
    void onRefusal(Consumer<RuntimeException> notified) {
        RuntimeException failure;
        synchronized (this) {
            failure = refusal;
            listener = notified;
        }
        if (failure != null) {
            notified.accept(failure);
        }
    }

    /**
     * Returns the next message that has arrived.
     *
     * @throws ResponseStatusException if the limits do not allow the message
     */
    synchronized Arrived take() {
        Arrived next = complete.poll();
        if (next == null) { // the transport reports no arrivals
            next = new Arrived(limits.receive(InputStream.nullInputStream(), -1, maximum, BodyLimits.SIZE), 0);
            next.body().complete();
        }
        return next;
    }

    /** Ends the connection's part of the call after the given nanoseconds, unless the result is cancelled. */
    Future<?> abortAfter(long nanos, String reason) {
        if (timer == null) {
            return new CompletableFuture<>();
        }
        return timer.schedule(
                () -> {
                    limits.counts().refuse(Reason.UNREAD);
                    abort(reason);
                },
                nanos,
                TimeUnit.NANOSECONDS);
    }

    /** Ends the connection's part of the call. */
    void abort(String reason) {
        Context.CancellableContext own = context;
        if (own != null) {
            own.cancel(new TimeoutException(reason));
        }
    }
}
