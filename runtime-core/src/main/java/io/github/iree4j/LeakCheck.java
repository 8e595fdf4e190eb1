package io.github.iree4j;

import io.github.iree4j.monitor.LeakReport;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * Asserts that a test has closed all objects opened by the test.
 *
 * <pre>{@code
 * try (LeakCheck check = LeakCheck.around(runtime)) {
 *     service.classify(image);                 // whatever it leaves open fails the test
 * }
 *
 * runtime.close();
 * LeakCheck.assertNone(runtime);               // at the end: programs and buffers as well
 * }</pre>
 *
 * <p>Both checks examine open objects, not findings of the garbage collector, and are therefore deterministic.
 * Cancelled calls end by themselves; both checks wait up to 5 seconds for such calls. With
 * {@link RuntimeBuilder#traceLeaks} the message contains the place of creation of each object. For one thread;
 * objects opened by other threads during a check count.
 */
public final class LeakCheck implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final long PAUSE_NANOS = 1_000_000;

    private final IreeRuntime runtime;
    private final LeakReport before;
    private final long lastId;
    private final Duration patience;

    private LeakCheck(IreeRuntime runtime, Duration patience) {
        this.runtime = runtime;
        this.patience = patience;
        this.before = runtime.monitor().leaks();
        this.lastId = before.open().isEmpty() ? 0 : before.open().getLast().id();
    }

    /**
     * Starts a check; its {@link #close()} asserts that no more tensors and programs are open than now.
     *
     * @param runtime an open runtime; programs and tensors open now may stay open
     * @return the check
     */
    public static LeakCheck around(IreeRuntime runtime) {
        return around(runtime, PATIENCE);
    }

    static LeakCheck around(IreeRuntime runtime, Duration patience) {
        return new LeakCheck(runtime, patience);
    }

    /**
     * Asserts that nothing of a runtime is open: no tensor, no program, no byte of device memory, and that nothing was
     * dropped without being closed.
     *
     * @param runtime a runtime, usually closed
     * @throws AssertionError when an object is open, naming the object, and the place of creation if recorded
     */
    public static void assertNone(IreeRuntime runtime) {
        assertNone(runtime, PATIENCE);
    }

    static void assertNone(IreeRuntime runtime, Duration patience) {
        LeakReport report = settled(runtime, patience, LeakReport::isClean);
        if (!report.isClean()) {
            throw new AssertionError(
                    "%s leaks: %d tensors and %d programs are open, %d bytes of device memory are in use, %d tensors were dropped unclosed%s"
                            .formatted(
                                    runtime,
                                    report.openTensors(),
                                    report.openPrograms(),
                                    report.bytesLive(),
                                    report.forgottenTensors(),
                                    places(report, 0)));
        }
    }

    /**
     * Asserts that no more objects are open than at the start of the check.
     *
     * @throws AssertionError when more objects are open, naming the objects, and the places of creation if recorded
     */
    @Override
    public void close() {
        LeakReport after = settled(
                runtime,
                patience,
                now -> now.openTensors() <= before.openTensors() && now.openPrograms() <= before.openPrograms());
        long tensors = after.openTensors() - before.openTensors();
        long programs = after.openPrograms() - before.openPrograms();
        if (tensors > 0 || programs > 0) {
            throw new AssertionError("%s leaks: %d tensors and %d programs more are open than before%s"
                    .formatted(runtime, Math.max(0, tensors), Math.max(0, programs), places(after, lastId)));
        }
    }

    private static LeakReport settled(IreeRuntime runtime, Duration patience, Predicate<LeakReport> clean) {
        long deadline = System.nanoTime() + patience.toNanos();
        LeakReport report = runtime.monitor().leaks();
        while (!clean.test(report)
                && System.nanoTime() - deadline < 0
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(PAUSE_NANOS);
            report = runtime.monitor().leaks();
        }
        return report;
    }

    private static String places(LeakReport report, long after) {
        if (report.open().isEmpty()) {
            return "; open the runtime with traceLeaks(true) to see where they were created";
        }
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        for (LeakReport.Open open : report.open()) {
            if (open.id() > after) {
                out.printf("%n%s, created here:%n", open.what());
                if (open.createdAt() != null) {
                    open.createdAt().printStackTrace(out);
                }
            }
        }
        out.flush();
        return text.toString();
    }
}
