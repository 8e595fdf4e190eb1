package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.generation.Generation;
import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.GenerationResult;
import io.github.iree4j.generation.GenerationResult.FinishReason;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.generation.GeneratorOptions;
import io.github.iree4j.generation.sampling.SamplingOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code iree4j generate}: continues a prompt with a module for text generation. */
@Command(
        name = "generate",
        description = "Continues a prompt with a compiled language model (functions prefill_bs{N} and decode_bs{N}).",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        footer = {
            "",
            "Prints the generated tokens of each sequence in a line, and with --prompt the text in a further line.",
            "Decoding is greedy unless --temperature is given."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class GenerateCommand implements Callable<Integer> {
    private static final int BYTES = 256;
    private static final int MOST_SEQUENCES = 1 << 16;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private ProgramFlags flags;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "The config.json of the exporter. Default: 32 tokens per page, 512 pages.")
    private @Nullable Path config;

    @ArgGroup(multiplicity = "1")
    private Prompt prompt;

    /** The prompt: tokens or text. */
    static final class Prompt {
        @Option(names = "--tokens", split = ",", paramLabel = "TOKEN", description = "The tokens of the prompt.")
        private int @Nullable [] tokens;

        @Option(
                names = "--prompt",
                paramLabel = "TEXT",
                description = "The prompt, for models with a token for each byte (vocabulary of 256).")
        private @Nullable String text;

        Prompt() {}
    }

    @Option(
            names = "--max-tokens",
            paramLabel = "N",
            defaultValue = "16",
            description = "Most tokens to generate for each sequence. Default: ${DEFAULT-VALUE}.")
    private int maximumTokens;

    @Option(
            names = "--sequences",
            paramLabel = "K",
            defaultValue = "1",
            description =
                    "Number of sequences generated at the same time from the prompt, the i-th with the seed plus i."
                            + " Default: ${DEFAULT-VALUE}.")
    private int sequences;

    @Option(names = "--stop-token", paramLabel = "TOKEN", description = "A token to end at. Repeat for several.")
    private List<Integer> stopTokens = new ArrayList<>();

    @Mixin
    private SamplingFlags sampling;

    @Option(
            names = "--pages",
            paramLabel = "N",
            defaultValue = "0",
            description = "Pages of the cache. Default: the number of the configuration.")
    private int pages;

    @Option(
            names = "--proposed-tokens",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Verify up to N proposed tokens of a sequence in a step, if faster. Default: ${DEFAULT-VALUE}.")
    private int proposedTokens;

    @Option(
            names = "--steps-ahead",
            paramLabel = "N",
            defaultValue = "1",
            description = "Submit up to N decode steps at once, of a program with top_k 1. Default: ${DEFAULT-VALUE}.")
    private int stepsAhead;

    @Mixin
    private DraftFlags draft;

    @Option(names = "--print_statistics", description = "Prints functions in use, steps and memory to standard error.")
    private boolean printStatistics;

    GenerateCommand() {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (sequences < 1 || sequences > MOST_SEQUENCES) {
            throw new ParameterException(
                    spec.commandLine(), "--sequences is %d, not from 1 to %d".formatted(sequences, MOST_SEQUENCES));
        }
        GeneratorOptions.Builder options = GeneratorOptions.builder()
                .config(config)
                .pages(pages)
                .maximumWaiting(sequences)
                .proposedTokens(proposedTokens)
                .stepsAhead(stepsAhead);
        try (IreeRuntime runtime = flags.open();
                Program program = runtime.load(flags.options().build());
                Program proposing = draft.load(runtime);
                Generator generator = Generator.create(
                        program, draft.apply(options, proposing).build())) {
            generate(generator);
            if (printStatistics) {
                PrintWriter err = spec.commandLine().getErr();
                err.print(generator.description());
                err.println(generator.statistics());
                ProgramFlags.printStatistics(runtime, err);
            }
        }
        return 0;
    }

    private void generate(Generator generator) {
        int[] tokens = tokens(generator);
        Set<Integer> stops = new HashSet<>(stopTokens);
        if (sampling.hasConstraint() && prompt.text == null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--regex and --json-schema need a model with a token for each byte, and --prompt");
        }
        SamplingOptions.Builder options = sampling.options();
        List<Generation> generations = new ArrayList<>();
        for (int i = 0; i < sequences; i++) {
            generations.add(generator.submit(GenerationRequest.of(maximumTokens, tokens)
                    .stopAt(stops)
                    .sampling(options.seed(sampling.seed() + i).build())));
        }
        PrintWriter out = spec.commandLine().getOut();
        for (Generation each : generations) {
            GenerationResult result = each.result().await();
            out.println(result.tokens().stream().map(String::valueOf).collect(Collectors.joining(" ")));
            if (sampling.hasConstraint() && result.reason() == FinishReason.LENGTH) {
                spec.commandLine().getErr().println("the answer is cut off: raise --max-tokens");
            }
            if (prompt.text != null) {
                out.println(text(result.tokens()));
            }
            for (int i = 0; i < result.logProbabilities().size(); i++) {
                out.println(
                        result.tokens().get(i) + " " + result.logProbabilities().get(i));
            }
        }
    }

    private int[] tokens(Generator generator) {
        if (prompt.text == null) {
            int[] tokens = prompt.tokens;
            return tokens == null ? new int[0] : tokens;
        }
        if (generator.vocabulary() != BYTES) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--prompt needs a model with a token for each byte, %s; give the prompt as --tokens"
                            .formatted(
                                    generator.vocabulary() == 0
                                            ? "and a program with top_k does not say how many tokens it has"
                                            : "this model has %d tokens".formatted(generator.vocabulary())));
        }
        byte[] bytes = prompt.text.getBytes(StandardCharsets.UTF_8);
        int[] tokens = new int[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            tokens[i] = Byte.toUnsignedInt(bytes[i]);
        }
        return tokens;
    }

    private static String text(List<Integer> tokens) {
        byte[] bytes = new byte[tokens.size()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = tokens.get(i).byteValue();
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
