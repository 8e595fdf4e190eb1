package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * Random requests with wrong framing or JSON, of clients with stops at random places, several at a time: each gets a
 * response that blames the client, or the end of its connection, and everything is given back.
 */
@SpringBootTest(
        classes = HostileFramingTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "iree.serving.enabled=true",
            "iree.serving.repository=true",
            "iree.http.max-request-size=1MB",
            "iree.http.max-request-size=1MB",
            "iree.http.max-in-flight-size=16MB",
            "iree.http.body-timeout=1s",
            "server.tomcat.connection-timeout=2s",
            "server.netty.idle-timeout=2s",
        })
@Timeout(600)
class HostileFramingTests {

    private static final int ROUNDS = "brief".equals(System.getProperty("iree4j.test.effort")) ? 60 : 500;
    private static final int AT_ONCE = 8;
    private static final Set<Integer> ALLOWED =
            Set.of(100, 200, 400, 404, 405, 408, 411, 413, 414, 415, 417, 422, 431, 501, 503, 505);
    private static final String ADD = """
            {"inputs": [{"name": "input0", "shape": [4], "datatype": "FP32", "data": [1, 2, 3, 4]},
                        {"name": "input1", "shape": [4], "datatype": "FP32", "data": [10, 20, 30, 40]}]}""";

    @LocalServerPort
    private int port;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private BodyLimits limits;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.add.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    /** Makes requests. */
    private static final class Generator {
        private final Random random;

        Generator(Random random) {
            this.random = random;
        }

        private <T> T any(List<T> values) {
            return values.get(random.nextInt(values.size()));
        }

        private boolean seldom() {
            return random.nextInt(5) == 0;
        }

        // ---- JSON.

        private String number() {
            return any(List.of(
                    "1",
                    "-0",
                    "1e400",
                    "-1e-400",
                    "9".repeat(400),
                    "9".repeat(600),
                    "1e999999999",
                    "1.5",
                    "01",
                    "+1",
                    ".5",
                    "0x10",
                    "9223372036854775808",
                    "-9223372036854775809",
                    "4294967297",
                    "NaN",
                    "Infinity",
                    "null",
                    "true",
                    "\"NaN\"",
                    "\"1\"",
                    "[1]",
                    "{}",
                    "1e1",
                    "1_000"));
        }

        private String text() {
            return any(List.of(
                    "input0",
                    "input1",
                    "FP32",
                    "INT64",
                    "BOOL",
                    "BYTES",
                    "",
                    "\\ud800",
                    "\\udc00\\ud800",
                    "\\u0000",
                    "\u0000",
                    "\\x",
                    "\\u12",
                    "\u00ff",
                    "\ud83d\ude00",
                    "x".repeat(5000),
                    "'; DROP",
                    "%s%n",
                    "..\\/x",
                    "$async"));
        }

        private String value(int depth) {
            if (depth > 6) {
                return number();
            }
            return switch (random.nextInt(8)) {
                case 0 -> "\"" + text() + "\"";
                case 1 -> "[".repeat(random.nextInt(60)) + "]".repeat(random.nextInt(60));
                case 2 -> "{\"a\":".repeat(random.nextInt(60)) + "1" + "}".repeat(random.nextInt(60));
                case 3 -> array(depth);
                case 4 -> object(depth);
                default -> number();
            };
        }

        private String array(int depth) {
            StringBuilder array = new StringBuilder("[");
            for (int i = random.nextInt(6); i > 0; i--) {
                array.append(value(depth + 1)).append(i > 1 || seldom() ? "," : "");
            }
            return array + (seldom() ? "" : "]");
        }

        private String object(int depth) {
            StringBuilder object = new StringBuilder("{");
            for (int i = random.nextInt(6); i > 0; i--) {
                object.append(member(depth)).append(i > 1 || seldom() ? "," : "");
            }
            return object + (seldom() ? "" : "}");
        }

        private String member(int depth) {
            String name = any(List.of(
                    "inputs",
                    "outputs",
                    "name",
                    "shape",
                    "datatype",
                    "data",
                    "parameters",
                    "binary_data_size",
                    "binary_data",
                    "binary_data_output",
                    "timeout",
                    "id",
                    "x"));
            return "\"" + (seldom() ? text() : name) + "\":" + (seldom() ? number() : value(depth + 1));
        }

        /** A good request with some places replaced, doubled or dropped. */
        private String json() {
            if (seldom()) {
                return object(0);
            }
            String json = ADD;
            for (int i = random.nextInt(4); i > 0; i--) {
                String part = any(List.of(
                        "1",
                        "[4]",
                        "\"FP32\"",
                        "\"input0\"",
                        "[1, 2, 3, 4]",
                        "\"shape\": [4], ",
                        "\"datatype\": \"FP32\", ",
                        "\"name\": \"input0\", ",
                        "{\"inputs\": "));
                String with = switch (random.nextInt(4)) {
                    case 0 -> part + part;
                    case 1 -> "";
                    case 2 -> value(2);
                    default -> part + member(2) + ",";
                };
                int at = json.indexOf(part, random.nextInt(json.length()));
                if (at >= 0) {
                    json = json.substring(0, at) + with + json.substring(at + part.length());
                }
            }
            return json;
        }

        private byte[] body() throws IOException {
            if (seldom()) {
                byte[] noise = new byte[random.nextInt(200)];
                random.nextBytes(noise);
                return noise;
            }
            Charset charset = seldom()
                    ? any(List.of(
                            StandardCharsets.UTF_16BE,
                            StandardCharsets.UTF_16LE,
                            StandardCharsets.UTF_32,
                            StandardCharsets.ISO_8859_1))
                    : StandardCharsets.UTF_8;
            byte[] body = json().getBytes(charset);
            return seldom() ? zipped(body) : body;
        }

        /** Some bytes, and very many zeros. */
        private static byte[] zipped(byte[] body) throws IOException {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
                zip.write(body);
                for (int i = 0; i < 64; i++) {
                    zip.write(new byte[1 << 16]);
                }
            }
            return out.toByteArray();
        }

        // ---- HTTP.

        private String headers(int length) {
            StringBuilder headers = new StringBuilder();
            if (seldom()) {
                headers.append("Content-Encoding: ")
                        .append(any(List.of("gzip", "identity", "br", "\t", "gzip, gzip")))
                        .append("\r\n");
            }
            if (seldom()) {
                headers.append("Inference-Header-Content-Length: ")
                        .append(any(List.of(
                                "0",
                                "-1",
                                "1",
                                Integer.toString(length),
                                Integer.toString(length - 4),
                                "99999999999",
                                "9".repeat(30),
                                "1.0",
                                " ",
                                "0x10",
                                "4, 4")))
                        .append("\r\n");
            }
            if (seldom()) {
                headers.append("Expect: 100-continue\r\n");
            }
            return headers.toString();
        }

        private String head(String framing, int length) {
            String path = any(List.of(
                    "/v2/models/add/infer",
                    "/v2/models/add/infer",
                    "/v2/models/add/infer",
                    "/v2/models/add/versions/1/infer",
                    "/v2/models/nothing/infer",
                    "/v2/models/%00/infer",
                    "/v2/models/add%2Fadd/infer"));
            return "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s%s\r\n"
                    .formatted(path, headers(length), framing);
        }

        private byte[] chunked(byte[] body) throws IOException {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int at = 0; at < body.length; ) {
                int size = Math.min(body.length - at, 1 + random.nextInt(40));
                String said = seldom()
                        ? any(List.of(
                                Integer.toHexString(size + 1),
                                Integer.toHexString(Math.max(1, size - 1)),
                                "0",
                                "-1",
                                "ffffffffffffffff",
                                "7fffffff",
                                "g",
                                "",
                                " 5 ",
                                Integer.toHexString(size) + ";x=\"y",
                                "0".repeat(100) + Integer.toHexString(size)))
                        : Integer.toHexString(size);
                out.writeBytes((said + (random.nextInt(30) == 0 ? "\n" : "\r\n")).getBytes(StandardCharsets.US_ASCII));
                out.write(body, at, size);
                out.writeBytes((random.nextInt(30) == 0 ? "" : "\r\n").getBytes(StandardCharsets.US_ASCII));
                at += size;
            }
            String end = any(List.of("0\r\n\r\n", "0\r\n\r\n", "0\r\nX: y\r\n\r\n", "0\r\n", ""));
            out.writeBytes(end.getBytes(StandardCharsets.US_ASCII));
            return out.toByteArray();
        }

        /** One or two requests, the last perhaps cut. */
        byte[] requests() throws IOException {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int i = seldom() ? 2 : 1; i > 0; i--) {
                byte[] body = body();
                int length = body.length;
                String exact = "Content-Length: " + length + "\r\n";
                String framing = switch (random.nextInt(10)) {
                    case 0 -> "Content-Length: " + (length + 1 + random.nextInt(100)) + "\r\n";
                    case 1 -> "Content-Length: " + Math.max(0, length - 1 - random.nextInt(10)) + "\r\n";
                    case 2 ->
                        any(List.of(
                                "Content-Length: -1\r\n",
                                "Content-Length: 9223372036854775808\r\n",
                                "Content-Length: 1e3\r\n",
                                exact + "Content-Length: 1\r\n",
                                exact + "Transfer-Encoding: chunked\r\n",
                                "Transfer-Encoding: gzip, chunked\r\n",
                                "Transfer-Encoding: identity\r\n",
                                ""));
                    case 3, 4, 5 -> "Transfer-Encoding: chunked\r\n";
                    default -> exact;
                };
                out.writeBytes(head(framing, length).getBytes(StandardCharsets.ISO_8859_1));
                out.writeBytes(framing.equals("Transfer-Encoding: chunked\r\n") ? chunked(body) : body);
            }
            byte[] all = out.toByteArray();
            return seldom() ? Arrays.copyOf(all, random.nextInt(all.length)) : all;
        }
    }

    /** Reads all responses; returns the statuses. */
    private static List<Integer> statuses(Socket socket) {
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        try {
            socket.getInputStream().transferTo(received);
        } catch (IOException e) {
            received.size(); // arrived bytes count
        }
        List<Integer> statuses = new ArrayList<>();
        String text = received.toString(StandardCharsets.ISO_8859_1);
        for (int at = text.indexOf("HTTP/1.1 "); at >= 0; at = text.indexOf("HTTP/1.1 ", at + 1)) {
            statuses.add(Integer.parseInt(text.substring(at + 9, at + 12)));
        }
        return statuses;
    }

    @Test
    void wrongRequestsGetAStatusAndNothingIsKept() throws Exception {
        long seed = Long.getLong("iree4j.test.seed", 20261123);
        System.out.println("random: hostile framing, seed " + seed);
        long idle = runtime.device().allocator().statistics().bytesLive();
        Random random = new Random(seed);
        TreeMap<Integer, Integer> seen = new TreeMap<>();
        Deque<Socket> open = new ArrayDeque<>();
        for (int round = 0; round < ROUNDS; round++) {
            byte[] requests = new Generator(new Random(seed + round)).requests();
            Socket socket = new Socket("localhost", port);
            socket.setSoTimeout(30_000);
            open.add(socket);
            try {
                int half = random.nextInt(requests.length + 1);
                socket.getOutputStream().write(requests, 0, half);
                if (random.nextInt(10) == 0) {
                    open.removeLast();
                    socket.setSoLinger(true, 0);
                    socket.close(); // a reset in the middle
                    continue;
                }
                socket.getOutputStream().write(requests, half, requests.length - half);
                if (random.nextBoolean()) {
                    socket.shutdownOutput();
                }
            } catch (IOException e) {
                open.size(); // refused; the response tells
            }
            if (open.size() == AT_ONCE) {
                end(open.removeFirst(), seed, round, seen);
            }
        }
        while (!open.isEmpty()) {
            end(open.removeFirst(), seed, ROUNDS, seen);
        }
        System.out.println("random: hostile framing, statuses " + seen);
        assertThat(seen).containsKey(400);
        while (limits.awaited() != 0
                || limits.inFlight() != 0
                || runtime.device().allocator().statistics().bytesLive() != idle) {
            Poll.pause(); // the class's timeout fails what stays
        }
        try (Socket socket = new Socket("localhost", port)) {
            socket.getOutputStream()
                    .write(
                            "POST /v2/models/add/infer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                                    .formatted(ADD.length(), ADD)
                                    .getBytes(StandardCharsets.US_ASCII));
            assertThat(statuses(socket)).containsExactly(200);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v2/models/add/infer", "/v2/repository/index"})
    void bodiesComingByteByByteAreEnded(String path) throws IOException {
        try (Socket socket = new Socket("localhost", port)) {
            socket.setSoTimeout(100); // between two bytes
            socket.getOutputStream()
                    .write("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{"
                            .formatted(path)
                            .getBytes(StandardCharsets.US_ASCII));
            byte[] response = new byte[12];
            int read = 0;
            while (read == 0) {
                try {
                    socket.getOutputStream().write(' ');
                    read = socket.getInputStream().readNBytes(response, 0, response.length);
                } catch (SocketTimeoutException e) {
                    read = 0;
                }
            }
            assertThat(new String(response, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 408");
        }
        while (limits.awaited() != 0) {
            Poll.pause(); // the class's timeout fails what stays
        }
    }

    private static void end(Socket socket, long seed, int round, TreeMap<Integer, Integer> seen) throws IOException {
        try (socket) {
            for (int status : statuses(socket)) {
                seen.merge(status, 1, Integer::sum);
                assertThat(ALLOWED.contains(status))
                        .as("status %d, seed %d, among the %d before round %d", status, seed, AT_ONCE, round)
                        .isTrue();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
