package io.github.iree4j;

import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.Topology;
import io.github.iree4j.vm.ContextOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Builds a runtime, see {@link IreeRuntime#builder()}. Not thread-safe. */
public final class RuntimeBuilder {
    private final List<DeviceSource> devices = new ArrayList<>();
    private final Set<DeviceSource> plain = new HashSet<>(); // devices subject to the limits of this builder
    private ContextOptions context = ContextOptions.DEFAULTS;
    private boolean traceLeaks;
    private long memoryLimit;
    private final Map<String, Long> memoryQuotas = new HashMap<>();
    private int workers;
    private @Nullable Topology topology;
    private boolean affinity;
    private @Nullable Duration closeLimit;

    RuntimeBuilder() {}

    /**
     * Adds a device; without any device, {@code local} is opened.
     *
     * @param uri a driver's name or {@code driver://id}
     * @return this builder
     */
    public RuntimeBuilder device(String uri) {
        DeviceSource source = DeviceSource.of(uri);
        plain.add(source);
        devices.add(source);
        return this;
    }

    /**
     * Adds a device with separate options, not subject to the limits of this builder.
     *
     * @param name the device's name
     * @param uri a driver's name or {@code driver://id}
     * @param deviceOptions the device's options
     * @return this builder
     */
    public RuntimeBuilder device(String name, String uri, DeviceOptions deviceOptions) {
        devices.add(new DeviceSource(name, uri, deviceOptions));
        return this;
    }

    /**
     * Returns the devices added so far.
     *
     * @return a copy; empty when {@code local} will be opened
     */
    public List<DeviceSource> devices() {
        return List.copyOf(devices);
    }

    /**
     * Sets the limits of programs.
     *
     * @param limits limits of each program, {@link ContextOptions#DEFAULTS} by default
     * @return this builder
     */
    public RuntimeBuilder programLimits(ContextOptions limits) {
        context = limits;
        return this;
    }

    /**
     * Sets whether to record where results are created.
     *
     * @param trace true to find the place where an unclosed result was created
     * @return this builder
     */
    public RuntimeBuilder traceLeaks(boolean trace) {
        traceLeaks = trace;
        return this;
    }

    /**
     * Sets the memory limit of each device without separate options. Work exceeding the limit waits until memory is
     * freed; a request that could never fit fails at once.
     *
     * @param bytes the limit, at least 0; 0, the default, for the device's memory
     * @return this builder
     */
    public RuntimeBuilder memoryLimit(long bytes) {
        memoryLimit = bytes;
        return this;
    }

    /**
     * Sets the quota of one program on each device without separate options. At the quota the program's work waits
     * until the program itself has freed memory.
     *
     * @param program the name of the program's last module, for a file without {@code .vmfb}
     * @param bytes the quota, at least 0
     * @return this builder
     */
    public RuntimeBuilder memoryQuota(String program, long bytes) {
        memoryQuotas.put(program, bytes);
        return this;
    }

    /**
     * Sets the number of workers running compiled CPU code and asynchronous calls.
     *
     * @param count 1 to {@value ProcessExecutor#MAX_WORKERS}; 0, the default, for a worker on each core that the
     *     process may use
     * @return this builder
     * @throws IreeException INVALID_ARGUMENT when the count is out of range, or larger than the topology set before
     */
    public RuntimeBuilder taskWorkers(int count) {
        workers = new TaskOptions(count, topology, affinity).workers(); // checks the count
        return this;
    }

    /**
     * Sets the topology of the workers.
     *
     * @param places a group for each worker, and no fewer groups than workers
     * @return this builder
     */
    public RuntimeBuilder topology(Topology places) {
        topology = places;
        return this;
    }

    /**
     * Sets whether each worker stays on the processors of its group of the topology.
     *
     * @param bind true to pin workers; pays on a dedicated machine, harms on a shared machine
     * @return this builder
     */
    public RuntimeBuilder taskAffinity(boolean bind) {
        affinity = bind;
        return this;
    }

    /**
     * Sets the maximum total duration of {@link IreeRuntime#close()}, for applications that must stop in time.
     *
     * @param limit work that has not ended by then ends by itself, and is freed then
     * @return this builder
     */
    public RuntimeBuilder closeTimeout(Duration limit) {
        closeLimit = limit;
        return this;
    }

    /**
     * Opens the devices.
     *
     * @return the runtime; the caller closes the runtime
     * @throws IreeException NOT_FOUND for a device unknown to every driver, naming the drivers; UNAVAILABLE when a
     *     driver is unavailable, with the reason; INVALID_ARGUMENT for two devices with one name, no device of this
     *     machine, or a topology smaller than the number of workers
     */
    public IreeRuntime build() {
        if (devices.isEmpty()) {
            device("local");
        }
        List<DeviceSource> sources = devices.stream()
                .map(source -> plain.contains(source) ? limited(source) : source)
                .toList();
        TaskOptions tasks = new TaskOptions(workers, topology, affinity);
        return new IreeRuntime(new RuntimeOptions(sources, context, traceLeaks, tasks, closeLimit));
    }

    private DeviceSource limited(DeviceSource source) {
        DeviceOptions.Builder limits = source.options().toBuilder().memoryLimit(memoryLimit);
        memoryQuotas.forEach(limits::memoryQuota);
        return new DeviceSource(source.name(), source.uri(), limits.build());
    }
}
