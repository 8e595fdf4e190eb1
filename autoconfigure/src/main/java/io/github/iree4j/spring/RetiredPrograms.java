package io.github.iree4j.spring;

import io.github.iree4j.Program;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.monitor.ProgramMonitor;
import io.github.iree4j.status.DurationText;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The remains of unloaded or replaced programs: sources, and the time limit of calls still in flight. Thread-safe. */
final class RetiredPrograms {

    private static final Logger log = LoggerFactory.getLogger(RetiredPrograms.class);

    /** Maximum number of cancelled calls listed in the log. */
    private static final int LISTED = 10;

    private final Map<Program, ProgramSource> sources = Collections.synchronizedMap(new WeakHashMap<>());
    private final Function<Duration, Executor> after;
    private volatile @Nullable Duration limit;

    RetiredPrograms() {
        this(delay -> CompletableFuture.delayedExecutor(
                delay.toNanos(),
                TimeUnit.NANOSECONDS,
                action -> Thread.ofVirtual().name("iree4j-retired").start(action)));
    }

    /** Creates an empty set; {@code after} runs tasks after a delay, on threads that may block. */
    RetiredPrograms(Function<Duration, Executor> after) {
        this.after = after;
    }

    void limit(@Nullable Duration time) {
        limit = time;
    }

    /** Records the source of a program, before the program serves calls. */
    void remember(LoadedProgram loaded) {
        loaded.instances().forEach(instance -> sources.put(instance, loaded.source()));
    }

    String nameOf(Program program) {
        ProgramSource source = sources.get(program);
        return source == null ? program.name() : source.name();
    }

    /** Returns whether a program is, or was until unloaded or replaced, a version of a program of the registry. */
    boolean isOf(Program program, String name, String version) {
        ProgramSource source = sources.get(program);
        return source != null && source.name().equals(name) && source.version().equals(version);
    }

    /** Ends the remaining calls of a retired program after the limit. */
    void end(LoadedProgram before) {
        Duration time = limit;
        if (time != null && before.activeCalls() > 0) {
            after.apply(time).execute(() -> close(before, time));
        }
    }

    private static void close(LoadedProgram before, Duration time) {
        int left = before.activeCalls();
        if (left > 0) {
            log.warn(
                    "program {} was unloaded or replaced {} ago: its {} calls in flight are cancelled, see iree.invocation.drain-timeout: {}",
                    before.source().describe(),
                    DurationText.of(time),
                    left,
                    before.instances().stream()
                            .flatMap(instance -> instance.monitor().pendingCalls(LISTED).stream())
                            .map(RetiredPrograms::describe)
                            .collect(Collectors.joining(", ")));
            before.instances().forEach(RetiredPrograms::close);
        }
    }

    /** Cancels the calls one by one, with the text that callers get after a cancellation by an operator, and closes the program. */
    private static void close(Program program) {
        ProgramMonitor calls = program.monitor();
        calls.pendingCalls(Integer.MAX_VALUE).forEach(call -> calls.cancelCall(call.id()));
        program.close();
    }

    private static String describe(PendingCall call) {
        return "call %d of '%s', %s for %s"
                .formatted(call.id(), call.function(), call.state(), DurationText.rounded(call.unchanged()));
    }
}
