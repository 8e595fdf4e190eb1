package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** SCHED-8: knowledge about operations before their end. */
@Timeout(60)
class OutcomeTest {
    private static final int COLLECTIONS = 20;
    private static final IreeException CAUSE = IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "refused on purpose");
    private static final IreeException OTHER = IreeException.of(StatusCode.INTERNAL, "another cause");

    @Test
    void aFailureReachesItsSuccessorsAtAnyTime() {
        Outcome first = new Outcome();
        Outcome before = new Outcome();
        first.precede(before);
        assertThat(before.failure()).isNull();
        first.fail(CAUSE);
        Outcome after = new Outcome();
        first.precede(after);
        assertThat(List.of(first, before, after))
                .allSatisfy(each -> assertThat(each.failure()).isSameAs(CAUSE));
    }

    @Test
    void aFailureReachesTheEndOfALongChain() {
        List<Outcome> chain = new ArrayList<>(List.of(new Outcome()));
        for (int i = 0; i < 100_000; i++) {
            Outcome next = new Outcome();
            chain.getLast().precede(next);
            chain.add(next);
        }
        chain.getFirst().fail(CAUSE);
        assertThat(chain.getLast().failure()).isSameAs(CAUSE);
    }

    @Test
    void theFirstFailureStays() {
        Outcome own = new Outcome();
        own.fail(CAUSE);
        own.fail(OTHER);
        assertThat(own.failure()).isSameAs(CAUSE);
    }

    @Test
    void anEndedOutcomeKeepsNothing() {
        Outcome over = new Outcome();
        WeakReference<Outcome> before = following(over);
        over.end();
        WeakReference<Outcome> after = following(over);
        for (int i = 0; i < COLLECTIONS && (before.get() != null || after.get() != null); i++) {
            System.gc();
        }
        assertThat(before.get()).isNull();
        assertThat(after.get()).isNull();
        assertThat(over.failure()).isNull();
    }

    private static WeakReference<Outcome> following(Outcome first) {
        Outcome later = new Outcome();
        first.precede(later);
        return new WeakReference<>(later);
    }
}
