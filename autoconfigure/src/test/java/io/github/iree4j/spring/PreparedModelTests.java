package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.FunctionVariant;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * Applications import the properties written by {@code bin/prepare-model}, and get ONNX Runtime's results.
 * {@code fixtures/prepared.py} wrote the models in {@code fixtures/prepared}, and writes them anew at night.
 */
@Timeout(3000)
class PreparedModelTests {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path FIXTURES = ROOT.resolve("fixtures/prepared");

    private static final Path CACHE = System.getenv("IREE4J_CACHE") == null
            ? Path.of(System.getProperty("user.home"), ".cache/iree4j")
            : Path.of(System.getenv("IREE4J_CACHE"));

    /** A call, and ONNX Runtime's results. */
    private record Call(String input, List<String> results) {
        static List<Call> read(Path file) throws IOException {
            List<Call> calls = new ArrayList<>();
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith("input ")) {
                    calls.add(new Call(line.substring("input ".length()), new ArrayList<>()));
                } else if (line.startsWith("result ")) {
                    calls.getLast().results.add(line.substring("result ".length()));
                }
            }
            return calls;
        }
    }

    /** Rows may be padded, lengths may not: a call goes to a bucket, is padded to it, or goes to the program for any sizes. */
    @Test
    void callsOfAllSizesGetTheResultsOfOnnxRuntime() {
        assertThat(serve(FIXTURES, "dense")).isEqualTo(Map.of("main", 2L, "main_1x3", 1L, "main_4x3", 2L));
    }

    /** IREE refuses the graph with open sizes. */
    @Test
    void bucketsAreServedWithoutAProgramForAnySizes() {
        assertThat(serve(FIXTURES, "recurrent")).isEqualTo(Map.of("main_2x1", 1L, "main_4x2", 2L, "refused", 2L));
    }

    @Test
    @Tag("nightly")
    void newlyPreparedModelsAreServed(@TempDir Path directory) throws Exception {
        String output = makeGraphs(directory.toString());
        assertThat(serve(directory, "dense")).isEqualTo(Map.of("main", 2L, "main_1x3", 1L, "main_4x3", 2L));
        assertThat(serve(directory, "recurrent")).isEqualTo(Map.of("main_2x1", 1L, "main_4x2", 2L, "refused", 2L));
        assertThat(serve(directory, "sum")).isEqualTo(Map.of("main", 1L, "main_2x128", 2L));
        assertThat(output)
                .contains("there is no program for any sizes: no set of flags makes a right one")
                .contains("calls that fit no bucket fail with INVALID_ARGUMENT")
                .contains("| the program of 'none' |") // which is not measured again
                .contains("not made: there is no program for batch 2, length 5: ONNX Runtime refuses the graph");
    }

    @Test
    @Tag("nightly")
    void whatFailsLeavesTheFolderAsItWas(@TempDir Path directory) throws Exception {
        makeGraphs("--graphs", directory.toString());
        Path sum = Files.createDirectory(directory.resolve("sum"));
        Files.writeString(sum.resolve("application.yaml"), "of an earlier run");
        String graph = directory.resolve("sum.onnx").toString();
        Map<String, String> before = contents(sum);
        assertThat(prepare(graph, sum, "--shapes=batch=2:length=5"))
                .contains("choose other --shapes", "there is no right program; nothing was written")
                .endsWith("status 3");
        assertThat(prepare(graph, sum, "--shapes=batch=2:length=128,length=128:batch=2"))
                .contains("'length=128:batch=2' is there twice")
                .endsWith("status 1");
        assertThat(prepare(graph, sum, "--shapes=batch=2:batch=2"))
                .contains("does not give one size of batch")
                .endsWith("status 1");
        assertThat(prepare(graph, sum, "--shapes=batch=2"))
                .contains("gives no size of length")
                .endsWith("status 1");
        assertThat(prepare(graph, sum, "--shapes=rows=2"))
                .contains("no open dimension 'rows'; it has batch, length")
                .endsWith("status 1");
        assertThat(prepare(graph, sum, "--shapes=batch=999999999:length=128"))
                .contains("choose smaller sizes")
                .endsWith("status 1");
        Path other = Files.writeString(directory.resolve("other.onnx"), "no graph");
        assertThat(prepare(other.toString(), sum))
                .contains("cannot be read as an ONNX graph")
                .endsWith("status 1");
        assertThat(prepare(graph, other))
                .contains("cannot write to", "--output=DIRECTORY")
                .endsWith("status 1");
        assertThat(contents(sum)).isEqualTo(before);

        Path place = directory.resolve("interrupted");
        Process process = start(prepareModel(), graph, "--output=" + place);
        while (!Files.exists(place) && process.isAlive()) {
            Poll.pause();
        }
        process.toHandle().destroy(); // Process.destroy closes the streams
        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("interrupted; nothing was written");
        assertThat(process.waitFor()).isEqualTo(130);
        assertThat(place).doesNotExist();
    }

    /**
     * Makes the calls of a model in an application that imports the written properties.
     *
     * @return the number of calls of each variant, where any, and of refused calls
     */
    private static Map<String, Long> serve(Path directory, String name) {
        Map<String, Long> counts = new TreeMap<>();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class))
                .withInitializer(new ConfigDataApplicationContextInitializer())
                .withPropertyValues(
                        "prepared=" + directory,
                        "spring.config.import=file:" + directory.resolve(name) + "/application.yaml")
                .run(context -> {
                    InvocationService invocations = context.getBean(InvocationService.class);
                    for (Call call : Call.read(directory.resolve(name).resolve("calls.txt"))) {
                        try (Tensor input = Tensor.parse(call.input());
                                Results results = invocations.invoke(name + ".main", input)) {
                            check(results, call);
                        } catch (IreeException e) {
                            assertThat(e.code()).as(e.getMessage()).isEqualTo(StatusCode.INVALID_ARGUMENT);
                            assertThat(e)
                                    .hasMessageContaining("is large enough for")
                                    .hasMessageContaining("there are");
                            counts.merge("refused", 1L, Long::sum);
                        }
                    }
                    for (FunctionVariant each : invocations
                            .function(name + ".main")
                            .variants()
                            .orElseThrow()
                            .all()) {
                        counts.merge(each.function().name(), each.calls(), Long::sum);
                    }
                    assertThat(invocations.function(name + ".main").declaration())
                            .as("with the graph's names")
                            .contains("%x");
                    assertThat(context.getBean(IreeRuntime.class).monitor().openTensors())
                            .isZero();
                });
        return counts;
    }

    private static void check(Results results, Call call) {
        for (int i = 0; i < call.results().size(); i++) {
            try (Tensor expected = Tensor.parse(call.results().get(i))) {
                Tensor got = results.tensor(i);
                assertThat(got.shape()).as(call.input()).isEqualTo(expected.shape());
                assertThat(got.toFloatArray()).as(call.input()).containsExactly(expected.toFloatArray(), within(1e-3f));
            }
        }
    }

    private static Map<String, String> contents(Path directory) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (Stream<Path> files = Files.walk(directory)) {
            files.filter(Files::isRegularFile).forEach(file -> {
                try {
                    contents.put(file.toString(), Files.readString(file, StandardCharsets.ISO_8859_1));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
        return contents;
    }

    /** The Python made by bin/prepare-model, with IREE's compiler and ONNX Runtime. */
    private static String python() throws IOException {
        Path folder = CACHE.resolve("prepare-model");
        List<Path> found = List.of();
        if (Files.isDirectory(folder)) {
            try (Stream<Path> releases = Files.list(folder)) {
                found = releases.map(each -> each.resolve("bin/python"))
                        .filter(each -> Files.exists(each.resolveSibling("onnxruntime_test")))
                        .toList();
            }
        }
        assumeTrue(
                !found.isEmpty(),
                () -> "there is no ONNX Runtime in %s; run bin/prepare-model FILE.onnx once".formatted(folder));
        return found.getLast().toString();
    }

    private static String makeGraphs(String... arguments) throws Exception {
        String output = run(Stream.concat(
                        Stream.of(python(), ROOT.resolve("fixtures/prepared.py").toString()), Stream.of(arguments))
                .toArray(String[]::new));
        assertThat(output).endsWith("status 0");
        return output;
    }

    private static String prepareModel() {
        return ROOT.resolve("bin/prepare-model").toString();
    }

    private static String prepare(String graph, Path output, String... options) throws Exception {
        return run(Stream.concat(Stream.of(prepareModel(), graph, "--output=" + output), Stream.of(options))
                .toArray(String[]::new));
    }

    private static String run(String... command) throws Exception {
        Process process = start(command);
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return output + "status " + process.waitFor();
    }

    private static Process start(String... command) throws IOException {
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }
}
