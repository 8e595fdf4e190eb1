package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;

/** One inference that was made, and its answer; closing it frees what both hold, and lets the next request in. */
final class Inference implements AutoCloseable {

    private final InferenceRequest request;
    private final Results results;
    private final InferenceResponse response;
    private final Semaphore permits;
    /** The JSON before binary contents; null when all is JSON. */
    private final byte @Nullable [] header;

    private final AtomicBoolean closed = new AtomicBoolean();

    /** Takes over request and results, and one permit. */
    Inference(InferenceRequest request, Results results, InferenceResponse response, Semaphore permits) {
        this.request = request;
        this.results = results;
        this.response = response;
        this.permits = permits;
        this.header = response.isBinary() ? response.header() : null;
    }

    /** Hears of a header of the answer. */
    @FunctionalInterface
    interface HeaderSink {
        void set(String name, String value);
    }

    /** Says which headers the answer has. */
    void describe(HeaderSink headers) {
        if (header == null) {
            headers.set(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_JSON_VALUE);
            return;
        }
        headers.set(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_OCTET_STREAM_VALUE);
        headers.set(OpenInference.HEADER_LENGTH, Integer.toString(header.length));
        headers.set(HttpHeaders.CONTENT_LENGTH, Long.toString(header.length + response.binarySize()));
    }

    /** Writes the body of the answer; the stream stays open. */
    void writeTo(OutputStream out) throws IOException {
        if (header == null) {
            response.writeJson(out);
        } else {
            out.write(header);
            response.writeContents(out);
        }
    }

    static void release(@Nullable InferenceRequest request, @Nullable Results results, Semaphore permits) {
        try (request;
                results) {
            permits.release();
        }
    }

    /** Harmless when repeated. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            release(request, results, permits);
        }
    }
}
