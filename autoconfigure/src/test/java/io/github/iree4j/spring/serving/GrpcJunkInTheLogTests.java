package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * Connections without the protocol, or with breaches of its rules: clients decide the number, and so not the number of
 * log lines.
 */
@SpringBootTest(
        classes = ProtocolConformanceTests.Application.class,
        webEnvironment = WebEnvironment.NONE,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.serving.grpc.max-calls=" + GrpcJunkInTheLogTests.MAX_CALLS,
        })
@ExtendWith(OutputCaptureExtension.class)
@Timeout(300)
class GrpcJunkInTheLogTests {

    static final int MAX_CALLS = 8;

    private static final int CONNECTIONS = 30;
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int SETTINGS = 4;
    private static final int WINDOW_UPDATE = 8;
    private static final int CONTINUATION = 9;
    private static final int END_HEADERS = 4;
    private static final int MAX_FRAME = 1 << 14;

    @Autowired
    private GrpcServerLifecycle server;

    @Autowired
    private OpenInferenceGrpcService service;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.values.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] all(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] each : parts) {
            all.writeBytes(each);
        }
        return all.toByteArray();
    }

    private static byte[] filled(int length, int value) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    private static byte[] frame(int type, int flags, int stream, byte[] payload) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(frame)) {
            out.writeByte(payload.length >> 16);
            out.writeShort(payload.length);
            out.writeByte(type);
            out.writeByte(flags);
            out.writeInt(stream);
            out.write(payload);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return frame.toByteArray();
    }

    /** A connection of HTTP/2 with the given frames. */
    private static byte[] connection(byte[]... frames) {
        return all(ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(SETTINGS, 0, 0, new byte[0]), all(frames));
    }

    /** Literals without indexing, of names and values of less than 127 bytes. */
    private static byte[] literals(String... headers) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        for (int i = 0; i < headers.length; i++) {
            if (i % 2 == 0) {
                block.write(0);
            }
            block.write(headers[i].length());
            block.writeBytes(ascii(headers[i]));
        }
        return block.toByteArray();
    }

    /** The beginning of a call, without a message. */
    private static byte[] call(int stream, byte[] headers) {
        byte[] block = all(
                literals(
                        ":method",
                        "POST",
                        ":scheme",
                        "http",
                        ":path",
                        "/inference.GRPCInferenceService/ModelInfer",
                        ":authority",
                        "localhost",
                        "content-type",
                        "application/grpc"),
                headers);
        int first = Math.min(block.length, MAX_FRAME);
        byte[] begin = frame(HEADERS, first == block.length ? END_HEADERS : 0, stream, Arrays.copyOf(block, first));
        return first == block.length
                ? begin
                : all(begin, frame(CONTINUATION, END_HEADERS, stream, Arrays.copyOfRange(block, first, block.length)));
    }

    private static byte[] callWith(String... headers) {
        return call(1, all(literals("te", "trailers"), literals(headers)));
    }

    private static byte[] manyHeaders() {
        byte[] headers = new byte[0];
        for (int i = 0; i < 250; i++) {
            headers = all(headers, literals("x-" + i, "v".repeat(100)));
        }
        return headers;
    }

    static Stream<Named<byte[]>> junk() {
        return Stream.of(
                Named.of("HTTP/1.1", ascii("GET / HTTP/1.1\r\n\r\n")),
                Named.of("TLS", all(new byte[] {0x16, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3}, filled(505, 7))),
                Named.of("bytes", filled(300, 0xff)),
                Named.of("a window of nothing", connection(frame(WINDOW_UPDATE, 0, 0, new byte[4]))),
                Named.of("data of no call", connection(frame(DATA, 0, 7, new byte[10]))),
                Named.of("a too large frame", connection(filled(9, 0x7f))),
                Named.of("a name in upper case", connection(callWith("X-Loud", "1"))),
                Named.of("a header of connections", connection(callWith("connection", "close"))),
                Named.of("an invalid binary header", connection(callWith("x-bin", "%%%"))),
                Named.of("too large metadata", connection(call(1, manyHeaders()))),
                Named.of("no trailers", connection(call(1, new byte[0]))));
    }

    /** Sends bytes, and waits until the server has read the bytes and closes the connection. */
    private void send(byte[] junk) throws IOException {
        try (Socket socket = new Socket("localhost", server.getPort())) {
            socket.getOutputStream().write(junk);
            socket.shutdownOutput();
            socket.getInputStream().skipNBytes(Long.MAX_VALUE);
        } catch (EOFException | SocketException e) {
            // closed, with or without a reset
        }
    }

    /** Sends the same from many connections. */
    private void assertFewLines(byte[] junk, CapturedOutput output) throws IOException {
        int before = output.getAll().length();
        int open = service.openCalls();
        for (int i = 0; i < CONNECTIONS; i++) {
            send(junk);
        }
        while (service.openCalls() != open) {
            Poll.pause();
        }
        String logged = output.getAll().substring(before);
        assertThat(logged.lines().filter(line -> line.startsWith("\tat ")))
                .as("stacks")
                .isEmpty();
        assertThat(logged.lines()).hasSizeLessThanOrEqualTo(4);
    }

    @ParameterizedTest
    @MethodSource("junk")
    void junkIsALineNowAndThen(byte[] junk, CapturedOutput output) throws IOException {
        assertFewLines(junk, output);
    }

    @Test
    void soAreConnectionsClosedForTheirCalls(CapturedOutput output) throws IOException {
        List<HalfCalls> open = new ArrayList<>();
        for (int i = 0; i < MAX_CALLS; i++) {
            HalfCalls each = new HalfCalls(server.getPort());
            open.add(each);
            each.begin("ModelInfer");
        }
        while (service.openCalls() != MAX_CALLS) {
            Poll.pause();
        }
        assertFewLines(connection(callWith()), output);
        for (HalfCalls each : open) {
            each.close();
        }
        while (service.openCalls() != 0) {
            Poll.pause();
        }
    }
}
