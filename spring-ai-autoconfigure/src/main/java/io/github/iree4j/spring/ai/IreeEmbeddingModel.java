package io.github.iree4j.spring.ai;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.document.Document;
import org.springframework.ai.document.MetadataMode;
import org.springframework.ai.embedding.BatchingStrategy;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingOptions;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.ai.embedding.EmbeddingResponseMetadata;
import org.springframework.ai.embedding.observation.DefaultEmbeddingModelObservationConvention;
import org.springframework.ai.embedding.observation.EmbeddingModelObservationContext;
import org.springframework.ai.embedding.observation.EmbeddingModelObservationConvention;
import org.springframework.ai.embedding.observation.EmbeddingModelObservationDocumentation;
import org.springframework.util.Assert;

/**
 * Embeds texts with a program loaded by the application.
 *
 * <p>The texts of a request are tokenized, sorted by length, and passed to the program in batches filling the program's
 * compiled shapes, through {@link InvocationService}: interceptors, timeouts and observations of the service apply.
 * With dynamic batching, calls of several requests padded to the same length are merged. Embeddings are in the order of
 * the texts.
 *
 * <p><b>Prefixes.</b> If configured, a prefix is added to each text: for {@link Document}s the prefix of documents, for
 * strings the prefix of queries, or as configured, and for any text the prefix selected by the {@linkplain
 * IreeEmbeddingOptions#as options}. A prefix counts toward the tokens of the text and is never truncated.
 *
 * <p><b>Limits.</b> The settings, or the tokenizer, limit the tokens of a text: the rest is truncated, or the text is
 * rejected. Null, texts without tokens, and texts and requests beyond the limits are rejected with INVALID_ARGUMENT
 * before any call is made. A request without texts gives a response without embeddings.
 *
 * <p><b>Time.</b> A request fails with DEADLINE_EXCEEDED when the timeout expires, and with CANCELLED when the thread
 * is interrupted; the current call is then cancelled.
 *
 * <p>A replaced program takes effect immediately: a request in flight restarts, to return embeddings of a single
 * program. The caller keeps ownership of the tokenizer. Thread-safe.
 */
public final class IreeEmbeddingModel implements EmbeddingModel {

    /** The name of the provider in observations. */
    public static final String PROVIDER = "iree";

    /** Maximum number of restarts of a request. */
    private static final int MOST_ATTEMPTS = 5;

    private static final EmbeddingModelObservationConvention DEFAULT_CONVENTION =
            new DefaultEmbeddingModelObservationConvention();

    private final Programs programs;
    private final InvocationService invocations;
    private final CheckedTokenizer tokenizer;
    private final EmbeddingSettings settings;
    private final ObservationRegistry observations;
    private final @Nullable EmbeddingModelObservationConvention convention;

    private volatile @Nullable KnownSignature known;
    private volatile @Nullable Measured measured;

    /** The signature of the function called last. */
    private record KnownSignature(ProgramFunction function, EncoderSignature signature) {}

    /** The measured length of an embedding, for a program without a declared length. */
    private record Measured(LoadedProgram program, int dimensions) {}

    /**
     * Creates a model.
     *
     * @param programs source of the program; the program need not be loaded yet
     * @param invocations calls the program
     * @param tokenizer tokenizes texts; borrowed
     * @param settings settings of the program, and limits
     * @param observations receives the observations of requests
     * @param convention names and tags of observations; null for the default
     */
    public IreeEmbeddingModel(
            Programs programs,
            InvocationService invocations,
            TextTokenizer tokenizer,
            EmbeddingSettings settings,
            ObservationRegistry observations,
            @Nullable EmbeddingModelObservationConvention convention) {
        this.programs = programs;
        this.invocations = invocations;
        this.tokenizer = new CheckedTokenizer(tokenizer, settings);
        this.settings = settings;
        this.observations = observations;
        this.convention = convention;
    }

    /**
     * Loads the program if necessary, and checks that the program can embed texts with the settings.
     *
     * @throws IreeException FAILED_PRECONDITION when the program cannot be loaded, or cannot embed texts, describing the
     *     function; NOT_FOUND when there is no such program or function
     */
    public void check() {
        int maxTokens = maxTokens(signature(locate().function()));
        for (TextKind kind : TextKind.values()) {
            tokenizer.checkPrefix(kind, maxTokens);
        }
    }

    /** Returns the name of the model: the name of the program. */
    public String model() {
        return settings.module();
    }

    @Override
    public EmbeddingResponse call(EmbeddingRequest request) {
        Assert.notNull(request, "'request' must not be null");
        Assert.notNull(request.getInstructions(), "'request' must have instructions");
        IreeEmbeddingOptions options =
                IreeEmbeddingOptions.of(request.getOptions()).ofModel(model());
        EmbeddingModelObservationContext context = EmbeddingModelObservationContext.builder()
                .embeddingRequest(new EmbeddingRequest(request.getInstructions(), options))
                .provider(PROVIDER)
                .build();
        return Objects.requireNonNull(EmbeddingModelObservationDocumentation.EMBEDDING_MODEL_OPERATION
                .observation(convention, DEFAULT_CONVENTION, () -> context, observations)
                .observe(() -> {
                    EmbeddingResponse response = respond(request.getInstructions(), options);
                    context.setResponse(response);
                    return response;
                }));
    }

    private EmbeddingResponse respond(List<String> texts, IreeEmbeddingOptions options) {
        Deadline deadline = new Deadline(options.timeout() != null ? options.timeout() : settings.timeout());
        if (!model().equals(options.model())) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "model '%s' was requested, but this is '%s'; name that model or none"
                            .formatted(options.model(), model()));
        }
        if (texts.size() > settings.maxRequestSize()) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "a request of %d texts exceeds the limit of %d; split it or raise iree.ai.embedding.max-request-size"
                            .formatted(texts.size(), settings.maxRequestSize()));
        }
        if (texts.isEmpty()) {
            return response(new float[0][], List.of(), 0);
        }
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            EmbeddingResponse response = attempt(texts, options, deadline);
            if (response != null) {
                return response;
            }
        }
        throw new IreeException(
                StatusCode.ABORTED,
                "program '%s' was replaced %d times during a request of %d texts; try again"
                        .formatted(model(), MOST_ATTEMPTS, texts.size()));
    }

    /** Returns null when the program was replaced meanwhile: a response must not mix embeddings of two models. */
    private @Nullable EmbeddingResponse attempt(List<String> texts, IreeEmbeddingOptions options, Deadline deadline) {
        LocatedFunction first = locate();
        EncoderSignature signature = signature(first.function());
        int maxTokens = maxTokens(signature);
        TextKind kind =
                options.kind() != null ? options.kind() : settings.prefixes().strings();
        tokenizer.checkPrefix(kind, maxTokens);
        List<Tokens> tokens = new ArrayList<>(texts.size());
        int cut = 0;
        for (int i = 0; i < texts.size(); i++) {
            deadline.check();
            CheckedTokenizer.Checked each = tokenizer.tokenize(texts.get(i), i, texts.size(), kind, maxTokens);
            tokens.add(each.tokens());
            cut += each.isCut() ? 1 : 0;
        }
        float[][] vectors = new float[texts.size()][];
        for (TokenBatch batch : new BatchPlan(tokens, signature, settings).batches()) {
            deadline.check();
            LocatedFunction located = locate(); // selects the least loaded context of the program
            if (!located.program().equals(first.program())) {
                return null;
            }
            encode(located, signature, batch, tokens, options, deadline, vectors);
        }
        return response(vectors, tokens, cut);
    }

    private EmbeddingResponse response(float[][] vectors, List<Tokens> tokens, int cut) {
        List<Embedding> embeddings = new ArrayList<>(vectors.length);
        for (int i = 0; i < vectors.length; i++) {
            embeddings.add(new Embedding(vectors[i], i));
        }
        int used = (int) Math.min(
                Integer.MAX_VALUE, tokens.stream().mapToLong(Tokens::size).sum());
        return new EmbeddingResponse(
                embeddings,
                new EmbeddingResponseMetadata(model(), new DefaultUsage(used, 0, used), Map.of("truncated", cut)));
    }

    /** The limit of the settings or the tokenizer, capped by the program's limit. */
    private int maxTokens(EncoderSignature signature) {
        int said = tokenizer.maxTokens();
        return signature.maxLength() > 0 ? Math.min(said, signature.maxLength()) : said;
    }

    private void encode(
            LocatedFunction located,
            EncoderSignature signature,
            TokenBatch batch,
            List<Tokens> tokens,
            IreeEmbeddingOptions options,
            Deadline deadline,
            float[][] vectors) {
        Tensor[] inputs = new Tensor[signature.inputs().size()];
        try {
            for (int i = 0; i < inputs.length; i++) {
                inputs[i] = batch.tensor(
                        signature.inputs().get(i), signature.types().get(i), tokens, settings.paddingId());
            }
            try (Results results = invocations
                    .request(located)
                    .inputs((Object[]) inputs)
                    .deadline(deadline.left())
                    .priority(options.priority())
                    .invoke()) {
                pool(batch, tokens, signature, results.tensor(settings.result()), options, vectors);
            }
        } finally {
            Arrays.stream(inputs).filter(Objects::nonNull).forEach(Tensor::close);
        }
    }

    private void pool(
            TokenBatch batch,
            List<Tokens> tokens,
            EncoderSignature signature,
            Tensor result,
            IreeEmbeddingOptions options,
            float[][] vectors) {
        long[] shape = result.shape();
        Pooling pooling = signature.pooling() != null ? signature.pooling() : Pooling.usual(shape.length);
        boolean pooled = pooling == Pooling.NONE;
        if (shape.length != pooling.rank() || shape[0] != batch.rows() || !pooled && shape[1] != batch.length()) {
            throw new IreeException(
                    StatusCode.INTERNAL,
                    "'%s' returned a tensor of shape %s for %dx%d tokens; pooling %s requires %s"
                            .formatted(
                                    model(),
                                    Arrays.toString(shape),
                                    batch.rows(),
                                    batch.length(),
                                    pooling.name().toLowerCase(Locale.ROOT),
                                    pooling.wanted()));
        }
        int dimensions = Math.toIntExact(shape[shape.length - 1]);
        int kept = kept(options, dimensions);
        float[] values = result.toFloatArray();
        int rowSize = Math.toIntExact(pooled ? dimensions : shape[1] * dimensions);
        for (int row = 0; row < batch.texts().size(); row++) {
            int text = batch.texts().get(row);
            float[] vector = Vectors.pooled(
                    values, row * rowSize, dimensions, tokens.get(text).size(), pooling);
            vectors[text] = Vectors.finished(vector, kept, settings.normalize());
        }
    }

    /** The requested length of each vector. */
    private int kept(IreeEmbeddingOptions options, int dimensions) {
        Integer wanted = options.dimensions() != null ? options.dimensions() : settings.dimensions();
        if (wanted == null) {
            return dimensions;
        }
        if (wanted < 1 || wanted > dimensions) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "embeddings of %d dimensions were requested, but model '%s' has %d"
                            .formatted(wanted, model(), dimensions));
        }
        return wanted;
    }

    private LocatedFunction locate() {
        String function = settings.function();
        if (function == null) {
            List<ProgramFunction> all =
                    programs.require(settings.module(), null).program().functions();
            if (all.size() != 1) {
                throw new IreeException(
                        StatusCode.FAILED_PRECONDITION,
                        "program '%s' has the functions %s; name the one that embeds texts in iree.ai.embedding.function"
                                .formatted(
                                        settings.module(),
                                        all.stream().map(ProgramFunction::name).toList()));
            }
            function = all.getFirst().name();
        }
        return programs.locate(settings.module() + "." + function);
    }

    private EncoderSignature signature(ProgramFunction function) {
        KnownSignature last = known;
        if (last == null || last.function != function) {
            last = new KnownSignature(function, EncoderSignature.of(function, settings));
            known = last;
        }
        return last.signature;
    }

    @Override
    public float[] embed(Document document) {
        Assert.notNull(document, "'document' must not be null");
        String content = getEmbeddingContent(document);
        if (content == null) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT, "document '%s' has no text".formatted(document.getId()));
        }
        return call(new EmbeddingRequest(List.of(content), IreeEmbeddingOptions.DEFAULTS.as(TextKind.DOCUMENT)))
                .getResult()
                .getOutput();
    }

    @Override
    public List<float[]> embed(
            List<Document> documents, @Nullable EmbeddingOptions options, BatchingStrategy batchingStrategy) {
        IreeEmbeddingOptions ours = IreeEmbeddingOptions.of(options);
        return EmbeddingModel.super.embed(
                documents, ours.kind() == null ? ours.as(TextKind.DOCUMENT) : ours, batchingStrategy);
    }

    @Override
    public @Nullable String getEmbeddingContent(Document document) {
        Assert.notNull(document, "'document' must not be null");
        // Even without metadata, a formatted document has lines before its text.
        return settings.metadataMode() == MetadataMode.NONE
                ? document.getText()
                : document.getFormattedContent(settings.metadataMode());
    }

    /** Returns the declared length, or else the length measured by a call, once for each loaded program. */
    @Override
    public int dimensions() {
        if (settings.dimensions() != null) {
            return settings.dimensions();
        }
        LocatedFunction located = locate();
        int declared = signature(located.function()).dimensions();
        if (declared > 0) {
            return declared;
        }
        Measured last = measured;
        if (last == null || !last.program.equals(located.program())) {
            last = new Measured(located.program(), embed("dimensions").length);
            measured = last;
        }
        return last.dimensions;
    }

    /** The deadline of a request. */
    private final class Deadline {
        private final long end;
        private final @Nullable Duration timeout;

        Deadline(@Nullable Duration timeout) {
            this.timeout = timeout;
            this.end = timeout == null ? 0 : System.nanoTime() + saturated(timeout);
        }

        private static long saturated(Duration timeout) {
            try {
                return timeout.toNanos();
            } catch (ArithmeticException e) {
                return Long.MAX_VALUE / 2;
            }
        }

        /** The remaining time for the next call; null for no limit. */
        @Nullable
        Duration left() {
            return timeout == null ? null : Duration.ofNanos(Math.max(0, end - System.nanoTime()));
        }

        void check() {
            if (Thread.currentThread().isInterrupted()) {
                throw new IreeException(
                        StatusCode.CANCELLED, "interrupted while texts were embedded by '%s'".formatted(model()));
            }
            if (timeout != null && end - System.nanoTime() <= 0) {
                throw new IreeException(
                        StatusCode.DEADLINE_EXCEEDED,
                        "embedding by '%s' took longer than %s".formatted(model(), DurationText.of(timeout)));
            }
        }
    }
}
