package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long calls wait at a gate. The test advances the clock. */
@Timeout(300)
class GatePatienceTest extends GateLine {

    @Test
    void aLoneCallWaitsForTheHostOnlyForHostPatience() {
        gate.keep(null, 90, false);
        call("a", 50);
        pass(HOST - 1);
        assertThat(entered).isEmpty();
        pass(HOST);
        assertThat(entered).containsExactly("a");
        assertThat(gate.committed()).isEqualTo(50);
    }

    @Test
    void aCallLaterAloneWaitsForTheHostNoLongerThanHostPatience() {
        call("a", 5);
        gate.keep(null, 90, false);
        call("b", 50);
        pass(HOST / 2);
        call("c", 2); // b's wait begins with its admission
        pass(HOST / 4 * 3);
        exit("a");
        exit("c");
        assertThat(entered).containsExactly("a", "c");
        pass(HOST / 4);
        assertThat(entered).containsExactly("a", "c", "b");
    }

    @Test
    void callsWaitingForTheHostAreAdmittedOneByOne() {
        gate.keep(null, 90, false);
        call("a", 50);
        call("b", 50);
        pass(HOST + 1);
        exit("a");
        assertThat(entered).as("b's wait begins with a's admission").containsExactly("a");
        pass(HOST);
        assertThat(entered).containsExactly("a", "b");
    }

    @Test
    void aCallInCompanyWaitsForAdmittedCallsBeyondHostPatience() {
        call("a", 50);
        call("b", 60);
        pass(PATIENCE - HOST);
        assertThat(entered).containsExactly("a");
        pass(2 * HOST);
        assertThat(entered).containsExactly("a", "b");
        assertThat(gate.committed()).isEqualTo(110);
        exit("a");
        exit("b");
        assertThat(gate.committed()).isZero();
    }

    @Test
    void whileTheLineMovesACallWaitsForItsTurn() {
        call("a", 60);
        call("b", 60);
        call("c", 60);
        call("d", 60);
        call("e", 60);
        pass(PATIENCE - HOST);
        exit("a");
        pass(PATIENCE - HOST);
        assertThat(entered).as("c has waited for longer than the patience").containsExactly("a", "b");
        exit("b");
        pass(PATIENCE - HOST);
        exit("c");
        assertThat(entered).containsExactly("a", "b", "c", "d");
        assertThat(gate.committed()).isEqualTo(60);
        pass(PATIENCE + HOST);
        assertThat(entered).as("d does not end").containsExactly("a", "b", "c", "d", "e");
    }

    @Test
    void admissionsOfOthersAreNoProgressForACallWaitingForItsQuota() {
        call("a", "small", new Need(30));
        call("b", "small", new Need(20));
        for (int i = 0; i < 2; i++) {
            assertThat(entered).doesNotContain("b");
            pass(PATIENCE / 2);
            call("c" + i, "", new Need(60));
            exit("c" + i);
        }
        pass(HOST);
        assertThat(entered).contains("b");
    }

    @Test
    void whileTheLineOfAQuotaMovesACallWaitsForItsTurn() {
        call("a", "small", new Need(30));
        call("b", "small", new Need(30));
        call("c", "small", new Need(30));
        pass(PATIENCE - HOST);
        exit("a");
        pass(PATIENCE - HOST);
        assertThat(entered).containsExactly("a", "b");
        exit("b");
        assertThat(entered).containsExactly("a", "b", "c");
    }

    @Test
    void theLookAtALineEndsWithTheLine() {
        call("a", 80);
        call("b", 80);
        assertThat(looks).hasSize(1);
        exit("a");
        pass(2 * HOST);
        assertThat(looks).isEmpty();
    }

    @Test
    void aCallBehindTheFirstDoesNotGoInByWaiting() {
        call("a", 80);
        call("b", 90);
        call("c", 90);
        pass(PATIENCE - 2 * HOST);
        assertThat(entered).containsExactly("a");
    }
}
