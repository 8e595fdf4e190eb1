package io.github.iree4j.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.LeakCheck;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.io.DefaultResourceLoader;
import reactor.core.publisher.Mono;

@Timeout(900)
class IreeClientTests {

    record Pair(float[] left, Tensor right) {}

    record Sum(float[] values) {}

    record Number(int value) {}

    @IreeClient("adder")
    interface Adder {
        int add(int a, int b);

        @IreeFunction("add")
        long wide(int a, long b);

        @IreeFunction("add")
        byte narrow(int a, int b);

        @IreeFunction("add")
        Number record(Number a, Number b);

        @IreeFunction("add")
        CompletableFuture<Integer> later(CallOptions options, int a, int b);

        @IreeFunction("add")
        Mono<Integer> mono(int a, int b);

        @IreeFunction(value = "add", timeout = "10ms")
        int soon(CallOptions options, int a, int b);

        void refuse();

        int divide(int a, int b);

        default int twice(int a) {
            return add(a, a);
        }
    }

    @IreeClient("add")
    interface Floats {
        float[] add(float[] a, float[] b);

        @IreeFunction("add")
        Sum sum(Pair pair);

        @IreeFunction("add")
        Tensor tensor(Tensor a, float[] b);

        @IreeFunction("add")
        Submission<Tensor> submitted(CallOptions options, Tensor a, Tensor b);

        @IreeFunction("add")
        Results results(float[] a, float[] b);

        @IreeFunction("add")
        float[][] nested(float[] a, float[] b);

        @IreeFunction("add")
        void drop(float[] a, float[] b);

        @IreeFunction("add")
        Number none(float[] a, float[] b);
    }

    @IreeClient("adder")
    interface Texts {
        String add(int a, int b);
    }

    @IreeClient("adder")
    interface Copies {
        Submission<Integer> add(int a, int b);
    }

    @IreeClient("adder")
    interface Maps {
        int add(Map<String, Integer> both);
    }

    interface Plain {
        int add(int a, int b);
    }

    @TempDir
    private Path directory;

    private final IreeRuntime runtime = IreeRuntime.create();
    private final Programs programs = new Programs(runtime, new DefaultResourceLoader());
    private final IreeClientFactory factory = new IreeClientFactory(new InvocationService(programs));

    @BeforeEach
    void load() throws Exception {
        programs.load(
                ProgramSource.of("adder", TestModules.adder(directory).toUri().toString()));
        programs.load(ProgramSource.of(
                "add", TestModules.fixture("3.11.0/cpu/add.vmfb").toUri().toString()));
    }

    @AfterEach
    void close() {
        programs.close();
        runtime.close();
        LeakCheck.assertNone(runtime);
    }

    @Test
    void numbersGoInAndOut() {
        Adder adder = factory.create(Adder.class);
        assertThat(adder.add(40, 2)).isEqualTo(42);
        assertThat(adder.wide(40, 2L)).isEqualTo(42);
        assertThat(adder.record(new Number(1), new Number(2))).isEqualTo(new Number(3));
        assertThat(adder.twice(21)).isEqualTo(42);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> adder.narrow(1000, 1))
                .withMessage("result 0 of 'adder.add' is 1001, which does not fit Byte");
    }

    @Test
    void arraysAndRecordsGoInAndOut() {
        Floats floats = factory.create(Floats.class);
        float[] ones = {1, 1, 1, 1};
        assertThat(floats.add(new float[] {1, 2, 3, 4}, ones)).containsExactly(2, 3, 4, 5);
        assertThat(floats.sum(new Pair(ones, Tensor.of(ones))).values()).containsExactly(2, 2, 2, 2);
        floats.drop(ones, ones);
    }

    @Test
    void tensorsStayOnTheDeviceBetweenCalls() {
        Floats floats = factory.create(Floats.class);
        float[] ones = {1, 1, 1, 1};
        try (Results first = floats.results(ones, ones);
                Tensor second = floats.tensor(first.tensor(0), ones)) {
            assertThat(second.toFloatArray()).containsExactly(3, 3, 3, 3);
        }
    }

    @Test
    void submissionsAreMadeBeforeTheWorkOfEarlierSubmissionsBegins() {
        Floats floats = factory.create(Floats.class);
        Tensor ones = Tensor.of(new float[] {1, 1, 1, 1});
        try (Fence ready = runtime.createFence("ready")) {
            Submission<Tensor> first = floats.submitted(CallOptions.DEFAULTS.after(ready), ones, ones);
            Submission<Tensor> second = floats.submitted(CallOptions.DEFAULTS.after(first.fence()), ones, ones);
            assertThat(second.fence().isReached()).isFalse();
            ready.signal();
            try (Tensor sum = second.await();
                    Tensor earlier = first.await()) {
                assertThat(sum.toFloatArray()).containsExactly(2, 2, 2, 2);
                assertThat(earlier.toFloatArray()).containsExactly(2, 2, 2, 2);
            }
        }
    }

    @Test
    void aCancelledSubmissionFailsItsFence() {
        Floats floats = factory.create(Floats.class);
        Tensor ones = Tensor.of(new float[] {1, 1, 1, 1});
        try (Fence never = runtime.createFence("never")) {
            Submission<Tensor> call = floats.submitted(CallOptions.DEFAULTS.after(never), ones, ones);
            call.results().cancel(true);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> call.fence().await())
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.CANCELLED);
        }
    }

    @Test
    void mismatchedResultsAreClosedAndReported() {
        Floats floats = factory.create(Floats.class);
        float[] ones = {1, 1, 1, 1};
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> floats.nested(ones, ones))
                .withMessage("result 0 of 'add.add' has shape [4], and cannot be a float[][], which has 2 dimensions");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> floats.none(ones, ones))
                .withMessage("result 0 of 'add.add' is a tensor of 4 elements, not one Integer");
    }

    @Test
    void asynchronousCallsCanBeCancelled() {
        Adder adder = factory.create(Adder.class);
        assertThat(adder.later(CallOptions.DEFAULTS, 1, 2).join()).isEqualTo(3);
        try (Timeline timeline = runtime.createTimeline();
                Timeline done = runtime.createTimeline()) {
            CompletableFuture<Integer> call =
                    adder.later(CallOptions.DEFAULTS.after(timeline.at(1)).signal(done.at(1)), 1, 2);
            call.cancel(true);
            assertThatExceptionOfType(CancellationException.class).isThrownBy(call::join);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> done.await(1))
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.CANCELLED);
            timeline.at(1).signal();
        }
    }

    @Test
    void callOptionsOverrideTheDeadlineOfTheMethod() {
        Adder adder = factory.create(Adder.class);
        try (Timeline timeline = runtime.createTimeline()) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> adder.soon(CallOptions.DEFAULTS.after(timeline.at(1)), 1, 2))
                    .withMessageContaining("10 ms");
            CallOptions own = CallOptions.DEFAULTS.after(timeline.at(1)).timeout(Duration.ofMillis(1));
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> adder.soon(own, 1, 2))
                    .withMessageContaining("1 ms");
            timeline.at(1).signal();
        }
    }

    @Test
    void monosCallAtEachSubscription() {
        Mono<Integer> sum = factory.create(Adder.class).mono(1, 2);
        assertThat(sum.block()).isEqualTo(3);
        assertThat(sum.map(value -> value + 1).block()).isEqualTo(4);
    }

    @Test
    void failuresAreStatuses() {
        Adder adder = factory.create(Adder.class);
        assertThatExceptionOfType(IreeException.class).isThrownBy(adder::refuse).withMessageContaining("not today");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> adder.divide(1, 2))
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.NOT_FOUND);
        try (Timeline failed = runtime.createTimeline()) {
            failed.at(1).fail(IreeException.of(StatusCode.DATA_LOSS, "gone"));
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(() -> adder.later(CallOptions.DEFAULTS.after(failed.at(1)), 1, 2)
                            .join())
                    .havingCause()
                    .withMessageContaining("gone");
        }
    }

    @Test
    void clientsImplementObjectMethods() {
        Adder adder = factory.create(Adder.class);
        assertThat(adder).isEqualTo(adder).isNotEqualTo(factory.create(Adder.class));
        assertThat(adder).hasToString("client of program 'adder' (Adder)").hasSameHashCodeAs(adder);
    }

    @Test
    void unsupportedSignaturesAreRejectedAtCreation() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> factory.create(Texts.class))
                .withMessageContaining("method 'add'")
                .withMessageContaining("a result of type java.lang.String is not a tensor");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> factory.create(Copies.class))
                .withMessageContaining("method 'add'")
                .withMessageContaining("a submission has results without contents");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> factory.create(Maps.class))
                .withMessageContaining("an argument of type java.util.Map");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> factory.create(Plain.class))
                .withMessageContaining("not an interface with @IreeClient");
    }
}
