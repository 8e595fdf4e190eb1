package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.serving.ServedModels.Served;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.atomic.AtomicBoolean;
import tools.jackson.core.exc.JacksonIOException;

/**
 * A completed inference with a response. The response keeps nothing in device memory, since the client decides how long
 * reading takes. Closing the inference returns the memory charged to the request.
 */
final class Inference implements AutoCloseable {

    private final LimitedBody body;
    private final Response response;
    private final KeptPlace place;
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * Takes ownership of the body and the place.
     *
     * @param body charged for the response alone
     * @param place of the request
     */
    Inference(LimitedBody body, Response response, KeptPlace place) {
        this.body = body;
        this.response = response;
        this.place = place;
    }

    /** Receives headers of the response. */
    @FunctionalInterface
    interface HeaderSink {
        void set(String name, String value);
    }

    /** The content sent to the client. */
    interface Response {
        /** Returns the maximum memory kept until the response is written, in bytes; known before the response is fetched. */
        long size();

        /**
         * Copies the outputs to the heap, so the response needs neither the results nor their devices: a response that
         * has begun cannot report a failure.
         *
         * @throws io.github.iree4j.status.IreeException the cause when a device fails to send an output; INVALID_ARGUMENT
         *     when the response cannot express an output
         */
        void fetch();

        /** Sets the headers. */
        void describe(HeaderSink headers);

        /** Writes the body; does not close the stream. */
        void writeTo(OutputStream out) throws IOException;
    }

    /** Makes a response from results, borrowed until the response is {@linkplain Response#fetch fetched}, and from a request, which is not kept. */
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

    /** Returns the memory kept by the response, in bytes. */
    long size() {
        return response.size();
    }

    /** Returns the place of the request. */
    KeptPlace place() {
        return place;
    }

    /** Returns the body charged for the response. */
    LimitedBody body() {
        return body;
    }

    /** Writes the body of the response regardless of the client's reading speed; does not close the stream. */
    void write(OutputStream out) throws IOException {
        try {
            response.writeTo(out);
        } catch (JacksonIOException e) {
            throw e.getCause(); // the server ends the connection; no answer is possible
        }
    }

    /** Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            try {
                body.close();
            } finally {
                place.close();
            }
        }
    }
}
