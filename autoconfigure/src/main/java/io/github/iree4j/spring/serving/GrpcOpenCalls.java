package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.http.RequestCounts;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import io.github.iree4j.spring.http.RequestCounts.Work;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Limits the open calls of all connections of a server. A client may begin calls without waiting for the server's
 * settings, and keep refused calls open by not reading their status: another refusal would take memory, too. Instead,
 * the connection beginning the excess call is closed. Called by the transport's threads.
 */
final class GrpcOpenCalls extends ServerStreamTracer.Factory {

    private final int maximum;
    private final RequestCounts counts;
    private final TooManyCalls failure;
    private final AtomicInteger open = new AtomicInteger();

    /**
     * Creates the limit.
     *
     * @param maximum maximum number of open calls
     * @param counts receives the numbers of open and refused calls
     */
    GrpcOpenCalls(int maximum, RequestCounts counts) {
        this.maximum = maximum;
        this.counts = counts;
        counts.measure(Work.CALLS, open::get);
        this.failure = new TooManyCalls(
                "%d calls are open; wait for some, or raise 'iree.serving.grpc.max-calls'".formatted(maximum));
    }

    /** Returns the number of open calls at some moment. */
    int open() {
        return open.get();
    }

    @Override
    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
        if (open.incrementAndGet() > maximum) {
            open.decrementAndGet();
            counts.refuse(Reason.CALLS);
            throw failure;
        }
        return new OpenCall();
    }

    private final class OpenCall extends ServerStreamTracer {
        private final AtomicBoolean closed = new AtomicBoolean();

        @Override
        public void streamClosed(Status status) {
            if (closed.compareAndSet(false, true)) {
                open.decrementAndGet();
            }
        }
    }

    /** An error: for an exception, transports would only reset the call and log the exception. */
    private static final class TooManyCalls extends Error {
        private static final long serialVersionUID = 1L;

        TooManyCalls(String message) {
            super(message, null, false, false); // a single instance, thrown in a flood
        }
    }
}
