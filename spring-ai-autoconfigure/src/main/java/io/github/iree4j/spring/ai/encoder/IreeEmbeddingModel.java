package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.ObservationRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.document.Document;
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
 * IreeEmbeddingOptions#kind options}. A prefix counts toward the tokens of the text and is never truncated.
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

    private static final EmbeddingModelObservationConvention DEFAULT_CONVENTION =
            new DefaultEmbeddingModelObservationConvention();

    private final TextEncoder encoder;
    private final PrefixedTokenizer tokenizer;
    private final EmbeddingSettings settings;
    private final ObservationRegistry observations;
    private final @Nullable EmbeddingModelObservationConvention convention;

    private volatile @Nullable Measured measured;

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
            InvocationOperations invocations,
            TextTokenizer tokenizer,
            EmbeddingSettings settings,
            ObservationRegistry observations,
            @Nullable EmbeddingModelObservationConvention convention) {
        this.encoder = new TextEncoder(
                programs, invocations, tokenizer, settings.encoder(), EncoderTask.EMBEDDING, this::checkResult);
        this.tokenizer = new PrefixedTokenizer(tokenizer, settings.prefixes());
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
        int maxTokens = encoder.check();
        for (TextKind kind : TextKind.values()) {
            tokenizer.check(kind, maxTokens);
        }
    }

    private void checkResult(ProgramFunction function, EncoderSignature signature) {
        List<Long> shape = signature.result();
        if (shape == null) { // checked when the result is available
            return;
        }
        int index = settings.encoder().result();
        Pooling pooling = pooling(shape.size());
        if (shape.size() != pooling.rank()) {
            throw EncoderTask.EMBEDDING.cannot(
                    function,
                    "result %d is %s; pooling %s requires %s"
                            .formatted(
                                    index,
                                    function.results().get(index).type(),
                                    pooling.name().toLowerCase(Locale.ROOT),
                                    pooling.wanted()));
        }
        long dimensions = shape.getLast();
        if (settings.dimensions() != null && dimensions > 0 && settings.dimensions() > dimensions) {
            throw EncoderTask.EMBEDDING.cannot(
                    function,
                    "its vectors have %d dimensions, but iree.ai.embedding.dimensions is %d"
                            .formatted(dimensions, settings.dimensions()));
        }
    }

    private Pooling pooling(int rank) {
        return settings.pooling() != null ? settings.pooling() : Pooling.usual(rank);
    }

    /** Returns the name of the model: the name of the program. */
    public String model() {
        return settings.encoder().module();
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
        Deadline deadline = encoder.deadline(options.timeout());
        if (!model().equals(options.getModel())) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "model '%s' was requested, but this is '%s'; name that model or none"
                            .formatted(options.getModel(), model()));
        }
        Embeddings embeddings = new Embeddings(texts, options);
        TextEncoder.Usage usage = encoder.run(embeddings, deadline, options.priority());
        return response(embeddings.vectors, usage);
    }

    private EmbeddingResponse response(float[][] vectors, TextEncoder.Usage usage) {
        List<Embedding> embeddings = new ArrayList<>(vectors.length);
        for (int i = 0; i < vectors.length; i++) {
            embeddings.add(new Embedding(vectors[i], i));
        }
        int used = (int) Math.min(Integer.MAX_VALUE, usage.tokens());
        return new EmbeddingResponse(
                embeddings,
                new EmbeddingResponseMetadata(
                        model(), new DefaultUsage(used, 0, used), Map.of("truncated", usage.cut())));
    }

    /** The texts of a request, and their vectors. */
    private final class Embeddings implements TextEncoder.Request {
        private final List<String> texts;
        private final IreeEmbeddingOptions options;
        private final TextKind kind;
        private final float[][] vectors;

        Embeddings(List<String> texts, IreeEmbeddingOptions options) {
            this.texts = texts;
            this.options = options;
            this.kind = options.kind() != null
                    ? options.kind()
                    : settings.prefixes().strings();
            this.vectors = new float[texts.size()][];
        }

        @Override
        public int size() {
            return texts.size();
        }

        @Override
        public CheckedTokenizer.Checked tokens(CheckedTokenizer checked, int index, int most) {
            tokenizer.check(kind, most);
            return checked.text(texts.get(index), index, texts.size(), most, piece -> tokenizer.tokenize(piece, kind));
        }

        @Override
        public void read(TextEncoder.Encoded encoded) {
            TokenBatch batch = encoded.batch();
            long[] shape = encoded.result().shape().dimensions();
            Pooling pooling = pooling(shape.length);
            boolean pooled = pooling == Pooling.NONE;
            if (shape.length != pooling.rank() || shape[0] != batch.rows() || !pooled && shape[1] != batch.length()) {
                throw IreeException.of(
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
            float[] values = encoded.result().toFloatArray();
            int rowSize = Math.toIntExact(pooled ? dimensions : shape[1] * dimensions);
            for (int row = 0; row < batch.texts().size(); row++) {
                int text = batch.texts().get(row);
                float[] vector = Vectors.pooled(
                        values,
                        row * rowSize,
                        dimensions,
                        encoded.tokens().get(text).size(),
                        pooling);
                vectors[text] = Vectors.finished(vector, kept, settings.normalize());
            }
        }
    }

    /** The requested length of each vector. */
    private int kept(IreeEmbeddingOptions options, int dimensions) {
        Integer wanted = options.getDimensions() != null ? options.getDimensions() : settings.dimensions();
        if (wanted == null) {
            return dimensions;
        }
        if (wanted < 1 || wanted > dimensions) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "embeddings of %d dimensions were requested, but model '%s' has %d"
                            .formatted(wanted, model(), dimensions));
        }
        return wanted;
    }

    @Override
    public float[] embed(Document document) {
        Assert.notNull(document, "'document' must not be null");
        String content = DocumentTexts.require(document, settings.metadataMode());
        return call(new EmbeddingRequest(List.of(content), IreeEmbeddingOptions.DEFAULTS.kind(TextKind.DOCUMENT)))
                .getResult()
                .getOutput();
    }

    @Override
    public List<float[]> embed(
            List<Document> documents, @Nullable EmbeddingOptions options, BatchingStrategy batchingStrategy) {
        IreeEmbeddingOptions ours = IreeEmbeddingOptions.of(options);
        return EmbeddingModel.super.embed(
                documents, ours.kind() == null ? ours.kind(TextKind.DOCUMENT) : ours, batchingStrategy);
    }

    @Override
    public @Nullable String getEmbeddingContent(Document document) {
        Assert.notNull(document, "'document' must not be null");
        return DocumentTexts.of(document, settings.metadataMode());
    }

    /** Returns the declared length, or else the length measured by a call, once for each loaded program. */
    @Override
    public int dimensions() {
        if (settings.dimensions() != null) {
            return settings.dimensions();
        }
        LocatedFunction located = encoder.locate(encoder.deadline(null));
        List<Long> shape = encoder.signature(located.function()).result();
        if (shape != null && shape.getLast() > 0) {
            return Math.toIntExact(shape.getLast());
        }
        Measured last = measured;
        if (last == null || !last.program.equals(located.program())) {
            last = new Measured(located.program(), embed("dimensions").length);
            measured = last;
        }
        return last.dimensions;
    }
}
