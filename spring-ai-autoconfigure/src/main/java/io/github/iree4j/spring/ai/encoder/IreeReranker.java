package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.document.Document;
import org.springframework.ai.rag.Query;
import org.springframework.ai.rag.postretrieval.document.DocumentPostProcessor;
import org.springframework.util.Assert;

/**
 * Sorts retrieved documents by relevance for the query, with a cross-encoder: a program that receives the tokens of the
 * query and of a document together, and returns a score. A cross-encoder is more precise than the similarity of
 * embeddings, and runs for each pair of query and document: rerank some dozens of documents that a vector store found.
 *
 * <p>The pairs of a request are tokenized by the pair template of the tokenizer, and passed to the program in the batches
 * of an {@link IreeEmbeddingModel}. Scores do not depend on the other documents of the request. Documents for which the
 * program returns equal numbers stay in order.
 *
 * <p><b>Limits.</b> Of a pair with too many tokens, the longer text is truncated, usually the document, or the request is
 * rejected. Documents without text, and texts and requests beyond the limits are rejected with INVALID_ARGUMENT before
 * any call is made. A request without documents makes no call.
 *
 * <p><b>Time.</b> A request fails with DEADLINE_EXCEEDED when the timeout expires, and with CANCELLED when the thread is
 * interrupted; the current call is then cancelled.
 *
 * <p>A replaced program takes effect immediately, as for embeddings. The caller keeps ownership of the tokenizer.
 * Thread-safe.
 */
public final class IreeReranker implements DocumentPostProcessor {

    private final TextEncoder encoder;
    private final ScoreColumns columns;
    private final RerankerSettings settings;

    /**
     * Creates a reranker.
     *
     * @param programs source of the program; the program need not be loaded yet
     * @param invocations calls the program
     * @param tokenizer tokenizes pairs; borrowed
     * @param settings settings of the program, and limits
     */
    public IreeReranker(
            Programs programs, InvocationOperations invocations, TextTokenizer tokenizer, RerankerSettings settings) {
        this.columns = new ScoreColumns(1, EncoderTask.RERANKER, settings.encoder());
        this.encoder = new TextEncoder(
                programs, invocations, tokenizer, settings.encoder(), EncoderTask.RERANKER, columns::check);
        this.settings = settings;
    }

    /**
     * Loads the program if necessary, and checks that the program can rerank texts with the settings.
     *
     * @throws IreeException FAILED_PRECONDITION when the program cannot be loaded, or cannot rerank texts, describing
     *     the function; NOT_FOUND when there is no such program or function
     */
    public void check() {
        encoder.check();
    }

    /** Returns the name of the model: the name of the program. */
    public String model() {
        return settings.encoder().module();
    }

    /**
     * Sorts documents by score, the greatest first, and omits documents beyond the configured number or below the
     * configured score.
     *
     * @param query the query; only the text is used
     * @param documents the documents, with text
     * @return copies of the documents, with the scores
     * @throws IreeException INVALID_ARGUMENT when a text or the request is rejected, naming the limit, and as calls fail
     * @throws IllegalArgumentException when the query, the list or a document is null
     */
    @Override
    public List<Document> process(Query query, List<Document> documents) {
        Assert.notNull(query, "'query' must not be null");
        Assert.notNull(documents, "'documents' must not be null");
        Assert.noNullElements(documents, "'documents' must not contain null");
        List<String> texts = documents.stream()
                .map(document -> DocumentTexts.require(document, settings.metadataMode()))
                .toList();
        float[] numbers = numbers(query.text(), texts);
        // By the number, since greater numbers may have the same score. The sum makes both zeros one.
        Comparator<Integer> byNumber = (one, other) -> Float.compare(numbers[other] + 0f, numbers[one] + 0f);
        List<Document> sorted = new ArrayList<>();
        for (int index :
                IntStream.range(0, numbers.length).boxed().sorted(byNumber).toList()) {
            double score = settings.activation().of(numbers, index, 1)[0];
            boolean isEnough = settings.topK() != null && sorted.size() == settings.topK();
            if (isEnough || settings.minScore() != null && score < settings.minScore()) {
                break;
            }
            sorted.add(scored(documents.get(index), score));
        }
        return sorted;
    }

    private static Document scored(Document document, double score) {
        Document scored = document.mutate().score(score).build();
        scored.setContentFormatter(document.getContentFormatter());
        return scored;
    }

    /**
     * Returns the scores of texts for a query.
     *
     * @param query the query
     * @param texts the texts
     * @return a score for each text, in order
     * @throws IreeException as {@link #process} does
     */
    public List<Double> scores(String query, List<String> texts) {
        Assert.notNull(query, "'query' must not be null");
        Assert.notNull(texts, "'texts' must not be null");
        float[] numbers = numbers(query, texts);
        return IntStream.range(0, numbers.length)
                .mapToObj(index -> settings.activation().of(numbers, index, 1)[0])
                .toList();
    }

    private float[] numbers(String query, List<String> texts) {
        Pairs pairs = new Pairs(query, texts);
        encoder.run(pairs, encoder.deadline(null), 0);
        return pairs.numbers;
    }

    /** The pairs of a request, and the number of each. */
    private final class Pairs implements TextEncoder.Request {
        private final String query;
        private final List<String> texts;
        private final float[] numbers;
        private @Nullable String start;

        Pairs(String query, List<String> texts) {
            this.query = query;
            this.texts = texts;
            this.numbers = new float[texts.size()];
        }

        @Override
        public int size() {
            return texts.size();
        }

        @Override
        public CheckedTokenizer.Checked tokens(CheckedTokenizer tokenizer, int index, int most) {
            if (index == 0 || start == null) { // after a restart another program may have another limit
                start = tokenizer.query(query, most);
            }
            return tokenizer.pair(start, texts.get(index), index, texts.size(), most);
        }

        @Override
        public void read(TextEncoder.Encoded encoded) {
            float[] values = columns.read(encoded);
            List<Integer> rows = encoded.batch().texts();
            for (int row = 0; row < rows.size(); row++) {
                numbers[rows.get(row)] = values[row];
            }
        }
    }
}
