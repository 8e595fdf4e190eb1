package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.json.JsonMapper;

/** Texts, datatype {@code BYTES}, over real HTTP, with the client that checks each message against the schema. */
@SpringBootTest(
        classes = ProtocolConformanceTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.serving.strings.values=text_input,text_output,words_in,words_out",
        })
@Timeout(600)
class ProtocolTextsTests {

    @LocalServerPort
    private int port;

    @Autowired
    private IreeRuntime runtime;

    private ProtocolClient client;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.values.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    @BeforeEach
    void connect() {
        client = new ProtocolClient(port);
    }

    @AfterEach
    void requestsLeaveNothingOpen() {
        while (runtime.monitor().leaks().openTensors()
                != 0) { // the client may receive its response before the server's clean-up
            Poll.pause();
        }
    }

    /** Texts in binary: each after its length. */
    private static byte[] texts(String... texts) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (String text : texts) {
            byte[] one = text.getBytes(StandardCharsets.UTF_8);
            bytes.writeBytes(ByteBuffer.allocate(Integer.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(one.length)
                    .array());
            bytes.writeBytes(one);
        }
        return bytes.toByteArray();
    }

    @Test
    void metadataOfTextsLeavesOutTheirBytes() throws Exception {
        assertThat(client.get("/models/values.text", 200, "model-metadata")
                        .get("inputs")
                        .toString())
                .isEqualTo("[{\"name\":\"text_input\",\"datatype\":\"BYTES\",\"shape\":[1]}]");
        assertThat(client.get("/models/values.words", 200, "model-metadata")
                        .get("outputs")
                        .toString())
                .isEqualTo("[{\"name\":\"words_out\",\"datatype\":\"BYTES\",\"shape\":[-1]}]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "text", "Gr\u00fc\u00dfe, \u4f60\u597d \ud83d\ude00", "\"a\"\n"})
    void textsWorkInJsonAndInBinary(String text) throws Exception {
        String json = JsonMapper.shared().writeValueAsString(List.of(text));
        byte[] binary = texts(text);
        assertThat(client.inference("values.text")
                        .input("text_input", "BYTES", "[1]", json)
                        .infer()
                        .output("text_output")
                        .get("data")
                        .get(0)
                        .stringValue())
                .isEqualTo(text);
        assertThat(client.inference("values.text")
                        .input("text_input", "BYTES", "[1]", binary)
                        .output("text_output", true)
                        .infer()
                        .contents()
                        .get("text_output"))
                .isEqualTo(binary);
    }

    @Test
    void textsOfOtherLengthsAreRowsOfASingleTensor() throws Exception {
        ProtocolClient.Answer answer = client.inference("values.words")
                .input("words_in", "BYTES", "[3]", "[\"eighteen\", \"\", \"two\"]")
                .infer();
        assertThat(answer.output("words_out").get("data").toString()).isEqualTo("[\"eighteen\",\"\",\"two\"]");
        assertThat(answer.output("words_out").get("shape").toString()).isEqualTo("[3]");
        assertThat(client.inference("values.words")
                        .input("words_in", "BYTES", "[2]", texts("a", "bcd"))
                        .output("words_out", true)
                        .infer()
                        .contents()
                        .get("words_out"))
                .isEqualTo(texts("a", "bcd"));
        assertThat(client.inference("values.words")
                        .input("words_in", "BYTES", "[0]", new byte[0])
                        .infer()
                        .output("words_out")
                        .get("data")
                        .toString())
                .isEqualTo("[]");
    }

    @Test
    void inputsOfBytesTakeTextsThoughNobodySaidSo() throws Exception {
        assertThat(client.inference("values.echo_ui8")
                        .input("x", "BYTES", "[1]", "[\"az\"]")
                        .infer()
                        .output("y")
                        .get("data")
                        .toString())
                .isEqualTo("[97,122]");
    }

    @Test
    void textsInexpressibleInJsonAreForBinary() throws Exception {
        byte[] binary = {2, 0, 0, 0, (byte) 0xC3, 'x'};
        assertThat(client.inference("values.text")
                        .input("text_input", "BYTES", "[1]", binary)
                        .refused(400))
                .isEqualTo("element 0 of output 'text_output' is not UTF-8; ask for the output in binary");
        assertThat(client.inference("values.text")
                        .input("text_input", "BYTES", "[1]", binary)
                        .parameter("binary_data_output", true)
                        .infer()
                        .contents()
                        .get("text_output"))
                .isEqualTo(binary);
    }

    static Stream<Arguments> faultyTexts() {
        byte[] huge = new byte[100_000 + 4 * 100_000];
        huge[0] = (byte) 0xA0; // 100,000 bytes, and then as many empty elements
        huge[1] = (byte) 0x86;
        huge[2] = 1;
        return Stream.of(
                Arguments.of(
                        "[1]",
                        new byte[] {5, 0, 0, 0, 'a'},
                        400,
                        "element 0 of input 'words_in' has 5 bytes, but 1 are left"),
                Arguments.of("[1]", new byte[] {-1, -1, -1, -1, 'a'}, 400, "has 4294967295 bytes, but 1 are left"),
                Arguments.of("[1]", new byte[] {1, 0}, 400, "end within the length of element 0"),
                Arguments.of("[2]", texts("a"), 400, "has 1 elements, but shape [2] has 2"),
                Arguments.of("[1]", texts("a", "b"), 400, "has more elements than shape [1], which has 1"),
                Arguments.of("[1]", texts("123456789"), 400, "has an element of 9 bytes; there is room for 8"),
                Arguments.of("[100000]", huge, 400, "has an element of 100000 bytes; there is room for 8"));
    }

    @ParameterizedTest
    @MethodSource("faultyTexts")
    void unsuitableTextsAreRejected(String shape, byte[] contents, int status, String message) throws Exception {
        assertThat(client.inference("values.words")
                        .input("words_in", "BYTES", shape, contents)
                        .refused(status))
                .contains(message);
    }

    /** Rows as long as the longest would take far more than the bytes sent. */
    @Test
    void aSingleLongTextAmongManyIsChargedForAllRows() throws Exception {
        byte[] contents = ((byte[]) faultyTexts().toList().getLast().get()[1]);
        assertThat(client.inference("values.any")
                        .input("any_in", "BYTES", "[100000]", contents)
                        .refused(413))
                .contains("bytes of memory");
    }

    @Test
    void onlyTensorsOfBytesTakeTexts() throws Exception {
        assertThat(client.inference("values.echo_f32")
                        .input("x", "BYTES", "[1]", "[\"text\"]")
                        .refused(400))
                .isEqualTo("input 'x' (tensor<?xf32>) cannot be BYTES, which become tensors of 8-bit integers");
        assertThat(client.inference("values.text")
                        .input("text_input", "BYTES", "[1]", "[5]")
                        .refused(400))
                .contains("is not a string");
    }
}
