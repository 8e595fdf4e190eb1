package io.github.iree4j.spring.autoconfigure.http;

import jakarta.servlet.ServletException;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.ActionCode;

/**
 * Ends connections of failed requests whose bodies have not arrived. Tomcat reads the rest of such a body, on a thread
 * of its pool for as long as the client likes; here only a few at a time are read, for a moment, so that clients which
 * are still sending see the response.
 */
final class UnreadBodyValve extends ValveBase {

    private static final int AT_ONCE = 4;
    private static final int MOST = 2 << 20;
    private static final long MOMENT = Duration.ofSeconds(1).toNanos();
    private static final long PAUSE = Duration.ofMillis(5).toNanos();

    private final Semaphore readers = new Semaphore(AT_ONCE);

    UnreadBodyValve() {
        super(true);
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        getNext().invoke(request, response);
        if (response.getStatus() < 400 || request.isAsync() || isRead(request)) {
            return;
        }
        if (request.getCoyoteRequest().hasExpectation() || !readers.tryAcquire()) {
            abandon(request);
            return;
        }
        try {
            response.finishResponse();
            readRest(request);
        } finally {
            readers.release();
        }
    }

    private static void readRest(Request request) {
        try {
            InputStream in = request.getStream();
            byte[] unused = new byte[1 << 13];
            long end = System.nanoTime() + MOMENT;
            for (int count = 0; !isRead(request) && count < MOST && System.nanoTime() - end < 0; ) {
                if (hasArrived(request)) {
                    count += Math.max(0, in.read(unused));
                } else {
                    LockSupport.parkNanos(PAUSE);
                }
            }
        } catch (IOException e) {
            abandon(request); // the client has closed the connection
            return;
        }
        if (!isRead(request)) {
            abandon(request);
        }
    }

    /** Whether a read would not wait. */
    private static boolean hasArrived(Request request) {
        request.getCoyoteRequest().action(ActionCode.AVAILABLE, Boolean.TRUE);
        return request.getCoyoteRequest().getAvailable() > 0;
    }

    private static boolean isRead(Request request) {
        AtomicBoolean read = new AtomicBoolean();
        request.getCoyoteRequest().action(ActionCode.REQUEST_BODY_FULLY_READ, read);
        return read.get();
    }

    private static void abandon(Request request) {
        request.getCoyoteRequest().action(ActionCode.DISABLE_SWALLOW_INPUT, null);
    }
}
