package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A stream of events to a client that must keep up: of the time between events, only the time spent in writing counts
 * against {@link BodyLimits#patience}.
 */
final class SteadyOutput extends FilterOutputStream {
    private final BodyLimits limits;
    private final LongSupplier nanoTime;
    private long written;
    private long waited;

    SteadyOutput(OutputStream out, BodyLimits limits, LongSupplier nanoTime) {
        super(out);
        this.limits = limits;
        this.nanoTime = nanoTime;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        long begun = nanoTime.getAsLong();
        out.write(bytes, offset, length);
        written += length;
        check(begun);
    }

    @Override
    public void flush() throws IOException {
        long begun = nanoTime.getAsLong();
        out.flush();
        check(begun);
    }

    private void check(long begun) throws IOException {
        waited += nanoTime.getAsLong() - begun;
        if (waited > limits.patience(written)) {
            limits.counts().refuse(Reason.UNREAD);
            throw new IOException(
                    "the client is too slow: %d bytes read in %d ms; raise 'iree.http.body-timeout' if it may be"
                            .formatted(written, TimeUnit.NANOSECONDS.toMillis(waited)));
        }
    }
}
