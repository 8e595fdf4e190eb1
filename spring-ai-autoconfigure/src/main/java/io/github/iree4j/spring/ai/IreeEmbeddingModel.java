package io.github.iree4j.spring.ai;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
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
 * Embeds texts with a program that the application has loaded.
 *
 * <p>The texts of a request are tokenized, sorted by length, and go through the program in batches that fill the shapes it was compiled for,
 * by {@link InvocationService}, so that its interceptors, timeouts and observations apply. Where calls of the program are batched
 * dynamically, those of several requests that are padded to the same length join. Embeddings are in the order of the texts.
 *
 * <p><b>Prefixes.</b> Where the settings have them, one is put before each text: that of documents where texts come as {@link Document}s,
 * that of queries, or what the settings say, where they come as strings, and any that the {@linkplain IreeEmbeddingOptions#as options} ask for. It
 * counts among the tokens of the text and is never cut.
 *
 * <p><b>Limits.</b> A text has at most as many tokens as the settings, or the tokenizer, say: the rest is cut off, or the text is refused. Null, texts without
 * a single token, texts and requests that are too long are refused with INVALID_ARGUMENT, before anything is called. A request without
 * texts gives a response without embeddings.
 *
 * <p><b>Time.</b> A request fails with DEADLINE_EXCEEDED when its timeout passes, and with CANCELLED when its thread is interrupted; the call
 * that is under way is then given up.
 *
 * <p>A program that is replaced is used at once: a request that is under way begins anew, so that all of its embeddings are of one program. The tokenizer stays the caller's. Safe for use by any number of
 * threads.
 */
public final class IreeEmbeddingModel implements EmbeddingModel {

    /** What observations call the provider of the model. */
    public static final String PROVIDER = "iree";

    /** So often a request begins anew. */
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
    private volatile int measuredDimensions;

    /** That of the function which was called last. */
    private record KnownSignature(ProgramFunction function, EncoderSignature signature) {}

    /**
     * A model.
     *
     * @param programs knows the program; need not be loaded yet
     * @param invocations calls it
     * @param tokenizer makes tokens of texts; borrowed
     * @param settings what the program is like
     * @param observations where requests are observed
     * @param convention names and tags of observations; null for the usual ones
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
     * Checks that the program can embed texts as the settings say; loads it if it is not loaded.
     *
     * @throws IreeException FAILED_PRECONDITION when it cannot, saying what it is; NOT_FOUND when there is no such program or function; what
     *     loading it fails with
     */
    public void check() {
        int maxTokens = maxTokens(signature(locate().function()));
        for (TextKind kind : TextKind.values()) {
            tokenizer.checkPrefix(kind, maxTokens);
        }
    }

    /** Name of the model: that of its program. */
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
                    "model '%s' was asked for, and this is '%s'; name that one or none"
                            .formatted(options.model(), model()));
        }
        if (texts.size() > settings.maxRequestSize()) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "a request of %d texts, and at most %d are taken; divide it or raise iree.ai.embedding.max-request-size"
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
                "program '%s' was replaced %d times while a request of %d texts was under way; try again"
                        .formatted(model(), MOST_ATTEMPTS, texts.size()));
    }

    /** Null when the program was replaced in between: embeddings of two models are not for one response. */
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
            LocatedFunction located = locate(); // of the contexts that the program has, the one with the fewest calls
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

    /** What the settings or the tokenizer say, as far as the program takes that. */
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
                    "'%s' made a tensor of shape %s of %dx%d tokens; pooling %s wants %s"
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

    /** How many numbers of each vector are wanted. */
    private int kept(IreeEmbeddingOptions options, int dimensions) {
        Integer wanted = options.dimensions() != null ? options.dimensions() : settings.dimensions();
        if (wanted == null) {
            return dimensions;
        }
        if (wanted < 1 || wanted > dimensions) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "embeddings of %d dimensions were asked for, and model '%s' has %d"
                            .formatted(wanted, model(), dimensions));
        }
        return wanted;
    }

    private LocatedFunction locate() {
        String function = settings.function();
        if (function == null) {
            // Some modules have each function twice, the second with fences under a name like the first's.
            List<ProgramFunction> all = programs.require(settings.module(), null).program().functions().stream()
                    .filter(each -> !each.name().endsWith("$async"))
                    .toList();
            if (all.size() != 1) {
                throw new IreeException(
                        StatusCode.FAILED_PRECONDITION,
                        "program '%s' has the functions %s; say which one embeds texts in iree.ai.embedding.function"
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
        // Without metadata a formatted document still has the lines that come before its text.
        return settings.metadataMode() == MetadataMode.NONE
                ? document.getText()
                : document.getFormattedContent(settings.metadataMode());
    }

    /** What the program declares; where it does not, a call of it says. */
    @Override
    public int dimensions() {
        if (settings.dimensions() != null) {
            return settings.dimensions();
        }
        int declared = signature(locate().function()).dimensions();
        if (declared == 0 && measuredDimensions == 0) {
            measuredDimensions = embed("dimensions").length;
        }
        return declared > 0 ? declared : measuredDimensions;
    }

    /** When a request has to be answered. */
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

        /** For the next call; null for as long as it takes. */
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
                        "embedding by '%s' took longer than %s".formatted(model(), timeout));
            }
        }
    }
}
