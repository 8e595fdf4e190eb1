package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.record.Recording;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReadyListTest {
    private static final int THREADS = 3;
    private static final int EACH = 30_000;

    /** An operation with a known producer and number. */
    private static final class Numbered extends CommandOperation {
        final int thread;
        final int number;

        Numbered(int thread, int number) {
            super("numbered", new CallerRunners(0, 1));
            this.thread = thread;
            this.number = number;
        }

        @Override
        Recording recording() {
            throw new UnsupportedOperationException();
        }

        @Override
        @Nullable
        BindingTable bindings() {
            return null;
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }

    private interface Source {
        @Nullable
        HostOperation poll();
    }

    private interface Sink {
        boolean add(Numbered operation);
    }

    // READY-1: nothing is lost or taken twice, and the operations of each thread come in order.
    @Test
    void operationsAddedByThreadsAreTakenOnceAndInOrder() throws Exception {
        ReadyList list = new ReadyList();
        List<List<Integer>> taken = race(
                operation -> {
                    list.add(operation);
                    return true;
                },
                list::poll,
                1);
        for (List<Integer> numbers : taken) {
            assertThat(numbers).hasSize(EACH).isSorted().doesNotHaveDuplicates();
        }
        assertThat(list.isEmptyVolatile()).isTrue();
        assertThat(list.poll()).isNull();
    }

    // RING-2: nothing is lost or taken twice, by any consumer.
    @Test
    void operationsAcceptedByARingAreTakenOnce() throws Exception {
        CommandRing ring = new CommandRing(8);
        for (List<Integer> numbers : race(ring::offer, ring::poll, 2)) {
            assertThat(numbers).hasSize(EACH).doesNotHaveDuplicates();
        }
        assertThat(ring.size()).isZero();
    }

    @Test
    void aFullRingAcceptsNothing() {
        CommandRing ring = new CommandRing(4);
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 4; i++) {
                assertThat(ring.offer(new Numbered(0, i))).isTrue();
            }
            assertThat(ring.size()).isEqualTo(4);
            assertThat(ring.offer(new Numbered(0, 4))).isFalse();
            for (int i = 0; i < 4; i++) {
                assertThat(ring.poll())
                        .isInstanceOf(Numbered.class)
                        .extracting("number")
                        .isEqualTo(i);
            }
            assertThat(ring.poll()).isNull();
        }
    }

    /** The operations of each producer, in the order of removal by a single consumer. */
    private static List<List<Integer>> race(Sink sink, Source source, int takers) throws Exception {
        List<List<Integer>> taken = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            taken.add(new ArrayList<>());
        }
        AtomicInteger left = new AtomicInteger(THREADS * EACH);
        CyclicBarrier start = new CyclicBarrier(THREADS + takers);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            threads.add(Thread.ofPlatform().start(() -> {
                await(start);
                for (int i = 0; i < EACH; i++) {
                    Numbered operation = new Numbered(thread, i);
                    while (!sink.add(operation)) {
                        Thread.yield();
                    }
                }
            }));
        }
        for (int t = 0; t < takers; t++) {
            threads.add(Thread.ofPlatform().start(() -> {
                await(start);
                while (left.get() > 0) {
                    HostOperation operation = source.poll();
                    if (operation instanceof Numbered numbered) {
                        List<Integer> numbers = taken.get(numbered.thread);
                        synchronized (numbers) {
                            numbers.add(numbered.number);
                        }
                        left.decrementAndGet();
                    } else {
                        Thread.yield();
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return taken;
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
