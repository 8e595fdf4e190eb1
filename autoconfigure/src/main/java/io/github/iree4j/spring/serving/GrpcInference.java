package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.serving.GrpcArrival.Arrived;
import io.github.iree4j.spring.serving.GrpcRequestReader.Request;
import io.github.iree4j.spring.serving.GrpcWork.Answer;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.Context;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Makes the calls requested by {@code ModelInferRequest}s. Blocks only briefly, while a lazy program is loaded. */
final class GrpcInference {

    /** Maximum length of a message in any implementation, in bytes. */
    private static final long MOST = Integer.MAX_VALUE - (1 << 16);

    private final ServedModels models;
    private final OpenInference protocol;
    private final ServingOptions options;

    GrpcInference(ServedModels models, OpenInference protocol, ServingOptions options) {
        this.models = models;
        this.protocol = protocol;
        this.options = options;
    }

    /** Begins an inference; the body is closed with the answer, or on failure. */
    GrpcWork begin(InputStream message, Arrived arrived) throws IOException {
        protocol.line().checkRoom();
        io.grpc.Deadline client = Context.current().getDeadline();
        Request request = new GrpcRequestReader(
                        models,
                        options.maxWait(),
                        client == null
                                ? null
                                : Deadline.after(
                                        Duration.ofNanos(Math.max(0, client.timeRemaining(TimeUnit.NANOSECONDS)))),
                        new Charged(message, arrived, options.maxRequestSize()),
                        Long.MAX_VALUE,
                        arrived.body())
                .read();
        Started started = null;
        try {
            started = new Started(
                    request, arrived.body(), protocol.join(request.served(), request.inference(), request.deadline()));
        } finally {
            if (started == null) {
                request.inference().close();
            }
        }
        started.begin();
        return new GrpcWork(started.answer, started::cancel);
    }

    /** An inference, waiting for a turn or running. Owns the request, the body, and the turn. */
    private final class Started {
        private final Request request;
        private final LimitedBody body;
        private final RequestLine.Turn turn;
        private final KeptPlace place;
        private final AtomicBoolean over = new AtomicBoolean();
        private final CompletableFuture<Answer> answer = new CompletableFuture<>();
        private final CompletableFuture<Void> cancelled = new CompletableFuture<>();

        Started(Request request, LimitedBody body, RequestLine.Turn turn) {
            this.request = request;
            this.body = body;
            this.turn = turn;
            this.place = protocol.place(turn, body);
        }

        void begin() {
            if (turn.isDecided()) {
                call();
            } else {
                Runnable call = Context.current().wrap(this::call);
                turn.whenDecided(() -> {
                    try {
                        Thread.ofVirtual().name("iree4j-serving").start(call);
                    } catch (RuntimeException | Error e) { // the thread belongs to the previous request
                        fail(e);
                    }
                });
            }
        }

        private void call() {
            CompletableFuture<Results> call;
            try {
                turn.requirePlace();
                call = protocol.call(request.served(), request.inference(), body)
                        .deadline(request.deadline())
                        .invokeAsync();
            } catch (RuntimeException | Error e) { // of any kind: otherwise the place would be lost
                call = CompletableFuture.failedFuture(e);
            }
            CompletableFuture<Results> running = call;
            cancelled.thenRun(() -> running.cancel(true));
            running.whenComplete((results, failure) -> {
                if (failure != null) {
                    fail(failure);
                    return;
                }
                try {
                    answer.complete(answer(request, results, body, place, this::end));
                } catch (RuntimeException | Error e) {
                    answer.completeExceptionally(e);
                }
            });
        }

        void cancel() {
            cancelled.complete(null);
            if (turn.leaveLine()) {
                fail(new CancellationException());
            }
        }

        private void fail(Throwable failure) {
            request.inference().close();
            end();
            answer.completeExceptionally(failure);
        }

        private void end() {
            if (over.compareAndSet(false, true)) {
                body.close();
                place.close();
            }
        }
    }

    /**
     * Encodes the answer. The transport copies the whole answer on receipt, and keeps the part not read by the client:
     * only that part remains charged.
     */
    private static Answer answer(Request request, Results results, LimitedBody body, KeptPlace place, Runnable end) {
        boolean made = false;
        try {
            List<InferenceOutput> outputs = InferenceOutput.of(request.served(), request.inference(), results);
            long texts = InferenceOutput.ofTexts(outputs);
            if (texts > 0) {
                body.charge(texts); // beside the message
            }
            body.chargeAnswer(InferenceOutput.most(outputs));
            GrpcMessage message = encode(request, InferenceOutput.onHost(outputs));
            made = true;
            return new Answer(
                    message,
                    late -> {
                        free(request, results);
                        body.answered();
                        place.passOn();
                        body.endUnread(late);
                    },
                    end);
        } finally {
            if (!made) {
                free(request, results);
                end.run();
            }
        }
    }

    private static void free(Request request, Results results) {
        try (results;
                InferenceRequest _ = request.inference()) {
            return;
        }
    }

    /** Encodes a {@code ModelInferResponse}, with raw contents. */
    private static GrpcMessage encode(Request request, List<InferenceOutput> outputs) {
        Served served = request.served();
        String id = request.inference().id();
        ProtoWriter head = new ProtoWriter()
                .string(1, served.name())
                .string(2, served.version())
                .string(3, id == null ? "" : id);
        for (InferenceOutput output : outputs) {
            head.message(
                    5,
                    tensor -> tensor.string(1, output.name())
                            .string(2, output.datatype().name())
                            .packed(
                                    3,
                                    Arrays.stream(output.shape().dimensions())
                                            .boxed()
                                            .toList()));
        }
        GrpcMessage message = new GrpcMessage().add(head.toByteArray());
        for (InferenceOutput output : outputs) {
            message.add(new ProtoWriter().length(6, output.size()).toByteArray())
                    .add(output.size(), output::writeTo);
        }
        if (message.size() > MOST) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "the outputs take %d bytes, and a message at most %d; ask for fewer of them"
                            .formatted(message.size(), MOST));
        }
        return message;
    }

    /** A message. Charges bytes beyond the bytes charged on arrival: such a message was compressed. */
    private static final class Charged extends FilterInputStream {
        private final LimitedBody body;
        private final long charged;
        private final long maximum;
        private long count;

        Charged(InputStream in, Arrived arrived, long maximum) {
            super(in);
            this.body = arrived.body();
            this.charged = arrived.charged();
            this.maximum = maximum;
        }

        @Override
        public int read() throws IOException {
            int read = in.read();
            if (read >= 0) {
                count(1);
            }
            return read;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int read = in.read(target, offset, length);
            if (read > 0) {
                count(read);
            }
            return read;
        }

        private void count(int bytes) {
            long before = count;
            count += bytes;
            if (count > maximum) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "the message is larger than %d bytes; send less, or raise '%s'"
                                .formatted(maximum, BodyLimits.SIZE));
            }
            if (count > charged) {
                body.charge(count - Math.max(before, charged));
            }
        }

        @Override
        public boolean markSupported() {
            return false;
        }
    }
}
