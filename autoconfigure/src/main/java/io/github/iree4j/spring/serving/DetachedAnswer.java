package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.http.ClientConnection;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A large answer of Spring MVC on Tomcat, encoded by a virtual thread: a client that reads slowly then holds neither a
 * thread of the container nor a place. A small answer fits into the memory that the system has for the connection, and
 * is not worth another thread.
 *
 * <p>Only threads of the container write, while the container can take bytes: a blocked write, or a write during the
 * container's own, would go on when the container uses the response for another request.
 */
final class DetachedAnswer implements AsyncListener, WriteListener {

    private static final Logger log = LoggerFactory.getLogger(DetachedAnswer.class);

    private static final int SMALL = 1 << 13;

    /** Bytes lent at once, not charged: each part costs two switches of threads. */
    private static final int PART = 1 << 16;

    private final AsyncContext context;
    private final ClientConnection connection;
    private final Inference inference;
    private final ServletOutputStream out;
    private boolean begun; // guarded by this, as are the next fields
    private boolean encoded;
    private boolean over;
    private byte @Nullable [] part; // to be written, until sent
    private boolean given; // the part, to the container
    private int offset;
    private int length;
    private long read; // by the client, but for a rest in the memory of the system

    private DetachedAnswer(
            AsyncContext context, ClientConnection connection, Inference inference, ServletOutputStream out) {
        this.context = context;
        this.connection = connection;
        this.inference = inference;
        this.out = out;
    }

    /**
     * Begins to write a large answer, and owns the inference from then on.
     *
     * @return false for a small answer, and where the container, a filter or a servlet does not support writing later
     */
    static boolean begin(HttpServletRequest request, HttpServletResponse response, Inference inference)
            throws IOException {
        ClientConnection connection = ClientConnection.current();
        if (connection == null || !request.isAsyncSupported() || inference.size() <= SMALL) {
            return false;
        }
        ServletOutputStream out = response.getOutputStream();
        response.flushBuffer(); // filters may set headers until the container's thread is done
        if (!response.isCommitted()) {
            return false; // a filter keeps the answer
        }
        AsyncContext context = request.startAsync();
        context.setTimeout(0);
        DetachedAnswer answer = new DetachedAnswer(context, connection, inference, out);
        context.addListener(answer);
        inference.place().passOn();
        inference.body().endUnread(() -> answer.end(false));
        out.setWriteListener(answer);
        return true;
    }

    /** Writes until the client has to read. Waits only for the virtual thread: the values to encode are on the heap. */
    @Override
    public void onWritePossible() throws IOException {
        if (begin()) {
            Thread.ofVirtual().name("iree4j-answer").start(this::encode);
        }
        synchronized (this) {
            while (!over && out.isReady()) { // the container has sent all given bytes
                if (given) {
                    given = false;
                    read += length;
                    part = null;
                    notifyAll();
                }
                await(Long.MAX_VALUE, () -> part == null && !encoded);
                if (part == null) {
                    end(encoded);
                    return;
                }
                out.write(part, offset, length);
                given = true;
            }
        }
    }

    private synchronized boolean begin() {
        boolean first = !begun;
        begun = true;
        return first;
    }

    private void encode() {
        boolean whole = false;
        try (inference) {
            int part = (int) Math.min(PART, inference.size());
            OutputStream timed = inference.body().timed(new BufferedOutputStream(new Parts(), part));
            inference.write(timed);
            timed.flush();
            whole = true;
        } catch (IOException | RuntimeException e) { // clients decide how often
            log.debug("an answer ends early: {}", e.toString());
        } finally {
            encoded(whole);
        }
    }

    private synchronized void encoded(boolean whole) {
        encoded = whole;
        notifyAll();
        if (!whole) {
            end(false);
        }
    }

    /**
     * Lends parts to the container's thread, each until sent: the container keeps a copy of the bytes not taken by the
     * client.
     */
    private final class Parts extends OutputStream {
        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int start, int count) throws IOException {
            synchronized (DetachedAnswer.this) {
                part = bytes;
                offset = start;
                length = count;
                DetachedAnswer.this.notifyAll();
                await(inference.body().patience(read), () -> part != null);
                if (part != null) {
                    part = null;
                    throw over
                            ? new IOException("the connection has ended")
                            : new SocketTimeoutException("the client is too slow: %d bytes read".formatted(read));
                }
            }
        }
    }

    /** Waits while a condition holds and the request is not over. Under the monitor. */
    private void await(long nanos, BooleanSupplier condition) throws IOException {
        long begun = System.nanoTime();
        while (!over && condition.getAsBoolean()) {
            long left = nanos - (System.nanoTime() - begun);
            if (left <= 0) {
                return;
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while a client reads");
            }
        }
    }

    private synchronized void end(boolean whole) {
        if (over) {
            return;
        }
        over = true;
        notifyAll();
        if (whole) {
            complete();
        } else {
            connection.end();
        }
    }

    private void complete() {
        try {
            context.complete();
        } catch (IllegalStateException e) { // the container has ended the request
            log.debug("an answer's request is over: {}", e.toString());
        }
    }

    /** The container ends the request. */
    private void over() {
        boolean unwritten;
        synchronized (this) {
            over = true;
            notifyAll();
            unwritten = !begun;
            begun = true;
        }
        if (unwritten) {
            inference.close();
        }
    }

    @Override
    public void onError(Throwable failure) {
        over();
        complete();
    }

    @Override
    public void onError(AsyncEvent event) {
        over();
        complete(); // otherwise the container would look for an answer that reports the failure
    }

    @Override
    public void onComplete(AsyncEvent event) {
        over();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        over();
    }

    @Override
    public void onStartAsync(AsyncEvent event) {
        // of another wait with a separate listener
    }
}
