package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.DynamicMessage;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeModuleCustomizer;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;

/**
 * A device seen by the host through transfers only, like a device of another machine, is lost after the end of the call
 * and before the read of the results.
 */
@SpringBootTest(
        classes = LostResultsTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.serving.functions.far=result",
        })
@Timeout(600)
class LostResultsTests {

    private static final String LOST = "device 'far' is lost";

    @TempDir
    private static Path directory;

    @Autowired
    private GrpcServerLifecycle server;

    @LocalServerPort
    private int port;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private BodyLimits limits;

    private GrpcClient client;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add("iree.modules.far.location", () -> {
            try {
                return TestModules.adder(directory).toString();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @BeforeEach
    void connect() {
        client = new GrpcClient(server.getPort());
    }

    @AfterEach
    void requestsLeaveNothingBehind() throws InterruptedException {
        client.close();
        while (runtime.monitor().leaks().openTensors() != 0 || limits.inFlight() != 0 || limits.awaited() != 0) {
            Poll.pause(); // the class's timeout fails what stays
        }
    }

    private GrpcClient.Inference request(int value) {
        return client.inference("far").typed("input0", "INT32", List.of(1L), "int_contents", List.of(value));
    }

    @Test
    void aCallFailsWithTheStatusOfTheDevice() {
        assertThat(request(7).infer().raw(0)).containsExactly(7, 0, 0, 0);
        Status status = request(-1).refused();
        assertThat(status.getCode()).isEqualTo(Status.Code.ABORTED);
        assertThat(status.getDescription()).isEqualTo(LOST);
    }

    @Test
    void aStreamSaysSoAndGoesOn() throws InterruptedException {
        BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
        StreamObserver<byte[]> requests = ClientCalls.asyncBidiStreamingCall(
                client.channel().newCall(GrpcClient.method("ModelStreamInfer"), io.grpc.CallOptions.DEFAULT),
                new StreamObserver<>() {
                    @Override
                    public void onNext(byte[] answer) {
                        answers.add(GrpcClient.parse("ModelStreamInferResponse", answer));
                    }

                    @Override
                    public void onError(Throwable failure) {
                        answers.add(failure);
                    }

                    @Override
                    public void onCompleted() {
                        answers.add("completed");
                    }
                });
        for (int value : new int[] {-1, 5}) {
            requests.onNext(request(value).encoded());
        }
        requests.onCompleted();
        DynamicMessage first = (DynamicMessage) answers.poll(60, TimeUnit.SECONDS);
        assertThat(GrpcClient.get(first, "error_message")).asString().contains(LOST);
        DynamicMessage second = (DynamicMessage) answers.poll(60, TimeUnit.SECONDS);
        assertThat(GrpcClient.<ByteString>all(
                                (DynamicMessage) GrpcClient.get(second, "infer_response"), "raw_output_contents")
                        .getFirst()
                        .toByteArray())
                .containsExactly(5, 0, 0, 0);
        assertThat(answers.poll(60, TimeUnit.SECONDS)).isEqualTo("completed");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void overHttpTheResponseIsTheFailure(boolean binary) throws Exception {
        JsonNode failed = new ProtocolClient(port)
                .post(
                        "/models/far/infer",
                        "{\"inputs\":[{\"name\":\"input0\",\"shape\":[1],\"datatype\":\"INT32\",\"data\":[-1]}],\"parameters\":{\"binary_data_output\":%b}}"
                                .formatted(binary),
                        "inference-request",
                        503,
                        "error");
        assertThat(failed.get("error").stringValue()).isEqualTo(LOST);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        /** Returns the argument, in memory of a device that is lost for a negative argument. */
        @Bean
        IreeModuleCustomizer far(IreeRuntime runtime) {
            return (_, options) -> options.module(NativeModule.builder("values", 1, () -> runtime)
                    .function("result", "0r_r", (_, call) -> {
                        Buffer in = call.required(BufferView.class).buffer();
                        Far memory = new Far(
                                in.map(MemoryAccess.READ, 0, 4).toArray(java.lang.foreign.ValueLayout.JAVA_INT)[0]);
                        call.returnRef(BufferView.adopt(
                                memory, Shape.of(1), ElementType.I32, BufferView.ENCODING_DENSE_ROW_MAJOR));
                    })
                    .attribute(
                            "iree.abi.declaration",
                            "sync func @result(%input0: tensor<1xi32>) -> (%output0: tensor<1xi32>)")
                    .build());
        }
    }

    /** Memory hidden from the host. */
    private static final class Far extends Buffer {
        private final int value;

        Far(int value) {
            super(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT, MemoryAccess.ALL, Integer.BYTES);
            this.value = value;
        }

        @Override
        protected void copyToHost(long offset, MemorySegment target) {
            if (value < 0) {
                throw IreeException.of(StatusCode.ABORTED, LOST);
            }
            target.copyFrom(MemorySegment.ofArray(new int[] {value}));
        }

        @Override
        protected MemorySegment hostBytes(long offset, long length) {
            throw new IllegalStateException("not mappable");
        }

        @Override
        protected void destroy() {}
    }
}
