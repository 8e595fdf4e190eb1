package io.github.iree4j.spring.autoconfigure.http;

import jakarta.servlet.ServletException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.ActionCode;
import org.apache.tomcat.util.net.ApplicationBufferHandler;

/**
 * Ends connections of requests answered before their bodies have arrived, such as failed requests or requests without a
 * use for the body. Tomcat reads the rest of such a body, on a pool thread for as long as the client likes. This valve
 * reads only a few rests at a time, for a moment, so clients still sending see the response.
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
        if (response.getStatus() < 200 || request.isAsync() || isRead(request)) { // below 200: an upgrade
            return;
        }
        if (!response.isCommitted()) {
            readArrived(request);
            if (isRead(request)) {
                return;
            }
            response.setHeader(
                    "Connection", "close"); // otherwise the client may send the next request to a closed connection
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

    /** Reads the arrived bytes: a connection whose small body arrived with the header stays open. */
    private static void readArrived(Request request) {
        if (request.getCoyoteRequest().hasExpectation()) {
            return;
        }
        try {
            for (int count = 0; count < MOST && !isRead(request) && hasArrived(request); ) {
                count += discard(request);
            }
        } catch (IOException e) {
            abandon(request);
        }
    }

    private static void readRest(Request request) {
        try {
            long end = System.nanoTime() + MOMENT;
            for (int count = 0; !isRead(request) && count < MOST && System.nanoTime() - end < 0; ) {
                if (hasArrived(request)) {
                    count += discard(request);
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

    /** Reads some bytes below the request's stream, which the application may have closed; returns the number of bytes. */
    private static int discard(Request request) throws IOException {
        return Math.max(0, request.getCoyoteRequest().doRead(new Discarded()));
    }

    /** A sink for bytes. */
    private static final class Discarded implements ApplicationBufferHandler {
        private ByteBuffer bytes = ByteBuffer.allocate(0);

        @Override
        public void setByteBuffer(ByteBuffer buffer) {
            bytes = buffer;
        }

        @Override
        public ByteBuffer getByteBuffer() {
            return bytes;
        }

        @Override
        public void expand(int size) {
            // Tomcat lends its own buffer.
        }
    }

    /** Returns whether a read would not wait. */
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
