package io.github.iree4j.spring.serving;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The work for a message.
 *
 * @param answer completes with the answer; the receiver closes the answer
 * @param cancel ends the work; the answer then fails
 */
record GrpcWork(CompletableFuture<Answer> answer, Runnable cancel) {

    /**
     * A message and the related actions.
     *
     * @param message the message
     * @param written frees the source of the message's bytes once the transport has the bytes; receives the action
     *     ending the call of a client that does not read the message
     * @param read ends the request, when the client has read the message or will not
     */
    record Answer(GrpcMessage message, Consumer<Runnable> written, Runnable read) {}

    /** Returns the same work with a converted answer. */
    GrpcWork map(UnaryOperator<GrpcMessage> encoding) {
        return new GrpcWork(
                answer.thenApply(made -> new Answer(encoding.apply(made.message()), made.written(), made.read())),
                cancel);
    }

    /** Returns completed work. */
    static GrpcWork done(GrpcMessage message) {
        return new GrpcWork(CompletableFuture.completedFuture(new Answer(message, _ -> {}, () -> {})), () -> {});
    }
}
