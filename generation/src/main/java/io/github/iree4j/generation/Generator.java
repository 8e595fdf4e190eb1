package io.github.iree4j.generation;

import io.github.iree4j.Program;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.generation.sampling.TokenConstraint;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Generates text for any number of requests with a program. Requests are batched step by step; a request begins as
 * soon as there is room, and ends independently of the others. Thread-safe.
 *
 * <p><b>Contract.</b> The tokens of a request are the same as if the request were alone: see the package.
 *
 * <p><b>Admission.</b> A request that needs more pages than a sequence may have is rejected with numbers. An accepted
 * request ends: with its tokens, or the failure of a step, its timeout, its cancellation, or when the generator
 * is closed. When pages are short, the request that began last loses its pages and begins again later.
 *
 * <p><b>Failures.</b> A failed step fails the sequences of the step, and their pages are zeroed before further use. A
 * lost device fails all sequences, and all later requests.
 *
 * <p><b>Threads.</b> A thread for each generator makes the steps and chooses tokens, and computes kernels with the
 * workers of the runtime.
 *
 * <p><b>Ownership.</b> The program, and the draft's program, stay the caller's, and must be open as long as the generator.
 */
public final class Generator implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Generator.class);

    private final ModelInterface model;
    private final ModelConfig config;
    private final @Nullable DraftModel draft;
    private final StepShapes shapes;
    private final CacheMemory cache;
    private @Nullable CacheMemory draftCache; // if proposed tokens can be verified
    private final Measured measured;
    private final List<String> findings;
    private final int stepsAhead;
    private final GenerationLoop loop;

    private Generator(
            ModelInterface model,
            ModelConfig config,
            @Nullable DraftModel draft,
            GeneratorOptions options,
            LongSupplier nanoTime,
            Admission admission,
            Speculation speculation) {
        this.model = model;
        this.draft = draft;
        this.config = config;
        this.shapes = StepShapes.of(config, options.chunkTokens());
        this.cache = new CacheMemory(model, config.pages(), options.hostPages());
        try {
            StepRunner runner = StepRunner.on(model, cache);
            if (!PageProbe.check(model, shapes, runner, config.pages())) {
                log.warn(
                        "whether pages of '{}' have {} tokens is not known: a cache of {} pages has too few to measure",
                        name(),
                        shapes.stride(),
                        config.pages());
            }
            RowProbe probe = new RowProbe(
                    model.prefills(),
                    model.decodes(),
                    model.prefillPosition(),
                    model.vocabulary(),
                    shapes,
                    runner,
                    config.pages(),
                    options.probePrompts(),
                    options.thoroughProbe());
            this.measured = probe.measure();
            this.findings = List.copyOf(probe.findings());
            if (!findings.isEmpty()) {
                log.warn(
                        "results of '{}' depend on neighbours or shapes, so steps are restricted: {}",
                        name(),
                        findings);
            }
            boolean chosenByDevice = measured.decodes().stream().allMatch(runner::runsAhead);
            this.stepsAhead = chosenByDevice ? options.stepsAhead() : 1;
            Proposer proposer = new PromptLookup();
            if (draft != null && measured.verifiable()) {
                CacheMemory own = new CacheMemory(draft.model(), draft.pages(), 0);
                this.draftCache = own;
                proposer = draft.on(own, nanoTime);
            }
            this.loop = new GenerationLoop(
                    name(),
                    new StepPlanner(
                            model.prefillPosition(),
                            shapes,
                            measured,
                            config.pages(),
                            admission,
                            speculation,
                            proposer,
                            stepsAhead,
                            options.hostPages(),
                            cache),
                    runner,
                    cache::scrub,
                    options.maximumWaiting(),
                    options.requestsPerTenant(),
                    nanoTime,
                    this::closeCaches);
        } catch (RuntimeException | Error e) {
            closeCaches();
            throw e;
        }
    }

    private void closeCaches() {
        cache.close();
        if (draftCache != null) {
            draftCache.close();
        }
    }

    /**
     * Creates a generator: allocates the cache, and measures which functions and shapes of the program compute equal
     * bits, with some dozens of short steps.
     *
     * @param program a program with functions {@code prefill_bs{N}} and {@code decode_bs{N}}
     * @param options the options
     * @return the generator, closed by the caller
     * @throws IreeException INVALID_ARGUMENT for a program with another interface, a configuration or a draft that does not
     *     fit, such as pages with another number of tokens, or too few pages; RESOURCE_EXHAUSTED when the device has not
     *     enough memory for the pages; any failure of a step
     */
    public static Generator create(Program program, GeneratorOptions options) {
        return create(program, options, System::nanoTime, new Admission(), new Speculation(options.proposedTokens()));
    }

    static Generator create(
            Program program,
            GeneratorOptions options,
            LongSupplier nanoTime,
            Admission admission,
            Speculation speculation) {
        ModelConfig config = ModelConfig.of(options.configName(), options.config());
        if (options.pages() > 0) {
            config = config.withPages(options.pages());
        }
        ModelInterface model = ModelInterface.of(program, config);
        DraftModel draft = DraftModel.of(options, model, config);
        return new Generator(model, config, draft, options, nanoTime, admission, speculation);
    }

    private String name() {
        return model.name();
    }

    /**
     * Submits a request, and returns at once.
     *
     * @param request the request
     * @return the generation
     * @throws IreeException INVALID_ARGUMENT for tokens, also biased tokens and stop tokens, unknown to the model, more tokens than a
     *     sequence may have, or sampling options that a program with {@code top_k} 1 cannot follow; RESOURCE_EXHAUSTED
     *     when too many requests wait, or the tenant has too many; FAILED_PRECONDITION when the generator is closed; the
     *     failure of the device once lost
     */
    public Generation submit(GenerationRequest request) {
        int vocabulary = model.vocabulary();
        if (request.lowestToken() < 0 || vocabulary > 0 && request.highestToken() >= vocabulary) {
            int wrong = request.lowestToken() < 0 ? request.lowestToken() : request.highestToken();
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the prompt has token %d; tokens of '%s' are from 0 to %d"
                            .formatted(wrong, name(), vocabulary - 1));
        }
        for (int biased : request.sampling().logitBias().keySet()) {
            if (vocabulary > 0 && biased >= vocabulary) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "token %d has a bias; tokens of '%s' are from 0 to %d"
                                .formatted(biased, name(), vocabulary - 1));
            }
        }
        for (int stop : request.stopTokens()) {
            if (stop < 0 || vocabulary > 0 && stop >= vocabulary) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "the request stops at token %d; tokens of '%s' are from 0 to %d"
                                .formatted(stop, name(), vocabulary - 1));
            }
        }
        request.sampling().constraint().map(TokenConstraint::vocabulary).ifPresent(texts -> {
            if (vocabulary > 0 && texts.size() > vocabulary) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "the constraint has texts of %d tokens; '%s' has %d tokens: use the vocabulary of the model"
                                .formatted(texts.size(), name(), vocabulary));
            }
        });
        if (model.isGreedy()) {
            request.sampling().beyondGreedy().ifPresent(option -> {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "%s cannot be followed: '%s' is compiled with top_k 1, and returns the most probable token only; use a program that returns logits"
                                .formatted(option, name()));
            });
        }
        long tokens = (long) request.promptLength() + request.maximumTokens() - 1; // the last token is never read
        if (tokens > shapes.maximumTokens()) {
            int room = shapes.maximumTokens() - request.promptLength() + 1;
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a prompt of %d tokens and %d further tokens need %d pages of %d tokens; a sequence of '%s' has at most %d (%s): %s"
                            .formatted(
                                    request.promptLength(),
                                    request.maximumTokens(),
                                    Math.ceilDiv(tokens, shapes.stride()),
                                    shapes.stride(),
                                    name(),
                                    shapes.maximumColumns(),
                                    limit(),
                                    room > 0
                                            ? "shorten the prompt, or request at most %d tokens".formatted(room)
                                            : "shorten the prompt to at most %d tokens"
                                                    .formatted(shapes.maximumTokens())));
        }
        return loop.submit(request);
    }

    /** Returns the limit of the length of a sequence. */
    private String limit() {
        if (shapes.maximumColumns() == config.pages() - 1) {
            return "the cache has %d pages, 1 of them for padding; add pages".formatted(config.pages());
        }
        return config.maximumTokens() == 0
                ? "the configuration gives no max_seq_len, so longer sequences might leave the model's tables"
                : "max_seq_len is %d, of which exporters allow one page less".formatted(config.maximumTokens());
    }

    /**
     * Returns whether the measurement at the start found differences, which {@link #description} lists: then steps have
     * a single sequence or shape, or fewer functions are used.
     *
     * @return true if steps are restricted
     */
    public boolean isRestricted() {
        return !findings.isEmpty();
    }

    /**
     * Returns the functions in use and the differences measured at the start, for diagnostics.
     *
     * @return several lines
     */
    public String description() {
        StringBuilder text = new StringBuilder();
        text.append("prefill by %s, decode by %s%n".formatted(measured.prefills(), measured.decodes()));
        text.append("%s per step, steps of %s; %d pages of %d tokens%n"
                .formatted(
                        measured.rows() ? "several sequences" : "a single sequence",
                        measured.shapes() ? "any shape" : "a single shape",
                        config.pages(),
                        shapes.stride()));
        text.append("prefill and decode %s%n"
                .formatted(
                        measured.alike()
                                ? "compute equal bits: prefill reads generated tokens again, and answers are shared"
                                : "are not known to compute equal bits: decode reads generated tokens again"));
        text.append("proposed tokens %s%n"
                .formatted(measured.verifiable() ? "can be verified" : "cannot be verified: none are proposed"));
        text.append(
                stepsAhead == 1
                        ? "decode steps are submitted one after the other%s%n".formatted(whyOneByOne())
                        : "up to %d decode steps are submitted at once%n".formatted(stepsAhead));
        if (draft != null) {
            text.append("the draft '%s' %s%n"
                    .formatted(
                            draft.model().name(),
                            measured.verifiable()
                                    ? "proposes tokens, up to %d tokens of a sequence"
                                            .formatted(draft.shapes().maximumTokens() + 1)
                                    : "is not used"));
        }
        findings.forEach(each -> text.append(each).append(System.lineSeparator()));
        return text.toString();
    }

    private String whyOneByOne() {
        if (model.ahead().keySet().containsAll(measured.decodes())) {
            return "";
        }
        return model.isGreedy()
                ? ": steps ahead need functions with fences, '%s$async' of 64-bit tokens"
                        .formatted(measured.decodes().getFirst())
                : ": steps ahead need a program with top_k 1, and this program returns logits or several candidates";
    }

    /**
     * Returns the number of tokens of the model.
     *
     * @return the number; 0 if the program does not declare the number
     */
    public int vocabulary() {
        return model.vocabulary();
    }

    /**
     * Returns the most tokens of a prompt and the answer together.
     *
     * @return the number, by the configuration and the pages of the cache
     */
    public int maximumTokens() {
        return shapes.maximumTokens() + 1; // the last token is never read
    }

    /**
     * Returns the state after the last step.
     *
     * @return a snapshot
     */
    public GeneratorStatistics statistics() {
        return loop.statistics();
    }

    /**
     * Returns the sequences and pages between two steps. The step in progress is waited for, so a callback of a
     * generation's future must not wait for a snapshot.
     *
     * @return completes with the state; fails with CANCELLED when the generator is closed
     */
    public IreeFuture<GeneratorSnapshot> snapshot() {
        return loop.snapshot();
    }

    /**
     * Ends all generations with CANCELLED, waits for the step in progress, and frees the cache. Closing twice is harmless.
     * A callback of a generation's future may close, too: the step has ended, and the cache is freed soon after.
     */
    @Override
    public void close() {
        loop.close();
    }
}
