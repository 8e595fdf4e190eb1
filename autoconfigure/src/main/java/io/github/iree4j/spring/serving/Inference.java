package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.spring.http.LimitedBody;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;

/** A completed inference and its response; closing it releases both and their permit. */
final class Inference implements AutoCloseable {

    private final LimitedBody body;
    private final InferenceRequest request;
    private final Results results;
    private final InferenceResponse response;
    private final Semaphore permits;
    /** The JSON that precedes binary contents; null when the whole response is JSON. */
    private final byte @Nullable [] header;

    private final AtomicBoolean closed = new AtomicBoolean();

    /** Takes ownership of the body, the request, the results and one permit. */
    Inference(
            LimitedBody body,
            InferenceRequest request,
            Results results,
            InferenceResponse response,
            Semaphore permits) {
        this.body = body;
        this.request = request;
        this.results = results;
        this.response = response;
        this.permits = permits;
        this.header = response.isBinary() ? response.header() : null;
    }

    /** Receives headers of the response. */
    @FunctionalInterface
    interface HeaderSink {
        void set(String name, String value);
    }

    /** Sets the headers of the response. */
    void describe(HeaderSink headers) {
        if (header == null) {
            headers.set(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_JSON_VALUE);
            return;
        }
        headers.set(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_OCTET_STREAM_VALUE);
        headers.set(OpenInference.HEADER_LENGTH, Integer.toString(header.length));
        headers.set(HttpHeaders.CONTENT_LENGTH, Long.toString(header.length + response.binarySize()));
    }

    /** Writes the body of the response; does not close the stream. */
    void writeTo(OutputStream out) throws IOException {
        if (header == null) {
            response.writeJson(out);
        } else {
            out.write(header);
            response.writeContents(out);
        }
    }

    /** Frees what belongs to a request. */
    static void release(LimitedBody body, @Nullable InferenceRequest request, @Nullable Results results) {
        try (body;
                request;
                results) {
            return;
        }
    }

    /** Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            try {
                release(body, request, results);
            } finally {
                permits.release();
            }
        }
    }
}
