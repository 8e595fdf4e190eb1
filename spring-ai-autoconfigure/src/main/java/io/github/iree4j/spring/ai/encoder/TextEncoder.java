package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import io.github.iree4j.spring.ai.encoder.CheckedTokenizer.Checked;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The way of texts through a program, the same for embeddings, reranking and classification: all texts of a request are
 * tokenized, which rejects invalid texts before any call, divided into batches, and passed to the program. All results
 * of a request are from the same program: a request whose program is replaced restarts. Thread-safe.
 */
final class TextEncoder {

    /** Maximum number of restarts of a request. */
    private static final int MOST_ATTEMPTS = 5;

    private final Programs programs;
    private final InvocationOperations invocations;
    private final CheckedTokenizer tokenizer;
    private final EncoderSettings settings;
    private final EncoderTask task;
    private final BiConsumer<ProgramFunction, EncoderSignature> resultCheck;

    private volatile @Nullable KnownSignature known;

    /** The signature of the function called last. */
    private record KnownSignature(ProgramFunction function, EncoderSignature signature) {}

    /**
     * Creates an encoder.
     *
     * @param resultCheck fails when the declared result of a function does not fit the task
     */
    TextEncoder(
            Programs programs,
            InvocationOperations invocations,
            TextTokenizer tokenizer,
            EncoderSettings settings,
            EncoderTask task,
            BiConsumer<ProgramFunction, EncoderSignature> resultCheck) {
        this.programs = programs;
        this.invocations = invocations;
        this.tokenizer = new CheckedTokenizer(tokenizer, settings, task);
        this.settings = settings;
        this.task = task;
        this.resultCheck = resultCheck;
    }

    /** A request for the program. */
    interface Request {

        /** Number of texts. */
        int size();

        /**
         * Returns the tokens of a text.
         *
         * @param index of the text, from 0
         * @param most maximum number of tokens
         */
        Checked tokens(CheckedTokenizer tokenizer, int index, int most);

        /** Takes over the rows of a call. Rows coming again for a text replace the former rows. */
        void read(Encoded encoded);
    }

    /**
     * The results of a call.
     *
     * @param batch the texts; row i is of text {@code batch.texts().get(i)}
     * @param tokens the tokens of all texts of the request
     * @param result the used result; closed after reading
     */
    record Encoded(TokenBatch batch, List<Tokens> tokens, Tensor result) {}

    /**
     * The size of a request.
     *
     * @param tokens number of tokens without padding
     * @param cut number of truncated texts
     */
    record Usage(long tokens, int cut) {}

    /**
     * Loads the program if necessary, and checks the program.
     *
     * @return maximum number of tokens of a text
     * @throws IreeException FAILED_PRECONDITION when the program cannot be loaded or does not fit; NOT_FOUND when there
     *     is no such program or function
     */
    int check() {
        return maxTokens(signature(locate(null).function()));
    }

    /** Starts the time of a request; null for no limit. */
    @Nullable
    Deadline deadline(@Nullable Duration timeout) {
        Duration limit = timeout != null ? timeout : settings.timeout();
        return limit == null ? null : Deadline.after(limit);
    }

    /**
     * Ends a request that is late or interrupted.
     *
     * @throws IreeException DEADLINE_EXCEEDED or CANCELLED
     */
    private void check(@Nullable Deadline deadline) {
        if (Thread.currentThread().isInterrupted()) {
            throw IreeException.of(StatusCode.CANCELLED, name() + " was interrupted");
        }
        if (deadline != null && deadline.hasPassed()) {
            throw IreeException.of(
                    StatusCode.DEADLINE_EXCEEDED,
                    "%s took longer than %s".formatted(name(), DurationText.of(deadline.timeout())));
        }
    }

    private String name() {
        return "a request to %s with '%s'".formatted(task.action(), settings.module());
    }

    /**
     * Passes texts to the program.
     *
     * @param priority priority among calls of the same program; higher first
     */
    Usage run(Request request, @Nullable Deadline deadline, int priority) {
        if (request.size() > settings.maxRequestSize()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a request of %d texts exceeds the limit of %d; split it or raise %s"
                            .formatted(request.size(), settings.maxRequestSize(), task.property("max-request-size")));
        }
        if (request.size() == 0) {
            return new Usage(0, 0);
        }
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            Usage usage = attempt(request, deadline, priority);
            if (usage != null) {
                return usage;
            }
        }
        throw IreeException.of(
                StatusCode.ABORTED,
                "program '%s' was replaced %d times during a request of %d texts; try again"
                        .formatted(settings.module(), MOST_ATTEMPTS, request.size()));
    }

    /** Returns null when the program was replaced meanwhile: results of two models must not be mixed. */
    private @Nullable Usage attempt(Request request, @Nullable Deadline deadline, int priority) {
        LocatedFunction first = locate(deadline);
        EncoderSignature signature = signature(first.function());
        int most = maxTokens(signature);
        List<Tokens> tokens = new ArrayList<>(request.size());
        long used = 0;
        int cut = 0;
        for (int i = 0; i < request.size(); i++) {
            check(deadline);
            Checked each = request.tokens(tokenizer, i, most);
            tokens.add(each.tokens());
            used += each.tokens().size();
            cut += each.isCut() ? 1 : 0;
        }
        for (TokenBatch batch : new BatchPlan(tokens, signature, settings).batches()) {
            check(deadline);
            LocatedFunction located = locate(deadline); // selects the least loaded context of the program
            if (!located.program().equals(first.program())) {
                return null;
            }
            call(located, signature, batch, tokens, deadline, priority, request);
        }
        return new Usage(used, cut);
    }

    private void call(
            LocatedFunction located,
            EncoderSignature signature,
            TokenBatch batch,
            List<Tokens> tokens,
            @Nullable Deadline deadline,
            int priority,
            Request request) {
        Tensor[] inputs = new Tensor[signature.inputs().size()];
        try {
            for (int i = 0; i < inputs.length; i++) {
                inputs[i] = batch.tensor(
                        signature.inputs().get(i), signature.types().get(i), tokens, settings.paddingId());
            }
            try (Results results = invocations
                    .request(located)
                    .inputs((Object[]) inputs)
                    .deadline(deadline)
                    .priority(priority)
                    .invoke()) {
                request.read(new Encoded(batch, tokens, results.tensor(settings.result())));
            }
        } finally {
            Arrays.stream(inputs).filter(Objects::nonNull).forEach(Tensor::close);
        }
    }

    /** The limit of the settings or the tokenizer, capped by the program's limit. */
    private int maxTokens(EncoderSignature signature) {
        int said = tokenizer.maxTokens();
        return signature.maxLength() > 0 ? Math.min(said, signature.maxLength()) : said;
    }

    /**
     * Returns the function, of the least loaded context of the program.
     *
     * @param deadline of the wait for the program's load; null for none
     */
    LocatedFunction locate(@Nullable Deadline deadline) {
        LoadedProgram loaded = programs.require(settings.module(), null, deadline);
        String function = settings.function();
        if (function == null) {
            List<ProgramFunction> all = loaded.program().functions();
            if (all.size() != 1) {
                throw IreeException.of(
                        StatusCode.FAILED_PRECONDITION,
                        "program '%s' has the functions %s; name the function to %s in %s"
                                .formatted(
                                        settings.module(),
                                        all.stream().map(ProgramFunction::name).toList(),
                                        task.action(),
                                        task.property("function")));
            }
            function = all.getFirst().name();
        }
        return programs.locate(settings.module() + "." + function);
    }

    /** Returns the checked signature of a function. */
    EncoderSignature signature(ProgramFunction function) {
        KnownSignature last = known;
        if (last == null || last.function != function) {
            last = new KnownSignature(function, EncoderSignature.of(function, settings, task));
            resultCheck.accept(function, last.signature);
            known = last;
        }
        return last.signature;
    }
}
