package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which calls are admitted, in which order, and when waiting is pointless. */
@Timeout(300)
class AdmissionGateTest {
    private static final long EVER = Long.MAX_VALUE;
    private static final long LIMIT = 100;

    private final AdmissionGate gate = new AdmissionGate(LIMIT, EVER, EVER);
    private final AtomicReference<Thread> last = new AtomicReference<>();

    /** A call on its own thread, which is in line when this returns; it is not admitted at once. */
    private CompletableFuture<Void> outside(AdmissionGate where, long need) {
        int before = where.waiting();
        CompletableFuture<Void> inside = new CompletableFuture<>();
        last.set(Thread.ofPlatform().daemon().start(() -> {
            try {
                where.enter(need, () -> false);
                inside.complete(null);
            } catch (InterruptedException e) {
                inside.completeExceptionally(e);
            }
        }));
        while (where.waiting() == before) {
            assertThat(inside).as("a call of %d at %s", need, where).isNotDone();
            Thread.onSpinWait();
        }
        return inside;
    }

    @Test
    void aCallThatFitsIsAdmittedAtOnce() throws Exception {
        gate.enter(40, () -> false);
        gate.enter(60, () -> false);
        assertThat(gate.committed()).isEqualTo(100);
        gate.exit(40);
        assertThat(gate.committed()).isEqualTo(60);
    }

    @Test
    void callsThatDoNotFitAreAdmittedInOrderOfArrivalOnceTheyDo() throws Exception {
        gate.enter(80, () -> false);
        CompletableFuture<Void> large = outside(gate, 90);
        CompletableFuture<Void> small = outside(gate, 10); // would fit, but does not overtake
        assertThat(large).isNotDone();
        assertThat(small).isNotDone();
        gate.exit(80);
        large.join();
        small.join();
        assertThat(gate.committed()).isEqualTo(100);
        assertThat(gate.waiting()).isZero();
    }

    @Test
    void aCallThatNeedsMoreThanTheLimitTakesAllOfIt() throws Exception {
        gate.enter(3 * LIMIT, () -> false);
        assertThat(gate.committed()).isEqualTo(LIMIT);
        gate.exit(3 * LIMIT);
        assertThat(gate.committed()).isZero();
    }

    @Test
    void anInterruptedWaiterLetsTheNextGoIn() throws Exception {
        gate.enter(80, () -> false);
        CompletableFuture<Void> large = outside(gate, 90);
        Thread interrupted = last.get();
        CompletableFuture<Void> small = outside(gate, 10);
        interrupted.interrupt();
        assertThatThrownBy(large::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        small.join();
        assertThat(gate.committed()).isEqualTo(90);
    }

    @Test
    void whatTheHostKeepsIsUnavailableUntilReleased() throws Exception {
        gate.keep(30, false);
        CompletableFuture<Void> outside = outside(gate, 80);
        gate.keep(-10, false);
        outside.join();
        assertThat(gate.committed()).isEqualTo(80);
    }

    @Test
    void aCallThatNeedsAllButWhatProgramsKeepGoesInWhenItIsAlone() throws Exception {
        gate.keep(30, true);
        gate.enter(LIMIT, () -> false);
        assertThat(gate.committed()).isEqualTo(LIMIT);
        gate.exit(LIMIT);
        gate.enter(10, () -> false);
        CompletableFuture<Void> outside = outside(gate, LIMIT);
        gate.exit(10);
        outside.join();
    }

    @Test
    void aCallThatIsAloneWaitsForTheHostOnlyForHostPatience() throws Exception {
        AdmissionGate impatient = new AdmissionGate(LIMIT, EVER, 1);
        impatient.keep(90, false);
        impatient.enter(50, () -> false);
        assertThat(impatient.committed()).isEqualTo(50);
    }

    @Test
    void aCallThatIsNotAloneWaitsForAdmittedCallsBeyondHostPatience() throws Exception {
        AdmissionGate impatient = new AdmissionGate(LIMIT, EVER, 0);
        impatient.enter(50, () -> false);
        AtomicBoolean asked = new AtomicBoolean();
        impatient.enter(
                60,
                () -> { // called before it waits, and not after its time is up
                    asked.set(true);
                    return true;
                });
        assertThat(asked).isTrue();
    }

    @Test
    void aCallThatWaitsTooLongIsAdmitted() throws Exception {
        AdmissionGate impatient = new AdmissionGate(LIMIT, 1, EVER);
        impatient.enter(80, () -> false);
        impatient.enter(70, () -> false);
        assertThat(impatient.committed()).isEqualTo(150);
        impatient.exit(80);
        impatient.exit(70);
        assertThat(impatient.committed()).isZero();
    }
}
