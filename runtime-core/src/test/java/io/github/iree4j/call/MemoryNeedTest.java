package io.github.iree4j.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.pool.AdmissionGate;
import org.junit.jupiter.api.Test;

/** The predicted need of a call decides whether it waits for admission ({@link AdmissionGate}): a guess that is far too high costs a second. */
class MemoryNeedTest {
    private final MemoryNeed need = new MemoryNeed();

    @Test
    void whatASizeHeldIsWhatItNeeds() {
        need.learn(100, 300);
        need.learn(50, 200);
        assertThat(need.of(100)).isEqualTo(300);
        assertThat(need.of(50)).isEqualTo(200);
        need.learn(100, 200);
        assertThat(need.of(100)).as("the most").isEqualTo(300);
    }

    @Test
    void aFunctionThatWasNeverCalledNeedsEightTimesItsInputs() {
        assertThat(need.of(100)).isEqualTo(800);
    }

    @Test
    void aFunctionThatWasNeverCalledMayNeedMoreThanInProportionToSmallInputs() {
        assertThat(need.estimate(0).most()).isEqualTo(512L << 10);
        assertThat(need.estimate(8 << 20).most()).as("in proportion").isEqualTo(128L * 8 * (8 << 20));
        need.learn(0, 200);
        assertThat(need.estimate(0).most()).as("evidence").isEqualTo(200);
        assertThat(need.estimate(8).most()).as("of smaller inputs").isEqualTo(128 * 200);
    }

    @Test
    void aSizeBetweenOthersNeedsWhatTheLargerDid() {
        need.learn(100, 300);
        need.learn(1_000, 2_000);
        assertThat(need.of(500)).isEqualTo(2_000);
        assertThat(need.of(2_000)).as("in proportion to the largest").isEqualTo(4_000);
    }

    @Test
    void whatTinyInputsNeedIsNotMultiplied() {
        need.learn(0, 30_000);
        need.learn(8, 192); // three blocks of 64 bytes
        need.learn(100_000, 150_000);
        assertThat(need.of(200_000)).isEqualTo(300_000);
    }

    @Test
    void whatNoInputsNeedIsNoProportionButTheLeast() {
        need.learn(0, 30_000);
        assertThat(need.of(100)).isEqualTo(30_000);
        assertThat(need.of(10_000)).isEqualTo(80_000);
    }

    @Test
    void newSizesAreLearnedHoweverManyThereWere() {
        for (int i = 1; i <= 1_000; i++) {
            need.learn(8 * i, 24 * i);
        }
        assertThat(need.of(10_000)).isEqualTo(30_000);
        need.learn(400_000, 500_000);
        need.learn(10, 20);
        assertThat(need.of(400_000)).isEqualTo(500_000);
        assertThat(need.of(200_000)).isEqualTo(500_000);
        for (int i = 1; i <= 1_000; i++) {
            assertThat(need.of(8 * i)).as("bytes for %d", 8 * i).isBetween(24L * i, 500_000L);
        }
    }
}
