package io.github.iree4j.spring.http;

import io.github.iree4j.spring.http.RequestCounts.Reason;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.async.AsyncRequestNotUsableException;

/**
 * An answer written in parts: after each part, the client must have kept up with {@link BodyLimits#patience}, and the
 * answer must not have given way to others.
 */
final class TimedOutput extends FilterOutputStream {

    private static final int PART = 1 << 14;

    private final BodyLimits limits;
    private final LimitedBody body;
    private final @Nullable ClientConnection connection;
    private final long begun;
    private long count;
    private boolean late;

    TimedOutput(BodyLimits limits, LimitedBody body, OutputStream out) {
        super(out);
        this.limits = limits;
        this.body = body;
        this.connection = ClientConnection.current();
        this.begun = limits.now();
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        for (int done = 0; done < length; ) {
            int part = Math.min(length - done, PART);
            int start = offset + done;
            counting(() -> out.write(bytes, start, part));
            done += part;
            count += part;
            long nanos = limits.now() - begun;
            if (body.isGivenUp()) {
                throw failure("others need the memory or the place of an answer that the client has not read", nanos);
            }
            if (nanos > limits.patience(count)) {
                countLate();
                throw failure("the client is too slow", nanos);
            }
        }
    }

    /** Passes on the bytes kept by another stream: the client may be too slow to read these, too. */
    @Override
    public void flush() throws IOException {
        counting(out::flush);
    }

    /** Passes bytes on. */
    @FunctionalInterface
    private interface Passing {
        void run() throws IOException;
    }

    private void counting(Passing passing) throws IOException {
        try {
            passing.run();
        } catch (IOException e) {
            if (e instanceof SocketTimeoutException || e.getCause() instanceof SocketTimeoutException) {
                countLate();
            }
            throw e;
        }
    }

    /** Counts the answer as unread, once: writers of JSON flush again after a failure. */
    private void countLate() {
        if (!late && !body.isGivenUp()) { // an answer that gave way is counted there
            limits.counts().refuse(Reason.UNREAD);
        }
        late = true;
    }

    private IOException failure(String reason, long nanos) {
        String text = "%s: %d bytes read in %d ms; raise '%s' if it may be"
                .formatted(reason, count, TimeUnit.NANOSECONDS.toMillis(nanos), BodyLimits.TIMEOUT);
        if (connection == null) {
            IOException failure = new IOException(text);
            failure.setStackTrace(new StackTraceElement[0]); // clients decide how often servers log the failure
            return failure;
        }
        connection.end();
        return new AsyncRequestNotUsableException(text); // Spring MVC does not pass this on to the container's log
    }
}
