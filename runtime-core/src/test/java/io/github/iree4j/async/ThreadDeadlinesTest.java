package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ThreadDeadlinesTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE); // overflows at once
    private final Queue<Runnable> looks = new ArrayDeque<>();
    private final ThreadDeadlines deadlines = new ThreadDeadlines(looks::add);

    private ThreadDeadlines.Work begin(Duration limit) {
        return deadlines.begin(Deadline.after(limit, clock::get));
    }

    private void look() {
        looks.remove().run();
    }

    @AfterEach
    void nothingIsLeft() {
        if (!looks.isEmpty()) {
            look();
        }
        assertThat(looks).isEmpty();
        assertThat(Thread.interrupted()).isFalse();
    }

    /** An outer call waiting after a nested call with the same deadline would otherwise wait for ever. */
    @Test
    void endOfInnerWorkDoesNotFreeLateOuterWorkFromItsInterrupt() {
        ThreadDeadlines.Work outer = begin(SECOND);
        ThreadDeadlines.Work inner = begin(SECOND);
        clock.addAndGet(SECOND.toNanos());
        look();
        inner.end();
        assertThat(inner.isLate()).isTrue();
        look();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        outer.end();
    }

    @Test
    void lateWorkThatClearsItsInterruptIsInterruptedAgain() {
        ThreadDeadlines.Work work = begin(SECOND);
        look();
        assertThat(Thread.interrupted()).isFalse();
        clock.addAndGet(SECOND.toNanos());
        for (int i = 0; i < 3; i++) {
            look();
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(work.interrupt()).isFalse();
        work.end();
    }

    @Test
    void workInterruptedByOthersIsInterruptedAgainOnlyWhenLate() {
        ThreadDeadlines.Work work = begin(SECOND);
        assertThat(work.interrupt()).isTrue();
        assertThat(Thread.interrupted()).isTrue();
        look();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        clock.addAndGet(SECOND.toNanos());
        look();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        work.end();
    }
}
