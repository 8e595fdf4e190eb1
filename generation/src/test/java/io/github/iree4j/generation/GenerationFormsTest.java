package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Fixtures;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.modules.parameters.ParameterArchive;
import io.github.iree4j.modules.parameters.ParameterEntry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs whose sums depend on rows or shapes, files of weights, and a trained model by two releases of the compiler. */
@Timeout(120)
class GenerationFormsTest {
    private static final Path CHAT = Path.of("../sample-chat/src/main/resources/models");
    private static final int ALIGNMENT = 32; // of GGUF

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    rows    | decode by [chat.decode_bs1] | a single sequence per step, steps of any shape
                    columns | decode by [chat.decode_bs1, chat.decode_bs4] | several sequences per step, steps of a single shape
                    batch   | decode by [chat.decode_bs4] | several sequences per step, steps of any shape
                    """)
    void aProgramWithUnevenRowsGivesTheTokensOfTheRequestAlone(String defect, String functions, String steps) {
        GeneratorOptions options = GeneratorOptions.builder()
                .config(GeneratorTest.config(GeneratorTest.DECODER))
                .pages(100)
                .build();
        List<GenerationRequest> requests = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            int first = i;
            requests.add(GenerationRequest.of(
                    40,
                    IntStream.range(0, 1 + 7 * i)
                            .map(each -> (each * 13 + first * 5) % 256)
                            .toArray()));
        }
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = GeneratorTest.load(runtime, "3.13.0/generation/decoder_uneven_" + defect + ".vmfb");
                Generator single = Generator.create(program, options);
                Generator shared = Generator.create(program, options)) {
            assertThat(single.isRestricted()).isTrue();
            assertThat(single.description()).contains(functions, steps);
            List<List<Integer>> alone = new ArrayList<>();
            for (GenerationRequest each : requests) {
                alone.add(single.submit(each).result().await().tokens());
            }
            List<Generation> together = requests.stream().map(shared::submit).toList();
            for (int i = 0; i < requests.size(); i++) {
                assertThat(together.get(i).result().await().tokens())
                        .as("request %d", i)
                        .isEqualTo(alone.get(i));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"irpa", "gguf", "safetensors"})
    void weightsOfEveryFormatGiveTheSameTokens(String format) throws IOException {
        Path weights = folder.resolve("weights." + format);
        try (ParameterArchive archive = ParameterArchive.open(Fixtures.file("decoder.irpa"))) {
            List<Weight> all = archive.entries().stream()
                    .map(each -> Weight.of((ParameterEntry.Stored) each))
                    .toList();
            assertThat(all).hasSize(21);
            Files.write(
                    weights,
                    switch (format) {
                        case "gguf" -> gguf(all);
                        case "safetensors" -> safetensors(all);
                        default -> Files.readAllBytes(Fixtures.file("decoder.irpa"));
                    });
        }
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(Fixtures.file(GeneratorTest.DECODER))
                        .parameters("model", weights)
                        .build());
                Generator generator = Generator.create(
                        program,
                        GeneratorOptions.builder()
                                .config(GeneratorTest.config(GeneratorTest.DECODER))
                                .pages(64)
                                .build())) {
            assertThat(generator
                            .submit(GenerationRequest.of(8, 72, 101, 108, 108, 111))
                            .result()
                            .await()
                            .tokens())
                    .containsExactly(210, 15, 65, 165, 105, 49, 43, 20);
        }
    }

    /** A weight of a decoder: of f32 if the weight is a factor of normalization, else of f16. */
    private record Weight(String name, boolean isHalf, byte[] bytes) {
        static Weight of(ParameterEntry.Stored entry) {
            return new Weight(
                    entry.key(),
                    !entry.key().endsWith("_norm.weight"),
                    entry.data().toArray(ValueLayout.JAVA_BYTE));
        }

        int elements() {
            return bytes.length / (isHalf ? Short.BYTES : Float.BYTES);
        }
    }

    /** As ggml's docs/gguf.md says: names, sizes, types and offsets, and then the aligned bytes. */
    private static byte[] gguf(List<Weight> weights) {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        head.writeBytes("GGUF".getBytes(StandardCharsets.UTF_8));
        head.writeBytes(bytes(Integer.BYTES).putInt(3).array());
        head.writeBytes(bytes(2 * Long.BYTES).putLong(weights.size()).putLong(0).array());
        for (Weight each : weights) {
            byte[] name = each.name().getBytes(StandardCharsets.UTF_8);
            head.writeBytes(bytes(Long.BYTES).putLong(name.length).array());
            head.writeBytes(name);
            head.writeBytes(bytes(2 * Integer.BYTES + 2 * Long.BYTES)
                    .putInt(1) // dimension
                    .putLong(each.elements())
                    .putInt(each.isHalf() ? 1 : 0)
                    .putLong(body.size())
                    .array());
            body.writeBytes(each.bytes());
            body.writeBytes(new byte[Math.floorMod(-body.size(), ALIGNMENT)]);
        }
        head.writeBytes(new byte[Math.floorMod(-head.size(), ALIGNMENT)]);
        head.writeBytes(body.toByteArray());
        return head.toByteArray();
    }

    /** The length of a JSON object of types, shapes and offsets, the object, and then the bytes. */
    private static byte[] safetensors(List<Weight> weights) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        List<String> entries = new ArrayList<>();
        for (Weight each : weights) {
            int from = body.size();
            body.writeBytes(each.bytes());
            entries.add("\"%s\":{\"dtype\":\"%s\",\"shape\":[%d],\"data_offsets\":[%d,%d]}"
                    .formatted(each.name(), each.isHalf() ? "F16" : "F32", each.elements(), from, body.size()));
        }
        String header = entries.stream().collect(Collectors.joining(",", "{", "}"));
        byte[] json =
                (header + " ".repeat(Math.floorMod(-header.length(), Long.BYTES))).getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(bytes(Long.BYTES).putLong(json.length).array());
        all.writeBytes(json);
        all.writeBytes(body.toByteArray());
        return all.toByteArray();
    }

    private static ByteBuffer bytes(int count) {
        return ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The trained model of the sample, whose program of the newest release is there, too. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    3.11.0 | Hello | Hello! How can I help?
                    3.11.0 | What is iree4j? | iree4j runs programs compiled by IREE on the Java virtual machine.
                    3.11.0 | Count to five. | 1, 2, 3, 4, 5
                    newest | Hello | Hello! How can I help?
                    newest | What is iree4j? | iree4j runs programs compiled by IREE on the Java virtual machine.
                    newest | Count to five. | 1, 2, 3, 4, 5
                    """)
    void aTrainedModelAnswersAlikeByTwoReleasesOfTheCompiler(String release, String question, String answer) {
        Path module = release.equals("newest")
                ? CHAT.resolve("model.vmfb")
                : Fixtures.file(release + "/generation/small_chat.vmfb");
        IntStream text = question.chars();
        int[] prompt = IntStream.concat(IntStream.concat(IntStream.of(256, 259), text), IntStream.of(257, 260))
                .toArray();
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(module)
                        .parameters("model", CHAT.resolve("model.irpa"))
                        .build());
                Generator generator = Generator.create(
                        program,
                        GeneratorOptions.builder()
                                .config(CHAT.resolve("config.json"))
                                .build())) {
            assertThat(generator.isRestricted()).isFalse();
            List<Integer> tokens = generator
                    .submit(GenerationRequest.of(100, prompt).stopAt(Set.of(257)))
                    .result()
                    .await()
                    .tokens();
            assertThat(tokens.stream()
                            .filter(token -> token < 256)
                            .map(Character::toString)
                            .collect(Collectors.joining()))
                    .isEqualTo(answer);
        }
    }
}
