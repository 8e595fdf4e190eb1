package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.serving.GrpcArrival.Arrived;
import io.github.iree4j.spring.serving.GrpcWork.Answer;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A call: a message and an answer, or a stream of such pairs processed sequentially. Ending the call cancels pending
 * work. An unread answer is kept for as long as a body of the same size may take; then the client is disconnected.
 */
final class GrpcCall extends ServerCall.Listener<InputStream> {

    private static final String GIVEN_UP =
            "others need the memory or the place of an answer that the client has not read";

    private final ServerCall<InputStream, GrpcMessage> call;
    private final GrpcArrival arrival;
    private final Method method;
    private final LongUnaryOperator patience;
    /** Encodes a failure as a message of a stream, after which the stream continues; null for a call with one answer. */
    private final @Nullable Function<Status, GrpcMessage> failures;
    /** Runs once, when the transport has forgotten the call. */
    private final Consumer<GrpcCall> forgotten;

    private @Nullable GrpcWork work; // guarded by this, as are the next fields
    /** Ends the request whose answer is unread. */
    private @Nullable Runnable unread;

    private @Nullable Future<?> impatience;
    private boolean any;
    private boolean begun;
    private boolean busy;
    private boolean halfClosed;
    private boolean over;

    /** Handles a message. */
    @FunctionalInterface
    interface Method {
        /**
         * Begins to work.
         *
         * @param message the message, read before this method returns
         * @param arrived the limits of the message; closed by the work, unless this method throws
         */
        GrpcWork begin(InputStream message, Arrived arrived) throws IOException;
    }

    /**
     * Begins a call.
     *
     * @param patience time limit for reading an answer of the given number of bytes, in nanoseconds
     * @param failures encodes failures for a stream; null for a call with one answer
     * @param forgotten runs once, when the transport has forgotten the call
     */
    GrpcCall(
            ServerCall<InputStream, GrpcMessage> call,
            GrpcArrival arrival,
            Method method,
            LongUnaryOperator patience,
            @Nullable Function<Status, GrpcMessage> failures,
            Consumer<GrpcCall> forgotten) {
        this.call = call;
        this.arrival = arrival;
        this.method = method;
        this.patience = patience;
        this.failures = failures;
        this.forgotten = forgotten;
    }

    void begin() {
        arrival.onRefusal(failure -> end(GrpcStatuses.of(failure)));
        synchronized (this) {
            if (!over) {
                call.request(1);
            }
        }
    }

    @Override
    public void onMessage(InputStream message) {
        synchronized (this) {
            if (over) {
                return;
            }
            any = true;
            busy = true;
        }
        GrpcWork begun;
        try {
            begun = begin(message);
        } catch (Exception | OutOfMemoryError e) {
            fail(e);
            return;
        }
        boolean late;
        synchronized (this) {
            late = over;
            work = begun;
        }
        if (late) {
            begun.cancel().run();
        }
        begun.answer().whenComplete((made, failure) -> {
            if (failure != null) {
                fail(failure);
            } else {
                send(made);
            }
        });
    }

    private GrpcWork begin(InputStream message) throws IOException {
        Arrived arrived = arrival.take();
        boolean accepted = false;
        try {
            GrpcWork begun = method.begin(message, arrived);
            accepted = true;
            return begun;
        } finally {
            if (!accepted) {
                arrived.body().close();
            }
        }
    }

    private void fail(Throwable failure) {
        Status status = GrpcStatuses.of(failure);
        if (failures == null) {
            end(status, GrpcStatuses.trailers(failure));
        } else {
            send(new Answer(failures.apply(status), _ -> {}, () -> {}));
        }
    }

    private void send(Answer made) {
        boolean sent = false;
        synchronized (this) {
            if (!over) {
                sent = true;
                unread = made.read();
                work = null;
                if (!begun) {
                    begun = true;
                    call.sendHeaders(new Metadata());
                }
                try {
                    call.sendMessage(made.message());
                    made.message().detach();
                } finally {
                    made.written().accept(() -> arrival.abort(GIVEN_UP));
                }
                impatience = arrival.abortAfter(
                        patience.applyAsLong(made.message().size()), "the client does not read its answer");
                if (failures == null) {
                    over = true;
                    call.close(Status.OK, new Metadata());
                } else if (call.isReady()) {
                    next();
                }
            }
        }
        if (!sent) {
            made.written().accept(() -> {});
            made.read().run();
        }
    }

    /** Continues with the next message, once the client has read enough of the last answer. */
    private void next() {
        release();
        busy = false;
        if (halfClosed) {
            over = true;
            call.close(Status.OK, new Metadata());
        } else {
            call.request(1);
        }
    }

    @Override
    public synchronized void onReady() {
        if (busy && unread != null && !over) {
            next();
        }
    }

    @Override
    public void onHalfClose() {
        Status status = null;
        synchronized (this) {
            halfClosed = true;
            if (!any && failures == null) {
                status = Status.INVALID_ARGUMENT.withDescription("the call has no message");
            } else if (!busy && failures != null) {
                status = Status.OK;
            }
        }
        if (status != null) {
            end(status);
        }
    }

    /** Ends a stream after the answer in progress. */
    void finish() {
        synchronized (this) {
            halfClosed = true;
            if (busy) {
                return;
            }
        }
        end(Status.UNAVAILABLE.withDescription("the server stops"));
    }

    /** Ends the call, unless already ended. */
    void end(Status status) {
        end(status, new Metadata());
    }

    private void end(Status status, Metadata trailers) {
        GrpcWork ended;
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
            ended = work;
            call.close(status, trailers);
        }
        if (ended != null) {
            ended.cancel().run();
        }
    }

    @Override
    public void onCancel() {
        GrpcWork ended;
        synchronized (this) {
            over = true;
            ended = work;
            release();
        }
        if (ended != null) {
            ended.cancel().run();
        }
        forgotten.accept(this);
    }

    @Override
    public void onComplete() {
        release();
        forgotten.accept(this);
    }

    private synchronized void release() {
        if (impatience != null) {
            impatience.cancel(false);
        }
        if (unread != null) {
            unread.run();
            unread = null;
        }
    }
}
