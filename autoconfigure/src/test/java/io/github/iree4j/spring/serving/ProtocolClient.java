package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A client of the Open Inference Protocol, written from the public text. Every message sent or received is checked
 * against {@code protocol/open-inference-v2.schema.json}, and against the requirements of the text beyond the schemas:
 * statuses, content types, lengths, the order of binary contents, and the number and type of a tensor's elements.
 */
final class ProtocolClient {

    private static final JsonSchema SCHEMA = new JsonSchema("/protocol/open-inference-v2.schema.json");
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final String HEADER_LENGTH = "Inference-Header-Content-Length";

    /** The datatypes of the text, with BF16 as in Triton. */
    private static final Map<String, Integer> SIZES = Map.ofEntries(
            Map.entry("BOOL", 1),
            Map.entry("UINT8", 1),
            Map.entry("UINT16", 2),
            Map.entry("UINT32", 4),
            Map.entry("UINT64", 8),
            Map.entry("INT8", 1),
            Map.entry("INT16", 2),
            Map.entry("INT32", 4),
            Map.entry("INT64", 8),
            Map.entry("FP16", 2),
            Map.entry("BF16", 2),
            Map.entry("FP32", 4),
            Map.entry("FP64", 8));

    private final HttpClient http = HttpClient.newHttpClient();
    private final String base;

    ProtocolClient(int port) {
        this.base = "http://localhost:" + port + "/v2";
    }

    /**
     * The response to an inference.
     *
     * @param json the object
     * @param contents of binary outputs, by name
     */
    record Answer(JsonNode json, Map<String, byte[]> contents) {
        JsonNode output(String name) {
            return json.required("outputs")
                    .valueStream()
                    .filter(output -> output.required("name").stringValue().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("there is no output " + name + " in " + json));
        }
    }

    /** Builds an inference request. */
    final class Inference {
        private final String path;
        private final ObjectNode request = JSON.createObjectNode();
        private final ArrayNode inputs = request.putArray("inputs");
        private final ByteArrayOutputStream behind = new ByteArrayOutputStream();
        private final Map<String, @Nullable Boolean> wanted = new LinkedHashMap<>();
        private boolean binary;
        private boolean binaryOutput;

        private Inference(String path) {
            this.path = path;
        }

        Inference id(String id) {
            request.put("id", id);
            return this;
        }

        /** An input in JSON; the data as JSON text, flat or nested. */
        Inference input(String name, String datatype, String shape, String data) {
            describe(name, datatype, shape).set("data", JSON.readTree(data));
            return this;
        }

        /** An input in binary. */
        Inference input(String name, String datatype, String shape, byte[] contents) {
            describe(name, datatype, shape).putObject("parameters").put("binary_data_size", contents.length);
            behind.writeBytes(contents);
            binary = true;
            return this;
        }

        private ObjectNode describe(String name, String datatype, String shape) {
            ObjectNode input = inputs.addObject();
            input.put("name", name).put("datatype", datatype).set("shape", JSON.readTree(shape));
            return input;
        }

        /** Requests an output; in binary or not, or by the default of the request. */
        Inference output(String name, @Nullable Boolean inBinary) {
            wanted.put(name, inBinary);
            ObjectNode output = request.withArray("outputs").addObject().put("name", name);
            if (inBinary != null) {
                output.putObject("parameters").put("binary_data", inBinary);
            }
            return this;
        }

        Inference parameter(String name, Object value) {
            request.withObject("parameters").set(name, JSON.valueToTree(value));
            binaryOutput |= name.equals("binary_data_output") && value.equals(true);
            return this;
        }

        private HttpResponse<byte[]> send() throws Exception {
            assertConforms("inference-request", request);
            byte[] json = JSON.writeValueAsBytes(request);
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            body.writeBytes(json);
            body.writeBytes(behind.toByteArray());
            HttpRequest.Builder message = to(path).POST(BodyPublishers.ofByteArray(body.toByteArray()));
            if (binary) {
                message.header(HEADER_LENGTH, Integer.toString(json.length))
                        .header("Content-Type", "application/octet-stream");
            } else {
                message.header("Content-Type", "application/json");
            }
            return http.send(message.build(), BodyHandlers.ofByteArray());
        }

        /** Makes the request, expected to succeed. */
        Answer infer() throws Exception {
            HttpResponse<byte[]> response = send();
            assertThat(response.statusCode()).as(text(response)).isEqualTo(200);
            int length = response.headers()
                    .firstValue(HEADER_LENGTH)
                    .map(Integer::parseInt)
                    .orElse(response.body().length);
            JsonNode json = JSON.readTree(Arrays.copyOf(response.body(), length));
            assertConforms("inference-response", json);
            assertThat(json.path("id")).isEqualTo(request.path("id"));
            Map<String, byte[]> contents = new HashMap<>();
            int at = length;
            for (JsonNode output : json.required("outputs")) {
                String name = output.required("name").stringValue();
                long elements = 1;
                for (JsonNode dimension : output.required("shape")) {
                    elements *= dimension.longValue();
                }
                String datatype = output.required("datatype").stringValue();
                JsonNode size = output.path("parameters").path("binary_data_size");
                boolean inBinary = wanted.get(name) == null ? binaryOutput : Boolean.TRUE.equals(wanted.get(name));
                assertThat(!size.isMissingNode())
                        .as("output %s in binary", name)
                        .isEqualTo(inBinary);
                if (inBinary) {
                    if (!datatype.equals("BYTES")) {
                        assertThat(size.longValue()).isEqualTo(elements * SIZES.get(datatype));
                    }
                    contents.put(name, Arrays.copyOfRange(response.body(), at, at += size.intValue()));
                } else {
                    assertThat((long) elements(output.required("data"), datatype))
                            .isEqualTo(elements);
                }
            }
            assertThat(at).as("bytes of the body").isEqualTo(response.body().length);
            if (!wanted.isEmpty()) {
                assertThat(json.required("outputs").findValuesAsString("name"))
                        .containsExactlyInAnyOrderElementsOf(wanted.keySet());
            }
            assertThat(response.headers().firstValue("Content-Type"))
                    .hasValue(contents.isEmpty() ? "application/json" : "application/octet-stream");
            assertThat(response.headers().firstValue(HEADER_LENGTH).isPresent()).isEqualTo(!contents.isEmpty());
            return new Answer(json, contents);
        }

        /** Makes the request, expected to fail; returns the server's message. */
        String refused(int status) throws Exception {
            return error(send(), status);
        }
    }

    /** The number of elements, all of the datatype. */
    private static int elements(JsonNode data, String datatype) {
        int count = 0;
        for (JsonNode element : data) {
            if (element.isArray()) {
                count += elements(element, datatype);
                continue;
            }
            count++;
            switch (datatype) {
                case "BOOL" ->
                    assertThat(element.isBoolean()).as("%s in BOOL", element).isTrue();
                case "FP16", "BF16", "FP32", "FP64" ->
                    assertThat(element.isNumber() || element.asString().matches("NaN|-?Infinity"))
                            .as("%s in %s", element, datatype)
                            .isTrue();
                case "BYTES" ->
                    assertThat(element.isString()).as("%s in BYTES", element).isTrue();
                default ->
                    assertThat(element.isIntegralNumber())
                            .as("%s in %s", element, datatype)
                            .isTrue();
            }
        }
        return count;
    }

    private HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create(base + path));
    }

    Inference inference(String model) {
        return new Inference("/models/" + model + "/infer");
    }

    /** Sends a GET request; the response must have a status and match a definition. */
    JsonNode get(String path, int status, String definition) throws IOException, InterruptedException {
        return answer(http.send(to(path).build(), BodyHandlers.ofByteArray()), status, definition);
    }

    /** Sends an object, or nothing; the response must have a status and match a definition. */
    JsonNode post(String path, @Nullable String body, String asked, int status, String definition)
            throws IOException, InterruptedException {
        if (body != null) {
            assertConforms(asked, JSON.readTree(body));
        }
        HttpRequest.Builder request =
                to(path).POST(body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        return answer(http.send(request.build(), BodyHandlers.ofByteArray()), status, definition);
    }

    /** Sends a request answered by a stream of events, and returns the stream. */
    String events(String path, String body) throws IOException, InterruptedException {
        HttpResponse<byte[]> response =
                http.send(to(path).POST(BodyPublishers.ofString(body)).build(), BodyHandlers.ofByteArray());
        assertThat(response.statusCode()).as(text(response)).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type").orElse("").replace(" ", ""))
                .isEqualToIgnoringCase("text/event-stream;charset=utf-8");
        return text(response);
    }

    /** Sends an invalid request, expected to be rejected. */
    String refused(String path, Map<String, String> headers, byte[] body, int status)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = to(path).POST(BodyPublishers.ofByteArray(body));
        headers.forEach(request::header);
        return error(http.send(request.build(), BodyHandlers.ofByteArray()), status);
    }

    private static String error(HttpResponse<byte[]> response, int status) {
        return answer(response, status, "error").required("error").stringValue();
    }

    private static JsonNode answer(HttpResponse<byte[]> response, int status, String definition) {
        assertThat(response.statusCode()).as(text(response)).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
        JsonNode json = JSON.readTree(response.body());
        assertConforms(definition, json);
        return json;
    }

    private static void assertConforms(String definition, JsonNode json) {
        assertThat(SCHEMA.problems(definition, json))
                .as("%s: %s", definition, json)
                .isEmpty();
    }

    private static String text(HttpResponse<byte[]> response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }
}
