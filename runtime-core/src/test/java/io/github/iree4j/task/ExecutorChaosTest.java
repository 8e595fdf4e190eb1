package io.github.iree4j.task;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random graphs of processes with wakes of each other, on random executors, with cancellations, failures, changes of
 * budget and schedules at any time. In all cases each process ends once, is released once after the last drain, is not
 * drained afterwards, fails only for a reason, and no worker is stuck.
 *
 * <p>A few seconds in a build, minutes in the nightly run. A failure prints the seed of the round, and all threads.
 */
@Tag("long")
class ExecutorChaosTest {
    private static final Duration EFFORT = Effort.isLong() ? Duration.ofMinutes(4) : Duration.ofSeconds(6);
    private static final Duration STUCK = Duration.ofSeconds(60);
    private static final int[] WORKERS = {1, 2, 3, 4, 8, 16, 33, 64};

    /** A process with checks of itself. */
    private static final class Node extends TaskProcess {
        private static final int DRAINERS_MASK = 0xffff;

        final SplittableRandom random;
        final AtomicInteger left;
        final AtomicInteger inside = new AtomicInteger();
        final AtomicInteger completions = new AtomicInteger();
        final AtomicInteger releases = new AtomicInteger();
        final List<String> wrong = new ArrayList<>();
        final boolean mayFail;
        final List<Node> upstream;
        final List<Node> downstream = new ArrayList<>();
        volatile boolean touched; // cancelled or failed externally, or about to be
        volatile boolean threw;

        Node(ProcessOptions options, List<Node> upstream, SplittableRandom random) {
            super(options);
            this.upstream = upstream;
            this.random = random;
            this.left = new AtomicInteger(random.nextInt(40));
            this.mayFail = random.nextInt(10) == 0;
        }

        @Override
        protected DrainResult drain(WorkerContext worker) {
            int now = inside.incrementAndGet();
            try {
                if (releases.get() > 0) {
                    note("drained after the release");
                }
                if (now > 1 && options().placement() == Placement.IMMEDIATE) {
                    note("drained by two despite being listed");
                }
                for (Node parent : upstream) {
                    if (parent.completions.get() == 0) {
                        note("drained before " + parent + " was over");
                    }
                }
                return step(left.decrementAndGet());
            } finally {
                inside.decrementAndGet();
            }
        }

        private DrainResult step(int remaining) {
            if (remaining <= 0) {
                return DrainResult.COMPLETED;
            }
            if (mayFail && remaining == 3) {
                threw = true;
                throw new IllegalStateException("by chance");
            }
            switch (remaining % 7) {
                case 0 -> {
                    changeWakeBudget(1 + remaining % 5);
                    return DrainResult.WORKED;
                }
                case 1 -> {
                    schedule(); // schedules itself, then returns IDLE
                    return DrainResult.IDLE;
                }
                case 2 -> {
                    schedule();
                    return DrainResult.KEEP_WARM;
                }
                default -> {
                    return DrainResult.WORKED;
                }
            }
        }

        @Override
        protected void completed(@Nullable IreeException failure) {
            if (completions.incrementAndGet() != 1) {
                note("completed twice");
            }
            boolean expected = touched || threw;
            for (Node parent : upstream) {
                expected |= parent.failure() != null;
            }
            if (failure != null && !expected) {
                note("failed for no reason: " + failure);
            }
            for (Node child : downstream) {
                if (failure != null) {
                    child.fail(failure);
                }
                child.wake();
            }
        }

        @Override
        protected void released() {
            if (releases.incrementAndGet() != 1) {
                note("released twice");
            }
            if (completions.get() != 1) {
                note("released before the completion");
            }
            if (inside.get() != 0) {
                note("released with " + inside.get() + " in it");
            }
        }

        void note(String what) {
            synchronized (wrong) {
                wrong.add(what);
            }
        }

        String word() {
            long word = wordVolatile();
            return "%s word %x (drainers %d) activation %x"
                    .formatted(this, word, word & DRAINERS_MASK, activationVolatile());
        }
    }

    /** TASK-3, TASK-7, TASK-8, TASK-9, TASK-11, TASK-13, TASK-14: nothing is lost, nothing ends twice, no thread is stuck. */
    @Test
    void everythingEndsExactlyOnce() throws InterruptedException {
        long first = Effort.seed(ExecutorChaosTest.class, EFFORT.toSeconds() + " s", 20261120);
        long deadline = System.nanoTime() + EFFORT.toNanos();
        int rounds = 0;
        for (long seed = first; System.nanoTime() < deadline; seed++) {
            round(seed);
            rounds++;
        }
        assertThat(rounds).isPositive();
    }

    private static void round(long seed) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(seed);
        ProcessExecutor.Builder builder = ProcessExecutor.builder(WORKERS[random.nextInt(WORKERS.length)])
                .name("chaos")
                .computeSlots(1 + random.nextInt(8))
                .wakeFanOut(1 + random.nextInt(3))
                .closeTimeout(STUCK)
                .spin(Duration.ofNanos(random.nextInt(3) * 10_000L));
        boolean closeEarly = random.nextInt(4) == 0;
        List<Node> nodes = graph(random);
        if (closeEarly) {
            nodes.forEach(node -> node.touched = true);
        }
        try (ProcessExecutor executor = builder.build()) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                SplittableRandom own = random.split();
                int index = i;
                threads.add(Thread.ofPlatform().start(() -> disturb(executor, nodes, own, index)));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            if (!closeEarly) {
                awaitAll(executor, nodes, seed);
            }
        } catch (IreeException notClosed) {
            throw new AssertionError(
                    "seed %d, %d live of %s%n%s"
                            .formatted(
                                    seed,
                                    live(nodes).size(),
                                    nodes.size(),
                                    String.join("\n", live(nodes)) + "\n" + allThreads()),
                    notClosed);
        }
        for (Node node : nodes) {
            synchronized (node.wrong) {
                assertThat(node.wrong).as("%s, seed %d", node, seed).isEmpty();
            }
            assertThat(node.completions)
                    .as("%s completed, seed %d", node.word(), seed)
                    .hasValue(1);
            assertThat(node.releases)
                    .as("%s released, seed %d", node.word(), seed)
                    .hasValue(1);
        }
    }

    private static List<String> live(List<Node> nodes) {
        return nodes.stream().filter(node -> !node.isReleased()).map(Node::word).toList();
    }

    /** Each process waits for some earlier processes, and some also for a separate event. */
    private static List<Node> graph(SplittableRandom random) {
        List<Node> nodes = new ArrayList<>();
        int count = 1 + random.nextInt(80);
        for (int i = 0; i < count; i++) {
            List<Node> upstream = new ArrayList<>();
            for (int edges = random.nextInt(3); edges > 0 && i > 0; edges--) {
                upstream.add(nodes.get(random.nextInt(i)));
            }
            Node node = new Node(
                    ProcessOptions.named("node " + i)
                            .wanting(1 + random.nextInt(6))
                            .placed(Placement.values()[random.nextInt(3)])
                            .suspended(1 + upstream.size()),
                    upstream,
                    random.split());
            upstream.forEach(parent -> parent.downstream.add(node));
            nodes.add(node);
        }
        return nodes;
    }

    /**
     * One of three threads: submits a share, signals the event of each process in the share, and disturbs all of them
     * meanwhile.
     */
    private static void disturb(ProcessExecutor executor, List<Node> nodes, SplittableRandom random, int index) {
        for (int i = index; i < nodes.size(); i += 3) {
            Node node = nodes.get(i);
            if (random.nextBoolean()) {
                executor.submit(node);
                node.wake();
            } else {
                node.wake();
                executor.submit(node);
            }
            Node other = nodes.get(random.nextInt(nodes.size()));
            switch (random.nextInt(12)) {
                case 0 -> {
                    other.touched = true;
                    other.cancel();
                }
                case 1 -> {
                    other.touched = true;
                    other.fail(IreeException.of(StatusCode.DATA_LOSS, "from outside"));
                }
                case 2 -> {
                    if (executor.tryDrainOnce(other)) {
                        other.schedule();
                    }
                }
                case 3 -> other.changeWakeBudget(1 + random.nextInt(8));
                default -> other.schedule();
            }
        }
    }

    /** Sleeping processes schedule themselves, so all end without help. */
    private static void awaitAll(ProcessExecutor executor, List<Node> nodes, long seed) {
        long deadline = System.nanoTime() + STUCK.toNanos();
        for (Node node : nodes) {
            while (!node.isReleased()) {
                if (System.nanoTime() > deadline) {
                    throw new AssertionError("seed %d: %s is not over after %s%n%s; budget %d, asleep %d of %d%n%s"
                            .formatted(
                                    seed,
                                    node,
                                    STUCK,
                                    node.word(),
                                    executor.aggregateBudget(),
                                    executor.sleepingWorkers(),
                                    executor.workers(),
                                    allThreads()));
                }
                java.util.concurrent.locks.LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(50));
            }
        }
    }

    private static String allThreads() {
        StringBuilder text = new StringBuilder();
        for (ThreadInfo thread : ManagementFactory.getThreadMXBean().dumpAllThreads(true, true)) {
            text.append(thread);
        }
        return text.toString();
    }
}
