package io.github.iree4j.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** PLACE-2: the askers, and the answering look; the test runs the looking thread. */
class LooksTest {
    private final ArrayDeque<Runnable> thread = new ArrayDeque<>();
    private int looks;

    private Looks<Integer> looks(Duration patience) {
        return new Looks<>(() -> ++looks, thread::add, patience);
    }

    @Test
    void aLookAnswersAllEarlierQuestions() {
        Looks<Integer> file = looks(Duration.ofDays(1));
        CompletableFuture<Integer> first = file.ask();
        CompletableFuture<Integer> second = file.ask();
        assertThat(first).isNotDone();
        thread.remove().run();
        assertThat(first).isCompletedWithValue(1);
        assertThat(second).isCompletedWithValue(1);
        assertThat(thread).isEmpty();
    }

    @Test
    void aQuestionDuringALookGetsALaterLook() {
        CompletableFuture<?>[] during = new CompletableFuture<?>[1];
        Looks<?>[] file = new Looks<?>[1];
        file[0] = new Looks<>(
                () -> {
                    if (++looks == 1) {
                        during[0] = file[0].ask();
                    }
                    return looks;
                },
                thread::add,
                Duration.ofDays(1));
        CompletableFuture<?> before = file[0].ask();
        thread.remove().run();
        assertThat(before.join()).isEqualTo(1);
        assertThat(during[0]).isNotDone();
        thread.remove().run();
        assertThat(during[0].join()).isEqualTo(2);
    }

    @Test
    void nobodyWaitsBehindALateLook() throws Exception {
        CompletableFuture<?>[] later = new CompletableFuture<?>[2];
        Looks<?>[] file = new Looks<?>[1];
        file[0] = new Looks<>(
                () -> {
                    later[0].orTimeout(1, TimeUnit.MINUTES).join(); // hangs until the patience is over
                    later[1] = file[0].ask();
                    return ++looks;
                },
                thread::add,
                Duration.ofNanos(1));
        later[0] = file[0].ask();
        thread.remove().run();
        assertThat(later[1]).isCompletedWithValue(null);
        assertThat(thread).as("further looks").isEmpty();
        Looks<?> same = file[0];
        assertThat(same.ask())
                .as("the look has ended, for the next to be answered")
                .isNotSameAs(later[1]);
    }

    @Test
    void questionWithoutATimelyLookHasNoAnswer() {
        Looks<Integer> file = looks(Duration.ofNanos(1));
        assertThat(file.ask().orTimeout(1, TimeUnit.MINUTES).join()).isNull();
        assertThat(file.ask()).isCompletedWithValue(null);
        assertThat(thread).hasSize(1);
        thread.remove().run();
        assertThat(looks).isOne();
    }
}
