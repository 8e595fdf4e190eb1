package io.github.iree4j.spring.serving;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.http.ReactiveAnswer;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Runs blocking work off the event loops, each piece on a dedicated virtual thread that reads and writes bodies as
 * streams. Network buffers are exchanged with back-pressure, a few at a time.
 */
@NotForApplications
public final class ReactiveBody {

    static final boolean IS_NETTY =
            ClassUtils.isPresent("reactor.netty.http.server.HttpServerResponse", ReactiveBody.class.getClassLoader());

    private ReactiveBody() {}

    /**
     * Reads the body of a request.
     *
     * @param <T> the result
     */
    @FunctionalInterface
    public interface Reader<T> {
        /**
         * Reads the body.
         *
         * @param body blocks until bytes arrive
         * @return the result
         * @throws IOException when the body ends early or arrives too slowly
         */
        T read(InputStream body) throws IOException;
    }

    /**
     * Runs blocking work at each subscription; cancellation interrupts the work.
     *
     * @param work the work, on a virtual thread
     * @param <T> the result
     * @return the result of the work
     */
    public static <T> Mono<T> blocking(Callable<T> work) {
        return Mono.create(sink -> {
            AtomicBoolean cancelled = new AtomicBoolean();
            Thread thread = Thread.ofVirtual().name("iree4j-serving").unstarted(() -> {
                try {
                    sink.success(work.call());
                } catch (Throwable e) {
                    if (!cancelled.get()) { // otherwise no subscriber is left
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

    /**
     * Reads the body of a request as a blocking stream, each part within a time limit.
     *
     * @param request the request
     * @param limit time limit for each part of the body
     * @param reader reads the body on a virtual thread
     * @param <T> the result
     * @return the result of the reader
     */
    public static <T> Mono<T> read(ServerHttpRequest request, Duration limit, Reader<T> reader) {
        return blocking(() -> {
            // Operators in between, such as timeout(), would drop buffers arriving after a cancellation unreleased.
            try (InputStream body = new TimedBody(request.getBody(), limit, Schedulers.parallel())) {
                return reader.read(body);
            }
        });
    }

    /**
     * Makes an inference and sends the response; the inference is closed however the request ends.
     *
     * @param exchange the request and response
     * @param limit time limit for each part of the body
     * @param reader makes the inference
     */
    static Mono<Void> answer(ServerWebExchange exchange, Duration limit, Reader<Inference> reader) {
        Holder holder = new Holder();
        return read(exchange.getRequest(), limit, body -> holder.keep(reader.read(body)))
                .onErrorComplete(_ -> isAnswered(exchange.getResponse()))
                .flatMap(inference -> write(inference, exchange.getResponse()))
                .doFinally(_ -> holder.close());
    }

    /**
     * Returns whether Netty has answered. Netty itself answers undecodable requests: that answer stands, regardless of
     * the body.
     *
     * @param response the response
     * @return false also with another server
     */
    public static boolean isAnswered(ServerHttpResponse response) {
        return IS_NETTY && NettyRequests.isAnswered(response);
    }

    private static Mono<Void> write(Inference inference, ServerHttpResponse response) {
        inference.place().passOn();
        inference.describe(response.getHeaders()::set);
        return ReactiveAnswer.write(response, inference.body(), inference::write);
    }

    /** Owns an inference until the request ends: written bytes remain in server memory until sent. */
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

        synchronized void close() {
            over = true;
            if (inference != null) {
                inference.close();
                inference = null;
            }
        }
    }
}
