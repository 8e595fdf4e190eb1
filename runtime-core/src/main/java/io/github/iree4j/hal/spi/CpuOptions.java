package io.github.iree4j.hal.spi;

import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.ProcessExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Options of the CPU's device.
 *
 * @param workers threads for compiled code, 1 to 64; 0 for a thread for each core available to the process; unused with
 *     an executor
 * @param executor the executor whose workers run the work, borrowed: close the executor after the device; null for an
 *     executor of the device, or of the runtime opening the device
 * @param inlineNanos longest likely duration of work allowed on any submitting thread, in nanoseconds, when nothing is
 *     waiting. Unless 0, a thread waiting for its call also runs work of the call if workers would not end the work
 *     earlier; 0 is for event loops
 * @param loaders loaders of executables to try before the loaders of the service loader
 * @param sharers number of devices, this device included, dividing the default memory limit evenly; unused with a
 *     {@code memoryLimit}. A runtime sets the number of its devices
 */
public record CpuOptions(
        int workers, @Nullable ProcessExecutor executor, long inlineNanos, List<ExecutableLoader> loaders, int sharers)
        implements DriverOptions {

    /** Less than the time to wake a worker. */
    private static final long DEFAULT_INLINE_NANOS = 5_000;

    /** A worker for each core, small work on the submitting thread, the loaders of the service loader. */
    public static final CpuOptions DEFAULT = new CpuOptions(0, null, DEFAULT_INLINE_NANOS, List.of(), 1);

    /** Checks and copies. */
    public CpuOptions {
        DeviceOptions.check("workers", workers, 0, 64);
        DeviceOptions.check("inlineNanos", inlineNanos, 0, 1_000_000_000);
        DeviceOptions.check("sharers", sharers, 1, Integer.MAX_VALUE);
        loaders = List.copyOf(loaders);
    }

    /**
     * Returns options with another number of threads for compiled code.
     *
     * @param count 1 to 64; 0 for a thread for each core available to the process
     * @return the options
     * @throws IreeException INVALID_ARGUMENT when out of range
     */
    public CpuOptions withWorkers(int count) {
        return new CpuOptions(count, executor, inlineNanos, loaders, sharers);
    }

    /**
     * Returns options for sharing an executor's workers, so that the devices of a process do not compete for
     * processors.
     *
     * @param shared the executor, not closed by the device
     * @return the options
     */
    public CpuOptions withExecutor(@Nullable ProcessExecutor shared) {
        return new CpuOptions(workers, shared, inlineNanos, loaders, sharers);
    }

    /**
     * Returns options for a device sharing the default memory limit with other devices.
     *
     * @param devices number of sharing devices, at least 1
     * @return the options
     * @throws IreeException INVALID_ARGUMENT when out of range
     */
    public CpuOptions withSharers(int devices) {
        return new CpuOptions(workers, executor, inlineNanos, loaders, devices);
    }

    /**
     * Returns options with another bound on work allowed on any submitting thread, when nothing is waiting.
     *
     * @param longest the longest likely duration of such work, up to a second; zero for none, also on threads waiting
     *     for their calls; else microseconds: longer work is better done by workers
     * @return the options
     * @throws IreeException INVALID_ARGUMENT when out of range
     */
    public CpuOptions withInlineWork(Duration longest) {
        DeviceOptions.check("inlineWork", longest); // before toNanos(), which overflows
        return new CpuOptions(workers, executor, longest.toNanos(), loaders, sharers);
    }

    /**
     * Returns options with another loader to try before the loaders of the service loader.
     *
     * @param loader the loader
     * @return the options
     */
    public CpuOptions withLoader(ExecutableLoader loader) {
        List<ExecutableLoader> all = new ArrayList<>(loaders);
        all.add(loader);
        return new CpuOptions(workers, executor, inlineNanos, all, sharers);
    }
}
