package io.github.iree4j.spring.serving;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Work that blocks, beside event loops: each on a virtual thread of its own, which reads and writes bodies as streams. Buffers of the
 * network come and go with back-pressure, a few at a time.
 */
final class ReactiveBody {

    /** How many buffers of a body are asked for at once. */
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

    /** Does something that blocks, at each subscription; interrupted when that is cancelled. */
    static <T> Mono<T> blocking(Callable<T> work) {
        return Mono.create(sink -> {
            AtomicBoolean cancelled = new AtomicBoolean();
            Thread thread = Thread.ofVirtual().name("iree4j-serving").unstarted(() -> {
                try {
                    sink.success(work.call());
                } catch (Throwable e) {
                    if (!cancelled.get()) { // nobody is left who could be told
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

    /** Reads the body of a request, as a stream that blocks. */
    static <T> Mono<T> read(ServerHttpRequest request, Reader<T> reader) {
        return blocking(() -> {
            try (InputStream body = DataBufferUtils.subscriberInputStream(request.getBody(), DEMAND)) {
                return reader.read(body);
            }
        });
    }

    /**
     * Makes an inference, which is closed however its request ends.
     *
     * @param exchange what asks, and gets the answer
     * @param reader makes the inference
     */
    static Mono<Void> answer(ServerWebExchange exchange, Reader<Inference> reader) {
        Holder holder = new Holder();
        return read(exchange.getRequest(), body -> holder.keep(reader.read(body)))
                .flatMap(inference -> write(holder, inference, exchange.getResponse()))
                .doFinally(_ -> holder.close());
    }

    private static Mono<Void> write(Holder holder, Inference described, ServerHttpResponse response) {
        described.describe(response.getHeaders()::set);
        return response.writeWith(DataBufferUtils.outputStreamPublisher(
                out -> {
                    try (Inference inference = holder.take()) { // may be over already, when the client has left
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

    /** Has an inference from when it is made until it is written, or until nobody wants it any more. */
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

        /** Hands it to whoever writes it, and closes it then. */
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
