package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.server.ServerHttpResponse;

/**
 * A tensor written as a body. Clients of this server decide how long reading takes: a tensor for such a client is
 * copied to the heap and charged to requests in flight until closed, so the tensor keeps no device memory. A tensor for
 * another server is sent from its current memory.
 */
final class Outgoing implements AutoCloseable {
    private final Tensor tensor;
    private final @Nullable LimitedBody charged;

    private Outgoing(Tensor tensor, @Nullable LimitedBody charged) {
        this.tensor = tensor;
        this.charged = charged;
    }

    /**
     * Takes ownership of a tensor written by Spring MVC or by an HTTP client.
     *
     * @param limits null for none
     * @throws org.springframework.web.server.ResponseStatusException when requests in flight hold too much
     */
    static Outgoing of(Tensor tensor, @Nullable BodyLimits limits, HttpOutputMessage message) {
        if (limits == null || !(message instanceof ServerHttpResponse)) {
            return new Outgoing(tensor, null);
        }
        try {
            return charged(tensor, limits);
        } catch (RuntimeException | Error e) { // the answer reporting the failure has another length
            message.getHeaders().remove(HttpHeaders.CONTENT_LENGTH);
            throw e;
        }
    }

    /**
     * Takes ownership of a tensor for a client of this server.
     *
     * @throws org.springframework.web.server.ResponseStatusException when requests in flight hold too much
     */
    static Outgoing charged(Tensor tensor, BodyLimits limits) {
        try (tensor) {
            LimitedBody charged = limits.answer(tensor.byteSize());
            try {
                return new Outgoing(tensor.copyToHost(), charged);
            } catch (RuntimeException | Error e) {
                charged.close();
                throw e;
            }
        }
    }

    Tensor tensor() {
        return tensor;
    }

    /** Returns the body charged for a tensor sent to a client of this server. */
    LimitedBody body() {
        return Objects.requireNonNull(charged);
    }

    /** Returns the stream for writing the tensor. */
    OutputStream to(HttpOutputMessage message) throws IOException {
        return charged == null ? message.getBody() : charged.timed(message.getBody());
    }

    @Override
    public void close() {
        try (tensor;
                charged) {
            return;
        }
    }
}
