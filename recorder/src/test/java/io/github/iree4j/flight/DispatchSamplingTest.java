package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.AllocatedBytes;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.schedule.DispatchingOperation;
import io.github.iree4j.hal.virtual.VirtualOperation;
import java.io.IOException;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The choice of the executions with recorded dispatches. */
@Timeout(60)
class DispatchSamplingTest {
    private static final class Execution extends VirtualOperation implements DispatchingOperation {
        Execution() {
            super("execute");
        }

        @Override
        public boolean hasDispatches() {
            return true;
        }

        @Override
        public boolean timesDispatches() {
            return false;
        }

        @Override
        public void forEachDispatch(Visitor visitor) {
            visitor.dispatch("kernel", 1, 1, 1);
        }
    }

    private final Execution execution = new Execution();

    private static DispatchSampling every(int executions) throws IOException {
        RecordRings rings = new RecordRings(1, 1 << 10, () -> 0);
        Definitions definitions = new Definitions(rings::cut);
        FlightRecording.Header header = new FlightRecording.Header(Instant.EPOCH, 12, 0, 0, 0, 0);
        return new DispatchSampling(
                rings,
                definitions,
                new RecordingDrain(RecorderOptions.DEFAULTS, rings, definitions, header),
                executions);
    }

    private static MemoryHolder call(String program, String function) {
        return new MemoryHolder(function, new OperationsUnderWay(program));
    }

    private boolean isChosen(DispatchSampling sampling, MemoryHolder call) {
        return sampling.submitted(execution, call) != null;
    }

    @Test
    void anUnchosenExecutionAllocatesNothing() throws IOException {
        DispatchSampling sampling = every(1 << 20);
        MemoryHolder call = call("digits", "digits.classify");
        assertThat(isChosen(sampling, call)).isTrue();
        assertThat(AllocatedBytes.perCall(() -> isChosen(sampling, call))).isLessThan(1);
    }

    @Test
    void functionsOfTheSameNameAreCountedApartInSeveralPrograms() throws IOException {
        DispatchSampling sampling = every(100);
        for (String program : new String[] {"digits", "letters"}) {
            assertThat(isChosen(sampling, call(program, "module.classify"))).isTrue();
            assertThat(isChosen(sampling, call(program, "module.classify"))).isFalse();
            assertThat(isChosen(sampling, call(program, "module.train"))).isTrue();
        }
    }

    @Test
    void aFunctionBeginsAnewOnlyAfterManyOthers() throws IOException {
        DispatchSampling sampling = every(1 << 20);
        MemoryHolder first = call("digits", "module.first");
        assertThat(isChosen(sampling, first)).isTrue();
        for (int i = 0; i < 5_000; i++) {
            assertThat(isChosen(sampling, call("other " + i % 3, "module.function" + i)))
                    .isTrue();
        }
        assertThat(isChosen(sampling, first)).isFalse();
        for (int i = 5_000; i < 15_000; i++) {
            assertThat(isChosen(sampling, call("other " + i % 3, "module.function" + i)))
                    .isTrue();
        }
        assertThat(isChosen(sampling, first)).isTrue();
    }
}
