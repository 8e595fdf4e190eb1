package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.pool.Admission.Awaited;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls with unknown needs: alone at first, and for a while. */
@Timeout(300)
class GuessedCallsTest extends GateLine {
    @Test
    void aCallOfUnknownNeedIsAdmittedAlone() {
        Need unknown = new Need(-10);
        call("a", 10);
        call("b", "", unknown);
        call("c", "", unknown);
        call("d", 95);
        assertThat(entered).containsExactly("a");
        exit("a");
        assertThat(entered).containsExactly("a", "b");
        unknown.bytes = 60;
        exit("b");
        assertThat(entered).as("the next goes in with the need shown").containsExactly("a", "b", "c");
        assertThat(gate.committed()).isEqualTo(60);
    }

    /** A look may be so much late. */
    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(10);

    /** The longest time of a first call alone. */
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private MemoryHolder holds(String name, long bytes) {
        MemoryHolder call = new MemoryHolder(name, new OperationsUnderWay());
        call.holdingIn(set).hold(bytes);
        call.holdingIn(set).hold(-bytes); // the most counts
        return call;
    }

    @Test
    void aLongFirstCallCountsWithTheMemoryHeldByThen() {
        call("a", "", new Need(-10));
        holds("a", 30).admitted(calls.get("a"));
        call("b", 70);
        pass(HOST - 2);
        assertThat(entered).as("perhaps still in need of everything").containsExactly("a");
        pass(2);
        assertThat(gate.committed()).isEqualTo(100);
        assertThat(entered).containsExactly("a", "b");
        call("c", 1);
        exit("b");
        assertThat(entered).containsExactly("a", "b", "c");
        exit("a");
        exit("c");
        assertThat(gate.committed()).isZero();
    }

    @Test
    void aLongFirstCallCountsWithItsGuessAtLeast() {
        call("a", "", new Need(-40));
        holds("a", 30).admitted(calls.get("a"));
        call("b", 20);
        pass(HOST);
        assertThat(gate.committed()).isEqualTo(60);
        exit("a");
        assertThat(gate.committed()).isEqualTo(20);
    }

    @Test
    void longFirstCallsGoInOneAfterTheOther() {
        Need unknown = new Need(-10);
        call("a", "", unknown);
        call("b", "", unknown);
        call("c", "", unknown);
        pass(HOST + SOON);
        assertThat(entered).containsExactly("a", "b");
        pass(HOST - 2 * SOON);
        assertThat(entered).containsExactly("a", "b");
        pass(3 * SOON);
        assertThat(entered).containsExactly("a", "b", "c");
        assertThat(gate.committed()).isEqualTo(30);
    }

    @Test
    void aFirstCallDoesNotWaitForEverForKnownCalls() {
        call("a", 50);
        call("b", "", new Need(-10));
        pass(HOST - 1);
        assertThat(entered).containsExactly("a");
        pass(1);
        assertThat(entered).containsExactly("a", "b");
        call("c", 45);
        assertThat(entered).as("counts with its guess").containsExactly("a", "b");
    }

    @Test
    void aFirstCallWithoutRoomBesideOthersWaitsForThem() {
        call("a", 95);
        call("b", "", new Need(-10));
        pass(2 * HOST);
        assertThat(entered).containsExactly("a");
        exit("a");
        assertThat(entered).containsExactly("a", "b");
    }

    /** Being alone, or with a reached fence, needs no memory; room for a guess does. */
    @Test
    void aCallIsOutsideForItsUnknownNeedUntilItsGuessHasNoRoom() {
        call("a", 95);
        call("b", "", new Need(-10));
        ahead("c", -10);
        call("d", 50);
        assertThat(calls.get("b").awaited()).isEqualTo(Awaited.SOLITUDE);
        assertThat(calls.get("c").awaited()).as("ahead of its fence").isEqualTo(Awaited.SOLITUDE);
        assertThat(calls.get("d").awaited()).as("there is no room").isEqualTo(Awaited.ROOM);
        pass(HOST + SOON);
        assertThat(calls.get("b").awaited()).isEqualTo(Awaited.ROOM);
        assertThat(calls.get("c").awaited()).as("still ahead").isEqualTo(Awaited.SOLITUDE);
        exit("a");
        assertThat(entered).containsExactly("a", "b");
        assertThat(calls.get("b").awaited()).as("it is inside").isEqualTo(Awaited.NOTHING);
    }

    @Test
    void callsWithGuessesOverDifferentSharesAllLackRoom() {
        call("a", "small", new Need(35));
        call("b", "", new Need(-95));
        call("c", "small", new Need(-10));
        pass(HOST + SOON);
        assertThat(entered).containsExactly("a");
        assertThat(calls.get("b").awaited()).as("no room on the device").isEqualTo(Awaited.ROOM);
        assertThat(calls.get("c").awaited()).as("no room in the quota").isEqualTo(Awaited.ROOM);
    }

    @Test
    void aGuessIsNoReasonToWaitForTheHost() {
        gate.keep(null, 90, false);
        call("a", "", new Need(-50));
        assertThat(entered).as("there is room for the inputs").containsExactly("a");
        exit("a");
        gate.keep(null, 6, false);
        call("b", "", new Need(-50));
        assertThat(entered).as("there is none").containsExactly("a");
        pass(HOST);
        assertThat(entered).containsExactly("a", "b");
    }

    @Test
    void aQuotaEndsTheNeedOfACall() {
        call("a", "small", new Need(-10));
        assertThat(gate.committed()).isEqualTo(40);
        call("b", 60);
        assertThat(entered).as("others have room beside the call").containsExactly("a", "b");
        call("c", "small", new Need(-10));
        assertThat(entered).as("its consumer has none").containsExactly("a", "b");
        pass(HOST);
        assertThat(gate.committed()).isEqualTo(60 + 10);
        exit("b");
        pass(HOST);
        assertThat(entered).containsExactly("a", "b", "c");
        exit("a");
        exit("c");
        assertThat(gate.committed()).isZero();
        assertThat(gate.quota("small").committed()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"30000, 1000", "30, 30"})
    void aFirstCallIsAloneForASecondButNotForLongerThanTheHostIsWaitedFor(long host, long alone) {
        AdmissionGate other = bytes(LIMIT, TimeUnit.MILLISECONDS.toNanos(host)).gate();
        other.join("", true, new Need(-10), false, _ -> entered.add("a"));
        other.join("", true, new Need(50), false, _ -> entered.add("b"));
        pass(TimeUnit.MILLISECONDS.toNanos(alone) - 1);
        assertThat(entered).containsExactly("a");
        pass(1);
        assertThat(entered).containsExactly("a", "b");
    }

    @Test
    void aFirstCallDoesNotWaitAsLongAsAnotherDoesForTheHost() {
        AdmissionGate other = bytes(LIMIT, PATIENCE).gate();
        other.join("", true, new Need(60), false, _ -> entered.add("a"));
        other.join("", true, new Need(60), false, _ -> entered.add("b"));
        other.join("", true, new Need(-10), false, _ -> entered.add("c"));
        pass(SECOND + SOON);
        assertThat(entered).containsExactly("a", "c");
    }

    @Test
    void aFirstCallLetInByTheEndOfAnotherIsNoLongerAlone() {
        AdmissionGate other = bytes(LIMIT, PATIENCE).gate();
        Admission a = other.join("", true, new Need(60), false, _ -> entered.add("a"));
        other.join("", true, new Need(-50), false, _ -> entered.add("b"));
        other.join("", true, new Need(45), false, _ -> entered.add("c"));
        pass(2 * SECOND);
        a.exit();
        assertThat(entered).containsExactly("a", "b");
        pass(SECOND + SOON);
        assertThat(entered).containsExactly("a", "b", "c");
    }

    @Test
    void aLongFirstCallLetsInCallsWaitingForTheirFences() {
        for (int i = 0; i < 6; i++) {
            ahead("ahead" + i, 10);
        }
        call("first", "", new Need(-10));
        assertThat(entered).doesNotContain("ahead5").contains("first");
        exit("ahead0");
        assertThat(entered).as("the first call has all room").doesNotContain("ahead5");
        pass(HOST);
        assertThat(entered).contains("ahead5");
    }

    @Test
    void whereThereIsPlentyAGuessIsEnough() {
        AdmissionGate large = bytes(100 * LIMIT).gate();
        Need unknown = new Need(-10);
        assertThat(large.tryAdmit("", unknown)).isNotNull();
        assertThat(large.tryAdmit("", unknown)).isNotNull();
        assertThat(large.tryAdmit("small", unknown)).as("with a quota").isNull();
    }

    @Test
    void aCallOfUnknownNeedIsNotAdmittedAheadOfItsFence() {
        ahead("a", -10);
        call("b", -10);
        assertThat(entered).containsExactly("b");
        calls.get("a").due();
        assertThat(entered).containsExactly("b");
        exit("b");
        assertThat(entered).containsExactly("b", "a");
    }
}
