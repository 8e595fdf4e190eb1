package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.serving.ServedModels.Served;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.atomic.AtomicBoolean;
import tools.jackson.core.exc.JacksonIOException;

/**
 * A completed inference: its response, of which nothing is in memory of a device any more, since its client decides how long it takes to be
 * read. Closing it returns the memory that its request is charged for.
 */
final class Inference implements AutoCloseable {

    private final LimitedBody body;
    private final Response response;
    private final Runnable leave;
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * Takes ownership of the body.
     *
     * @param body charged for the response alone
     * @param leave ends the computation of the request
     */
    Inference(LimitedBody body, Response response, Runnable leave) {
        this.body = body;
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
         * Copies the outputs to the heap, so that it needs neither the results nor their devices: once it has begun, it cannot tell of a
         * failure.
         *
         * @throws io.github.iree4j.status.IreeException why a device does not send one
         */
        void fetch();

        /** Sets the headers. */
        void describe(HeaderSink headers);

        /** Writes the body; does not close the stream. */
        void writeTo(OutputStream out) throws IOException;
    }

    /** Makes a response of results, which it borrows until it is {@linkplain Response#fetch fetched}, of a request, which it does not keep. */
    @FunctionalInterface
    interface Responder {
        Response respond(Served served, InferenceRequest request, Results results);
    }

    /** Sets the headers of the response. */
    void describe(HeaderSink headers) {
        response.describe(headers);
    }

    /**
     * Writes the body of the response; does not close the stream.
     *
     * @throws IOException also when the client reads too slowly
     */
    void writeTo(OutputStream out) throws IOException {
        write(body.timed(out));
    }

    /** What the response is charged to. */
    LimitedBody body() {
        return body;
    }

    /** Writes the body of the response however slowly the client reads; does not close the stream. */
    void write(OutputStream out) throws IOException {
        try {
            response.writeTo(out);
        } catch (JacksonIOException e) {
            throw e.getCause(); // the server ends the connection, and nothing can be answered
        }
    }

    /** Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            try {
                body.close();
            } finally {
                leave.run();
            }
        }
    }
}
