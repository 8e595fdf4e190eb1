package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that are right but for bytes that are no characters, numbers that are none, or arguments that are no object. */
class HostileTextsTests extends OpenAiServer {

    private static byte[] message(int... bytes) {
        String[] parts = HELLO.split("Hi");
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes(parts[0].getBytes(StandardCharsets.UTF_8));
        for (int each : bytes) {
            body.write(each);
        }
        body.writeBytes(parts[1].getBytes(StandardCharsets.UTF_8));
        return body.toByteArray();
    }

    /** Otherwise a client that sends Latin-1 is answered to another message. */
    @Test
    void bytesOutsideUtf8AreRefused() throws Exception {
        script.answer("Hello");
        int[][] wrong = {
            {'Z', 0xFC, 'r', 'i', 'c', 'h'},
            {0xC3},
            {0xC0, 0xAF},
            {0xED, 0xA0, 0x80},
            {0xF5, 0x80, 0x80, 0x80},
            {0xE4, 0xB8}
        };
        for (int[] each : wrong) {
            assertThat(error(send(to(CHAT).POST(BodyPublishers.ofByteArray(message(each)))), 400)
                            .path("message")
                            .stringValue())
                    .startsWith("the body is not UTF-8");
        }
        error(send(to(CHAT).POST(BodyPublishers.ofByteArray(HELLO.getBytes(StandardCharsets.UTF_16LE)))), 400);
        assertThat(send(to(CHAT).POST(BodyPublishers.ofByteArray(message(0xC3, 0xBC))))
                        .statusCode())
                .isEqualTo(200);
    }

    /** Otherwise the answer is the text "Infinity". */
    @Test
    void numbersBeyondDoublesInSchemasAreRefused() throws Exception {
        String format =
                "\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\": \"a\", \"schema\": {\"const\": 1e400}}}";
        assertThat(error(post(CHAT, with(HELLO, format)), 400).path("param").stringValue())
                .isEqualTo("response_format.json_schema.schema");
        String tools =
                "\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": {\"properties\": {\"a\": {\"enum\": [-1e400]}}}}}]";
        assertThat(error(post(CHAT, with(HELLO, tools)), 400).path("param").stringValue())
                .isEqualTo("tools[0].function.parameters");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\": \"string\"}",
                "{\"enum\": [1]}",
                "{\"const\": null}",
                "{\"type\": [\"object\", \"null\"]}"
            })
    void aCallWithArgumentsOfNoObjectCannotBeForced(String parameters) throws Exception {
        String tools =
                "\"tool_choice\": \"required\", \"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": %s}}]"
                        .formatted(parameters);
        assertThat(error(post(CHAT, with(HELLO, tools)), 400).path("param").stringValue())
                .isEqualTo("tools");
    }
}
