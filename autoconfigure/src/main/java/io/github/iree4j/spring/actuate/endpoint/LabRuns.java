package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.status.IreeException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;

/**
 * The runs of the laboratory, each on one of few platform threads: a run computes without waiting, and on a virtual
 * thread would keep a carrier from other virtual threads, such as the host calls of inference. Safe from any thread.
 */
final class LabRuns implements AutoCloseable {

    /** The number of requests that run scenarios at the same time. */
    static final int MOST_RUNS = 2;

    /** The number of requests that wait for others, without a thread; others are refused at once. */
    static final int MOST_WAITING = 4;

    private static final int BUSY = 503;
    private static final String RETRY_SECONDS = "1";
    private static final long IDLE_SECONDS = 10;

    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            MOST_RUNS,
            MOST_RUNS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MOST_WAITING),
            Thread.ofPlatform().daemon().name("iree4j-lab-", 0).factory());

    LabRuns() {
        threads.allowCoreThreadTimeOut(true);
    }

    /** Returns the response, later. */
    CompletableFuture<ResponseEntity<String>> detached(Supplier<String> json) {
        return start(json).thenApply(LabRuns::entity);
    }

    /** Waits for the response. */
    WebEndpointResponse<String> awaited(Supplier<String> json) {
        return start(json).join();
    }

    private CompletableFuture<WebEndpointResponse<String>> start(Supplier<String> json) {
        try {
            return CompletableFuture.supplyAsync(() -> response(json), threads);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.completedFuture(refusal(
                    BUSY,
                    "%d scenarios are being run, and %d requests wait; try again".formatted(MOST_RUNS, MOST_WAITING)));
        }
    }

    private static WebEndpointResponse<String> response(Supplier<String> json) {
        try {
            return new WebEndpointResponse<>(json.get());
        } catch (IreeException e) {
            return switch (e.code()) {
                case NOT_FOUND -> refusal(WebEndpointResponse.STATUS_NOT_FOUND, e.getMessage());
                case INVALID_ARGUMENT, OUT_OF_RANGE, RESOURCE_EXHAUSTED ->
                    refusal(WebEndpointResponse.STATUS_BAD_REQUEST, e.getMessage());
                default -> throw e;
            };
        }
    }

    private static ResponseEntity<String> entity(WebEndpointResponse<String> response) {
        ResponseEntity.BodyBuilder entity =
                ResponseEntity.status(response.getStatus()).contentType(MediaType.APPLICATION_JSON);
        if (response.getStatus() == BUSY) {
            entity.header(HttpHeaders.RETRY_AFTER, RETRY_SECONDS);
        }
        return entity.body(response.getBody());
    }

    private static WebEndpointResponse<String> refusal(int status, String detail) {
        return new WebEndpointResponse<>("{\"status\":%d,\"detail\":%s}".formatted(status, quote(detail)), status);
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append((char) c);
            } else if (c < ' ') {
                quoted.append("\\u%04x".formatted(c));
            } else {
                quoted.append((char) c);
            }
        });
        return quoted.append('"').toString();
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
