package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.grpc.Status;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Outputs of texts are charged for each row before a row becomes a text. */
@SpringBootTest(
        classes = ProtocolConformanceTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.serving.strings.values=any_out",
            "iree.http.max-in-flight-size=8MB",
        })
@Timeout(300)
class TextMemoryTests {

    private static final int ROWS = 2 << 20;

    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle grpc;

    @Autowired
    private BodyLimits limits;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.values.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    @AfterEach
    void nothingStaysCharged() {
        while (limits.inFlight() != 0) {
            Poll.pause(); // the class's timeout fails what stays
        }
    }

    /** A decoded output would be refused for its first row, which is not UTF-8. */
    @Test
    void anOutputOfTextsBeyondTheBudgetIsRefusedBeforeItsDecoding() throws Exception {
        byte[] rows = new byte[ROWS];
        Arrays.fill(rows, (byte) 0xC3);
        assertThat(new ProtocolClient(port)
                        .inference("values.any")
                        .input("any_in", "INT8", "[%d,1]".formatted(ROWS), rows)
                        .refused(413))
                .contains("bytes of memory, of at most 6291456")
                .contains("'iree.http.max-in-flight-size', which is 8388608");
    }

    @Test
    void anOutputOfTextsBeyondTheBudgetIsRefusedOverGrpc() throws Exception {
        GrpcClient client = new GrpcClient(grpc.getPort());
        try {
            Status refused = client.inference("values.any")
                    .input("any_in", "INT8", List.of((long) ROWS, 1L))
                    .raw(new byte[ROWS])
                    .refused();
            assertThat(refused.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(refused.getDescription()).contains("bytes of memory, of at most 6291456");
        } finally {
            client.close();
        }
    }
}
