package io.github.iree4j.spring.serving;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A request of a servlet container waiting for its turn without a thread: the request is dispatched again once decided. */
final class WaitingRequest implements AsyncListener {

    private static final String ATTRIBUTE = WaitingRequest.class.getName();

    /** Time limit for dispatching a request after the end of its wait in line. */
    private static final Duration LATEST = Duration.ofSeconds(30);

    private final Received received;

    private WaitingRequest(Received received) {
        this.received = received;
    }

    /** Returns the waiting request of a request dispatched again; null at the first dispatch. */
    static @Nullable Received of(HttpServletRequest request) {
        return (Received) request.getAttribute(ATTRIBUTE);
    }

    /**
     * Begins to wait, and owns the request meanwhile.
     *
     * @return false where a filter or servlet does not support waiting
     */
    static boolean begin(HttpServletRequest request, Received received) {
        if (!request.isAsyncSupported()) {
            return false;
        }
        AsyncContext context = request.startAsync();
        context.setTimeout(received.turn().limit().plus(LATEST).toMillis()); // Tomcat does not report a failed dispatch
        context.addListener(new WaitingRequest(received));
        request.setAttribute(ATTRIBUTE, received);
        received.turn().whenDecided(() -> {
            try {
                context.dispatch();
                // the container has ended the request, or has no thread for the request
            } catch (RuntimeException | Error e) {
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
        // of another wait with a separate listener
    }
}
