package io.github.iree4j.spring.serving;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A request of a servlet container that waits for its turn, without a thread: it is dispatched again when that is decided. */
final class WaitingRequest implements AsyncListener {

    private static final String ATTRIBUTE = WaitingRequest.class.getName();

    /** How long after the end of its time in line a request has been dispatched. */
    private static final Duration LATEST = Duration.ofSeconds(30);

    private final Received received;

    private WaitingRequest(Received received) {
        this.received = received;
    }

    /** Takes what has waited off a request that was dispatched again; null if it is the first time. */
    static @Nullable Received of(HttpServletRequest request) {
        return (Received) request.getAttribute(ATTRIBUTE);
    }

    /**
     * Begins to wait, and owns the request meanwhile.
     *
     * @return false where a filter or servlet does not support that
     */
    static boolean begin(HttpServletRequest request, Received received) {
        if (!request.isAsyncSupported()) {
            return false;
        }
        AsyncContext context = request.startAsync();
        context.setTimeout(
                received.turn().limit().plus(LATEST).toMillis()); // Tomcat does not tell that it could not dispatch
        context.addListener(new WaitingRequest(received));
        request.setAttribute(ATTRIBUTE, received);
        received.turn().whenDecided(() -> {
            try {
                context.dispatch();
            } catch (RuntimeException | Error e) { // the container has ended the request, or has no thread for it
                received.close();
            }
        });
        return true;
    }

    @Override
    public void onComplete(AsyncEvent event) {
        received.close();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        received.close();
    }

    @Override
    public void onError(AsyncEvent event) {
        received.close();
    }

    @Override
    public void onStartAsync(AsyncEvent event) {
        // of another wait, which has its own listener
    }
}
