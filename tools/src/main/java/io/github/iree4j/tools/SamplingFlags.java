package io.github.iree4j.tools;

import io.github.iree4j.generation.sampling.SamplingOptions;
import io.github.iree4j.generation.sampling.TokenConstraint;
import io.github.iree4j.generation.sampling.TokenVocabulary;
import io.github.iree4j.tools.file.InputFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** How tokens are chosen. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class SamplingFlags {
    private static final int LARGEST_SCHEMA = 1 << 20; // bytes; a schema has a limit of characters

    @CommandLine.Spec(CommandLine.Spec.Target.MIXEE)
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = "--temperature",
            paramLabel = "X",
            defaultValue = "0",
            description = "0 for greedy decoding; otherwise tokens are drawn at random. Default: ${DEFAULT-VALUE}.")
    private float temperature;

    @Option(
            names = "--top-k",
            paramLabel = "N",
            defaultValue = "0",
            description = "Draw from the N most probable tokens.")
    private int topK;

    @Option(
            names = "--top-p",
            paramLabel = "X",
            defaultValue = "1",
            description = "Draw from the most probable tokens with this share of the probability.")
    private float topP;

    @Option(
            names = "--min-p",
            paramLabel = "X",
            defaultValue = "0",
            description = "Draw from tokens with at least this share of the highest probability.")
    private float minP;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "0",
            description = "The same seed gives the same tokens. Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(
            names = "--frequency-penalty",
            paramLabel = "X",
            defaultValue = "0",
            description = "Lowers the logit of a token each time that the token is generated, from -2 to 2.")
    private float frequencyPenalty;

    @Option(
            names = "--presence-penalty",
            paramLabel = "X",
            defaultValue = "0",
            description = "Lowers the logit of a generated token once, from -2 to 2.")
    private float presencePenalty;

    @Option(
            names = "--repetition-penalty",
            paramLabel = "X",
            defaultValue = "1",
            description = "Divisor of the positive logits of all tokens so far, factor of the negative, at most 2.")
    private float repetitionPenalty;

    @Option(
            names = "--logit-bias",
            paramLabel = "TOKEN:X",
            split = ",",
            description = "Adds numbers from -100 to 100 to the logits of tokens.")
    private List<String> logitBias = new ArrayList<>();

    @Option(
            names = "--log-probabilities",
            paramLabel = "N",
            description =
                    "Prints a line for each token: the token, its log probability, and the N most probable tokens.")
    private @Nullable Integer logProbabilities;

    @ArgGroup
    private @Nullable Constraint constraint;

    /** The form of the answer, for models with a token for each byte. */
    static final class Constraint {
        @Option(names = "--regex", paramLabel = "PATTERN", description = "The answer matches a regular expression.")
        private @Nullable String regex;

        @Option(
                names = "--json-schema",
                paramLabel = "FILE",
                description = "The answer is JSON that fits a schema. Needs --prompt, as --regex does.")
        private @Nullable Path jsonSchema;

        Constraint() {}
    }

    SamplingFlags() {}

    boolean hasConstraint() {
        return constraint != null;
    }

    /** Returns the options of a sequence; the constraint is shared. */
    SamplingOptions.Builder options() {
        SamplingOptions.Builder options = SamplingOptions.builder()
                .temperature(temperature)
                .topK(topK)
                .topP(topP)
                .minP(minP)
                .frequencyPenalty(frequencyPenalty)
                .presencePenalty(presencePenalty)
                .repetitionPenalty(repetitionPenalty)
                .logitBias(biases());
        if (logProbabilities != null) {
            options.logProbabilities(logProbabilities);
        }
        if (constraint != null) {
            options.constraint(constraint(constraint));
        }
        return options;
    }

    /** Returns the seed of the first sequence. */
    long seed() {
        return seed;
    }

    private static TokenConstraint constraint(Constraint flags) {
        if (flags.jsonSchema != null) {
            String schema = InputFile.text("JSON schema", flags.jsonSchema, LARGEST_SCHEMA);
            return TokenConstraint.jsonSchema(TokenVocabulary.bytes(), schema);
        }
        String regex = flags.regex == null ? "" : flags.regex;
        return TokenConstraint.regex(TokenVocabulary.bytes(), regex);
    }

    private Map<Integer, Float> biases() {
        Map<Integer, Float> biases = new HashMap<>();
        for (String each : logitBias) {
            int colon = each.indexOf(':');
            try {
                biases.put(
                        Integer.valueOf(each.substring(0, Math.max(0, colon))),
                        Float.valueOf(each.substring(colon + 1)));
            } catch (NumberFormatException e) {
                throw new ParameterException(
                        spec.commandLine(), "--logit-bias is '%s', not TOKEN:NUMBER".formatted(each), e);
            }
        }
        return biases;
    }
}
