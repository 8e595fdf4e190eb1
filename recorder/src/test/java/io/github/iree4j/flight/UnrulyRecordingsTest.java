package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Broken rules are repeated as they were: skipped values, failures, losses, and work begun before the recording. */
class UnrulyRecordingsTest {
    private static final long SEED = Effort.seed(20261127);

    private static void replay(int recordings, int most) throws IOException {
        long operations = 0;
        long decisions = 0;
        long frontiers = 0;
        long behind = 0;
        for (long seed = SEED; seed < SEED + recordings; seed++) {
            FlightRecording recording = UnrulyWork.record(seed, most);
            Replay replay = Replay.of(recording);
            assertThat(replay.differences()).as("seed %d: %s", seed, replay).isEmpty();
            assertPathIsAChain(new OperationGraph(recording), "seed " + seed);
            operations += replay.operations();
            decisions += replay.waits();
            frontiers += replay.frontiers();
            behind += replay.behindGaps();
        }
        System.out.printf(
                "unruly: %d recordings of %d operations; %d decisions and %d frontiers compared, %d operations behind gaps%n",
                recordings, operations, decisions, frontiers, behind);
        assertThat(decisions).isGreaterThan(operations / 3);
        assertThat(frontiers).isGreaterThan(operations / 4);
        assertThat(behind).isLessThan(operations / 4);
    }

    private static void assertPathIsAChain(OperationGraph graph, String what) {
        long end = 0;
        for (CriticalPath.Step step : CriticalPath.of(graph).steps()) {
            assertThat(step.begin()).as("%s: begin of %s", what, step).isGreaterThanOrEqualTo(end);
            assertThat(step.end()).as("%s: end of %s", what, step).isGreaterThanOrEqualTo(step.begin());
            end = step.end();
        }
    }

    @Test
    void unrulyWorkIsReplayedUnchanged() throws IOException {
        replay(400, 40);
    }

    /** The stream began before the recording, so its earlier waits are not known. */
    @Test
    void decisionsAboutWorkThatNeverRanAreNotComparedIfTheStreamKnewMore() throws IOException {
        assertThat(Replay.of(UnrulyWork.record(20263190, 200)).differences()).isEmpty();
    }

    @Test
    @Tag("nightly")
    void muchUnrulyWorkIsReplayedUnchanged() throws IOException {
        replay(3000, 200);
    }
}
