package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.TestModules;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Triton's own clients, over HTTP and gRPC. */
@SpringBootTest(
        classes = ProtocolConformanceTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.modules.values.variants.pair.shapes=[rows 2], [others] -> [rows 2], [others]",
            "iree.serving.repository=true",
            "iree.serving.grpc.authentication=elsewhere",
            "iree.serving.functions.values=pair",
            "iree.serving.functions.adder=add",
            "iree.serving.strings.values=words_in,words_out",
            "iree.modules.imported.batching.enabled=true", // a row alone waits
            "iree.modules.imported.batching.max-size=2",
            "iree.modules.imported.batching.max-delay=5m",
        })
@EnabledIfSystemProperty(
        named = TritonClientTests.PYTHON,
        matches = ".+",
        disabledReason = "it needs Python with tritonclient; bin/test-tritonclient installs it and runs this")
@Timeout(600)
class TritonClientTests {

    /** The interpreter of an environment with the clients. */
    static final String PYTHON = "iree.test.tritonclient";

    @TempDir
    private static Path directory;

    @LocalServerPort
    private int port;

    @Autowired
    private GrpcServerLifecycle server;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        for (String name : List.of("values.", "adder.", "adder.versions.2.")) {
            registry.add("iree.modules." + name + "location", () -> module(false));
        }
        registry.add("iree.modules.spinner.location", () -> module(true));
        registry.add(
                "iree.modules.imported.location",
                () -> TestModules.fixture("3.13.0/vmvx/onnx_classifier.vmfb").toString());
    }

    private static String module(boolean spinning) {
        try {
            return (spinning ? TestModules.spinner(directory) : TestModules.adder(directory)).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void clientsWorkUnchanged() throws Exception {
        Process client = new ProcessBuilder(
                        System.getProperty(PYTHON),
                        Path.of("src/test/python/triton_client.py").toString(),
                        String.valueOf(port),
                        String.valueOf(server.getPort()))
                .redirectErrorStream(true)
                .start();
        String output = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(client.waitFor()).as(output).isZero();
        assertThat(output).contains("tritonclient is satisfied");
    }
}
