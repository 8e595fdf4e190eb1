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
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

/**
 * Ends calls of Spring MVC clients that have closed their connections. While the thread serving a request waits in a
 * call, nothing reads the connection, so this interceptor checks the connection every second. Calls whose threads do
 * not wait are left alone. Thread-safe.
 */
@NotForApplications
public final class DisconnectInterceptor implements InvocationInterceptor, Ordered {

    private final ThreadDeadlines deadlines = new ThreadDeadlines();
    private final ClientWatches watches;

    /** Creates an interceptor. */
    public DisconnectInterceptor() {
        this(new ClientWatches(Duration.ofSeconds(1)));
    }

    DisconnectInterceptor(ClientWatches watches) {
        this.watches = watches;
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
        ThreadDeadlines.Work here = deadlines.begin(null);
        ClientWatches.Watch watch = watches.begin(connection::isClosed, here::interrupt);
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
        return watch.end() && call.state() == CompletableFuture.State.FAILED
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
}
