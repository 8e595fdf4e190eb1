package io.github.iree4j.spring.problems;

import io.github.iree4j.PendingCall;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.problems.ProblemFinder.ActiveCall;
import io.github.iree4j.status.Known;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

/**
 * Looks at regular times for work that does not advance. A problem that is found becomes one {@link ProblemEvent}, one
 * entry of the {@link IreeEvents}, and one line of the log, however long it lasts and whatever waits behind it. While
 * work is in flight, nothing at all has advanced for as long, and no program is known to serve new calls, the application refuses traffic;
 * a call that computes advances until its deadline. Thread-safe.
 */
public final class Watchdog implements SmartLifecycle, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Watchdog.class);

    private final ProblemFinder finder;
    private final Duration after;
    private final Duration interval;
    private final IreeEvents events;
    private final ApplicationEventPublisher publisher;
    private final SimpleAsyncTaskScheduler scheduler;
    private final LongSupplier clock;

    private volatile List<Problem> problems = List.of();
    private volatile boolean stalled;
    private volatile @Nullable ScheduledFuture<?> looking;
    private long found; // guarded by this, like the rest
    private long completed = -1;
    private Map<Long, PendingCall> before = new HashMap<>(); // calls of the previous look
    private long advanced;

    /**
     * Creates a watchdog.
     *
     * @param after how long work may stay as it is
     * @param interval the time between looks
     * @param scheduler runs the looks; closed with the watchdog
     * @param clock nanoseconds
     */
    public Watchdog(
            ProblemFinder finder,
            Duration after,
            Duration interval,
            IreeEvents events,
            ApplicationEventPublisher publisher,
            SimpleAsyncTaskScheduler scheduler,
            LongSupplier clock) {
        this.finder = finder;
        this.after = after;
        this.interval = interval;
        this.events = events;
        this.publisher = publisher;
        this.scheduler = scheduler;
        this.clock = clock;
        this.advanced = clock.getAsLong();
    }

    /** The problems of the last look. */
    public List<Problem> problems() {
        return problems;
    }

    /** How many problems were found so far. */
    public synchronized long found() {
        return found;
    }

    /** Whether work is in flight, nothing advances, and no program is known to serve new calls. */
    public boolean isStalled() {
        return stalled;
    }

    /** Looks once. */
    public synchronized void look() {
        List<Problem> earlier = problems;
        List<Problem> now = finder.find(after);
        problems = List.copyOf(now);
        for (Problem each : now) {
            if (earlier.stream().noneMatch(each::isSame)) {
                found++;
                tell(each);
            }
        }
        for (Problem each : earlier) {
            if (now.stream().noneMatch(each::isSame)) {
                over(each);
            }
        }
        lookForAdvance();
    }

    private void tell(Problem problem) {
        log.atWarn()
                .addKeyValue("iree.problem", problem.kind())
                .log(
                        "{}: {}; {}{}",
                        problem.kind(),
                        problem.summary(),
                        problem.remedy(),
                        problem.chain().isEmpty() ? "" : "; affected: " + String.join("; ", problem.chain()));
        events.add("problem." + problem.kind(), problem.subject(), problem.summary());
        publisher.publishEvent(new ProblemEvent(this, problem, false));
    }

    private void over(Problem problem) {
        log.info("{}: {} is over", problem.kind(), problem.subject());
        events.add("problem.over", problem.subject(), problem.kind());
        publisher.publishEvent(new ProblemEvent(this, problem, true));
    }

    private void lookForAdvance() {
        long now = clock.getAsLong();
        long done = finder.completed();
        List<ActiveCall> calls = finder.calls();
        Map<Long, PendingCall> states = new HashMap<>();
        calls.forEach(each -> states.put(each.call().id(), each.call()));
        boolean moved = calls.isEmpty()
                || done != completed
                || finder.computes(calls)
                || !states.keySet().containsAll(before.keySet()) // one has ended
                || before.values().stream().anyMatch(each -> hasMoved(each, states.get(each.id())));
        completed = done;
        before = states;
        if (moved) {
            advanced = now;
        }
        boolean still = !moved && now - advanced >= after.toNanos();
        // Unknown counts as no: clients find another instance, and whatever ends here brings this one back.
        Known serving = still ? finder.newCallsCanBeServed() : Known.YES;
        boolean stalls = serving != Known.YES;
        if (stalls != stalled) {
            stalled = stalls;
            String text = stalls
                    ? "nothing has advanced for %s, with %d calls in flight, and no program %s serve new ones"
                            .formatted(after, calls.size(), serving == Known.NO ? "can" : "is known to")
                    : moved ? "work advances again" : "new calls can be served again";
            events.add(stalls ? "runtime.stalled" : "runtime.advances", "runtime", text);
            log.atLevel(stalls ? Level.ERROR : Level.INFO).log(text);
            AvailabilityChangeEvent.publish(
                    publisher, this, stalls ? ReadinessState.REFUSING_TRAFFIC : ReadinessState.ACCEPTING_TRAFFIC);
        }
    }

    private static boolean hasMoved(PendingCall then, @Nullable PendingCall now) {
        return now == null || now.state() != then.state() || now.unchanged().compareTo(then.unchanged()) < 0;
    }

    @Override
    public void start() {
        looking = scheduler.scheduleWithFixedDelay(this::lookSafely, interval);
    }

    private void lookSafely() {
        try {
            look();
        } catch (RuntimeException e) {
            log.warn("could not look for work that does not advance", e);
        }
    }

    @Override
    public void stop() {
        ScheduledFuture<?> now = looking;
        looking = null;
        if (now != null) {
            now.cancel(false);
        }
        problems = new ArrayList<>(); // what is in flight ends now
    }

    /** Stops for good, and ends the thread that looks. */
    @Override
    public void close() {
        stop();
        scheduler.close();
    }

    @Override
    public boolean isRunning() {
        return looking != null;
    }

    /** Stops before calls are drained. */
    @Override
    public int getPhase() {
        return SmartLifecycle.DEFAULT_PHASE;
    }
}
