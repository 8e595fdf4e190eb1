package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Recordings without a beginning: of work already under way, and of rings with dropped records. */
class RecordingBegunLateTest {
    private static final long SEED = Effort.seed(20261123);

    @Test
    void workUnderWayIsNotADifference() throws IOException {
        int compared = 0;
        int behind = 0;
        for (long seed = SEED; seed < SEED + 60; seed++) {
            try (RandomWork work = new RandomWork(seed, 64 << 10)) {
                work.begin((int) (seed % 50));
                try (FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS)) {
                    work.run(60);
                    Replay replay = Replay.of(recorder.recording());
                    assertThat(replay.differences())
                            .as("seed %d: %s", seed, replay)
                            .isEmpty();
                    assertThat(replay.operations()).isEqualTo(60);
                    compared += replay.frontiers();
                    behind += replay.behindGaps();
                }
            }
        }
        System.out.printf("begun late: %d frontiers compared, %d operations behind gaps%n", compared, behind);
        assertThat(compared).isGreaterThan(100);
    }

    @Test
    void recordsMakingRoomAreNotADifference() throws IOException {
        for (long seed = SEED; seed < SEED + 4; seed++) {
            try (RandomWork work = new RandomWork(seed, 64 << 10);
                    FlightRecorder recorder = FlightRecorder.open(
                            work.domain, RecorderOptions.DEFAULTS.withBytes(RecorderOptions.MINIMUM_BYTES))) {
                for (int i = 0; i < 60; i++) {
                    work.run(50);
                }
                FlightRecording recording = recorder.recording();
                assertThat(recording.header().completeFrom()).isPositive();
                Replay replay = Replay.of(recording);
                assertThat(replay.differences()).as("seed %d: %s", seed, replay).isEmpty();
                assertThat(replay.operations()).as("seed %d: %s", seed, replay).isGreaterThan(1000);
                System.out.println("records made room: " + replay);
            }
        }
    }
}
