package io.github.iree4j.spring.problems;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.spring.Programs;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.DefaultResourceLoader;

/** Finds with very many operations in a chain of waits: only facts, and at a bounded cost. */
@Timeout(300)
class LongChainsTests {

    private static final Duration AT_ONCE = Duration.ZERO;

    private final IreeRuntime runtime = IreeRuntime.builder().taskWorkers(2).build();
    private final Programs programs = new Programs(runtime, new DefaultResourceLoader());
    private final ProblemFinder finder = new ProblemFinder(runtime, programs, null);
    private final DeviceQueue queue = runtime.device().queue(0);
    private final CountDownLatch go = new CountDownLatch(1);
    private final List<AutoCloseable> made = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        go.countDown();
        for (AutoCloseable each : made) {
            each.close();
        }
        programs.close();
        runtime.close();
    }

    private Fence point(TimelineSemaphore semaphore, long value) {
        Fence fence = Fence.at(semaphore, value);
        made.addFirst(fence);
        return fence;
    }

    private Fence point() {
        TimelineSemaphore semaphore = runtime.device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
        made.add(semaphore);
        return point(semaphore, 1);
    }

    /** A fence signalled by an operation in flight once {@link #go} is counted down. */
    private Fence slow() {
        Fence done = point();
        queue.hostCall(null, done, () -> await(go), 0);
        return done;
    }

    private static void await(CountDownLatch go) {
        try {
            go.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Submits operations, each behind the previous operation; returns the signal of the last. */
    private Fence chain(Fence first, int count) {
        Fence last = first;
        for (int i = 0; i < count; i++) {
            Fence next = point();
            queue.barrier(last, next, 0);
            last = next;
        }
        return last;
    }

    private List<UnsignalledFence> unsignalled() {
        return finder.find(AT_ONCE).stream()
                .filter(each -> each instanceof UnsignalledFence)
                .map(each -> (UnsignalledFence) each)
                .toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {3_000, 100_000})
    void aChainBehindAnOperationInFlightWaitsForNothingUnsignalled(int count) throws Exception {
        Fence last = chain(slow(), count);
        for (int look = 0; look < 3; look++) {
            queue.barrier(null, point(), 0); // the queue advances
            assertThat(unsignalled()).isEmpty();
        }
        go.countDown();
        last.await();
        assertThat(finder.find(AT_ONCE)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {3_000, 100_000})
    void allWaitingWorkIsCountedOnceForEachCause(int count) throws Exception {
        Fence last = chain(slow(), count);
        queue.barrier(last, null, 0);
        assertThat(finder.find(AT_ONCE)).singleElement().isInstanceOfSatisfying(StarvedQueue.class, each -> {
            assertThat(each.subject()).isEqualTo("host call on queue local/0");
            assertThat(each.waiting()).isEqualTo(count + 1);
            assertThat(each.chain()).hasSize(50);
        });
        go.countDown();
        last.await();
    }

    @Test
    void anUnsignalledFenceAmongManyOperationsIsFoundAndNamed() throws Exception {
        Fence last = chain(slow(), 2_500);
        try (Timeline never = runtime.createTimeline("never");
                Fence unsignalled = never.at(5)) {
            Fence behind = chain(unsignalled, 2);
            last = chain(last, 500);
            assertThat(unsignalled()).singleElement().satisfies(each -> {
                assertThat(each.subject()).endsWith("'never'");
                assertThat(each.value()).isEqualTo(5);
                assertThat(each.waiting()).isEqualTo(2);
                assertThat(each.chain().getLast()).contains("barrier on queue local/0 will signal it and waits");
            });
            never.semaphore().signal(5);
            behind.await();
        }
        go.countDown();
        last.await();
        assertThat(finder.find(AT_ONCE)).isEmpty();
    }

    /** Signallers are behind their waiters, on the list and beyond any limit of the list. */
    @Test
    void operationsSubmittedBeforeTheirSignallersWaitForNothingUnsignalled() throws Exception {
        int count = 3_000;
        List<Fence> points = new ArrayList<>();
        for (int i = 0; i <= count; i++) {
            points.add(point());
        }
        for (int i = count; i > 0; i--) {
            queue.barrier(points.get(i - 1), points.get(i), 0);
        }
        queue.hostCall(null, points.getFirst(), () -> await(go), 0);
        assertThat(unsignalled()).isEmpty();
        go.countDown();
        points.getLast().await();
    }

    /** More operations than are looked at: operations beyond the list may signal. */
    @Test
    void nothingIsClaimedOfASignallerPossiblyBeyondTheLimit() throws Exception {
        Fence first = point();
        Fence last = point();
        queue.barrier(first, last, 0); // no signal among the first 100
        Fence behind = chain(slow(), 100);
        queue.barrier(behind, first, 0);
        ProblemFinder few = new ProblemFinder(runtime, programs, null, List.of(), 100);
        assertThat(few.find(AT_ONCE)).noneMatch(each -> each instanceof UnsignalledFence);
        Signallers signallers = new Signallers(runtime, programs, 10, 100);
        PendingOperation.Wait wait =
                signallers.operations().getFirst().operation().waits().getFirst();
        assertThat(signallers.of(wait)).isNull();
        assertThat(signallers.unread()).containsExactly(queue);
        assertThat(new QueueNames(runtime)
                        .waitsOf(signallers.operations().getFirst().operation(), signallers))
                .singleElement()
                .asString()
                .endsWith("no operation that was looked at signals it, queue local/0 has more");
        Signallers all = new Signallers(runtime, programs, 10);
        assertThat(all.operations()).hasSize(10);
        assertThat(all.of(wait)).isNotNull();
        assertThat(all.unread()).isEmpty();
        go.countDown();
        last.await();
    }

    @Test
    void workReachedByTwoWaysIsNotUnsignalled() throws Exception {
        Fence first = slow();
        Fence left = chain(chain(first, 1), 1);
        Fence common = chain(first, 1);
        Fence one = chain(common, 1);
        Fence two = chain(common, 1);
        Fence both = Fence.join(one, two, left);
        made.addFirst(both);
        Fence end = chain(both, 1);
        queue.barrier(null, point(), 0);
        assertThat(unsignalled()).isEmpty();
        go.countDown();
        end.await();
    }

    @Test
    void theFirstUnsignalledPointIsNamedIfASingleTimelineIsForAll() throws Exception {
        try (Timeline steps = runtime.createTimeline("steps")) {
            for (int i = 1; i < 3_000; i++) {
                queue.barrier(point(steps.semaphore(), i), point(steps.semaphore(), i + 1), 0);
            }
            assertThat(unsignalled()).singleElement().satisfies(each -> {
                assertThat(each.value()).isEqualTo(1);
                assertThat(each.waiting()).isEqualTo(2_999);
            });
            steps.semaphore().signal(1);
            point(steps.semaphore(), 3_000).await();
        }
    }

    @Test
    void aDeadlockIsFoundThoughAPartAlsoWaitsForRunningWork() throws Exception {
        Fence slow = slow();
        try (Timeline deadlock = runtime.createTimeline("deadlock")) {
            Fence here = point();
            Fence there = point(deadlock.semaphore(), 1);
            Fence both = Fence.join(slow, here);
            made.addFirst(both);
            queue.barrier(both, there, 0);
            queue.barrier(there, here, 0);
            Fence behind = chain(here, 1_500);
            assertThat(finder.find(AT_ONCE).stream().filter(each -> !(each instanceof StarvedQueue)))
                    .singleElement()
                    .isInstanceOfSatisfying(
                            Deadlock.class, each -> assertThat(each.waiting()).isEqualTo(1_502));
            deadlock.semaphore().signal(1);
            go.countDown();
            behind.await();
        }
    }

    /** Looks while operations go from the list of waiting operations to the operations in flight, and to their end. */
    @Test
    void anAdvancingChainWaitsForNothingUnsignalledAtAnyMoment() throws Exception {
        Fence last = slow();
        for (int i = 0; i < 20_000; i++) {
            Fence next = point();
            if (i % 2 == 0) {
                queue.hostCall(last, next, () -> {}, 0);
            } else {
                queue.barrier(last, next, 0);
            }
            last = next;
        }
        go.countDown();
        while (!last.isReached()) {
            assertThat(unsignalled()).isEmpty();
        }
    }

    /** Ten times as many operations, not much more than ten times the time: 30 times allows for a busy machine. */
    @Test
    void aLookCostsInProportionToTheWaitingWork() {
        Fence last = chain(slow(), 10_000);
        long few = cost();
        chain(last, 90_000);
        long many = cost();
        System.out.printf(
                "a look at 10000 pending operations took %.1f ms of CPU, at 100000 %.1f ms%n", few / 1e6, many / 1e6);
        assertThat(many).isLessThan(30 * few + Duration.ofMillis(100).toNanos());
    }

    /** The least of some looks. */
    private long cost() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 10; i++) {
            long before = threads.getCurrentThreadCpuTime();
            finder.find(AT_ONCE);
            least = Math.min(least, threads.getCurrentThreadCpuTime() - before);
        }
        return least;
    }
}
