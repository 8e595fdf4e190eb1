package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random graphs of operations, ordered by fences only and submitted in any order by several threads, on the queues of
 * one device or of several with shared memory, match a sequential run; a failure reaches exactly the dependents; and
 * every claim of a frontier is true. Operations also wait for values promised by another operation to be passed, and
 * reached by the host by hand at any time: consequences of the promise are not consequences of the value.
 */
@Tag("long")
public abstract class RandomGraphContract extends DeviceContract {
    private static final int ROUNDS = Effort.rounds(40, 150);
    private static final int BUFFERS = 5;
    private static final int OPERATIONS = 60;

    /** On a backend, closed after each test. */
    protected RandomGraphContract(Backend backend) {
        super(backend);
    }

    /** The way in which an operation works. */
    private enum Kind {
        DISPATCH,
        COMMANDS,
        HOST_CALL
    }

    /** Operation {@code out = in * factor + index}; waits for all earlier conflicting operations. */
    private record Step(int in, int out, int factor, Kind kind, int device, int queue, List<Integer> waits) {}

    /**
     * A timeline taken to {@link #TOP} by an operation, promised early perhaps, and by the host by hand to values
     * below, at any time.
     */
    private record Shared(TimelineSemaphore timeline, int producer) {
        static final int TOP = 10;

        /** By hand: the next value, unless the operation was quicker. */
        void signalNext() {
            long next = timeline.value() + 1;
            if (next < TOP) {
                try {
                    timeline.signal(next);
                } catch (IreeException e) {
                    assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
                }
            }
        }
    }

    /** Further waits of an operation, beyond necessity; perhaps reached at any time, and then without consequences. */
    private record Beside(Shared shared, long value) {}

    /** When a host call ran. */
    private record Interval(long begin, long end) {}

    /** A device, with its view of the buffers. */
    private record Participant(Device device, Executable kernels, List<Buffer> buffers) {}

    /** A graph. */
    private final class Graph {
        final long seed;
        final Random random;
        final int failing;
        final List<Participant> participants = new ArrayList<>();
        final List<Step> steps = new ArrayList<>();
        final List<Shared> shared = new ArrayList<>();
        final List<@Nullable Beside> beside = new ArrayList<>();
        final List<TimelineSemaphore> done = new ArrayList<>();
        final AtomicReferenceArray<@Nullable Interval> hostCalls = new AtomicReferenceArray<>(OPERATIONS);
        final AtomicLongArray heard = new AtomicLongArray(OPERATIONS); // when the signal was seen, once seen

        Graph(long seed, boolean fails, List<Device> devices, List<Executable> kernels) {
            this.seed = seed;
            this.random = new Random(seed);
            List<Buffer> own = new ArrayList<>();
            for (int i = 0; i < BUFFERS; i++) {
                own.add(ints(devices.getFirst(), new int[elements()]));
            }
            for (Device each : devices) {
                List<Buffer> seen = each == devices.getFirst()
                        ? own
                        : own.stream().map(b -> imported(each, b)).toList();
                participants.add(new Participant(each, kernels.get(participants.size()), seen));
            }
            for (int i = 0; i < OPERATIONS; i++) {
                steps.add(randomStep());
                int index = i;
                TimelineSemaphore signal = semaphore();
                signal.whenReached(1, (value, failure) -> heard.set(index, System.nanoTime()));
                done.add(signal);
            }
            this.failing = fails ? random.nextInt(OPERATIONS) : -1;
            for (int i = 0; i < OPERATIONS; i++) {
                // After a failure, further failures would depend on the order of arrival.
                boolean waits = !fails && !shared.isEmpty() && random.nextInt(2) == 0;
                Shared any = waits ? shared.get(random.nextInt(shared.size())) : null;
                beside.add(any == null ? null : new Beside(any, 1 + random.nextInt(Shared.TOP)));
                if (!fails && random.nextInt(6) == 0) {
                    shared.add(new Shared(semaphore(), i));
                }
            }
        }

        private Step randomStep() {
            int in = random.nextInt(BUFFERS);
            int out = (in + 1 + random.nextInt(BUFFERS - 1)) % BUFFERS;
            List<Integer> waits = new ArrayList<>();
            for (int j = 0; j < steps.size(); j++) {
                Step earlier = steps.get(j);
                if (earlier.out == in || earlier.out == out || earlier.in == out) {
                    waits.add(j);
                }
            }
            int device = random.nextInt(participants.size());
            int queue = random.nextInt(participants.get(device).device.queueCount());
            Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
            return new Step(in, out, 1 + random.nextInt(3), kind, device, queue, waits);
        }

        void submitAll(int threads) throws InterruptedException {
            List<Integer> order = new ArrayList<>();
            for (int i = 0; i < OPERATIONS; i++) {
                order.add(i);
            }
            Collections.shuffle(order, random);
            List<Thread> submitters = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int first = t;
                submitters.add(Thread.ofPlatform().start(() -> {
                    for (int n = first; n < OPERATIONS; n += threads) {
                        submit(order.get(n));
                        if (!shared.isEmpty()) {
                            shared.get(order.get(n) % shared.size()).signalNext();
                        }
                    }
                }));
            }
            for (Thread submitter : submitters) {
                submitter.join();
            }
        }

        private void submit(int index) {
            Step step = steps.get(index);
            List<Fence.Entry> entries = new ArrayList<>();
            step.waits.forEach(w -> entries.add(new Fence.Entry(done.get(w), 1)));
            if (beside.get(index) instanceof Beside other) {
                entries.add(new Fence.Entry(other.shared.timeline, other.value));
            }
            Fence wait = entries.isEmpty() ? null : Fence.of(entries);
            List<Fence.Entry> signals = new ArrayList<>(List.of(new Fence.Entry(done.get(index), 1)));
            shared.stream()
                    .filter(each -> each.producer == index)
                    .forEach(each -> signals.add(new Fence.Entry(each.timeline, Shared.TOP)));
            try (Fence signal = Fence.of(signals)) {
                submit(step, index, wait, signal);
            } finally {
                if (wait != null) {
                    wait.close();
                }
            }
        }

        private void submit(Step step, int index, @Nullable Fence wait, Fence signal) {
            Participant where = participants.get(step.device);
            DeviceQueue on = where.device.queue(step.queue);
            int[] constants = {step.factor, index};
            DispatchConfig grid = DispatchConfig.of(elements(), 1, 1);
            BindingTable bindings = BindingTable.of(where.buffers.get(step.in), where.buffers.get(step.out));
            if (index == failing && backend.has(Capability.HOST_KERNELS)) {
                on.dispatch(
                        wait,
                        signal,
                        where.kernels,
                        JavaKernels.FAIL,
                        DispatchConfig.of(1, 1, 1),
                        new int[0],
                        new BindingTable(),
                        0);
                return;
            }
            switch (index == failing ? Kind.HOST_CALL : step.kind) {
                case DISPATCH ->
                    on.dispatch(wait, signal, where.kernels, JavaKernels.SCALE, grid, constants, bindings, 0);
                case COMMANDS -> {
                    try (CommandBuffer commands = where.device.createCommandBuffer(
                            CommandBuffer.ONE_SHOT, CommandBuffer.TRANSFER | CommandBuffer.DISPATCH, -1, 2)) {
                        commands.dispatch(
                                where.kernels,
                                JavaKernels.SCALE,
                                grid,
                                constants,
                                List.of(BufferRef.slot(0, 0, Buffer.WHOLE), BufferRef.slot(1, 0, Buffer.WHOLE)),
                                0);
                        commands.finish();
                        on.execute(wait, signal, commands, bindings, 0);
                    }
                }
                case HOST_CALL -> on.hostCall(wait, signal, () -> runHere(step, index), 0);
            }
        }

        private void runHere(Step step, int index) {
            long begin = System.nanoTime();
            if (index == failing) {
                throw IreeException.of(StatusCode.DATA_LOSS, "failed on purpose");
            }
            MemorySegment in = participants.getFirst().buffers.get(step.in).map(MemoryAccess.READ, 0, Buffer.WHOLE);
            MemorySegment out = participants.getFirst().buffers.get(step.out).map(MemoryAccess.WRITE, 0, Buffer.WHOLE);
            for (int e = 0; e < elements(); e++) {
                out.set(INT, 4L * e, in.get(INT, 4L * e) * step.factor + index);
            }
            hostCalls.set(index, new Interval(begin, System.nanoTime()));
        }

        void checkResults() {
            int[] expected = new int[BUFFERS];
            for (int i = 0; i < OPERATIONS; i++) {
                Step step = steps.get(i);
                expected[step.out] = expected[step.in] * step.factor + i;
            }
            for (int i = 0; i < BUFFERS; i++) {
                int[] all = new int[elements()];
                Arrays.fill(all, expected[i]);
                assertThat(read(participants.getFirst().buffers.get(i)))
                        .as("seed %d, buffer %d", seed, i)
                        .isEqualTo(all);
            }
        }

        /**
         * Of two host calls, the call covered by the other's frontier was over before the other began; on a common
         * axis, before the other was signalled: operations of an unordered queue run side by side, with epochs in the
         * order of their ends.
         */
        void checkClaims() {
            for (int i = 0; i < OPERATIONS; i++) {
                Frontier claims = done.get(i).frontierAt(1);
                Interval here = hostCalls.get(i);
                if (claims == null || here == null) {
                    continue;
                }
                for (int j = 0; j < OPERATIONS; j++) {
                    Frontier other = done.get(j).frontierAt(1);
                    Interval there = hostCalls.get(j);
                    if (j == i || other == null || there == null || !other.hasProducer() || !claims.hasProducer()) {
                        continue;
                    }
                    if (claims.reaches(other.producerAxis(), other.producerEpoch()) == Known.YES) {
                        boolean shared = claims.producerAxis() == other.producerAxis();
                        long limit = shared ? heard.get(i) : here.begin;
                        if (limit == 0) {
                            continue; // the notification of the signal has not arrived yet
                        }
                        assertThat(there.end - limit)
                                .as("seed %d: %d claims to follow %d, by nanoseconds too few", seed, i, j)
                                .isLessThanOrEqualTo(0);
                        claimsChecked++;
                    }
                }
            }
        }
    }

    private int claimsChecked;

    private int elements() {
        return (int) backend.importGranularity() / 4;
    }

    private Buffer ints(Device on, int[] values) {
        BufferParams params =
                new BufferParams(PARAMS.memoryType(), PARAMS.usage(), PARAMS.access(), -1, backend.importGranularity());
        Buffer buffer = closed(on.allocator().allocate(params, 4L * values.length));
        MemorySegment.copy(values, 0, buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE), INT, 0, values.length);
        return buffer;
    }

    private Buffer imported(Device by, Buffer buffer) {
        return closed(by.allocator()
                .importHost(IMPORTED, buffer.map(MemoryAccess.READ | MemoryAccess.WRITE, 0, Buffer.WHOLE), buffer));
    }

    private void run(int threads, boolean fails, Consumer<Graph> check) throws InterruptedException {
        List<Device> devices = new ArrayList<>();
        devices.add(closed(open(DeviceOptions.builder().queueCount(2))));
        backend.peers().forEach(each -> devices.add(closed(each)));
        List<Executable> kernels =
                devices.stream().map(each -> closed(kernels(each))).toList();
        long first = Effort.seed(getClass(), ROUNDS + " graphs", 20261120);
        for (long seed = first; seed < first + ROUNDS; seed++) {
            Graph graph = new Graph(seed, fails, devices, kernels);
            graph.submitAll(threads);
            check.accept(graph);
            graph.checkClaims();
        }
        assertThat(claimsChecked).as("claims checked").isGreaterThan(ROUNDS);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void fencesAloneOrderWork(int threads) throws Exception {
        run(threads, false, graph -> {
            for (int i = 0; i < OPERATIONS; i++) {
                await(graph.seed, graph.done.get(i));
            }
            graph.checkResults();
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aFailureReachesItsDependentsAndNothingElse(int threads) throws Exception {
        run(threads, true, graph -> {
            boolean[] fails = new boolean[OPERATIONS];
            for (int i = 0; i < OPERATIONS; i++) {
                fails[i] = i == graph.failing;
                for (int wait : graph.steps.get(i).waits) {
                    fails[i] |= fails[wait];
                }
            }
            for (int i = 0; i < OPERATIONS; i++) {
                if (!fails[i]) {
                    await(graph.seed, graph.done.get(i));
                } else {
                    assertThat(awaitFailure(graph.done.get(i)))
                            .as("seed %d, operation %d after %d failed", graph.seed, i, graph.failing)
                            .isNotNull()
                            .isSameAs(graph.done.get(graph.failing).failure())
                            .extracting(IreeException::code)
                            .isEqualTo(StatusCode.DATA_LOSS);
                }
            }
        });
    }

    private static @Nullable IreeException awaitFailure(TimelineSemaphore semaphore) {
        CountDownLatch over = new CountDownLatch(1);
        semaphore.whenReached(1, (value, failure) -> over.countDown());
        try {
            assertThat(over.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return semaphore.failure();
    }

    private static void await(long seed, TimelineSemaphore semaphore) {
        assertThat(semaphore.failure()).as("seed %d", seed).isNull();
        semaphore.await(1, Duration.ofSeconds(20));
    }
}
