package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Poll;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests of no inference, by fault of the client: the answer names the fault, and nothing stays open. */
class InvalidRequestsTests extends OpenInferenceServer {

    @Test
    void clientDisconnectingDuringItsBodyLeavesNothingOpen() throws Exception {
        String header =
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\", \"parameters\": {\"binary_data_size\": 16}}]}";
        long before = runtime.monitor().leaks().bytesLive();
        for (int i = 0; i < 10; i++) {
            try (Socket socket = new Socket("localhost", port)) {
                socket.getOutputStream()
                        .write(
                                "POST /v2/models/add/infer HTTP/1.1\r\nHost: localhost\r\nInference-Header-Content-Length: %d\r\nContent-Length: %d\r\n\r\n%sabc"
                                        .formatted(header.length(), header.length() + 16, header)
                                        .getBytes(StandardCharsets.US_ASCII));
            }
        }
        while (runtime.monitor().leaks().bytesLive() != before
                || runtime.monitor().leaks().openTensors() != 0) {
            Poll.pause(); // the class's timeout fails leaks
        }
        infer("add", ADD);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "seven | the body is not JSON (line 1, column",
                "[] | the request must be an object",
                "{} | 'inputs' is missing; it must name [input0, input1]",
                "{\"inputs\": 1} | 'inputs' must be an array",
                "{\"inputs\": []} | input 'input0' (tensor<4xf32>) is missing",
                "{\"inputs\": [{\"name\": \"x\"}]} | there is no input 'x'; the inputs are [input0, input1]",
                "{\"inputs\": [{\"name\": \"input0\"}]} | input 'input0' has no 'shape'",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4]}]} | input 'input0' has no 'datatype'",
                "{\"inputs\": [{\"datatype\": \"FP7\"}]} | datatype 'FP7' is not supported; there are [BOOL",
                "{\"inputs\": [{\"shape\": [-4]}]} | dimension 0 of 'shape' must be an integer, at least 0",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\"}]} | neither 'data' nor",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\", \"data\": [1, 2]}]} | has 2 elements, but shape [4] has 4",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [2], \"datatype\": \"FP32\", \"data\": [1, 2, 3]}]} | more elements than shape [2]",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [2], \"datatype\": \"FP32\", \"data\": [1, \"x\"]}]} | element 1 of 'data' of input 'input0', x, is not a valid FP32",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [1], \"datatype\": \"INT8\", \"data\": [128]}]} | out of the range of INT8, -128 to 127",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [1], \"datatype\": \"INT8\", \"data\": [1.5]}]} | is not a valid INT8",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [2, 2], \"datatype\": \"FP32\", \"data\": [[1, 2], [3]]}]} | dimension 1 differs",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [1000000000, 1000], \"datatype\": \"FP64\", \"data\": []}]} | has 0 elements, but shape [1000000000, 1000] has 1000000000000",
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [9000000000000000000, 9], \"datatype\": \"FP64\", \"data\": []}]} | shape",
                "{\"outputs\": [{\"name\": \"y\"}], \"inputs\": INPUTS} | there is no output 'y'; the outputs are [output0]",
                "{\"outputs\": [{\"name\": \"output0\", \"parameters\": {\"binary_data\": 1}}]} | must be true or false",
                "{\"parameters\": {\"timeout\": -1}} | 'timeout' must be a number of microseconds",
                "{\"parameters\": {\"timeout\": 1000000000000000000000000000000}} | 'timeout', 1000000000000000000000000000000, is out of range",
                "{\"inputs\": [{\"shape\": [-1000000000000000000000000000000]}]} | dimension 0 of 'shape', -100000",
                "{\"inputs\": INPUTS} x | the body is not JSON",
                "{\"inputs\": INPUTS} {} | unexpected data after the JSON",
            })
    void reportsInvalidRequests(String body, String message) throws Exception {
        HttpResponse<byte[]> response =
                post("/models/add/infer", body.replace("INPUTS", ADD.substring(ADD.indexOf('['), ADD.length() - 1)));
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(error(response)).contains(message);
    }

    @Test
    void truncatedJsonIsReportedWithItsEnd() throws Exception {
        String hundred = ADD.replace("[4]", "[100]"); // fewer bytes than elements
        for (int end = 1; end <= hundred.indexOf("4]}") + 1; end++) {
            String expected = "the JSON of the body ends early, at byte " + end;
            HttpResponse<byte[]> response = post("/models/add/infer", hundred.substring(0, end));
            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(error(response)).isEqualTo(expected);
            if (end > 1) {
                HttpResponse<byte[]> shortHeader = send(to("/models/add/infer")
                        .header("Inference-Header-Content-Length", Integer.toString(end))
                        .POST(BodyPublishers.ofString(hundred)));
                assertThat(error(shortHeader)).isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "false", "null", "-12.5e+3"})
    void jsonTruncatedInsideALiteralOrANumberIsReportedWithItsEnd(String value) throws Exception {
        for (int end = 1; end <= value.length(); end++) {
            String cut = "{\"other\": " + value.substring(0, end);
            String expected = "the JSON of the body ends early, at byte " + cut.length();
            assertThat(error(post("/models/add/infer", cut))).isEqualTo(expected);
            HttpResponse<byte[]> shortHeader = send(to("/models/add/infer")
                    .header("Inference-Header-Content-Length", Integer.toString(cut.length()))
                    .POST(BodyPublishers.ofString(cut + "}")));
            assertThat(error(shortHeader)).isEqualTo(expected);
        }
    }

    /** Otherwise a text in Latin-1 is computed with U+FFFD in place of its letters. */
    @ParameterizedTest
    @ValueSource(strings = {"FC", "C3", "C0AF", "EDA080", "F5808080", "E4B8"})
    void bytesOutsideUtf8AreRefused(String bytes) throws Exception {
        byte[] wrong = HexFormat.of().parseHex(bytes);
        for (String member : List.of("\"id\": \"%s\"", "\"other\": {\"%s\": 1}")) {
            byte[] all = named(ADD, member, wrong);
            byte[] flat = named("{\"input0\": [1, 2, 3, 4], \"input1\": [5, 6, 7, 8]}", member, wrong);
            for (HttpRequest.Builder each : List.of(
                    to("/models/add/infer").POST(BodyPublishers.ofByteArray(all)),
                    to("/models/add/infer")
                            .header("Inference-Header-Content-Length", Integer.toString(all.length))
                            .POST(BodyPublishers.ofByteArray(all)),
                    to("/models/add/generate").POST(BodyPublishers.ofByteArray(flat)))) {
                HttpResponse<byte[]> response = send(each);
                assertThat(response.statusCode()).isEqualTo(400);
                assertThat(error(response)).isEqualTo("the body is not UTF-8");
            }
        }
    }

    @Test
    void bytesOfUtf8AreKept() throws Exception {
        byte[] body = named(ADD, "\"id\": \"%s\"", "Z\u00fcrich \ud83d\ude00".getBytes(StandardCharsets.UTF_8));
        HttpResponse<byte[]> response = send(to("/models/add/infer").POST(BodyPublishers.ofByteArray(body)));
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(checked(response).path("id").stringValue()).isEqualTo("Z\u00fcrich \ud83d\ude00");
    }

    @Test
    void otherEncodingsOfUnicodeAreRefused() throws Exception {
        for (Charset each : List.of(StandardCharsets.UTF_16LE, StandardCharsets.UTF_16, StandardCharsets.UTF_32BE)) {
            HttpResponse<byte[]> response =
                    send(to("/models/add/infer").POST(BodyPublishers.ofByteArray(ADD.getBytes(each))));
            assertThat(response.statusCode()).as(each.name()).isEqualTo(400);
            assertThat(error(response)).startsWith("the body is not ");
        }
    }

    /** Returns a body with bytes in place of the pattern's text in the last member. */
    private static byte[] named(String body, String member, byte[] bytes) {
        String[] parts = (body.substring(0, body.length() - 1) + ", " + member + "}").split("%s");
        ByteArrayOutputStream named = new ByteArrayOutputStream();
        named.writeBytes(parts[0].getBytes(StandardCharsets.US_ASCII));
        named.writeBytes(bytes);
        named.writeBytes(parts[1].getBytes(StandardCharsets.US_ASCII));
        return named.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tru ", "tru}", "nul, \"nul", "12.}", "12.]", "12e}", "-}", "nil", "truth"})
    void aWrongLiteralOrNumberIsNoEarlyEnd(String value) throws Exception {
        HttpResponse<byte[]> response = post("/models/add/infer", "{\"other\": " + value);
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(error(response)).startsWith("the body is not JSON (line 1, column");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "0  | 16 | 'Inference-Header-Content-Length' is 0",
                "9999999999 | 16 | 'Inference-Header-Content-Length' is 9999999999, but the body has at most",
                "   | 15 | 'binary_data_size' 15, but FP32 of shape [4] takes 16 bytes",
                "   | 999999999999 | takes 16 bytes",
                "   | 1000000000000000000000000000000 | 'binary_data_size', 1000000000000000000000000000000, is out",
            })
    void reportsInvalidBinaryData(@Nullable String length, String size, String message) throws Exception {
        String header =
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\", \"parameters\": {\"binary_data_size\": %s}}]}"
                        .formatted(size);
        HttpResponse<byte[]> response = send(to("/models/add/infer")
                .header("Inference-Header-Content-Length", length == null ? Integer.toString(header.length()) : length)
                .POST(binary(header, new float[4])));
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(error(response)).contains(message);
    }

    @Test
    void contentsOfWrongLengthAreReported() throws Exception {
        String header =
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [4], \"datatype\": \"FP32\", \"parameters\": {\"binary_data_size\": 16}}]}";
        HttpResponse<byte[]> shorter = send(to("/models/add/infer")
                .header("Inference-Header-Content-Length", Integer.toString(header.length()))
                .POST(binary(header, new float[3])));
        assertThat(shorter.statusCode()).isEqualTo(400);
        assertThat(error(shorter)).isEqualTo("input 'input0' takes 16 bytes, but the body has at most 12 left");
        HttpResponse<byte[]> longer = send(to("/models/add/infer")
                .header("Inference-Header-Content-Length", Integer.toString(header.length()))
                .POST(binary(header, new float[5])));
        assertThat(error(longer)).startsWith("the body is longer than");
    }

    @Test
    void shapeMismatchIsReportedByTheProgram() throws Exception {
        HttpResponse<byte[]> response = post("/models/add/infer", ADD.replace("[4]", "[2, 2]"));
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(error(response))
                .contains("'input0'")
                .contains("tensor<4xf32>")
                .contains("2x2xf32");
    }

    @Test
    void rejectsBodiesBeyondTheLimit() throws Exception {
        String expected =
                "the body of 65537 bytes is larger than 65536 bytes; send less, or raise 'iree.http.max-request-size'";
        HttpResponse<byte[]> said = post("/models/add/infer", " ".repeat(65537));
        assertThat(said.statusCode()).isEqualTo(413);
        assertThat(error(said)).isEqualTo(expected);
        byte[] unsaid = (" ".repeat(70_000) + ADD).getBytes(StandardCharsets.UTF_8);
        HttpResponse<byte[]> chunked = send(
                to("/models/add/infer").POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(unsaid))));
        assertThat(chunked.statusCode()).isEqualTo(413);
        assertThat(error(chunked)).contains("without a length");
        long tooMany = 4L << 30;
        String told =
                "{\"inputs\": [{\"name\": \"input0\", \"shape\": [%d], \"datatype\": \"FP32\", \"parameters\": {\"binary_data_size\": %d}}]}"
                        .formatted(tooMany / 4, tooMany);
        HttpResponse<byte[]> contents = send(to("/models/add/infer")
                .header("Inference-Header-Content-Length", Integer.toString(told.length()))
                .POST(BodyPublishers.ofInputStream(
                        () -> new ByteArrayInputStream(told.getBytes(StandardCharsets.UTF_8)))));
        assertThat(error(contents)).contains("without a length");
        assertThat(contents.statusCode()).isEqualTo(413);
    }

    @Test
    void rejectsDeeplyNestedRequests() throws Exception {
        HttpResponse<byte[]> response = post("/models/add/infer", "{\"inputs\": " + "[".repeat(30_000));
        assertThat(response.statusCode()).isEqualTo(400);
        HttpResponse<byte[]> skipped = post("/models/add/infer", "{\"other\": " + "[".repeat(30_000));
        assertThat(skipped.statusCode()).isEqualTo(400);
        assertThat(error(skipped)).contains("exceeds a limit");
    }

    @Test
    void limitsOfJsonAreToldInNumbersOnly() throws Exception {
        Map<String, String> limits = Map.of(
                "{\"other\": " + "[".repeat(200),
                "document nesting depth (137) exceeds the maximum allowed (136)",
                "{\"other\": " + "1".repeat(600) + "}",
                "number value length (600) exceeds the maximum allowed (512)",
                ADD.replace("[1,", "[" + "1".repeat(600) + ","),
                "number value length (600) exceeds the maximum allowed (512)",
                "{\"" + "n".repeat(2000) + "\": 1}",
                "name length (2000) exceeds the maximum allowed (1024)");
        for (Map.Entry<String, String> each : limits.entrySet()) {
            HttpResponse<byte[]> response = post("/models/add/infer", each.getKey());
            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(error(response)).contains(each.getValue()).doesNotContain("Stream", "`");
        }
    }

    @Test
    void largeRequestsToTheRepositoryAreTooLarge() throws Exception {
        HttpResponse<byte[]> response = post("/repository/models/add/load", " ".repeat(200_000));
        assertThat(response.statusCode()).isEqualTo(413);
        assertThat(error(response)).isEqualTo("the body is longer than 65536 bytes");
    }

    @Test
    void mutatedRequestsAreAnsweredOrRejected() throws Exception {
        long seed = Long.getLong("iree4j.test.seed", 20261120);
        Random random = new Random(seed);
        byte[] good = ADD.getBytes(StandardCharsets.UTF_8);
        int requests = "brief".equals(System.getProperty("iree4j.test.effort")) ? 100 : 500;
        for (int i = 0; i < requests; i++) {
            byte[] bad = good.clone();
            for (int n = random.nextInt(4); n >= 0; n--) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt(128);
            }
            int length = random.nextInt(good.length + 1);
            HttpRequest.Builder request = to("/models/add/infer").POST(BodyPublishers.ofByteArray(bad));
            if (random.nextInt(3) == 0) {
                request.header("Inference-Header-Content-Length", Integer.toString(length));
            }
            assertThat(send(request).statusCode())
                    .as("seed %d, request %d", seed, i)
                    .isIn(200, 400, 501);
        }
    }
}
