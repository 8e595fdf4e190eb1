package io.github.iree4j.spring.serving;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Runs blocking work off the event loops, each piece on its own virtual thread, which reads and writes bodies as
 * streams. Network buffers are exchanged with back-pressure, a few at a time.
 */
final class ReactiveBody {

    /** Number of buffers of a body requested at a time. */
    private static final int DEMAND = 8;

    private static final int CHUNK = 1 << 16;

    private static final Executor THREADS =
            task -> Thread.ofVirtual().name("iree4j-serving").start(task);

    private ReactiveBody() {}

    /** Reads the body of a request. */
    @FunctionalInterface
    interface Reader<T> {
        T read(InputStream body) throws IOException;
    }

    /** Runs blocking work at each subscription; cancellation interrupts it. */
    static <T> Mono<T> blocking(Callable<T> work) {
        return Mono.create(sink -> {
            AtomicBoolean cancelled = new AtomicBoolean();
            Thread thread = Thread.ofVirtual().name("iree4j-serving").unstarted(() -> {
                try {
                    sink.success(work.call());
                } catch (Throwable e) {
                    if (!cancelled.get()) { // there is no subscriber any more otherwise
                        sink.error(e);
                    }
                }
            });
            sink.onCancel(() -> {
                cancelled.set(true);
                thread.interrupt();
            });
            thread.start();
        });
    }

    /** Reads the body of a request as a blocking stream. */
    static <T> Mono<T> read(ServerHttpRequest request, Reader<T> reader) {
        return read(request.getBody(), reader);
    }

    private static <T> Mono<T> read(Flux<DataBuffer> buffers, Reader<T> reader) {
        return blocking(() -> {
            try (InputStream body = DataBufferUtils.subscriberInputStream(buffers, DEMAND)) {
                return reader.read(body);
            }
        });
    }

    /** The body; fails with 408 when nothing arrives for that long while it is awaited. */
    private static Flux<DataBuffer> timed(ServerHttpRequest request, Duration silence) {
        return request.getBody()
                .timeout(silence)
                .onErrorMap(
                        TimeoutException.class,
                        e -> new ResponseStatusException(
                                HttpStatus.REQUEST_TIMEOUT,
                                "the body is too slow: nothing has arrived for %d ms; send it faster, or raise 'iree.http.body-timeout'"
                                        .formatted(silence.toMillis()),
                                e));
    }

    /**
     * Makes an inference and sends its response; the inference is closed however the request ends.
     *
     * @param exchange the request and response
     * @param silence how long a part of the body may be awaited
     * @param reader makes the inference
     */
    static Mono<Void> answer(ServerWebExchange exchange, Duration silence, Reader<Inference> reader) {
        Holder holder = new Holder();
        return read(timed(exchange.getRequest(), silence), body -> holder.keep(reader.read(body)))
                .flatMap(inference -> write(holder, inference, exchange.getResponse()))
                .doFinally(_ -> holder.close());
    }

    private static Mono<Void> write(Holder holder, Inference described, ServerHttpResponse response) {
        described.describe(response.getHeaders()::set);
        return response.writeWith(DataBufferUtils.outputStreamPublisher(
                out -> {
                    try (Inference inference = holder.take()) { // null if the client has disconnected
                        if (inference != null) {
                            inference.writeTo(out);
                        }
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                response.bufferFactory(),
                THREADS,
                CHUNK));
    }

    /** Owns an inference until it is written or the request ends. */
    private static final class Holder {
        private @Nullable Inference inference;
        private boolean over;

        synchronized Inference keep(Inference made) {
            if (over) {
                made.close();
            } else {
                inference = made;
            }
            return made;
        }

        /** Transfers ownership to the writer. */
        synchronized @Nullable Inference take() {
            Inference taken = inference;
            inference = null;
            return taken;
        }

        synchronized void close() {
            over = true;
            if (inference != null) {
                inference.close();
                inference = null;
            }
        }
    }
}
