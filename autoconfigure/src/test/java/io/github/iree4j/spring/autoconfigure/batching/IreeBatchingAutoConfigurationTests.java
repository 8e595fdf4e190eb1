package io.github.iree4j.spring.autoconfigure.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.IreeModuleCustomizer;
import io.github.iree4j.spring.batching.BatchListener;
import io.github.iree4j.spring.batching.BatchTimer;
import io.github.iree4j.spring.batching.DynamicBatching;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.CallTracer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class IreeBatchingAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class, IreeBatchingAutoConfiguration.class));

    @Test
    void doesNotBatchByDefault() {
        runner.run(context -> assertThat(context).hasSingleBean(DynamicBatching.class));
    }

    @Test
    void backsOffWhenUserDefinesTheBean() {
        DynamicBatching own = new DynamicBatching(Map.of(), BatchTimer.system(), BatchListener.NONE);
        runner.withBean(DynamicBatching.class, () -> own)
                .run(context ->
                        assertThat(context).getBean(DynamicBatching.class).isSameAs(own));
    }

    @Test
    void bucketBeyondTheMaximumSizeNamesTheProperty() {
        runner.withPropertyValues(
                        "iree.modules.add.location=add.vmfb",
                        "iree.modules.add.batching.enabled=true",
                        "iree.modules.add.batching.max-size=8",
                        "iree.modules.add.batching.buckets=4,16")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("iree.modules.add.batching")
                        .hasMessageContaining("[4, 16]"));
    }

    @Test
    void concurrentCallsAreBatched() {
        List<Integer> batches = new CopyOnWriteArrayList<>();
        // A function with exactly four rows: an element each.
        runner.withBean(BatchListener.class, () -> (model, function, calls, rows, padded, nanos) -> batches.add(calls))
                .withPropertyValues(
                        "iree.modules.add.location=" + TestModules.fixture("3.11.0/cpu/add.vmfb"),
                        "iree.modules.add.batching.enabled=true",
                        "iree.modules.add.batching.max-delay=1m")
                .run(context -> {
                    InvocationService invocations = context.getBean(InvocationService.class);
                    List<IreeFuture<Results>> calls = IntStream.range(0, 64)
                            .mapToObj(i -> invocations.invokeAsync("add.add", tensor(i), tensor(100)))
                            .toList();
                    for (int i = 0; i < calls.size(); i++) {
                        try (Results results = calls.get(i).join()) {
                            assertThat(results.tensor(0).toFloatArray()).containsExactly(100f + i);
                        }
                    }
                    assertThat(batches).containsOnly(4).hasSize(16);
                });
    }

    @Test
    void fileChangingDuringABatchFailsEachOfItsCalls(@TempDir Path directory) throws IOException {
        Path weights = Files.copy(TestModules.fixture("weights.irpa"), directory.resolve("weights.irpa"));
        AtomicBoolean changes = new AtomicBoolean();
        runner.withBean(
                        IreeModuleCustomizer.class,
                        () -> (_, options) -> options.tracer(new Entries(() -> {
                            if (changes.getAndSet(false)) {
                                grow(weights);
                            }
                        })))
                .withPropertyValues(
                        "iree.modules.w.location=" + TestModules.fixture("3.13.0/cpu/weights.vmfb"),
                        "iree.modules.w.parameters.model=" + weights,
                        "iree.modules.w.batching.enabled=true",
                        "iree.modules.w.batching.max-delay=1m")
                .run(context -> {
                    InvocationService invocations = context.getBean(InvocationService.class);
                    Supplier<CompletableFuture<Results>> row =
                            () -> invocations.invokeAsync("w.weigh", Tensor.of(new float[] {1, 2, 3, 4}, 1, 4));
                    for (CompletableFuture<Results> call : List.of(row.get(), row.get())) {
                        call.join().close();
                    }
                    changes.set(true);
                    for (CompletableFuture<Results> call : List.of(row.get(), row.get())) {
                        assertThat(call)
                                .failsWithin(Duration.ofMinutes(1))
                                .withThrowableThat()
                                .withMessageContaining("DATA_LOSS")
                                .withMessageContaining("was changed while in use");
                    }
                    assertThat(changes).as("the expected change").isFalse();
                });
    }

    private static void grow(Path file) {
        try {
            Files.write(file, new byte[1], StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record Entries(Runnable each) implements CallTracer {
        @Override
        public void entered(int depth, String function, List<? extends @Nullable Object> arguments) {
            each.run();
        }

        @Override
        public void returned(int depth, String function, List<? extends @Nullable Object> results) {}

        @Override
        public void deferred(int depth, String function) {}

        @Override
        public void resumed(int depth, String function) {}

        @Override
        public void failed(int depth, String function, IreeException failure) {}
    }

    private static Tensor tensor(float value) {
        return Tensor.of(new float[] {value}, 1);
    }
}
