package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.LimitedBody;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.AbstractList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.web.server.ResponseStatusException;

/** The memory of a request for names in its JSON. */
class KeptNamesTests {

    private static final long MB = 1 << 20;
    private static final int NAMES = 30_000; // name-keeping parsers forget names beyond 65,536

    private IreeRuntime runtime;
    private Program program;

    @BeforeEach
    void load() {
        runtime = IreeRuntime.create();
        program = runtime.load(TestModules.fixture("3.11.0/cpu/add.vmfb"));
    }

    @AfterEach
    void close() {
        program.close();
        runtime.close();
    }

    private InferenceRequest read(BodyLimits limits, InputStream in) throws IOException {
        try (LimitedBody body = limits.receive(in, -1, 64 * MB, "")) {
            return new InferenceRequestReader(program, program.function("add").arguments(), body).read(null);
        }
    }

    private static InputStream bytes(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static long used() {
        for (int i = 0; i < 3; i++) {
            System.gc(); // freed by cleaners
        }
        Runtime heap = Runtime.getRuntime();
        return heap.totalMemory() - heap.freeMemory();
    }

    /** Measures the heap at the request for the last byte, with everything kept by the parser. */
    private static final class Measured extends InputStream {
        private final InputStream in;
        private final long before = used();
        private long kept = Long.MIN_VALUE;

        Measured(InputStream in) {
            this.in = in;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0];
        }

        @Override
        public int read(byte[] target, int offset, int wanted) throws IOException {
            int read = in.read(target, offset, wanted);
            if (read < 0 && kept == Long.MIN_VALUE) {
                kept = used() - before;
            }
            return read;
        }
    }

    @Test
    void namesOfUnknownMembersAreNotKept() {
        Enumeration<InputStream> parts = Collections.enumeration(List.of(
                bytes("{"), new SequenceInputStream(Collections.enumeration(new AbstractList<>() {
                    @Override
                    public InputStream get(int index) {
                        return bytes("\"member%01000d\":0,".formatted(index));
                    }

                    @Override
                    public int size() {
                        return NAMES;
                    }
                }))));
        Measured body = new Measured(new SequenceInputStream(parts));
        assertThatThrownBy(() -> read(new BodyLimits(64 * MB, Duration.ofMinutes(10), 1), body))
                .isInstanceOf(Exception.class);
        assertThat(body.kept).as("bytes kept of %d names", NAMES).isBetween(-64 * MB, 16 * MB);
    }

    @Test
    void namesOfOutputsAreCharged() {
        String name = "x".repeat(1000);
        String outputs = String.join(
                ",",
                IntStream.range(0, 1000)
                        .mapToObj(i -> "{\"name\":\"%s%d\"}".formatted(name, i))
                        .toList());
        assertThatThrownBy(() -> read(
                        new BodyLimits(MB, Duration.ofMinutes(10), 1), bytes("{\"outputs\":[%s]}".formatted(outputs))))
                .isInstanceOf(ResponseStatusException.class)
                .hasMessageContaining("iree.http.max-in-flight-size");
    }
}
