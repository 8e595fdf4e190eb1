package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.serving.ServedModels.Served;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A completed inference and its response; closing it releases both. */
final class Inference implements AutoCloseable {

    private final LimitedBody body;
    private final InferenceRequest request;
    private final Results results;
    private final Response response;
    private final Runnable leave;
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * Takes ownership of the body, the request and the results.
     *
     * @param leave ends the computation of the request
     */
    Inference(LimitedBody body, InferenceRequest request, Results results, Response response, Runnable leave) {
        this.body = body;
        this.request = request;
        this.results = results;
        this.response = response;
        this.leave = leave;
    }

    /** Receives headers of the response. */
    @FunctionalInterface
    interface HeaderSink {
        void set(String name, String value);
    }

    /** What is sent to the client. */
    interface Response {
        /** The memory that it keeps until it is written, in bytes. */
        long size();

        /**
         * Has devices send what the host does not see: once the response has begun, it cannot tell of a failure.
         *
         * @throws io.github.iree4j.status.IreeException why a device does not
         */
        void fetch();

        /** Sets the headers. */
        void describe(HeaderSink headers);

        /** Writes the body; does not close the stream. */
        void writeTo(OutputStream out) throws IOException;
    }

    /** Makes a response of results, which it borrows. */
    @FunctionalInterface
    interface Responder {
        Response respond(Served served, InferenceRequest request, Results results);
    }

    /** Sets the headers of the response. */
    void describe(HeaderSink headers) {
        response.describe(headers);
    }

    /** Writes the body of the response; does not close the stream. */
    void writeTo(OutputStream out) throws IOException {
        response.writeTo(out);
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
                leave.run();
            }
        }
    }
}
