package io.github.iree4j.spring.http;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;

/** An answer, written in parts: after each the client must have been as fast as {@link BodyLimits#patience} says. */
final class TimedOutput extends FilterOutputStream {

    private static final int PART = 1 << 14;

    private final BodyLimits limits;
    private final long begun;
    private long count;

    TimedOutput(BodyLimits limits, OutputStream out) {
        super(out);
        this.limits = limits;
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
            out.write(bytes, offset + done, part);
            done += part;
            count += part;
            long nanos = limits.now() - begun;
            if (nanos > limits.patience(count)) {
                IOException failure =
                        new IOException("the client is too slow: %d bytes read in %d ms; raise '%s' if it may be"
                                .formatted(count, TimeUnit.NANOSECONDS.toMillis(nanos), BodyLimits.TIMEOUT));
                failure.setStackTrace(new StackTraceElement[0]); // clients decide how often servers log it
                throw failure;
            }
        }
    }
}
