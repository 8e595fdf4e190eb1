package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.fixture;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.flight.RecorderOptions;
import io.github.iree4j.hal.SchedulingDomain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Language models as scripts call them. */
class GenerateCommandTest {
    private static final String HELLO =
            "210 15 65 165 105 49 43 20 31 249 31 249 150 7 57 170 42 67 41 203 232 105 59 158";

    private static CommandLineRun generate(String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "generate",
                "--module=" + fixture("3.13.0/generation/decoder.vmfb"),
                "--parameters=model=" + fixture("decoder.irpa"),
                "--config=../fixtures/generation/decoder.json",
                "--pages=40"));
        arguments.addAll(List.of(more));
        return iree4j(arguments.toArray(String[]::new));
    }

    @Test
    void greedyTokensArePrintedInALine() {
        CommandLineRun run = generate("--tokens=72,101,108,108,111", "--max-tokens=24");
        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out()).isEqualTo(HELLO + "\n");
    }

    @Test
    void sequencesArePrintedLineByLine() {
        CommandLineRun run = generate("--tokens=72,101,108,108,111", "--max-tokens=24", "--sequences=5");
        assertThat(run.out()).isEqualTo((HELLO + "\n").repeat(5));
    }

    @Test
    void aPromptOfBytesHasAnAnswerAsText() {
        CommandLineRun run = generate("--prompt=Hello", "--max-tokens=3");
        assertThat(run.out().lines().toList()).hasSize(2).first().isEqualTo("210 15 65");
    }

    @Test
    void aDraftChangesNoToken() {
        String module = "--draft-module=" + fixture("3.13.0/generation/decoder.vmfb");
        String parameters = "--draft-parameters=model=" + fixture("decoder.irpa");
        String config = "--draft-config=../fixtures/generation/decoder.json";
        String[] prompt = {"--tokens=72,101,108,108,111", "--max-tokens=24", module, parameters, config};
        List<String> flags = new ArrayList<>(List.of(prompt));
        assertThat(generate(flags.toArray(String[]::new)).err()).contains("a draft is set, but proposed tokens is 0");
        flags.addAll(List.of("--proposed-tokens=4", "--print_statistics"));
        CommandLineRun run = generate(flags.toArray(String[]::new));
        assertThat(run.out()).isEqualTo(HELLO + "\n");
        assertThat(run.err()).contains("the draft 'module' proposes tokens").doesNotContain("acceptedTokens=0");
        assertThat(generate("--tokens=1", config).err())
                .contains("--draft-parameters and --draft-config need --draft-module");
    }

    @Test
    void generationEndsAfterAStopToken() {
        assertThat(generate("--prompt=Hello", "--max-tokens=24", "--stop-token=65")
                        .out())
                .startsWith("210 15 65\n");
    }

    /** The first question about a slow token: which step was slow, and why. */
    @Test
    void theStepsOfARecordingAreCallsOfTheFunctions(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("steps.iree4j");
        RecorderOptions options = RecorderOptions.DEFAULTS.withFile(file, 16 << 20);
        try (FlightRecorder _ = FlightRecorder.open(SchedulingDomain.ofProcess(), options)) {
            assertThat(generate("--tokens=72,101", "--max-tokens=24").status()).isZero();
        }
        assertThat(iree4j("explain", file.toString()).out()).contains("module.prefill_bs1: ", "module.decode_bs1: ");
        CommandLineRun decodes = iree4j("explain", file.toString(), "--function=module.decode_bs1");
        assertThat(decodes.err()).isEmpty();
        assertThat(decodes.out()).contains("module.decode_bs1").doesNotContain("prefill");
    }

    @Test
    void drawnTokensDependOnTheSeed() {
        String[] flags = {
            "--tokens=1", "--max-tokens=20", "--sequences=2", "--temperature=1.5", "--top-k=50", "--seed=7"
        };
        List<String> lines = generate(flags).out().lines().toList();
        assertThat(generate(flags).out().lines().toList()).isEqualTo(lines);
        assertThat(lines.get(0)).isNotEqualTo(lines.get(1));
        flags[5] = "--seed=8";
        assertThat(generate(flags).out().lines().toList().getFirst()).isEqualTo(lines.get(1));
    }

    @Test
    void anAnswerMatchesARegularExpression() {
        CommandLineRun run = generate("--prompt=Hello", "--max-tokens=40", "--regex=[a-f]{3}-é{2}");
        assertThat(run.err()).isEmpty();
        assertThat(run.out().lines().toList()).hasSize(2).last().asString().matches("[a-f]{3}-é{2}");
    }

    @Test
    void anAnswerIsJsonOfASchema(@TempDir Path folder) throws IOException {
        Path schema = Files.writeString(
                folder.resolve("schema.json"),
                "{\"properties\":{\"mood\":{\"enum\":[\"good\",\"bad\"]}},\"required\":[\"mood\"]}");
        CommandLineRun run = generate("--prompt=Hello", "--max-tokens=40", "--json-schema=" + schema);
        assertThat(run.err()).isEmpty();
        assertThat(run.out().lines().toList()).last().asString().matches("\\{\"mood\": ?\"(good|bad)\"}");
    }

    @Test
    void penaltiesAndBiasesChangeTheTokens() {
        String greedy = generate("--tokens=1", "--max-tokens=30").out();
        String penalized = generate("--tokens=1", "--max-tokens=30", "--frequency-penalty=2", "--presence-penalty=1")
                .out();
        assertThat(penalized).isNotEqualTo(greedy);
        assertThat(generate("--tokens=1", "--max-tokens=3", "--logit-bias=7:100")
                        .out())
                .isEqualTo("7 7 7\n");
        assertThat(generate("--tokens=1", "--max-tokens=2", "--logit-bias=7:100,8:99.9", "--repetition-penalty=1.1")
                        .out())
                .isEqualTo("7 8\n");
    }

    @Test
    void logProbabilitiesArePrintedInALineForEachToken() {
        List<String> lines = generate("--tokens=72,101,108,108,111", "--max-tokens=2", "--log-probabilities=2")
                .out()
                .lines()
                .toList();
        assertThat(lines).hasSize(3).first().isEqualTo("210 15");
        assertThat(lines.get(1)).matches("210 (-[0-9.]+) 210=\\1 [0-9]+=-[0-9.]+");
        assertThat(lines.get(2)).startsWith("15 -");
    }

    @Test
    void wrongFlagsAreRejectedByName() {
        assertThat(generate().status()).isEqualTo(2);
        assertThat(generate("--tokens=1", "--prompt=a").status()).isEqualTo(2);
        assertThat(generate("--tokens=1", "--sequences=0").err()).contains("--sequences is 0, not from 1 to 65536");
        assertThat(generate("--tokens=1", "--sequences=0").err().lines()).hasSize(2);
        assertThat(generate("--tokens=1", "--stop-token=256").err())
                .contains("the request stops at token 256; tokens of 'module' are from 0 to 255");
        assertThat(generate("--tokens=300").err())
                .contains("the prompt has token 300; tokens of 'module' are from 0 to 255");
        assertThat(generate("--tokens=1", "--max-tokens=0").err()).contains("at most 0 tokens are requested");
        assertThat(generate("--tokens=1", "--temperature=-1").err()).contains("temperature is -1.0");
        assertThat(generate("--tokens=1", "--logit-bias=7").err()).contains("--logit-bias is '7', not TOKEN:NUMBER");
        assertThat(generate("--tokens=1", "--logit-bias=256:1").err()).contains("token 256 has a bias");
        assertThat(generate("--tokens=1", "--regex=a").err())
                .contains("need a model with a token for each byte, and --prompt");
        assertThat(generate("--prompt=a", "--regex=(a").err()).contains("character 2: a group has no ')'");
        assertThat(generate("--prompt=a", "--regex=a", "--json-schema=b").status())
                .isEqualTo(2);
        assertThat(generate("--tokens=1", "--max-tokens=700").err())
                .contains("need 44 pages of 16 tokens; a sequence of 'module' has at most 39");
    }

    @Test
    void anAnswerEndingBeforeItsFormIsCompleteIsReportedAsCutOff() {
        assertThat(generate("--prompt=a", "--regex=[a-z]{9}", "--max-tokens=8").err())
                .isEqualTo("the answer is cut off: raise --max-tokens\n");
        assertThat(generate("--prompt=a", "--regex=[a-z]{9}", "--max-tokens=9").err())
                .isEmpty();
    }

    @Test
    void missingOrUnendedFilesAreNamed() {
        assertThat(generate("--prompt=a", "--json-schema=none.json").err())
                .isEqualTo("NOT_FOUND; there is no JSON schema 'none.json'\n");
        assertThat(generate("--prompt=a", "--json-schema=/dev/zero").err())
                .isEqualTo("INVALID_ARGUMENT; JSON schema '/dev/zero' has more than 1048576 bytes\n");
        assertThat(generate("--tokens=1", "--config=/dev/zero").err())
                .contains("INVALID_ARGUMENT; configuration '/dev/zero': the file has more than 1048576 bytes");
    }

    @Test
    void moreSequencesThanUsuallyWaitAreGenerated() {
        assertThat(generate("--tokens=1", "--max-tokens=1", "--sequences=1030")
                        .out()
                        .lines())
                .hasSize(1030)
                .containsOnly(generate("--tokens=1", "--max-tokens=1").out().strip());
    }

    private static CommandLineRun verify(String module) {
        return iree4j(
                "verify",
                "--generation",
                "--parameters=model=" + fixture("decoder.irpa"),
                "--config=../fixtures/generation/decoder.json",
                "--prompts=1",
                fixture(module));
    }

    @Test
    void verifyFailsForAProgramWithRowDependentSums() {
        CommandLineRun run = verify("3.13.0/generation/decoder_uneven_rows.vmfb");
        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isOne();
        assertThat(run.out())
                .contains("generation: beside other rows: prefill of 15 tokens by 'module.prefill_bs4'")
                .contains("of logits differs from");
    }

    @Test
    void verifyMeasuresTheRowsAndShapesOfEqualBits() {
        CommandLineRun run = verify("3.13.0/generation/decoder.vmfb");
        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .contains(
                        "generation: prefill by [module.prefill_bs1, module.prefill_bs4], decode by [module.decode_bs1, module.decode_bs4]")
                .contains("generation: several sequences per step, steps of any shape; 512 pages of 16 tokens");
    }
}
