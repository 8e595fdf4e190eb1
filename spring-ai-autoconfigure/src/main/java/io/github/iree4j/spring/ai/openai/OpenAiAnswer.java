package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.spring.http.LimitedBody;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;

/**
 * The answer to a request: complete, or a stream that generates while being written. Closing the answer ends the
 * generation, and gives the memory and the place of the request back.
 */
final class OpenAiAnswer implements AutoCloseable {
    private static final String EVENTS = "text/event-stream;charset=utf-8";

    private final byte @Nullable [] bytes;
    private final @Nullable Completion completion;
    private final BooleanSupplier gone;
    private final LimitedBody body;
    private final Runnable leave;
    private final AtomicBoolean closed = new AtomicBoolean();

    private OpenAiAnswer(
            byte @Nullable [] bytes,
            @Nullable Completion completion,
            BooleanSupplier gone,
            LimitedBody body,
            Runnable leave) {
        this.bytes = bytes;
        this.completion = completion;
        this.gone = gone;
        this.body = body;
        this.leave = leave;
    }

    /** Returns a complete answer, which owns the body and the place. */
    static OpenAiAnswer whole(byte[] bytes, LimitedBody body, Runnable leave) {
        return new OpenAiAnswer(bytes, null, () -> false, body, leave);
    }

    /** Returns a stream, which owns the completion, the body and the place. */
    static OpenAiAnswer stream(Completion completion, BooleanSupplier gone, LimitedBody body, Runnable leave) {
        return new OpenAiAnswer(null, completion, gone, body, leave);
    }

    String contentType() {
        return bytes == null ? EVENTS : MediaType.APPLICATION_JSON_VALUE;
    }

    boolean isStream() {
        return bytes == null;
    }

    LimitedBody body() {
        return body;
    }

    /** Returns the length in bytes; negative for a stream. */
    long length() {
        return bytes == null ? -1 : bytes.length;
    }

    /** Writes the answer; does not close the stream. */
    void writeTo(OutputStream out) throws IOException {
        if (completion != null) {
            completion.stream(out, gone);
        } else if (bytes != null) {
            out.write(bytes);
        }
    }

    /** Idempotent. On any thread. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            if (completion != null) {
                completion.cancel();
            }
            body.close();
            leave.run();
        }
    }
}
