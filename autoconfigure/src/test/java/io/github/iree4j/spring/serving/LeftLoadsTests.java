package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.spring.HungFile;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.RetryLater;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.io.DefaultResourceLoader;
import reactor.core.Disposable;

/** Loads begun by requests without a wait for the end of the load. */
@Timeout(120)
class LeftLoadsTests {

    private static final Duration LONG = Duration.ofMinutes(5);

    @TempDir
    Path directory;

    private final IreeRuntime runtime = IreeRuntime.create();
    private HungFile hung;
    private Programs programs;
    private ServedModels models;

    @BeforeEach
    void assemble() throws IOException {
        hung = new HungFile(TestModules.counter(directory));
        DefaultResourceLoader resources = new DefaultResourceLoader();
        resources.addProtocolResolver(hung.resolver());
        programs = new Programs(runtime, resources);
        programs.define(ProgramSource.of("counter", HungFile.LOCATION));
        models = new ServedModels(programs, Map.of(), Map.of(), Map.of(), () -> true);
    }

    @AfterEach
    void close() {
        programs.close();
        runtime.close();
    }

    private ProgramState state() {
        return programs.statuses().getFirst().state();
    }

    /** The reading thread makes the loading thread report the state. */
    private void awaitLoading() {
        long begun = System.nanoTime();
        while (state() != ProgramState.LOADING) {
            assertThat(System.nanoTime() - begun)
                    .as("nanoseconds without a load")
                    .isLessThan(30_000_000_000L);
            Poll.pause();
        }
    }

    @Test
    void disconnectingClientDoesNotEndTheLoad() throws Exception {
        CompletableFuture<StatusCode> end = new CompletableFuture<>();
        Disposable request = ReactiveBody.blocking(() -> {
                    try {
                        return models.find("counter", null, LONG);
                    } catch (IreeException e) {
                        end.complete(e.code());
                        throw e;
                    }
                })
                .subscribe();
        hung.awaitReader();
        request.dispose();
        assertThat(end.get(1, TimeUnit.MINUTES)).isEqualTo(StatusCode.CANCELLED);
        awaitLoading();
        hung.answer();
        assertThat(models.find("counter", null, LONG).function().name()).isEqualTo("next");
    }

    /** Over gRPC, where the load begins while the message is read. */
    @Test
    void waitForALoadIsPartOfTheTimeOfTheRequest() throws Exception {
        byte[] message = new ProtoWriter()
                .string(1, "counter")
                .message(
                        4,
                        parameter -> parameter
                                .string(1, "timeout")
                                .message(2, value -> value.varint(2, TimeUnit.NANOSECONDS.toMicros(LONG.toNanos()))))
                .toByteArray();
        BodyLimits limits = new BodyLimits(1 << 20, LONG, 1);
        try (LimitedBody body = limits.receive(InputStream.nullInputStream(), -1, 1 << 20, BodyLimits.SIZE)) {
            GrpcRequestReader reader =
                    new GrpcRequestReader(models, LONG, null, new ByteArrayInputStream(message), message.length, body);
            CompletableFuture<GrpcRequestReader.Request> request = new CompletableFuture<>();
            Thread.startVirtualThread(() -> {
                try {
                    request.complete(reader.read());
                } catch (IOException | RuntimeException e) {
                    request.completeExceptionally(e);
                }
            });
            hung.awaitReader();
            Deadline latest = Deadline.after(LONG);
            hung.answer();
            Deadline deadline = request.get(1, TimeUnit.MINUTES).deadline();
            assertThat(Deadline.earliest(latest, deadline)).isSameAs(deadline).isNotNull();
        }
    }

    @Test
    void requestAfterALongEnoughWaitLearnsWhenToComeAgain() throws Exception {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> models.find("counter", null, Duration.ofMillis(20)))
                .withMessageContaining("model 'counter' is being loaded")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE))
                .satisfies(
                        e -> assertThat(e.detail(RetryLater.class).orElseThrow().after())
                                .isGreaterThanOrEqualTo(Duration.ofSeconds(1)));
        hung.awaitReader();
        awaitLoading();
        hung.answer();
        assertThat(models.find("counter", null, LONG).function().name()).isEqualTo("next");
    }

    @Test
    void modelWithALateLoadIsLoadedByTheNextRequest() throws Exception {
        programs.setLoadTimeout(Duration.ofMillis(50));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> models.find("counter", null, LONG))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
        hung.answer();
        programs.setLoadTimeout(Duration.ZERO);
        assertThat(models.find("counter", null, LONG).function().name()).isEqualTo("next");
    }
}
