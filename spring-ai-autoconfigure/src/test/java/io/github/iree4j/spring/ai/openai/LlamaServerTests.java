package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.ai.SmallDecoder;
import io.github.iree4j.spring.ai.encoder.SmallEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The tests of llama.cpp's server that fit another server and another model, from a folder that the caller has. */
@SpringBootTest(
        classes = OpenAiDecoderTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = "iree.openai.enabled=true")
@EnabledIfSystemProperty(
        named = LlamaServerTests.FOLDER,
        matches = ".+",
        disabledReason = "it needs a folder with the tests of llama.cpp's server; bin/test-openai runs them")
@Timeout(600)
class LlamaServerTests {

    /** The folder {@code tools/server/tests} of llama.cpp. */
    static final String FOLDER = "iree.test.llama";

    /** Number of tests that fit, of which docs/openai.md has a table. */
    private static final int FITTING = 30;

    @TempDir
    private static Path folder;

    @LocalServerPort
    private int port;

    @DynamicPropertySource
    static void models(DynamicPropertyRegistry registry) {
        List<String> all = new ArrayList<>(List.of(SmallDecoder.properties(folder)));
        all.addAll(List.of(SmallEncoder.properties()));
        for (String each : all) {
            registry.add(each.substring(0, each.indexOf('=')), () -> each.substring(each.indexOf('=') + 1));
        }
    }

    @Test
    void suitableTestsPass() throws Exception {
        ProcessBuilder tests = new ProcessBuilder(
                        System.getProperty(OpenAiClientTests.PYTHON),
                        "-m",
                        "pytest",
                        "-p",
                        "llama_server",
                        "-q",
                        "--no-header",
                        "unit/test_chat_completion.py",
                        "unit/test_completion.py",
                        "unit/test_embedding.py")
                .directory(Path.of(System.getProperty(FOLDER)).toFile())
                .redirectErrorStream(true);
        tests.environment().put("PORT", String.valueOf(port));
        tests.environment()
                .put("PYTHONPATH", Path.of("src/test/python").toAbsolutePath().toString());
        Process running = tests.start();
        String output = new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(running.waitFor()).as(output).isZero();
        assertThat(output).contains("%d passed".formatted(FITTING));
    }
}
