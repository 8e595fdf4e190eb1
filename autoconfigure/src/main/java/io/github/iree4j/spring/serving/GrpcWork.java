package io.github.iree4j.spring.serving;

import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/**
 * What is done for one message.
 *
 * @param answer completes with the answer, which the receiver closes
 * @param cancel ends the work; the answer then fails
 */
record GrpcWork(CompletableFuture<Answer> answer, Runnable cancel) {

    /**
     * A message and what keeps its contents.
     *
     * @param message the message
     * @param owner frees what the message refers to
     */
    record Answer(GrpcMessage message, Runnable owner) implements AutoCloseable {
        @Override
        public void close() {
            owner.run();
        }
    }

    /** The same work, with another message as its answer. */
    GrpcWork map(UnaryOperator<GrpcMessage> encoding) {
        return new GrpcWork(answer.thenApply(made -> new Answer(encoding.apply(made.message()), made.owner())), cancel);
    }

    /** Work that is done already. */
    static GrpcWork done(GrpcMessage message) {
        return new GrpcWork(CompletableFuture.completedFuture(new Answer(message, () -> {})), () -> {});
    }
}
