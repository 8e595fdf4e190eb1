package io.github.iree4j.load;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.pool.PoolStatistics;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Do two programs of 400 MB each run on a device of 512 MB while both are submitted ahead, and how much does the host
 * save by not waiting between them? Invocations of the two take turns; each is ordered behind the invocation before of
 * the same program and behind no invocation of the other, so only the death frontiers of the memory order the two
 * programs. Three ways in turn, as often as requested:
 *
 * <ul>
 *   <li>ahead: all are submitted, then the host waits for the last invocation of each program;
 *   <li>waiting: the host waits for each invocation before submitting the next;
 *   <li>room: as ahead, on a device of 1,024 MB, where both have memory at once.
 * </ul>
 *
 * <p>The ways are measured twice: with operations of a queue for each program (400 MB allocated, 4 KiB of the memory
 * filled, deallocated), timing the cost of order, and with compiled programs computing on all of their memory ({@code
 * outer}).
 *
 * <p>Run from the root of the repository after {@code ./mvnw -q package -DskipTests -pl benchmarks -am}; {@code none}
 * for no program:
 *
 * <pre>{@code
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.load.Overlap [DRIVER [ROUNDS [MODULE|none]]]
 * FAKE_CUDA=heap_mib=2048 java -Diree.cuda.library=$(bin/fake-driver cuda) -cp benchmarks/target/benchmarks.jar io.github.iree4j.load.Overlap cuda 20 none
 * }</pre>
 */
public final class Overlap implements AutoCloseable {
    private static final long LIMIT = 512L << 20;
    private static final long BYTES = 400L << 20;
    private static final int FILLED = 4096;
    private static final int COLUMNS = 64;
    private static final int ROWS = (int) (BYTES / (COLUMNS * COLUMNS * Float.BYTES));
    private static final int PROGRAMS = 2;
    private static final int INVOCATIONS = 8;
    private static final int WARM_UP = 3;

    /** Submits an invocation of a program. */
    private interface Work {
        void submit(int program, @Nullable Fence wait, Fence signal);
    }

    /** A way of submitting, and the measured times and counts. */
    private static final class Way {
        private final String name;
        private final Overlap device;
        private final boolean isWaiting;
        private final long[] nanos;
        private final long[] counts = new long[COUNTS.size()];

        Way(String name, Overlap device, boolean isWaiting, int rounds) {
            this.name = name;
            this.device = device;
            this.isWaiting = isWaiting;
            this.nanos = new long[rounds];
        }

        void round(Work work, int round) {
            long[] before = device.counts();
            long start = System.nanoTime();
            device.invocations(work, isWaiting);
            if (round >= 0) {
                nanos[round] = System.nanoTime() - start;
                long[] after = device.counts();
                Arrays.setAll(counts, i -> counts[i] + after[i] - before[i]);
            }
        }

        void show() {
            Arrays.sort(nanos);
            PoolSetStatistics pools = device.runtime.device().allocator().poolStatistics();
            double each = 1e6 * INVOCATIONS;
            System.out.printf(
                    "| %s | %d | %.3f (%.3f to %.3f) |",
                    name,
                    isWaiting ? INVOCATIONS : PROGRAMS,
                    nanos[nanos.length / 2] / each,
                    nanos[0] / each,
                    nanos[nanos.length - 1] / each);
            for (long count : counts) {
                System.out.printf(" %.1f |", (double) count / nanos.length);
            }
            System.out.printf(" %d of %d MB |%n", pools.bytesReservedPeak() >> 20, pools.budget() >> 20);
        }
    }

    private static final List<ToLongFunction<PoolStatistics>> COUNTS = List.of(
            PoolStatistics::fresh,
            PoolStatistics::reusedWithoutWait,
            PoolStatistics::reusedAfterWait,
            PoolStatistics::waits);

    private final IreeRuntime runtime;
    private final Timeline gate;
    private final List<Timeline> timelines = new ArrayList<>();
    private final long[] points = new long[PROGRAMS];
    private final List<Program> programs = new ArrayList<>();
    private final List<ProgramFunction> functions = new ArrayList<>();
    private final List<Tensor> inputs = new ArrayList<>();

    private Overlap(String driver, DeviceOptions.Builder options, @Nullable Path module) {
        runtime = IreeRuntime.builder()
                .device(driver, driver, options.queueCount(PROGRAMS).build())
                .build();
        gate = runtime.createTimeline();
        for (int i = 0; i < PROGRAMS; i++) {
            timelines.add(runtime.createTimeline());
            if (module != null) {
                Program program = runtime.load(module);
                programs.add(program);
                functions.add(program.function("outer"));
            }
        }
        if (module != null) {
            inputs.add(runtime.upload(Tensor.of(new float[ROWS * COLUMNS], ROWS, COLUMNS)));
            inputs.add(runtime.upload(Tensor.of(new float[ROWS], ROWS, 1)));
        }
    }

    /**
     * Measures.
     *
     * @param arguments name of the driver; rounds, 20 by default; the file of {@code outer} with fences for the driver,
     *     or {@code none}
     * @throws IOException when there is no such file
     */
    public static void main(String[] arguments) throws IOException {
        String driver = arguments.length > 0 ? arguments[0] : "local";
        int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 20;
        String name = arguments.length > 2 ? arguments[2] : "fixtures/modules/3.13.0/cpu-async/outer.vmfb";
        Path module = name.equals("none") ? null : Path.of(name).toRealPath();
        System.out.printf(
                "%s; %d rounds of %d invocations by two programs in turn; counts are per round%n%n",
                driver, rounds, INVOCATIONS);
        measure("operations of a queue", driver, rounds, null);
        if (module != null) {
            measure("compiled", driver, Math.max(1, rounds / 4), module);
        }
    }

    private static void measure(String what, String driver, int rounds, @Nullable Path module) {
        System.out.printf(
                "| %s | waits of the host | ms each: median (least to most) | fresh memory | reused without a wait | reused after a wait"
                        + " of the device | waits in line | most in slabs |%n|---|---|---|---|---|---|---|---|%n",
                what);
        DeviceOptions.Builder options = DeviceOptions.builder().memoryLimit(LIMIT);
        try (Overlap trimmed = new Overlap(driver, options, module);
                Overlap narrow = new Overlap(driver, options.memoryRetained(LIMIT), module);
                Overlap wide =
                        new Overlap(driver, options.memoryLimit(2 * LIMIT).memoryRetained(2 * LIMIT), module)) {
            List<Way> ways = List.of(
                    new Way("ahead", narrow, false, rounds),
                    new Way("waiting", narrow, true, rounds),
                    new Way("ahead, trimmed", trimmed, false, rounds),
                    new Way("waiting, trimmed", trimmed, true, rounds),
                    new Way("room", wide, false, rounds));
            for (int round = -WARM_UP; round < rounds; round++) {
                for (Way way : ways) {
                    way.round(module == null ? way.device::operations : way.device::call, round);
                }
            }
            ways.forEach(Way::show);
        }
        System.out.println();
    }

    private void invocations(Work work, boolean isWaiting) {
        try (Fence start = gate.at(gate.value() + 1)) {
            if (isWaiting) {
                start.signal();
            }
            for (int i = 0; i < INVOCATIONS; i++) {
                int program = i % PROGRAMS;
                long point = points[program]++;
                try (Fence before = timelines.get(program).at(Math.max(1, point));
                        Fence wait = Fence.join(start, point == 0 ? start : before);
                        Fence signal = timelines.get(program).at(point + 1)) {
                    work.submit(program, wait, signal);
                    if (isWaiting) {
                        signal.await();
                    }
                }
            }
            if (!isWaiting) {
                start.signal();
            }
        }
        for (int i = 0; i < PROGRAMS; i++) {
            timelines.get(i).await(points[i]);
        }
    }

    private void operations(int program, @Nullable Fence wait, Fence signal) {
        DeviceQueue queue = runtime.device().queue(program % runtime.device().queueCount());
        try (Timeline own = runtime.createTimeline();
                Fence allocated = own.at(1);
                Fence filled = own.at(2)) {
            Buffer buffer = queue.alloca(
                    wait, allocated, new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), BYTES, 0);
            queue.fill(allocated, filled, buffer, 0, FILLED, program, Integer.BYTES, 0);
            queue.dealloca(filled, signal, buffer, 0);
            buffer.release();
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the fence is waited for
    private void call(int program, @Nullable Fence wait, Fence signal) {
        functions
                .get(program)
                .call(CallOptions.DEFAULTS.after(wait).signal(signal), inputs.toArray())
                .thenAccept(Results::close);
    }

    private long[] counts() {
        List<PoolStatistics> pools =
                runtime.device().allocator().poolStatistics().pools();
        return COUNTS.stream()
                .mapToLong(count -> pools.stream().mapToLong(count).sum())
                .toArray();
    }

    @Override
    public void close() {
        programs.forEach(Program::close);
        timelines.forEach(Timeline::close);
        gate.close();
        inputs.forEach(Tensor::close);
        runtime.close();
    }
}
