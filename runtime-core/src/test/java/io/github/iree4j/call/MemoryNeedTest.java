package io.github.iree4j.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.hal.pool.Admission;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.HostSlabProvider;
import io.github.iree4j.hal.pool.PoolOptions;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.monitor.PendingCall;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The predicted need of a call decides about a wait for admission ({@link AdmissionGate}): a far too high guess costs a
 * second.
 */
class MemoryNeedTest {
    private final AdmissionGate gate = PoolSet.builder(new HostSlabProvider(), FrontierTracker.create())
            .pool(PoolOptions.passThrough("f").withRetained(Long.MAX_VALUE).withSizes(0, 64))
            .waste(0)
            .build()
            .gate();
    private final MemoryNeed need = new MemoryNeed(gate, true);

    private static InputSize copied(long bytes) {
        return new InputSize(bytes, bytes, false);
    }

    private static InputSize onDevice(long bytes) {
        return new InputSize(bytes, 0, false);
    }

    @Test
    void theNeedOfASizeIsTheMemoryHeldAtThatSize() {
        need.learn(copied(100), 300);
        need.learn(copied(50), 200);
        assertThat(need.of(copied(100))).isEqualTo(300);
        assertThat(need.of(copied(50))).isEqualTo(200);
        need.learn(copied(100), 200);
        assertThat(need.of(copied(100))).as("the most").isEqualTo(300);
    }

    @Test
    void aFunctionNeverCalledNeedsEightTimesItsInputs() {
        assertThat(need.of(copied(100))).isEqualTo(800);
    }

    @Test
    void aFunctionNeverCalledMayNeedMoreThanInProportionToSmallInputs() {
        assertThat(need.estimate(copied(0)).most()).isEqualTo(64L << 20);
        assertThat(need.estimate(copied(8 << 20)).most()).as("in proportion").isEqualTo(128L * 8 * (8 << 20));
        need.learn(copied(0), 200);
        assertThat(need.estimate(copied(0)).most()).as("evidence").isEqualTo(200);
        assertThat(need.estimate(copied(8)).most()).as("of smaller inputs").isEqualTo(128 * 208);
    }

    @Test
    void aSizeBetweenOthersNeedsAsMuchAsTheLargerBesideItsInputs() {
        need.learn(copied(100), 300);
        need.learn(copied(1_000), 2_000);
        assertThat(need.of(copied(500))).isEqualTo(1_500);
        assertThat(need.of(copied(2_000))).as("in proportion to the largest").isEqualTo(4_000);
    }

    @Test
    void theNeedOfTinyInputsIsNotMultiplied() {
        need.learn(copied(0), 30_000);
        need.learn(copied(8), 192); // three blocks of 64 bytes
        need.learn(copied(100_000), 150_000);
        assertThat(need.of(copied(200_000))).isEqualTo(300_000);
    }

    @Test
    void theNeedWithoutInputsIsNoProportionButTheLeast() {
        need.learn(copied(0), 30_000);
        assertThat(need.of(copied(100))).isEqualTo(30_100);
        assertThat(need.of(copied(10_000))).isEqualTo(80_000);
    }

    @Test
    void newSizesAreLearnedHoweverManyThereWere() {
        for (int i = 1; i <= 1_000; i++) {
            need.learn(copied(8 * i), 24 * i);
        }
        assertThat(need.of(copied(10_000))).isEqualTo(30_000);
        need.learn(copied(400_000), 500_000);
        need.learn(copied(10), 20);
        assertThat(need.of(copied(400_000))).isEqualTo(500_000);
        assertThat(need.of(copied(200_000))).isEqualTo(300_000);
        for (int i = 1; i <= 1_000; i++) {
            assertThat(need.of(copied(8 * i))).as("bytes for %d", 8 * i).isBetween(24L * i, 500_000L);
        }
    }

    @Test
    void theNeedWithInputsOnTheDeviceIsTooLittleForCopiedInputs() {
        need.learn(onDevice(1_000), 500);
        assertThat(need.of(onDevice(1_000))).isEqualTo(500);
        assertThat(need.of(copied(1_000))).isEqualTo(1_500);
        assertThat(need.of(new InputSize(1_000, 300, false))).as("a part").isEqualTo(800);
        assertThat(need.of(copied(2_000))).as("in proportion").isEqualTo(3_000);
        need.learn(copied(1_000), 1_400);
        assertThat(need.of(copied(1_000))).as("the most").isEqualTo(1_500);
        assertThat(need.of(onDevice(1_000))).isEqualTo(500);
    }

    @Test
    void copiesAreNotCountedTwice() {
        InputSize half = new InputSize(1_000, 500, false);
        need.learn(half, 700);
        assertThat(need.of(half)).isEqualTo(700);
        assertThat(need.of(onDevice(1_000))).isEqualTo(200);
    }

    @Test
    void theNeedWithCopiedInputsWithoutTheCopiesIsTheNeedWithInputsOnTheDevice() {
        need.learn(copied(1_000), 1_400);
        assertThat(need.of(onDevice(1_000))).isEqualTo(400);
        assertThat(need.estimate(onDevice(1_000)).most()).as("evidence").isEqualTo(400);
        assertThat(need.estimate(onDevice(1_000)).inputs()).isZero();
        need.learn(copied(1_000), 900);
        assertThat(need.of(onDevice(1_000))).isEqualTo(400);
    }

    @Test
    void copiesToTheFirstDeviceTakeNothingOfAnother() {
        MemoryNeed second = new MemoryNeed(gate, false);
        assertThat(second.estimate(copied(1_000)).inputs()).isZero();
        assertThat(second.isNothing(copied(1_000))).as("unknown").isFalse();
        second.learn(copied(1_000), 0);
        assertThat(second.isNothing(copied(1_000))).isTrue();
        assertThat(second.of(onDevice(500))).isZero();
    }

    @Test
    void theMemoryAwaitedByACallIsDescribedAsAnEstimateWithItsGround() {
        assertThat(MemoryNeeds.expected(List.of(need), copied(10)))
                .isEqualTo(
                        "80 bytes of memory, the expected need: a guess, since no call with inputs of the same size, or larger, has succeeded");
        need.learn(copied(1_000), 12_000);
        assertThat(MemoryNeeds.expected(List.of(need), copied(10)))
                .as("after larger calls")
                .isEqualTo(
                        "11010 bytes of memory, the expected need: as much as earlier calls with inputs of the same, or the next larger, size have held");
        need.learn(copied(10), 30);
        assertThat(MemoryNeeds.expected(List.of(need), copied(10)))
                .as("after a call of this size")
                .startsWith("30 bytes");
        assertThat(MemoryNeeds.expected(List.of(), copied(10))).isEqualTo("memory of earlier calls");
    }

    /** The call is looked at all the time, as by a reader of problems, during the admission. */
    @Test
    void aCallAdmittedDuringALookIsNotShortOfMemory() throws Exception {
        AdmissionGate bounded = PoolSet.builder(new HostSlabProvider(), FrontierTracker.create())
                .pool(PoolOptions.passThrough("f").withRetained(1 << 20).withSizes(0, 64))
                .budget(1 << 20)
                .waste(0)
                .build()
                .gate();
        List<MemoryNeed> needs = List.of(new MemoryNeed(bounded, true));
        for (int i = 0; i < 3_000; i++) {
            Admission first = bounded.join("", false, needs.getFirst().estimate(copied(10)), false, _ -> {});
            Admission second = bounded.join("", false, needs.getFirst().estimate(copied(10)), false, _ -> {});
            assertThat(MemoryNeeds.awaited(needs, copied(10), List.of(second)).state())
                    .isEqualTo(PendingCall.State.FOR_ADMISSION);
            Thread exit = Thread.ofPlatform().start(first::exit);
            PendingCall.State state = PendingCall.State.FOR_ADMISSION;
            while (state == PendingCall.State.FOR_ADMISSION) {
                state = MemoryNeeds.awaited(needs, copied(10), List.of(second)).state();
            }
            exit.join();
            second.exit();
            assertThat(state).as("round %d", i).isEqualTo(PendingCall.State.IN_LINE);
        }
    }

    @Test
    void aFunctionWithFailingCallsMayBeTriedAloneAFewTimes() {
        for (int i = 0; i < 3; i++) {
            assertThat(need.estimate(copied(100)).most()).as("try %d", i).isEqualTo(64L << 20);
            need.failed(2_000 + i);
        }
        assertThat(need.estimate(copied(100)).most()).isEqualTo(need.of(copied(100)));
        assertThat(need.of(copied(100))).as("the most held").isEqualTo(2_002);
        need.learn(copied(100), 300);
        assertThat(need.of(copied(100))).isEqualTo(300);
        assertThat(need.estimate(copied(200)).most()).as("unknown again").isEqualTo(128 * 600);
    }
}
