package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.NpyFormat;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.spring.InvocationService;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

/** {@code POST /infer} over real HTTP, in all formats, and the memory cost of a large tensor. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@Timeout(600)
@Tag("nightly")
class InferWebTests {

    private static final int PIXELS = 64;
    private static final int DIGITS = 10;
    /** 4 MiB of pictures. */
    private static final int ROWS = 1 << 14;

    private static final int BODY = Float.BYTES * ROWS * PIXELS;

    private static final int ANSWER = Float.BYTES * ROWS * DIGITS;
    /** Memory of the network: the hidden layer, the last layer, and the result. */
    private static final int NETWORK = Float.BYTES * ROWS * 64 + 2 * ANSWER;
    /** A sixteenth of the body; a copy would exceed the limit. */
    private static final long SMALL = BODY / 16;
    /** The encoded answer, and Tomcat's allocation for each part until sent. */
    private static final int PART = 1 << 16;

    private static final String BYTES = "application/octet-stream";

    @LocalServerPort
    private int port;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private InvocationService invocations;

    /** The memory in use on an idle device. */
    private long idle;

    @BeforeEach
    void begin() {
        idle = runtime.device().allocator().statistics().bytesLive();
    }

    @AfterEach
    void nothingIsLeft() {
        settle();
    }

    private HttpResponse<byte[]> post(String type, String accept, byte[] body) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                    HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/infer"))
                            .header("Content-Type", type)
                            .header("Accept", accept)
                            .POST(BodyPublishers.ofByteArray(body))
                            .build(),
                    BodyHandlers.ofByteArray());
        }
    }

    private static float[] pictures(int rows) {
        float[] pixels = new float[rows * PIXELS];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = (i * 7L) % 17;
        }
        return pixels;
    }

    private byte[] expected(float[] pictures) {
        try (Tensor input = Tensor.of(pictures, pictures.length / PIXELS, PIXELS);
                var results = invocations.invoke("digits.classify", input)) {
            return results.tensor(0).rawBytes();
        }
    }

    @Test
    void answersInTheAcceptedFormat() throws Exception {
        float[] pictures = pictures(2);
        byte[] expected = expected(pictures);
        Tensor tensor = Tensor.of(pictures, 2, PIXELS);
        HttpResponse<byte[]> bytes = post(BYTES + ";type=f32;shape=\"2,64\"", BYTES, tensor.rawBytes());
        assertThat(bytes.statusCode()).isEqualTo(200);
        assertThat(bytes.headers().firstValue("Content-Type").orElseThrow()).contains("type=f32", "shape=\"2,10\"");
        assertThat(bytes.body()).isEqualTo(expected);

        ByteArrayOutputStream npy = new ByteArrayOutputStream();
        NpyFormat.write(npy, tensor);
        HttpResponse<byte[]> array = post("application/x-npy", "application/x-npy", npy.toByteArray());
        assertThat(NpyFormat.read(new ByteArrayInputStream(array.body())).rawBytes())
                .isEqualTo(expected);

        HttpResponse<byte[]> json = post(
                "application/json",
                "application/json",
                "{\"shape\": [2, 64], \"type\": \"f32\", \"data\": %s}"
                        .formatted(Arrays.toString(pictures))
                        .getBytes(StandardCharsets.UTF_8));
        assertThat(new String(json.body(), StandardCharsets.UTF_8)).startsWith("{\"shape\":[2,10],\"type\":\"f32\",");
    }

    @Test
    void reportsShapeMismatch() throws Exception {
        HttpResponse<byte[]> refused =
                post(BYTES + ";type=f32;shape=\"1,3\"", BYTES + ", application/problem+json", new byte[12]);
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(new String(refused.body(), StandardCharsets.UTF_8)).contains("tensor<?x64xf32>");
    }

    @Test
    void largeTensorIsHeldOnceByTheServerAndOnceByTheDevice() throws Exception {
        byte[] body = Tensor.of(pictures(ROWS), ROWS, PIXELS).rawBytes();
        byte[] expected = new byte[ANSWER];
        // From a stream, since such tensors are used in place, like those of requests.
        try (Tensor input = Tensor.read(new ByteArrayInputStream(body), ElementType.F32, ROWS, PIXELS);
                var results = invocations.invoke("digits.classify", input)) {
            results.tensor(0).copyTo(MemorySegment.ofArray(expected));
        }
        Cost own = cost(
                request(
                        "/infer",
                        "Content-Type: %s;type=f32;shape=\"%d,64\"\r\nAccept: %s\r\n".formatted(BYTES, ROWS, BYTES),
                        "",
                        body),
                expected);
        assertThat(own.heap)
                .as("heap for each request: the answer, which may wait for its client; the body is outside")
                .isBetween((long) ANSWER, ANSWER + SMALL);
        assertThat(own.device)
                .as("memory of the device, which reads the body where it is")
                .isLessThan(NETWORK + SMALL);

        String json =
                "{\"inputs\":[{\"name\":\"input0\",\"shape\":[%d,64],\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":%d}}],\"parameters\":{\"binary_data_output\":true}}"
                        .formatted(ROWS, BODY);
        Cost protocol = cost(
                request(
                        "/v2/models/digits/infer",
                        "Inference-Header-Content-Length: %d\r\n".formatted(json.length()),
                        json,
                        body),
                expected);
        assertThat(protocol.heap)
                .as(
                        "heap for each request: the body, which may wait there for its call, the answer, which may wait for its client, and a part at a time")
                .isBetween((long) BODY, BODY + ANSWER + (ANSWER / PART + 2) * PART + SMALL);
        assertThat(protocol.device)
                .as("memory of the device, where the call has the body")
                .isLessThan(BODY + NETWORK + SMALL);
    }

    /**
     * The memory of a request, without the memory of its client.
     *
     * @param heap bytes allocated in Java
     * @param device the most bytes on the device, more than before
     */
    private record Cost(long heap, long device) {}

    private Cost cost(byte[] request, byte[] expected) throws Exception {
        byte[] response = new byte[ANSWER + 4096];
        int requests = 20;
        try (Socket socket = new Socket("localhost", port)) {
            for (int i = 0; i < 5; i++) { // fills caches and buffers of the connection
                int length = exchange(socket, request, response);
                assertThat(Arrays.copyOfRange(response, length - ANSWER, length))
                        .isEqualTo(expected);
                settle();
            }
            long before = allocatedByOthers();
            for (int i = 0; i < requests; i++) {
                exchange(socket, request, response);
                settle();
            }
            long heap = (allocatedByOthers() - before) / requests;
            long peak = runtime.device().allocator().statistics().bytesPeak();
            return new Cost(heap, peak - idle);
        }
    }

    /** Waits until the server's clean-up, after its response. */
    private void settle() {
        while (runtime.monitor().leaks().openTensors() != 0
                || runtime.device().allocator().statistics().bytesLive() != idle) {
            Thread.onSpinWait(); // the class's timeout fails what stays
        }
    }

    private static long allocatedByOthers() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        return threads.getTotalThreadAllocatedBytes()
                - threads.getThreadAllocatedBytes(Thread.currentThread().threadId());
    }

    private static byte[] request(String path, String headers, String json, byte[] body) {
        byte[] head = "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s"
                .formatted(path, headers, json.length() + body.length, json)
                .getBytes(StandardCharsets.US_ASCII);
        byte[] request = Arrays.copyOf(head, head.length + body.length);
        System.arraycopy(body, 0, request, head.length, body.length);
        return request;
    }

    /** Returns how many bytes of body there are in the buffer. */
    private static int exchange(Socket socket, byte[] request, byte[] response) throws IOException {
        socket.getOutputStream().write(request);
        DataInputStream in = new DataInputStream(socket.getInputStream());
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) in.readUnsignedByte());
        }
        String text = head.toString().toLowerCase(Locale.ROOT);
        assertThat(text).startsWith("http/1.1 200");
        int at = text.indexOf("\r\ncontent-length: ") + 18;
        int length = Integer.parseInt(text.substring(at, text.indexOf("\r\n", at)));
        in.readFully(response, 0, length);
        return length;
    }
}
