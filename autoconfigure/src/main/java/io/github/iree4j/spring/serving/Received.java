package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An inference request that has arrived completely, and is in computation or waiting for a place. One thread uses and
 * then closes the request; other threads may close the request earlier. Closing frees the inputs and ends the turn.
 */
final class Received implements AutoCloseable {

    private final Served served;
    private final InferenceRequest request;
    private final LimitedBody body;
    private final RequestLine.Turn turn;
    private final InvocationSpec call; // with the deadline of the request
    private final Inference.Responder responder;
    private final KeptPlace place;
    private final AtomicBoolean over = new AtomicBoolean();

    /** Takes ownership of the request, the body, the turn and the turn's place. */
    Received(
            Served served,
            InferenceRequest request,
            LimitedBody body,
            RequestLine.Turn turn,
            InvocationSpec call,
            Inference.Responder responder,
            KeptPlace place) {
        this.served = served;
        this.request = request;
        this.body = body;
        this.turn = turn;
        this.call = call;
        this.responder = responder;
        this.place = place;
    }

    RequestLine.Turn turn() {
        return turn;
    }

    /**
     * Waits for the turn, makes the call and waits for the results. Called once.
     *
     * @return the response, closed after writing, which ends the turn at the latest
     * @throws IreeException also when the request was refused or closed
     */
    Inference infer() {
        turn.requirePlace();
        if (!over.compareAndSet(false, true)) {
            throw IreeException.of(StatusCode.CANCELLED, "the client has gone");
        }
        Inference answer = null;
        try {
            Inference.Response response;
            try (request;
                    Results results = call.invoke()) {
                response = responder.respond(served, request, results);
                body.chargeAnswer(response.size());
                response.fetch();
            }
            body.answered();
            answer = new Inference(body, response, place);
            return answer;
        } finally {
            if (answer == null) {
                body.close();
                place.close();
            }
        }
    }

    /** Idempotent. Without effect on work begun by {@link #infer}. */
    @Override
    public void close() {
        if (over.compareAndSet(false, true)) {
            request.close();
            body.close();
            place.close();
        }
    }
}
