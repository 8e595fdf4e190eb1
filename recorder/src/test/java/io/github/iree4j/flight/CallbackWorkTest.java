package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What callbacks of the application signal and submit is repeated among the callbacks of the scheduler where it was. */
class CallbackWorkTest {
    private static final long SEED = Effort.seed(20261129);

    private static void replay(int recordings, int steps) throws IOException {
        long operations = 0;
        int differing = 0;
        for (long seed = SEED; seed < SEED + recordings; seed++) {
            boolean submits = seed % 2 == 0;
            boolean virtual = seed % 4 < 2;
            FlightRecording recording = CallbackWork.record(seed, steps, virtual, submits);
            Replay replay = Replay.of(recording);
            operations += replay.operations();
            assertThat(replay.frontiers()).as("all ran: seed %d", seed).isEqualTo(replay.operations());
            if (submits && (replay.reordered() > 0 || !replay.differences().isEmpty())) {
                System.out.printf("callbacks that submit: seed %d: %s%n", seed, replay);
                differing++;
                continue;
            }
            assertThat(replay.differences()).as("seed %d: %s", seed, replay).isEmpty();
            assertThat(replay.reordered()).as("seed %d", seed).isZero();
            if (virtual) {
                assertThat(replay.deviation()).as("seed %d: %s", seed, replay).isZero();
            }
        }
        assertThat(differing).isLessThanOrEqualTo(recordings / 200);
        assertThat(operations).isGreaterThan((long) recordings * steps / 3);
    }

    @Test
    void callbacksOfTheApplicationAreReplayedAmongThoseOfTheScheduler() throws IOException {
        replay(200, 120);
    }

    @Test
    @Tag("nightly")
    void manyCallbacksOfTheApplicationAreReplayedAmongThoseOfTheScheduler() throws IOException {
        replay(2000, 300);
    }
}
