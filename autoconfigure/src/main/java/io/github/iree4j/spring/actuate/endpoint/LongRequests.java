package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.status.IreeException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.util.MimeType;

/**
 * Requests that compute for long, each on one of few platform threads: a virtual thread computing without waiting would
 * keep a carrier from other virtual threads, such as the host calls of inference. A few more requests wait, without a
 * thread; others are refused at once. Safe from any thread.
 *
 * <p>An answer is computed to its end, although its client may have gone: a server notices a closed connection when the
 * answer is written, and Spring does not cancel a future that the client no longer waits for.
 */
final class LongRequests implements AutoCloseable {

    private static final int BUSY = 503;
    private static final String RETRY_SECONDS = "1";
    private static final long IDLE_SECONDS = 10;

    private final ThreadPoolExecutor threads;
    private final boolean detaches;
    private final String refusal;

    /**
     * Creates a limit without requests.
     *
     * @param running the most requests at once
     * @param waiting the most requests waiting for others
     * @param what the running requests, for people
     * @param thread the name of the threads
     * @param detaches whether answers are futures, as Spring MVC permits, which hold no thread of the server; otherwise
     *     callers wait for the answer
     */
    LongRequests(int running, int waiting, String what, String thread, boolean detaches) {
        this.threads = new ThreadPoolExecutor(
                running,
                running,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(waiting),
                Thread.ofPlatform().daemon().name(thread + "-", 0).factory());
        this.threads.allowCoreThreadTimeOut(true);
        this.detaches = detaches;
        this.refusal = "%d %s, and %d requests wait; try again".formatted(running, what, waiting);
    }

    /**
     * Answers a request.
     *
     * @param type the type of the body; null for the endpoint's own type. Refusals are JSON
     * @param body computes the body; null for an unknown object, with status 404
     * @return the response, or a future of the response if detached
     */
    Object answer(@Nullable MimeType type, Supplier<?> body) {
        CompletableFuture<WebEndpointResponse<?>> answer = start(type, body);
        if (detaches) {
            return answer.thenApply(LongRequests::entity);
        }
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    private CompletableFuture<WebEndpointResponse<?>> start(@Nullable MimeType type, Supplier<?> body) {
        try {
            return CompletableFuture.supplyAsync(() -> response(type, body), threads);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.completedFuture(refusal(BUSY, refusal));
        }
    }

    private static WebEndpointResponse<?> response(@Nullable MimeType type, Supplier<?> body) {
        try {
            Object found = body.get();
            if (found == null) {
                return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
            }
            return type == null ? new WebEndpointResponse<>(found) : new WebEndpointResponse<>(found, type);
        } catch (IreeException e) {
            return switch (e.code()) {
                case NOT_FOUND -> refusal(WebEndpointResponse.STATUS_NOT_FOUND, e.getMessage());
                case INVALID_ARGUMENT, OUT_OF_RANGE, RESOURCE_EXHAUSTED ->
                    refusal(WebEndpointResponse.STATUS_BAD_REQUEST, e.getMessage());
                default -> throw e;
            };
        }
    }

    private static ResponseEntity<?> entity(WebEndpointResponse<?> response) {
        ResponseEntity.BodyBuilder entity = ResponseEntity.status(response.getStatus());
        MimeType type = response.getContentType();
        if (type != null) {
            entity.contentType(MediaType.asMediaType(type));
        }
        if (response.getStatus() == BUSY) {
            entity.header(HttpHeaders.RETRY_AFTER, RETRY_SECONDS);
        }
        return entity.body(response.getBody());
    }

    private static WebEndpointResponse<?> refusal(int status, String detail) {
        return new WebEndpointResponse<>(
                "{\"status\":" + status + ",\"detail\":" + quote(detail) + "}", status, MediaType.APPLICATION_JSON);
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

    /** Refuses further requests. Requests in progress and waiting get their answers. */
    @Override
    public void close() {
        threads.shutdown();
    }
}
