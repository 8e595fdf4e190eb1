package io.github.iree4j.load;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.RuntimeBuilder;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.status.IreeException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Callers of a device for some time. Each caller has a separate program, since calls of the same program take turns,
 * and makes the next request after each answer. Without retries a failed call is counted and the caller goes on to the
 * next request; with retries the caller repeats the same request at once, until answered. A wrong result ends the
 * measurement.
 *
 * <p>A call takes 16,900 bytes of inputs and 64 times as much of memory in queue order, which is freed before the end
 * of the call.
 */
final class GoodputCell {
    private static final int ROWS = 65;
    private static final int COLUMNS = 64;
    private static final Tensor FACTORS = factors();
    /** Calls submitted by a caller with fences, each behind the call before. */
    private static final int CHAIN = 4;
    /** The unmeasured part of the time, at the start. */
    private static final double WARM_UP = 0.2;

    /** How callers call. */
    enum Way {
        /** {@code invoke}. */
        BLOCKING,
        /** {@code invokeAsync} and {@code join}. */
        ASYNC,
        /** Every second caller blocks. */
        MIXED,
        /**
         * {@code submit} between fences, of a function waiting for the function's work: chains, a chain for each
         * caller.
         */
        FENCES,
        /** The same of a function taking fences; memory is allocated behind the fences in queue order. */
        PIPELINES,
        /** The same, the last call of each chain submitted first. */
        BACKWARDS;

        private boolean takesFences() {
            return this == PIPELINES || this == BACKWARDS;
        }

        private Way of(int caller) {
            return this != MIXED ? this : caller % 2 == 0 ? BLOCKING : ASYNC;
        }
    }

    /**
     * The called device and modules.
     *
     * @param name of a driver
     * @param module file with waiting functions
     * @param fenced file with functions taking fences
     */
    record Device(String name, Path module, Path fenced) {
        private Program load(IreeRuntime runtime, Way way) {
            return runtime.load(way.takesFences() ? fenced : module);
        }

        private IreeRuntime open(long limit) {
            RuntimeBuilder builder = IreeRuntime.builder().device(name);
            return (limit == 0 ? builder : builder.memoryLimit(limit)).build();
        }

        /** The most bytes live during a single call. */
        long peak() {
            try (IreeRuntime runtime = open(0);
                    Program program = load(runtime, Way.BLOCKING)) {
                Caller caller = new Caller(runtime, program, Way.BLOCKING, false, new AtomicInteger());
                caller.call(1);
                return runtime.device().allocator().statistics().bytesPeak();
            }
        }
    }

    /**
     * The result of the calls.
     *
     * @param rate answers per second
     * @param failed failed calls, also before the measured part
     * @param least answers of the caller with the fewest answers
     * @param evenness the same as a part of the mean; 0 when there were no answers
     * @param longestNanos the longest time from a request to the answer or, without retries, the failure
     * @param live bytes after the end of all callers, with all called programs closed
     */
    record Outcome(double rate, long failed, long least, double evenness, long longestNanos, long live) {}

    private final Device device;
    private final Way way;
    private final boolean retries;
    private final int callers;
    private final long limit;

    /**
     * Callers of a device.
     *
     * @param budget of the device, as a multiple of the peak of a single call; 0 for no limit
     */
    GoodputCell(Device device, Way way, boolean retries, int callers, double budget) {
        this.device = device;
        this.way = way;
        this.retries = retries;
        this.callers = callers;
        this.limit = budget == 0 ? 0 : (long) (budget * device.peak());
    }

    /** Lets the callers call for some seconds. */
    Outcome run(double seconds) throws InterruptedException {
        AtomicInteger end = new AtomicInteger();
        List<Caller> all = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        try (IreeRuntime runtime = device.open(limit)) {
            List<Program> programs = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                Program program = device.load(runtime, way);
                programs.add(program);
                all.add(new Caller(runtime, program, way.of(i), retries, end));
            }
            for (Caller caller : all) {
                threads.add(Thread.ofPlatform().start(caller));
            }
            pause(seconds * WARM_UP);
            long[] before = answers(all);
            long start = System.nanoTime();
            pause(seconds);
            long[] gained = answers(all);
            double took = (System.nanoTime() - start) / 1e9;
            end.set(1);
            for (Thread thread : threads) {
                thread.join();
            }
            Arrays.setAll(gained, i -> gained[i] - before[i]);
            programs.forEach(Program::close);
            for (Caller caller : all) {
                caller.check();
            }
            long sum = Arrays.stream(gained).sum();
            long least = Arrays.stream(gained).min().orElse(0);
            return new Outcome(
                    sum / took,
                    all.stream().mapToLong(each -> each.failed).sum(),
                    least,
                    sum == 0 ? 0 : (double) least * callers / sum,
                    all.stream().mapToLong(each -> each.longest).max().orElse(0),
                    runtime.device().allocator().statistics().bytesLive());
        }
    }

    private static long[] answers(List<Caller> callers) {
        return callers.stream().mapToLong(each -> each.answers.get()).toArray();
    }

    private static void pause(double seconds) {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** A caller. Fields that are not atomic are read once the caller's thread has ended. */
    private static final class Caller implements Runnable {
        private final IreeRuntime runtime;
        private final ProgramFunction function;
        private final Way way;
        private final boolean retries;
        private final AtomicInteger end;
        private final AtomicLong answers = new AtomicLong();
        private long failed;
        private long longest;
        private @Nullable Throwable wrong;

        Caller(IreeRuntime runtime, Program program, Way way, boolean retries, AtomicInteger end) {
            this.runtime = runtime;
            this.function = program.function("outer");
            this.way = way;
            this.retries = retries;
            this.end = end;
        }

        @Override
        public void run() {
            try {
                for (int number = 1; end.get() == 0; number++) {
                    long start = System.nanoTime();
                    while (!call(number) && retries && end.get() == 0) {
                        // The same request again.
                    }
                    longest = Math.max(longest, System.nanoTime() - start);
                }
            } catch (RuntimeException | Error e) {
                wrong = e;
            }
        }

        void check() {
            if (wrong != null) {
                throw new IllegalStateException("a caller has failed", wrong);
            }
        }

        /** Makes a request; returns whether the whole request was answered. */
        boolean call(int number) {
            try (Tensor input = input(number)) {
                switch (way) {
                    case BLOCKING -> take(function.invoke(input, FACTORS), number);
                    case FENCES, PIPELINES, BACKWARDS -> {
                        return chain(input, number);
                    }
                    default -> take(function.invokeAsync(input, FACTORS).join(), number);
                }
                return true;
            } catch (IreeException | CompletionException e) {
                return failure(e);
            }
        }

        /** Submits a chain of calls. Each call with a result once the fence is reached is an answer. */
        private boolean chain(Tensor input, int number) {
            List<CompletableFuture<Results>> submitted = new ArrayList<>();
            boolean isAnswered = true;
            try (Timeline timeline = runtime.createTimeline()) {
                for (int i = 0; i < CHAIN; i++) {
                    long after = before(i);
                    try (Fence wait = after == 0 ? null : timeline.at(after);
                            Fence signal = timeline.at(after + 1)) {
                        submitted.add(
                                function.call(CallOptions.DEFAULTS.after(wait).signal(signal), input, FACTORS));
                    } catch (IreeException e) {
                        isAnswered = failure(e);
                        timeline.semaphore().fail(e); // other calls of the chain would wait for this value
                        break;
                    }
                }
                for (int i = 0; i < submitted.size(); i++) {
                    try (Results results = submitted.get(i).join()) {
                        timeline.await(before(i) + 1);
                        check(results, number);
                    } catch (IreeException | CompletionException e) {
                        isAnswered = failure(e);
                    }
                }
            }
            return isAnswered;
        }

        /** The value awaited by the call submitted at this place of a chain. */
        private long before(int index) {
            return way == Way.BACKWARDS ? CHAIN - 1 - index : index;
        }

        private boolean failure(RuntimeException e) {
            if (e instanceof CompletionException && !(e.getCause() instanceof IreeException)) {
                throw e;
            }
            failed++;
            return false;
        }

        private void take(Results results, int number) {
            try (results) {
                check(results, number);
            }
        }

        private void check(Results results, int number) {
            float[] sums = results.tensor(0).toFloatArray();
            float first = element(number) * element(number);
            if (sums.length != ROWS || sums[0] != first || sums[ROWS - 1] != 8 * first) {
                throw new IllegalStateException(
                        "request %d has %s for %s".formatted(number, Arrays.toString(sums), first));
            }
            answers.incrementAndGet();
        }

        private static float element(int number) {
            return 1 + number % 100;
        }

        /** A single element of the first row, two of the last, and zeros. */
        private static Tensor input(int number) {
            float[] values = new float[ROWS * COLUMNS];
            values[0] = element(number);
            values[values.length - 1] = element(number);
            values[values.length - 2] = element(number);
            return Tensor.of(values, ROWS, COLUMNS);
        }
    }
    /** 1 for each row, 2 for the last. */
    private static Tensor factors() {
        float[] values = new float[ROWS];
        Arrays.fill(values, 1);
        values[ROWS - 1] = 2;
        return Tensor.of(values, ROWS, 1);
    }
}
