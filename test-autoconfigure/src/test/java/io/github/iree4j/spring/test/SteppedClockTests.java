package io.github.iree4j.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.ContextConfiguration;

/** A manual clock: batches wait and calls take time until the test advances it. */
@IreeTest(
        clock = AutoConfigureIree.Clock.STEPPED,
        properties = {
            "iree.modules.rows.location=not-loaded.vmfb",
            "iree.modules.rows.batching.enabled=true",
            "iree.modules.rows.batching.max-delay=5ms"
        })
@ContextConfiguration(classes = IreeTestTests.Application.class)
@Timeout(300)
@Tag("nightly")
class SteppedClockTests {

    @Test
    void batchesWaitForTheClock(@Autowired FakePrograms programs, @Autowired InvocationService invocations) {
        programs.program(
                "rows",
                rows -> rows.function("same", "(tensor<?x1xf32>) -> tensor<?x1xf32>")
                        .takes(Duration.ofMillis(1))
                        .maps(rowsIn -> rowsIn));
        CompletableFuture<Results> a = invocations.invokeAsync("rows.same", Tensor.of(new float[] {1}, 1, 1));
        CompletableFuture<Results> b = invocations.invokeAsync("rows.same", Tensor.of(new float[] {2}, 1, 1));
        programs.runUntil(Duration.ofMillis(4));
        assertThat(programs.calls()).isEmpty();
        while (!a.isDone() || !b.isDone()) {
            programs.runUntilIdle();
            Thread.onSpinWait();
        }
        try (Results one = a.join();
                Results two = b.join()) {
            assertThat(one.tensor(0).toFloatArray()).containsExactly(1);
            assertThat(two.tensor(0).toFloatArray()).containsExactly(2);
        }
        assertThat(programs.calls()).as("calls of the device").hasSize(1);
        assertThat(programs.calls().getFirst().start()).isEqualTo(Duration.ofMillis(5));
    }

    @Test
    void lostDeviceFailsItsCalls(@Autowired FakePrograms programs, @Autowired InvocationService invocations) {
        programs.program("lost", lost -> lost.function("f", "() -> i32").returns(1));
        CompletableFuture<Results> call = invocations.invokeAsync("lost.f");
        while (programs.calls().stream().noneMatch(each -> each.function().equals("lost.f"))) {
            Thread.onSpinWait();
        }
        programs.loseDevice(IreeException.of(StatusCode.ABORTED, "fell off the bus"));
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(call::get)
                .withMessageContaining("fell off the bus");
    }
}
