package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** GATE-4: room for a call with a sleeping thread may be used by newcomers until the thread runs. */
@Timeout(300)
class CalledThreadsTest extends GateLine {
    private final List<Sleeper> sleepers = new ArrayList<>();

    /** A thread that joins the line, and looks only with the test's permission. */
    private final class Sleeper {
        private final CompletableFuture<Admission> joined = new CompletableFuture<>();
        private final CountDownLatch awake = new CountDownLatch(1);
        private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

        Sleeper(long need, String consumer) {
            sleepers.add(this);
            clock.incrementAndGet();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    Admission call = gate.join(consumer, false, new Need(need), false, null);
                    joined.complete(call);
                    awake.await();
                    ended.complete(call.await());
                } catch (Throwable e) {
                    joined.completeExceptionally(e);
                    ended.completeExceptionally(e);
                }
            });
            joined.join();
        }

        boolean isAdmitted() {
            return joined.join().isAdmitted();
        }

        void comesIn() {
            awake.countDown();
            assertThat(ended.join()).isTrue();
        }

        /** The thread looks, finds no room, and sleeps. */
        void comesInVain() {
            gate.comes((PlaceInLine) joined.join());
            assertThat(isAdmitted()).isFalse();
        }
    }

    /** A sleeping thread whose call needs 90 bytes, released by "a". */
    private Sleeper called() {
        call("a", 80);
        Sleeper sleeper = new Sleeper(90, "");
        exit("a");
        return sleeper;
    }

    @AfterEach
    void letAllIn() {
        calls.values().forEach(Admission::exit);
        for (Sleeper each : sleepers) {
            each.comesIn();
            each.joined.join().exit();
        }
        calls.values().forEach(Admission::exit); // admitted meanwhile
        assertThat(gate.committed()).isZero();
        assertThat(gate.waiting()).isZero();
    }

    @Test
    void aSleepingThreadTakesItsRoomWhenItRuns() {
        Sleeper sleeper = called();
        assertThat(sleeper.isAdmitted()).isFalse();
        assertThat(gate.committed()).as("nothing is taken before").isZero();
        sleeper.comesIn();
        assertThat(gate.committed()).isEqualTo(90);
    }

    @Test
    void aNewcomerUsesTheRoomMeanwhileAsOftenAsThereAreBytes() {
        Sleeper sleeper = called();
        for (String each : new String[] {"b", "c"}) {
            call(each, 60);
            assertThat(entered).contains(each);
            exit(each);
        }
        assertThat(sleeper.isAdmitted()).as("120 of 100 bytes have overtaken").isTrue();
        call("d", 60);
        assertThat(entered).doesNotContain("d");
    }

    @Test
    void aThreadComingTooLateIsCalledAgain() {
        Sleeper sleeper = called();
        call("b", 60);
        sleeper.comesInVain();
        assertThat(entered).containsExactly("a", "b");
        call("c", 60);
        assertThat(entered).as("the thread sleeps, nobody has called it").containsExactly("a", "b");
        exit("b");
        call("d", 30);
        assertThat(entered).as("it is called").containsExactly("a", "b", "d");
    }

    @Test
    void callsBehindACalledThreadDoNotTakeItsRoom() {
        call("a", 80);
        Sleeper sleeper = new Sleeper(70, "");
        call("behind", 60);
        call("fits", 30);
        assertThat(entered).containsExactly("a");
        exit("a");
        assertThat(entered).containsExactly("a", "fits");
        sleeper.comesIn();
        assertThat(entered).containsExactly("a", "fits");
    }

    @Test
    void aNewcomerWithAnotherQuotaDoesNotUseTheRoom() {
        called();
        call("b", "small", new Need(20));
        assertThat(entered).containsExactly("a");
    }

    @Test
    void aNewcomerUsingTheRoomMovesTheLine() {
        Sleeper sleeper = called();
        clock.addAndGet(PATIENCE - 10);
        call("b", 60);
        sleeper.comesInVain();
        pass(TimeUnit.MILLISECONDS.toNanos(50));
        assertThat(sleeper.isAdmitted())
                .as("without room, before the wait behind b")
                .isFalse();
    }

    @Test
    void aNewcomerDoesNotOvertakeACallWaitingForTheSameQuota() {
        call("a", "small", new Need(30));
        new Sleeper(20, "small");
        call("b", "small", new Need(10));
        assertThat(entered).containsExactly("a");
    }

    @Test
    void aLeavingCalledThreadLetsTheNextIn() {
        call("a", 80);
        Sleeper sleeper = new Sleeper(90, "");
        call("behind", 60);
        exit("a");
        assertThat(entered).containsExactly("a");
        assertThat(sleeper.joined.join().cancel()).isTrue();
        assertThat(entered).containsExactly("a", "behind");
        sleepers.remove(sleeper);
    }

    @Test
    void aLateCalledThreadIsLookedAtAgain() {
        Sleeper sleeper = called();
        pass(2 * HOST); // looks find the thread called
        call("b", 60);
        sleeper.comesInVain();
        pass(PATIENCE + HOST);
        assertThat(sleeper.isAdmitted()).as("without room, as any other").isTrue();
    }
}
