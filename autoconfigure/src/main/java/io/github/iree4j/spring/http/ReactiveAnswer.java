package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.api.NotForApplications;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.Executor;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Answers of Spring WebFlux written as streams, each on a virtual thread, no faster than the client reads. On Netty, a
 * client that reads too slowly is disconnected.
 */
@NotForApplications
public final class ReactiveAnswer {

    /** Size of a part; Reactor Netty takes up to 128 parts before sending the first. */
    private static final int CHUNK = 1 << 14;

    private static final boolean IS_NETTY =
            ClassUtils.isPresent("reactor.netty.http.server.HttpServerResponse", ReactiveAnswer.class.getClassLoader());

    private static final Executor THREADS =
            task -> Thread.ofVirtual().name("iree4j-answer").start(task);

    private ReactiveAnswer() {}

    /** Writes an answer. */
    @FunctionalInterface
    public interface Writer {
        /**
         * Writes the body.
         *
         * @param out not to be closed
         * @throws IOException when the client is gone, or too slow
         */
        void writeTo(OutputStream out) throws IOException;
    }

    /**
     * Writes the body of a response whose headers are set.
     *
     * @param response the response
     * @param body is charged for the answer until the result completes; completion closes nothing
     * @param writer writes the answer
     * @return completes when the whole body is sent
     */
    public static Mono<Void> write(ServerHttpResponse response, LimitedBody body, Writer writer) {
        Runnable sent = IS_NETTY ? UnreadResponses.watch(response, body) : () -> {};
        return response.writeWith(published(response, out -> writer.writeTo(body.timed(out))))
                .doFinally(_ -> sent.run());
    }

    /**
     * Writes a stream of events whose headers are set: each flush of the writer sends the bytes. The writer itself
     * limits the time of the client, since the time between events is the server's.
     *
     * @param response the response
     * @param body is charged for the answer until the result completes; completion closes nothing
     * @param writer writes the events
     * @return completes when all events are sent
     */
    public static Mono<Void> stream(ServerHttpResponse response, LimitedBody body, Writer writer) {
        Runnable sent = IS_NETTY ? UnreadResponses.watch(response, body) : () -> {};
        return response.writeAndFlushWith(Flux.from(published(response, writer)).map(Mono::just))
                .doFinally(_ -> sent.run());
    }

    private static Publisher<DataBuffer> published(ServerHttpResponse response, Writer writer) {
        return DataBufferUtils.outputStreamPublisher(
                out -> {
                    try {
                        writer.writeTo(out);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                response.bufferFactory(),
                THREADS,
                CHUNK);
    }

    /** Writes a tensor in some format, and takes ownership of the tensor. */
    interface Format {
        void write(Tensor tensor, OutputStream out) throws IOException;
    }

    /** Writes a tensor as the body of a response, and takes ownership of the tensor. */
    static Mono<Void> write(ServerHttpResponse response, Tensor tensor, BodyLimits limits, Format format) {
        return Mono.using(
                () -> Outgoing.charged(tensor, limits),
                outgoing -> write(response, outgoing.body(), out -> format.write(outgoing.tensor(), out)),
                Outgoing::close,
                false);
    }
}
