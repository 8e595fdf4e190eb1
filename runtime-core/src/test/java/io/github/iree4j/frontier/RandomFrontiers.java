package io.github.iree4j.frontier;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Random frontiers for the tests of laws. A small pool of axes, for overlapping frontiers; narrow and wide frontiers,
 * with taint and producers.
 */
final class RandomFrontiers {
    private final Random random;
    private final List<Long> axes = new ArrayList<>();
    private final int maximumEpoch;

    RandomFrontiers(Random random, int axisCount, int maximumEpoch) {
        this.random = random;
        this.maximumEpoch = maximumEpoch;
        AxisAllocator here = AxisAllocator.create(3, 0);
        AxisAllocator there = AxisAllocator.create(200, 255);
        CausalDomain[] domains = CausalDomain.values();
        boolean oneNode = random.nextBoolean();
        for (int i = 0; i < axisCount; i++) {
            AxisAllocator node = oneNode || random.nextBoolean() ? here : there;
            axes.add(node.allocate(domains[random.nextInt(domains.length)]));
        }
    }

    List<Long> axes() {
        return axes;
    }

    long axis() {
        return axes.get(random.nextInt(axes.size()));
    }

    /** Any frontier: tainted with probability 1/4, produced with 1/2. */
    Frontier any(int maximumSize) {
        MutableFrontier gathered = gather(maximumSize);
        if (random.nextInt(4) == 0) {
            gathered.taint();
        }
        return random.nextBoolean() ? gathered.snapshot() : produce(gathered);
    }

    /** Untainted and without producer. */
    Frontier plain(int maximumSize) {
        return gather(maximumSize).snapshot();
    }

    private MutableFrontier gather(int maximumSize) {
        MutableFrontier gathered = new MutableFrontier(Math.max(1, maximumSize));
        int size = random.nextInt(maximumSize + 1);
        for (int i = 0; i < size; i++) {
            gathered.insertOrRaise(axis(), 1 + random.nextInt(maximumEpoch), CompletedEpochs.NONE);
        }
        return gathered;
    }

    private Frontier produce(MutableFrontier gathered) {
        long axis = axis();
        return gathered.produce(axis, gathered.epochOf(axis) + 1, CompletedEpochs.NONE);
    }
}
