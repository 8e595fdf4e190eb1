package io.github.iree4j.spring.serving;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * What is done for one message.
 *
 * @param answer completes with the answer, which the receiver closes
 * @param cancel ends the work; the answer then fails
 */
record GrpcWork(CompletableFuture<Answer> answer, Runnable cancel) {

    /**
     * A message and what belongs to it.
     *
     * @param message the message
     * @param written frees what the message is written from, when the transport has it; gets what ends the call of a client that does
     *     not read it
     * @param read ends the request, when the client has read the message or will not
     */
    record Answer(GrpcMessage message, Consumer<Runnable> written, Runnable read) {}

    /** The same work, with another message as its answer. */
    GrpcWork map(UnaryOperator<GrpcMessage> encoding) {
        return new GrpcWork(
                answer.thenApply(made -> new Answer(encoding.apply(made.message()), made.written(), made.read())),
                cancel);
    }

    /** Work that is done already. */
    static GrpcWork done(GrpcMessage message) {
        return new GrpcWork(CompletableFuture.completedFuture(new Answer(message, _ -> {}, () -> {})), () -> {});
    }
}
