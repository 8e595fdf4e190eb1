package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.spring.InvocationService;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.ConfigurableApplicationContext;

/** Programs of several nodes, joined by fences. */
@Timeout(180)
class ClusterPipelinesTests extends ClusterApplications {
    /** Each program is on another device; no device can use the memory of the other two. */
    @Test
    void aPipelineOfProgramsOfThreeNodesIsSubmittedBeforeAnyProgramRuns() {
        start(1);
        start(2);
        ConfigurableApplicationContext here = start(
                0,
                "iree.devices.far.uri=cluster://1/local",
                "iree.devices.other.uri=cluster://2/local",
                "iree.modules.p0.location=" + fixture("3.13.0/vmvx-async/add.vmfb"),
                "iree.modules.p1.location=" + fixture("3.13.0/vmvx-async/add.vmfb"),
                "iree.modules.p1.devices=far",
                "iree.modules.p2.location=" + fixture("3.13.0/vmvx-async/add.vmfb"),
                "iree.modules.p2.devices=other");
        InvocationService invocations = here.getBean(InvocationService.class);
        IreeRuntime runtime = here.getBean(IreeRuntime.class);
        int stages = 12;
        try (Fence ready = runtime.createFence("ready");
                Tensor ones = Tensor.of(new float[] {1, 1, 1, 1})) {
            List<Submission<Results>> submitted = new ArrayList<>();
            Tensor last = ones;
            Fence after = ready;
            for (int i = 0; i < stages; i++) {
                Submission<Results> stage = invocations
                        .request("p" + i % 3 + ".add")
                        .inputs(last, ones)
                        .after(after)
                        .submit();
                submitted.add(stage);
                last = stage.results().join().tensor(0);
                after = stage.fence();
            }
            assertThat(submitted)
                    .allSatisfy(each -> assertThat(each.fence().isReached()).isFalse());
            ready.signal();
            submitted.getLast().await().close();
            for (int i = 0; i < stages - 1; i++) {
                try (Results results = submitted.get(i).await()) {
                    assertThat(results.tensor(0).toFloatArray()).containsOnly(i + 2f);
                }
            }
        }
    }
}
