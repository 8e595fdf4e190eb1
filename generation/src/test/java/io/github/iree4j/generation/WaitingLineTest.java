package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The order in which sequences begin. */
class WaitingLineTest {
    private final WaitingLine line = new WaitingLine();
    private long number;

    private Sequence sequence(String tenant) {
        Sequence sequence =
                new Sequence(new Generation(GenerationRequest.of(1, 1).tenant(tenant), number++, 0));
        line.add(sequence);
        return sequence;
    }

    private Sequence begin() {
        Sequence first = Objects.requireNonNull(line.first());
        line.begin(first);
        return first;
    }

    @Test
    void theTenantWithTheFewestRunningSequencesIsNextThenTheOldestRequest() {
        List<Sequence> sequences = new ArrayList<>();
        for (String tenant : List.of("a", "a", "a", "a", "b", "b", "c")) {
            sequences.add(sequence(tenant));
        }
        List<Long> begun = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            begun.add(begin().generation().number());
        }
        assertThat(begun).containsExactly(0L, 4L, 6L, 1L, 5L, 2L, 3L);
        assertThat(line.first()).isNull();
        assertThat(line.size()).isZero();
    }

    @Test
    void aTenantIsServedAgainWhenItsSequencesEnd() {
        Sequence running = sequence("a");
        begin();
        Sequence next = sequence("a");
        Sequence other = sequence("b");
        line.end(running);
        assertThat(begin()).as("before the tenant that came later").isSameAs(next);
        assertThat(begin()).isSameAs(other);
    }

    @Test
    void tenantsWithNamesUsedOnceDelayNobodyForEver() {
        sequence("a");
        Sequence running = begin();
        Sequence waiting = sequence("a");
        for (int i = 0; i < 3; i++) {
            sequence("once" + i);
        }
        for (int i = 3; i < 6; i++) { // always some that have just come
            line.end(running);
            running = begin();
            if (running == waiting) {
                return;
            }
            sequence("once" + i);
        }
        assertThat(running).as("begins at last").isSameAs(waiting);
    }

    @Test
    void sequencesWithLostPagesComeFirstInTheOrderOfTheirBeginning() {
        Sequence first = sequence("a");
        Sequence second = sequence("b");
        begin();
        begin();
        Sequence fresh = sequence("c");
        line.add(second);
        line.add(first);
        assertThat(line.size()).isEqualTo(3);
        assertThat(line.sequences()).containsExactly(first, second, fresh);
        assertThat(begin()).isSameAs(first);
        assertThat(begin()).isSameAs(second);
        assertThat(begin()).isSameAs(fresh);
    }

    @Test
    void aRemovedSequenceIsNotNext() {
        Sequence first = sequence("a");
        Sequence second = sequence("a");
        line.end(first);
        assertThat(line.size()).isEqualTo(1);
        assertThat(line.first()).isSameAs(second);
        line.end(second);
        assertThat(line.first()).isNull();
        assertThat(line.size()).isZero();
    }

    @Test
    void aTenantWithoutSequencesIsForgotten() {
        Sequence running = sequence("a");
        begin();
        Sequence waiting = sequence("b");
        assertThat(line.tenants()).isEqualTo(2);
        line.end(waiting);
        assertThat(line.tenants()).isEqualTo(1);
        line.end(running);
        assertThat(line.tenants()).isZero();
    }
}
