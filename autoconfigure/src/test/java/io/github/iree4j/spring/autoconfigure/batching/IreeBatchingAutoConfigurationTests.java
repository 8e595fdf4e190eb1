package io.github.iree4j.spring.autoconfigure.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Results;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.batching.BatchListener;
import io.github.iree4j.spring.batching.BatchTimer;
import io.github.iree4j.spring.batching.DynamicBatching;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
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
    void backsOffWhenUserDefinesOne() {
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
        // A function with four rows of its own: one element each.
        runner.withBean(BatchListener.class, () -> (model, function, calls, rows, padded, nanos) -> batches.add(calls))
                .withPropertyValues(
                        "iree.modules.add.location=" + TestModules.fixture("3.11.0/cpu/add.vmfb"),
                        "iree.modules.add.batching.enabled=true",
                        "iree.modules.add.batching.max-delay=1m")
                .run(context -> {
                    InvocationService invocations = context.getBean(InvocationService.class);
                    List<CompletableFuture<Results>> calls = IntStream.range(0, 64)
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

    private static io.github.iree4j.Tensor tensor(float value) {
        return io.github.iree4j.Tensor.of(new float[] {value}, 1);
    }
}
