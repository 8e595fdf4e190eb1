package io.github.iree4j.sample.search;

import io.github.iree4j.modules.parameters.IrpaWriter;
import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.core.io.ByteArrayResource;
import tools.jackson.databind.json.JsonMapper;

/**
 * Trains the small encoder on the documents to search: the vocabulary, and for each token a vector, of which a half
 * encodes the tokens in its company (latent semantic analysis: the strongest directions of tokens by passages), and the
 * other the token itself (random signs). Rare tokens weigh more than common tokens. Only the content of these documents
 * is known, and no language.
 *
 * <p>{@code EncoderTrainer DOCUMENTS MODELS} reads the Markdown below the first directory and writes {@code
 * tokenizer.json} and {@code encoder.irpa} into the other. The same documents give the same files.
 */
final class EncoderTrainer {

    static final int VOCABULARY = 4096;
    static final int DIMENSIONS = 128;
    private static final int COMPANY = 64; // of these, how many say in whose company a token is
    private static final int WORDS = 3200;
    private static final int UNKNOWN = 1;
    private static final int FIRST_WORD =
            2 + 2 * 36; // behind the special ones, and letters and digits at the start and within
    private static final int ROUNDS = 12;
    private static final double WEIGHT_OF_COMPANY = 1;
    private static final double WEIGHT_OF_IDENTITY = 0.9;

    private final List<Passage> passages;
    private int endOfWords; // what comes behind them in the vocabulary are pieces

    EncoderTrainer(List<Passage> passages) {
        this.passages = passages;
    }

    /**
     * The encoder.
     *
     * @param tokenizer the content of tokenizer.json
     * @param table a row of numbers for each token
     * @param scale the factor of each row
     */
    record Encoder(String tokenizer, byte[] table, float[] scale) {

        void write(Path models) throws IOException {
            Files.writeString(models.resolve("tokenizer.json"), tokenizer);
            new IrpaWriter()
                    .stored("table", MemorySegment.ofArray(table))
                    .stored("scale", scale)
                    .write(models.resolve("encoder.irpa"));
        }
    }

    public static void main(String[] arguments) throws IOException {
        Path documents = Path.of(arguments[0]);
        List<Passage> passages = new ArrayList<>();
        try (Stream<Path> files = Files.walk(documents)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".md"))
                    .sorted()
                    .toList()) {
                passages.addAll(Markdown.passages(documents.relativize(file).toString(), Files.readString(file)));
            }
        }
        new EncoderTrainer(passages).train().write(Path.of(arguments[1]));
        System.out.printf("trained on %d passages%n", passages.size());
    }

    Encoder train() {
        List<String> vocabulary = vocabulary();
        String json = tokenizer(vocabulary);
        List<Map<Integer, Integer>> counts = new ArrayList<>();
        try (HuggingFaceTextTokenizer tokenizer = HuggingFaceTextTokenizer.load(
                new ByteArrayResource(json.getBytes(StandardCharsets.UTF_8), "tokenizer being made"))) {
            for (Passage passage : passages) {
                Map<Integer, Integer> count = new TreeMap<>();
                for (long id : tokenizer.tokenize(passage.content()).ids()) {
                    count.merge((int) id, 1, Integer::sum);
                }
                counts.add(count);
            }
        }
        double[] weights = weights(counts);
        double[][] company = company(counts, weights);
        double[][] vectors = new double[VOCABULARY][];
        Random random = new Random(1);
        for (int token = 0; token < VOCABULARY; token++) {
            vectors[token] = vector(company[token], weights[token], random);
        }
        shareWithPieces(vocabulary, vectors);
        return quantized(json, vectors);
    }

    // -- vocabulary

    private List<String> vocabulary() {
        Map<String, Integer> words = new TreeMap<>();
        for (Passage passage : passages) {
            for (String word : words(passage.content())) {
                words.merge(word, 1, Integer::sum);
            }
        }
        List<String> vocabulary = new ArrayList<>(List.of("[PAD]", "[UNK]"));
        for (String letter : "abcdefghijklmnopqrstuvwxyz0123456789".split("")) {
            vocabulary.add(letter);
            vocabulary.add("##" + letter);
        }
        addMostFrequent(vocabulary, words, WORDS, 2);
        endOfWords = vocabulary.size();
        // How words begin, for words that are being typed or are not known, and how they end.
        Map<String, Integer> beginnings = new TreeMap<>();
        Map<String, Integer> ends = new TreeMap<>();
        words.forEach((word, count) -> {
            for (int cut = 3; cut < word.length(); cut++) {
                if (cut <= 7) {
                    beginnings.merge(word.substring(0, cut), 1, Integer::sum);
                }
                if (word.length() - cut <= 5) {
                    ends.merge("##" + word.substring(cut), 1, Integer::sum);
                }
            }
        });
        addMostFrequent(vocabulary, ends, Math.min(300, VOCABULARY - vocabulary.size()), 3);
        addMostFrequent(vocabulary, beginnings, VOCABULARY - vocabulary.size(), 2);
        return vocabulary;
    }

    private static void addMostFrequent(List<String> vocabulary, Map<String, Integer> counts, int most, int least) {
        List<String> added = counts.entrySet().stream()
                .filter(entry -> entry.getValue() >= least && !vocabulary.contains(entry.getKey()))
                .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .limit(most)
                .map(Map.Entry::getKey)
                .toList();
        vocabulary.addAll(added);
    }

    /** As made by the tokenizer's normalizer. */
    private static List<String> words(String text) {
        return Stream.of(text.replaceAll("(?<=[a-z])(?=[A-Z])", " ")
                        .toLowerCase(Locale.ROOT)
                        .split("[^a-z0-9]+"))
                .filter(word -> !word.isEmpty())
                .toList();
    }

    private static String tokenizer(List<String> vocabulary) {
        String entries = vocabulary.stream()
                .map(word -> "\"%s\": %d".formatted(word, vocabulary.indexOf(word)))
                .collect(Collectors.joining(", "));
        String json = """
                {"version": "1.0",
                 "truncation": {"direction": "Right", "max_length": 256, "strategy": "LongestFirst", "stride": 0},
                 "padding": null, "added_tokens": [],
                 "normalizer": {"type": "Sequence", "normalizers": [
                   {"type": "Replace", "pattern": {"Regex": "(?<=[a-z])(?=[A-Z])"}, "content": " "},
                   {"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"},
                   {"type": "Replace", "pattern": {"Regex": "[^\\\\p{L}\\\\p{N}]+"}, "content": " "}]},
                 "pre_tokenizer": {"type": "WhitespaceSplit"},
                 "post_processor": null,
                 "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
                 "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {%s}}}
                """.formatted(entries);
        JsonMapper.shared().readTree(json);
        return json;
    }

    // -- vectors

    /** The weight of a token: higher for tokens in fewer passages. */
    private double[] weights(List<Map<Integer, Integer>> counts) {
        int[] having = new int[VOCABULARY];
        counts.forEach(count -> count.keySet().forEach(token -> having[token]++));
        double[] weights = new double[VOCABULARY];
        for (int token = 0; token < VOCABULARY; token++) {
            weights[token] = Math.pow(Math.log((counts.size() + 1.0) / (having[token] + 0.5)), 1.3);
        }
        return weights;
    }

    /** The strongest directions of the matrix of tokens by passages, a row for each token, by subspace iteration. */
    private static double[][] company(List<Map<Integer, Integer>> counts, double[] weights) {
        Random random = new Random(2);
        double[][] basis = new double[VOCABULARY][COMPANY];
        for (double[] row : basis) {
            for (int i = 0; i < COMPANY; i++) {
                row[i] = random.nextGaussian();
            }
        }
        for (int round = 0; round < ROUNDS; round++) {
            double[][] next = new double[VOCABULARY][COMPANY];
            for (Map<Integer, Integer> count : counts) {
                double[] passage = new double[COMPANY];
                double squares = 0;
                for (Map.Entry<Integer, Integer> entry : count.entrySet()) {
                    squares += Math.pow(entry(entry, weights), 2);
                }
                double length = Math.sqrt(squares) + 1e-12;
                count.entrySet().forEach(entry -> add(passage, basis[entry.getKey()], entry(entry, weights) / length));
                count.entrySet().forEach(entry -> add(next[entry.getKey()], passage, entry(entry, weights) / length));
            }
            orthonormalize(next);
            for (int token = 0; token < VOCABULARY; token++) {
                basis[token] = next[token];
            }
        }
        return basis;
    }

    private static double entry(Map.Entry<Integer, Integer> count, double[] weights) {
        return (1 + Math.log(count.getValue())) * weights[count.getKey()];
    }

    private static void add(double[] sum, double[] vector, double factor) {
        for (int i = 0; i < sum.length; i++) {
            sum[i] += vector[i] * factor;
        }
    }

    /** Makes the columns orthonormal. */
    private static void orthonormalize(double[][] matrix) {
        for (int column = 0; column < COMPANY; column++) {
            for (int before = 0; before < column; before++) {
                double product = 0;
                for (double[] row : matrix) {
                    product += row[column] * row[before];
                }
                for (double[] row : matrix) {
                    row[column] -= product * row[before];
                }
            }
            double squares = 0;
            for (double[] row : matrix) {
                squares += row[column] * row[column];
            }
            double length = Math.sqrt(squares) + 1e-12;
            for (double[] row : matrix) {
                row[column] /= length;
            }
        }
    }

    private static double[] vector(double[] company, double weight, Random random) {
        double[] vector = new double[DIMENSIONS];
        for (int i = 0; i < COMPANY; i++) {
            vector[i] = WEIGHT_OF_COMPANY * weight * company[i] * Math.sqrt(VOCABULARY) / 4;
        }
        int identity = DIMENSIONS - COMPANY;
        for (int i = COMPANY; i < DIMENSIONS; i++) {
            vector[i] = WEIGHT_OF_IDENTITY * weight * (random.nextBoolean() ? 1 : -1) / Math.sqrt(identity);
        }
        return vector;
    }

    /** The beginning of words stands for the whole words, and an end or a letter for next to nothing. */
    private void shareWithPieces(List<String> vocabulary, double[][] vectors) {
        Map<String, double[]> sums = new HashMap<>();
        Map<String, Integer> members = new HashMap<>();
        for (int token = FIRST_WORD; token < endOfWords; token++) {
            String word = vocabulary.get(token);
            for (int cut = 3; cut < word.length() && cut <= 7; cut++) {
                add(sums.computeIfAbsent(word.substring(0, cut), _ -> new double[DIMENSIONS]), vectors[token], 1);
                members.merge(word.substring(0, cut), 1, Integer::sum);
            }
        }
        for (int token = 0; token < vocabulary.size(); token++) {
            String piece = vocabulary.get(token);
            if (token >= endOfWords && sums.containsKey(piece)) {
                vectors[token] = new double[DIMENSIONS];
                add(vectors[token], sums.get(piece), 1.0 / members.get(piece));
            } else if (piece.startsWith("##") || token < FIRST_WORD) {
                double factor = token == UNKNOWN ? 0.05 : 0.15;
                double[] quiet = new double[DIMENSIONS];
                add(quiet, vectors[token], factor);
                vectors[token] = quiet;
            }
        }
    }

    private static Encoder quantized(String tokenizer, double[][] vectors) {
        byte[] table = new byte[VOCABULARY * DIMENSIONS];
        float[] scale = new float[VOCABULARY];
        for (int token = 0; token < VOCABULARY; token++) {
            double largest = 1e-9;
            for (double value : vectors[token]) {
                largest = Math.max(largest, Math.abs(value));
            }
            scale[token] = (float) (largest / 127);
            for (int i = 0; i < DIMENSIONS; i++) {
                table[token * DIMENSIONS + i] = (byte) Math.round(vectors[token][i] / largest * 127);
            }
        }
        return new Encoder(tokenizer, table, scale);
    }
}
