package io.github.iree4j.spring.http;

import io.github.iree4j.Results;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.spring.ForwardedCall;
import io.github.iree4j.spring.InvocationChain;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

/**
 * Ends calls of Spring MVC clients that have closed their connections. While the thread serving a request waits in a
 * call, nothing reads the connection, so this interceptor checks the connection every second. Calls whose threads do
 * not wait are left alone. Thread-safe.
 */
@NotForApplications
public final class DisconnectInterceptor implements InvocationInterceptor, Ordered {

    private static final int INTERVAL_SECONDS = 1;

    private final ThreadDeadlines deadlines = new ThreadDeadlines();
    private final Set<Watch> watches = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean armed = new AtomicBoolean();
    private final Executor later;

    /** Creates an interceptor. */
    public DisconnectInterceptor() {
        this(CompletableFuture.delayedExecutor(INTERVAL_SECONDS, TimeUnit.SECONDS));
    }

    /** Creates an interceptor that checks connections when {@code later} runs a submitted task. */
    DisconnectInterceptor(Executor later) {
        this.later = later;
    }

    @Override
    public int getOrder() {
        return (OBSERVATION_ORDER + RESILIENCE_ORDER) / 2; // outside of retries
    }

    @Override
    public CompletableFuture<Results> intercept(InvocationRequest request, InvocationChain chain) {
        ClientConnection connection = request.blocking() ? ClientConnection.current() : null;
        if (connection == null) {
            return chain.proceed(request);
        }
        ThreadDeadlines.Deadline here = deadlines.begin(null);
        Watch watch = new Watch(connection, here::interrupt);
        watches.add(watch);
        arm();
        CompletableFuture<Results> call;
        try {
            call = chain.proceed(request);
        } catch (RuntimeException | Error e) {
            watch.end(); // the container uses the connection for other requests
            throw e;
        } finally {
            here.end();
        }
        if (!call.isDone()) { // made elsewhere: this thread waits for the call
            watch.instead(() -> call.completeExceptionally(failure(request, null)));
            return new ForwardedCall(call, (_, settle) -> {
                watch.end(); // before the waiting thread goes on, and the container uses the connection again
                settle.run();
            });
        }
        watch.end();
        return watch.hasEndedIt && call.state() == CompletableFuture.State.FAILED
                ? CompletableFuture.failedFuture(failure(request, call.exceptionNow()))
                : call;
    }

    private static IreeException failure(InvocationRequest request, @Nullable Throwable cause) {
        return IreeException.of(
                StatusCode.CANCELLED,
                "call of '%s' was cancelled: its client has closed the connection"
                        .formatted(request.function().fullName()),
                cause);
    }

    private void arm() {
        if (armed.compareAndSet(false, true)) {
            later.execute(this::look);
        }
    }

    private void look() {
        watches.forEach(Watch::look);
        armed.set(false); // before the check: a watch beginning meanwhile arms the timer itself
        if (!watches.isEmpty()) {
            arm();
        }
    }

    /** A connection during a call. During a check, the monitor keeps the request's thread in the call. */
    private final class Watch {
        private final ClientConnection connection;
        private Runnable ending;
        private boolean over;
        private volatile boolean hasEndedIt;

        Watch(ClientConnection connection, Runnable ending) {
            this.connection = connection;
            this.ending = ending;
        }

        synchronized void look() {
            if (!over && !hasEndedIt && connection.isClosed()) {
                hasEndedIt = true;
                ending.run();
            }
        }

        /** Sets the action ending the call from now on; runs the action if an end was requested before. */
        void instead(Runnable other) {
            synchronized (this) {
                ending = other;
            }
            if (hasEndedIt) {
                other.run();
            }
        }

        synchronized void end() {
            over = true;
            watches.remove(this);
        }
    }
}
