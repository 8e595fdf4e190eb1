package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.ListenableFuture;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.RequestCounts.Work;
import io.grpc.CallOptions;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** More calls of gRPC than are computed at once, with no end before the test's command. */
@SpringBootTest(
        classes = GateApplication.class,
        webEnvironment = WebEnvironment.NONE,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.serving.max-concurrent-requests=2",
            "iree.serving.max-wait=5m",
            "iree.serving.functions.gate=pass",
            "iree.modules.gate.contexts=8",
        })
@Timeout(300)
class GrpcOverloadTests {

    @TempDir
    private static Path directory;

    @Autowired
    private BodyLimits limits;

    @Autowired
    private GrpcServerLifecycle grpc;

    @Autowired
    private GateApplication application;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        GateApplication.locate(registry, directory);
    }

    private void await(int computed, int waiting) {
        while (limits.counts().underWay(Work.GRPC) != computed
                || limits.counts().underWay(Work.GRPC_WAITING) != waiting) {
            assertThat(Thread.currentThread().isInterrupted())
                    .as("by the timeout")
                    .isFalse();
            Poll.pause();
        }
    }

    @Test
    void callsOfGrpcWaitTooUnlessCancelled() throws Exception {
        GrpcClient client = new GrpcClient(grpc.getPort());
        try {
            byte[] request = client.inference("gate")
                    .typed("x", "INT32", List.of(), "int_contents", List.of(7))
                    .encoded();
            List<ListenableFuture<byte[]>> answers = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                answers.add(ClientCalls.futureUnaryCall(
                        client.channel().newCall(GrpcClient.method("ModelInfer"), CallOptions.DEFAULT), request));
            }
            await(2, 4);
            // Longer than the calls before have been computed so far: otherwise the calls seem to hang, and the refusal
            // is at once.
            CallOptions hasty = CallOptions.DEFAULT.withDeadlineAfter(3, TimeUnit.SECONDS);
            assertThat(client.refused("ModelInfer", hasty, request).getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
            await(2, 4);
            answers.get(5).cancel(true);
            answers.get(4).cancel(true);
            await(2, 2);
            application.gate.release(100); // a cancelled call may still take one
            for (ListenableFuture<byte[]> each : answers.subList(0, 4)) {
                assertThat(each.get(1, TimeUnit.MINUTES)).isNotEmpty();
            }
        } finally {
            client.close();
        }
    }
}
