package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A request for inference that has arrived whole, and has a place among those that are computed, or waits for one. It is used, and then closed,
 * by one thread; others may close it before. Closing it frees its inputs and ends its turn.
 */
final class Received implements AutoCloseable {

    private final Served served;
    private final InferenceRequest request;
    private final LimitedBody body;
    private final RequestLine.Turn turn;
    private final InvocationSpec call;
    private final Inference.Responder responder;
    private final AtomicBoolean over = new AtomicBoolean();

    /** Takes ownership of the request, the body and the turn. */
    Received(
            Served served,
            InferenceRequest request,
            LimitedBody body,
            RequestLine.Turn turn,
            InvocationSpec call,
            Inference.Responder responder) {
        this.served = served;
        this.request = request;
        this.body = body;
        this.turn = turn;
        this.call = call;
        this.responder = responder;
    }

    RequestLine.Turn turn() {
        return turn;
    }

    /**
     * Waits for its turn, makes the call and waits for it. Once.
     *
     * @return the response, to be closed after it is written, which ends the turn
     * @throws IreeException also when it was refused, or closed
     */
    Inference infer() {
        turn.requirePlace();
        if (!over.compareAndSet(false, true)) {
            throw new IreeException(StatusCode.CANCELLED, "the client has gone");
        }
        Inference answer = null;
        try {
            Inference.Response response;
            try (request;
                    Results results =
                            call.deadline(left(request.timeout(), turn)).invoke()) {
                response = responder.respond(served, request, results);
                body.chargeAnswer(response.size());
                response.fetch();
            }
            body.answered();
            answer = new Inference(body, response, turn::leave);
            return answer;
        } finally {
            if (answer == null) {
                body.close();
                turn.leave();
            }
        }
    }

    /** What a request has left of its time; null when it has no limit. */
    static @Nullable Duration left(@Nullable Duration timeout, RequestLine.Turn turn) {
        if (timeout == null) {
            return null;
        }
        Duration left = timeout.minus(turn.waited()); // all of it for one that has found a place at once
        return left.isPositive() ? left : Duration.ofNanos(1);
    }

    /** Idempotent. Without effect on what {@link #infer} has begun. */
    @Override
    public void close() {
        if (over.compareAndSet(false, true)) {
            request.close();
            body.close();
            turn.leave();
        }
    }
}
