package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.stream.DeviceState.Loss;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** All orders of up to five of the steps close, abandon, lose, loseHardware. */
class DeviceStateTest {
    private static final int STEPS = 4;
    private static final int LONGEST = 5;

    @Test
    void eachStepIsMadeOnceAndLifeAndLossDoNotHinderEachOther() {
        int orders = 0;
        for (int length = 0; length <= LONGEST; length++) {
            for (int order = 0; order < Math.pow(STEPS, length); order++, orders++) {
                check(steps(order, length));
            }
        }
        assertThat(orders).isEqualTo(1 + 4 + 16 + 64 + 256 + 1024);
    }

    private static List<Integer> steps(int order, int length) {
        List<Integer> steps = new ArrayList<>();
        for (int i = 0, left = order; i < length; i++, left /= STEPS) {
            steps.add(left % STEPS);
        }
        return steps;
    }

    /** Compares the state with a model of plain variables. */
    private static void check(List<Integer> steps) {
        DeviceState state = new DeviceState();
        boolean closed = false;
        Loss loss = Loss.NONE;
        IreeException lost = null;
        IreeException abandoned = null;
        for (int step : steps) {
            IreeException cause = IreeException.of(StatusCode.ABORTED, "step " + step);
            Supplier<String> text = steps::toString;
            switch (step) {
                case 0 -> {
                    assertThat(state.close()).as(text).isEqualTo(!closed);
                    closed = true;
                }
                case 1 -> {
                    assertThat(state.abandon(cause)).as(text).isEqualTo(abandoned == null);
                    closed = true;
                    abandoned = abandoned == null ? cause : abandoned;
                }
                case 2 -> {
                    assertThat(state.lose(cause)).as(text).isEqualTo(loss);
                    loss = loss == Loss.NONE ? Loss.STREAMS : loss;
                    lost = lost == null ? cause : lost;
                }
                default -> {
                    assertThat(state.loseHardware(cause)).as(text).isEqualTo(loss);
                    loss = Loss.HARDWARE;
                    lost = lost == null ? cause : lost;
                }
            }
            assertState(state, closed, loss, lost, abandoned, text);
        }
    }

    private static void assertState(
            DeviceState state,
            boolean closed,
            Loss loss,
            @Nullable IreeException lost,
            @Nullable IreeException abandoned,
            Supplier<String> text) {
        assertThat(state.isClosed()).as(text).isEqualTo(closed);
        assertThat(state.isHardwareLost()).as(text).isEqualTo(loss == Loss.HARDWARE);
        assertThat(state.lost()).as(text).isSameAs(lost);
        assertThat(state.abandoned()).as(text).isSameAs(abandoned);
        assertThat(state.failure()).as(text).isSameAs(abandoned == null ? lost : abandoned);
    }
}
