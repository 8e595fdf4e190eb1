package io.github.iree4j.hal.spi;

import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.ProcessExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Options of the CPU's device. Immutable: each method with a parameter returns changed options. */
public final class CpuOptions implements DriverOptions {

    /** Less than the time to wake a worker. */
    private static final Duration DEFAULT_INLINE_WORK = Duration.ofNanos(5_000);

    private static final Duration LONGEST_INLINE_WORK = Duration.ofSeconds(1);

    /** A worker for each core, small work on the submitting thread, the loaders of the service loader. */
    public static final CpuOptions DEFAULTS = new CpuOptions(0, null, DEFAULT_INLINE_WORK, List.of(), 1);

    private final int workers;
    private final @Nullable ProcessExecutor executor;
    private final Duration inlineWork;
    private final List<ExecutableLoader> loaders;
    private final int sharers;

    private CpuOptions(
            int workers,
            @Nullable ProcessExecutor executor,
            Duration inlineWork,
            List<ExecutableLoader> loaders,
            int sharers) {
        DeviceOptions.check("workers", workers, 0, 64);
        DeviceOptions.check("inlineWork", inlineWork, LONGEST_INLINE_WORK);
        DeviceOptions.check("sharers", sharers, 1, Integer.MAX_VALUE);
        this.workers = workers;
        this.executor = executor;
        this.inlineWork = inlineWork;
        this.loaders = loaders;
        this.sharers = sharers;
    }

    /**
     * Returns these options with another number of threads for compiled code; unused with an executor.
     *
     * @param count 1 to 64; 0 for a thread for each core available to the process
     * @return the options
     * @throws IreeException INVALID_ARGUMENT when out of range
     */
    public CpuOptions workers(int count) {
        return new CpuOptions(count, executor, inlineWork, loaders, sharers);
    }

    /**
     * Returns these options for sharing an executor's workers, so that the devices of a process do not compete for
     * processors.
     *
     * @param shared the executor, not closed by the device: close the executor after the device
     * @return the options
     */
    public CpuOptions executor(ProcessExecutor shared) {
        return new CpuOptions(workers, shared, inlineWork, loaders, sharers);
    }

    /**
     * Returns these options with another bound on work allowed on any submitting thread, when nothing is waiting.
     *
     * @param longest the longest likely duration of such work, up to a second: microseconds, since longer work is better
     *     done by workers. Unless zero, a thread waiting for its call also runs work of the call if workers would not
     *     end the work earlier; zero is for event loops
     * @return the options
     * @throws IreeException INVALID_ARGUMENT when out of range
     */
    public CpuOptions inlineWork(Duration longest) {
        return new CpuOptions(workers, executor, longest, loaders, sharers);
    }

    /**
     * Returns these options with another loader of executables to try before the loaders of the service loader.
     *
     * @param loader the loader
     * @return the options
     */
    public CpuOptions loader(ExecutableLoader loader) {
        List<ExecutableLoader> all = new ArrayList<>(loaders);
        all.add(loader);
        return new CpuOptions(workers, executor, inlineWork, List.copyOf(all), sharers);
    }

    /**
     * Returns these options for a device sharing the default memory limit with other devices; unused with a
     * {@linkplain DeviceOptions#memoryLimit limit}. A runtime sets the number of its devices.
     *
     * @param devices number of devices dividing the default limit evenly, this device included, at least 1
     * @return the options
     * @throws IreeException INVALID_ARGUMENT when out of range
     */
    public CpuOptions sharers(int devices) {
        return new CpuOptions(workers, executor, inlineWork, loaders, devices);
    }

    /**
     * Returns the number of threads for compiled code.
     *
     * @return 1 to 64; 0 for a thread for each core available to the process
     */
    public int workers() {
        return workers;
    }

    /**
     * Returns the executor whose workers run the work.
     *
     * @return null for an executor of the device, or of the runtime opening the device
     */
    public @Nullable ProcessExecutor executor() {
        return executor;
    }

    /**
     * Returns the longest likely duration of work allowed on any submitting thread.
     *
     * @return zero for no such work, up to a second
     */
    public Duration inlineWork() {
        return inlineWork;
    }

    /**
     * Returns the loaders of executables to try before the loaders of the service loader.
     *
     * @return in the order of trying
     */
    public List<ExecutableLoader> loaders() {
        return loaders;
    }

    /**
     * Returns the number of devices dividing the default memory limit evenly.
     *
     * @return at least 1, this device included
     */
    public int sharers() {
        return sharers;
    }
}
