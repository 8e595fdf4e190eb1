package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.FrontierTracker;
import org.junit.jupiter.api.Test;

/** Holdings come in the order of addition, whichever are taken out. */
class HoldingListTest {
    private final PoolSet set = PoolSet.builder(new FakeSlabs(), FrontierTracker.create())
            .pool(FakeSlabs.pieces("f", 64))
            .build();
    private final HoldingList list = new HoldingList();
    private final Holding a = new MemoryHolder("a", new OperationsUnderWay()).holdingIn(set);
    private final Holding b = new MemoryHolder("b", new OperationsUnderWay()).holdingIn(set);
    private final Holding c = new MemoryHolder("c", new OperationsUnderWay()).holdingIn(set);

    private void addAll() {
        list.add(a);
        list.add(b);
        list.add(c);
    }

    @Test
    void holdingsKeepInsertionOrder() {
        assertThat(list).isEmpty();
        addAll();
        assertThat(list).containsExactly(a, b, c);
        assertThat(list.all()).containsExactly(a, b, c);
    }

    @Test
    void aPresentStakeIsNotAddedAgain() {
        addAll();
        list.add(a);
        list.add(c);
        assertThat(list).containsExactly(a, b, c);
    }

    @Test
    void aRemovedStakeComesLastWhenAddedAgain() {
        addAll();
        list.remove(b);
        assertThat(list).containsExactly(a, c);
        list.remove(c);
        list.add(b);
        assertThat(list).containsExactly(a, b);
        list.remove(a);
        list.add(a);
        assertThat(list).containsExactly(b, a);
        list.remove(b);
        list.remove(a);
        assertThat(list).isEmpty();
        list.add(c);
        assertThat(list).containsExactly(c);
    }

    @Test
    void removingAnAbsentStakeChangesNothing() {
        list.add(a);
        list.remove(b);
        assertThat(list).containsExactly(a);
        list.remove(a);
        list.add(c);
        list.remove(a);
        assertThat(list).containsExactly(c);
    }

    @Test
    void neighboursOfARemovedStakeAreLinked() {
        addAll();
        list.remove(b);
        list.remove(a);
        list.remove(c); // is the first by now
        assertThat(list).isEmpty();
        addAll();
        list.remove(a);
        list.remove(b); // likewise
        assertThat(list).containsExactly(c);
    }
}
