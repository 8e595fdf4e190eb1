package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** OpenAI's own client, in Python. */
@EnabledIfSystemProperty(
        named = OpenAiClientTests.PYTHON,
        matches = ".+",
        disabledReason = "it needs Python with openai; bin/test-openai installs it and runs this")
class OpenAiClientTests extends OpenAiServer {

    /** The interpreter of an environment with the client. */
    static final String PYTHON = "iree.test.openai";

    private String run(String part) throws Exception {
        Process client = new ProcessBuilder(
                        System.getProperty(PYTHON),
                        Path.of("src/test/python/openai_client.py").toString(),
                        String.valueOf(port),
                        part)
                .redirectErrorStream(true)
                .start();
        String output = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(client.waitFor()).as(output).isZero();
        assertThat(output).contains("openai is satisfied");
        return output;
    }

    @Test
    void answersStreamsAndErrors() throws Exception {
        script.answer("Grüezi, 世界 🎉");
        run("answers");
    }

    @Test
    void tools() throws Exception {
        script.answer("<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Bern\"}}</tool_call>");
        run("tools");
        assertThat(script.prompt(script.requests().size() - 1)).contains("<|tool|>sunny<|end|>");
    }

    @Test
    void aClosedStreamEndsItsRequest() throws Exception {
        script.answer("x".repeat(5000));
        Semaphore steps = script.steps();
        steps.release(10);
        run("leave");
        steps.release(2);
        assertThat(script.cancelled().await(100, TimeUnit.SECONDS)).isTrue();
    }
}
