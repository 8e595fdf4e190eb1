package io.github.iree4j.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.spring.InvocationService;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.ContextConfiguration;

/** A clock that advances by itself: simulated time passes at once, and deadlines of callers do not pass with it. */
@IreeTest(
        properties = {
            "iree.modules.rows.location=not-loaded.vmfb",
            "iree.modules.rows.batching.enabled=true",
            "iree.modules.rows.batching.max-delay=5ms"
        })
@ContextConfiguration(classes = IreeTestTests.Application.class)
@Timeout(300)
class AutomaticClockTests {

    @Test
    void batchedCallsEndBeforeTheirDeadline(
            @Autowired FakePrograms programs, @Autowired InvocationService invocations) {
        programs.program(
                "rows",
                rows -> rows.function("same", "(tensor<?x1xf32>) -> tensor<?x1xf32>")
                        .takes(Duration.ofMinutes(10))
                        .maps(given -> given));
        List<IreeFuture<Results>> calls = IntStream.range(0, 20)
                .mapToObj(i -> invocations.invokeAsync("rows.same", Tensor.of(new float[] {i}, 1, 1)))
                .toList();
        for (int i = 0; i < calls.size(); i++) {
            try (Results results = calls.get(i).join()) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(i);
            }
        }
    }
}
