package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.ai.encoder.Classification.Label;
import io.github.iree4j.status.IreeException;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.springframework.util.Assert;

/**
 * Classifies texts with a program that returns a number for each label: topics, intents, languages, sentiments, spam.
 *
 * <p>The texts of a request are tokenized and batched as the texts of an {@link IreeEmbeddingModel} are, with the same
 * limits and failures. Results are in the order of the texts, and do not depend on the other texts of the request.
 *
 * <p>A replaced program takes effect immediately, as for embeddings. The caller keeps ownership of the tokenizer.
 * Thread-safe.
 */
public final class IreeClassifier {

    private final TextEncoder encoder;
    private final ScoreColumns columns;
    private final ClassifierSettings settings;

    /**
     * Creates a classifier.
     *
     * @param programs source of the program; the program need not be loaded yet
     * @param invocations calls the program
     * @param tokenizer tokenizes texts; borrowed
     * @param settings settings of the program, and limits
     */
    public IreeClassifier(
            Programs programs, InvocationOperations invocations, TextTokenizer tokenizer, ClassifierSettings settings) {
        this.columns = new ScoreColumns(settings.labels().size(), EncoderTask.CLASSIFIER, settings.encoder());
        this.encoder = new TextEncoder(
                programs, invocations, tokenizer, settings.encoder(), EncoderTask.CLASSIFIER, columns::check);
        this.settings = settings;
    }

    /**
     * Loads the program if necessary, and checks that the program can classify texts with the settings.
     *
     * @throws IreeException FAILED_PRECONDITION when the program cannot be loaded, or cannot classify texts, describing
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
     * Classifies a text.
     *
     * @param text the text
     * @return the labels
     * @throws IreeException INVALID_ARGUMENT when the text is rejected, naming the limit; DEADLINE_EXCEEDED when the
     *     timeout expires; CANCELLED when the thread is interrupted; and as calls fail
     */
    public Classification classify(String text) {
        return classify(Collections.singletonList(text)).getFirst();
    }

    /**
     * Classifies texts.
     *
     * @param texts the texts; without texts, no call is made
     * @return the labels of each text, in order
     * @throws IreeException as {@link #classify(String)} does
     */
    public List<Classification> classify(List<String> texts) {
        Assert.notNull(texts, "'texts' must not be null");
        Classifications request = new Classifications(texts);
        encoder.run(request, encoder.deadline(null), 0);
        return Arrays.stream(request.found).map(Objects::requireNonNull).toList();
    }

    private Classification classification(float[] values, int from) {
        double[] probabilities = settings.activation().of(values, from, columns.count());
        return new Classification(IntStream.range(0, probabilities.length)
                .mapToObj(i -> new Label(settings.labels().get(i), probabilities[i]))
                .sorted(Comparator.comparingDouble(Label::probability).reversed())
                .toList());
    }

    /** The texts of a request, and their labels. */
    private final class Classifications implements TextEncoder.Request {
        private final List<String> texts;
        private final Classification[] found;

        Classifications(List<String> texts) {
            this.texts = texts;
            this.found = new Classification[texts.size()];
        }

        @Override
        public int size() {
            return texts.size();
        }

        @Override
        public CheckedTokenizer.Checked tokens(CheckedTokenizer tokenizer, int index, int most) {
            return tokenizer.text(texts.get(index), index, texts.size(), most);
        }

        @Override
        public void read(TextEncoder.Encoded encoded) {
            float[] values = columns.read(encoded);
            List<Integer> rows = encoded.batch().texts();
            for (int row = 0; row < rows.size(); row++) {
                found[rows.get(row)] = classification(values, row * columns.count());
            }
        }
    }
}
