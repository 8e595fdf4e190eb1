package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.AwaitedDevice;
import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.task.AsyncTaskExecutor;

/**
 * Loads programs in the background of application startup, and shuts down gracefully: rejects new calls, drains calls
 * in flight, and cancels calls exceeding the timeout. Starts before the web server and stops after the web server.
 */
final class IreeLifecycle implements SmartLifecycle {

    /**
     * Below the phases of the web server and of the web server's graceful shutdown, at these offsets from the default
     * phase.
     */
    static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 1024 - 2048;

    private static final Logger log = LoggerFactory.getLogger(IreeLifecycle.class);
    private static final long LOOK_NANOS = 2_000_000;

    private final IreeRuntime runtime;
    private final Programs programs;
    private final InvocationService invocations;
    private final IreeEvents events;
    private final AsyncTaskExecutor executor;
    private final List<String> background;
    private final StopTimes times;
    private final LateCalls late;
    private volatile boolean running;
    private volatile boolean stopping; // loads are ended

    /**
     * Creates the lifecycle.
     *
     * @param executor runs tasks that may block
     * @param background names of programs to load in the background
     * @param times maximum durations of the parts of stopping
     */
    IreeLifecycle(
            IreeRuntime runtime,
            Programs programs,
            InvocationService invocations,
            IreeEvents events,
            AsyncTaskExecutor executor,
            List<String> background,
            StopTimes times) {
        this.runtime = runtime;
        this.programs = programs;
        this.invocations = invocations;
        this.events = events;
        this.executor = executor;
        this.background = background;
        this.times = times;
        this.late = new LateCalls(invocations, executor, times);
    }

    @Override
    public void start() {
        running = true;
        stopping = false;
        programs.acceptCalls();
        for (String name : background) {
            for (ProgramStatus status : programs.versions(name)) {
                executor.execute(() -> load(name, status.source().version()));
            }
        }
    }

    private void load(String name, String version) {
        try {
            programs.require(name, version);
        } catch (IreeException e) {
            if (stopping) {
                log.debug("{}", e.getMessage()); // the load has a line in the log
            } else if (e.detail(AwaitedDevice.class).isPresent()) {
                log.warn(
                        "program '{}' waits for a device, and the application is not ready until then: {}",
                        name,
                        e.getMessage());
            } else {
                log.error("program '{}' could not be loaded; the application remains not ready", name, e);
            }
        }
    }

    private void endLoads() {
        stopping = true; // first: ended loads fail
        programs.endLoads();
    }

    /**
     * Begins to limit calls, and ends loads: the application begins to stop, earlier than this lifecycle. Servers would
     * wait for requests that wait for loads, and a load helps nobody any more.
     *
     * @param overdue runs if servers then wait too long for requests
     */
    void limitCalls(Runnable overdue) {
        late.begin(overdue);
        endLoads();
    }

    @Override
    public void stop() {
        drain();
    }

    @Override
    public void stop(Runnable callback) {
        executor.execute(() -> {
            try {
                drain();
            } finally {
                callback.run();
            }
        });
    }

    private void drain() {
        running = false;
        programs.refuseCalls();
        endLoads(); // loads that began meanwhile, and all where nothing else reported the beginning of the end
        late.end();
        Duration draining = late.left(times.draining());
        int calls = programs.activeCalls();
        if (calls > 0) {
            log.info("waiting up to {} for {} calls in flight", DurationText.rounded(draining), calls);
            events.add("runtime.draining", "runtime", calls + " calls in flight");
        }
        if (awaitNoCalls(draining)) {
            return;
        }
        int cancelled = invocations.monitor().cancelCalls();
        if (!awaitNoCalls(late.left(times.draining().plus(times.cancelling())))) {
            closeDevices(); // fails operations waiting on the devices
            awaitNoCalls(times.cancelling());
        }
        int left = programs.activeCalls();
        log.warn(
                "cancelled {} calls that did not end within {}; {} remain",
                cancelled,
                DurationText.of(times.draining()),
                left);
        events.add("runtime.cancelled", "runtime", cancelled + " calls cancelled, " + left + " remain");
    }

    /** Closes devices on other threads: a device with a kernel that does not return takes longer to close than the time left. */
    private void closeDevices() {
        for (Device device : runtime.devices()) {
            executor.execute(() -> {
                try {
                    device.close();
                } catch (IreeException e) {
                    log.warn(
                            "device '{}' is not closed: {}",
                            runtime.monitor().devices().nameOf(device),
                            e.getMessage());
                }
            });
        }
    }

    private boolean awaitNoCalls(Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (programs.activeCalls() > 0) {
            if (System.nanoTime() - deadline > 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(this, LOOK_NANOS);
        }
        return true;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
