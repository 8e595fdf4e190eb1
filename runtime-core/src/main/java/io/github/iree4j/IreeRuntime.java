package io.github.iree4j;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.Topology;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.vm.ContextOptions;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The entry point: opens devices and loads programs for these devices.
 *
 * <pre>{@code
 * try (IreeRuntime runtime = IreeRuntime.create();
 *         Program program = runtime.load(Path.of("add.vmfb"));
 *         Tensor a = Tensor.of(new float[] {1, 2, 3, 4});
 *         Results results = program.function("add").invoke(a, new float[] {10, 20, 30, 40})) {
 *     float[] sum = results.tensor(0).toFloatArray();
 * }
 * }</pre>
 *
 * <p>Any thread may use a runtime. Closing a runtime closes its programs: calls in progress are cancelled, later calls
 * fail with FAILED_PRECONDITION, and the devices are closed after the last call. Results outlive the runtime.
 */
public final class IreeRuntime implements AutoCloseable {
    private final RuntimeOptions options;
    private final NamedDevices devices;
    private final Topology topology;
    private final ProcessExecutor executor;
    private final Leaks leaks;
    private final ThreadDeadlines deadlines = new ThreadDeadlines();
    private final Leaks.Watch watch;
    private final Set<Program> programs = ConcurrentHashMap.newKeySet();
    private final Set<Program> parts = ConcurrentHashMap.newKeySet(); // programs that are part of another program
    private final OpenTimelines timelines = new OpenTimelines();
    private final CountDownLatch freed = new CountDownLatch(1);
    private volatile boolean isHurried; // frees on another thread, so that close(Duration) need not wait for freeing
    private final UseGuard guard = new UseGuard(() -> "runtime", this::free);

    private IreeRuntime(RuntimeOptions options) {
        this.options = options;
        this.leaks = new Leaks(options.traceLeaks());
        this.topology = options.tasks().resolve();
        this.executor = RuntimeWorkers.start(options.tasks(), topology);
        try {
            this.devices = Drivers.open(options.sources(), executor);
        } catch (RuntimeException | Error e) {
            executor.close();
            throw e;
        }
        this.watch = leaks.watch(this, "on " + options.devices());
    }

    /**
     * Opens the device {@code local} with default limits.
     *
     * @return the runtime; the caller closes the runtime
     * @throws IreeException UNAVAILABLE when the device is unavailable, with the reason
     */
    public static IreeRuntime create() {
        return create(RuntimeOptions.DEFAULTS);
    }

    /**
     * Opens the devices named by the options.
     *
     * @param options the options
     * @return the runtime; the caller closes the runtime
     * @throws IreeException NOT_FOUND for a device unknown to every driver, naming the drivers; UNAVAILABLE when a
     *     driver is unavailable, with the reason; INVALID_ARGUMENT for no device of this machine, or a topology smaller
     *     than the number of workers
     */
    public static IreeRuntime create(RuntimeOptions options) {
        return new IreeRuntime(options);
    }

    /**
     * Starts with the options of {@link RuntimeOptions#DEFAULTS}.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the installed drivers, whether or not the drivers work on this machine.
     *
     * @return the drivers found through the service loader, in no particular order
     */
    public static List<DriverProvider> drivers() {
        return Drivers.all();
    }

    /**
     * Sets the native library of this process, before the library's first use.
     *
     * @param path the library's file or directory
     * @throws IreeException FAILED_PRECONDITION when the library was searched already, under another name
     */
    public static void useNativeLibrary(Path path) {
        NativeLibrary.use(path.toString());
    }

    /**
     * Sets the directory for a copy of this process's native library when the library comes in a jar, before the
     * library's first use.
     *
     * @param directory created if missing; other users must not be able to write there
     * @throws IreeException FAILED_PRECONDITION when the library was copied already, with another directory
     */
    public static void copyNativeLibraryTo(Path directory) {
        NativeLibrary.copyTo(directory.toString());
    }

    /**
     * Returns why compiled CPU code and drivers cannot be called in this process.
     *
     * @return an exception with status UNAVAILABLE, a message with a remedy, and an {@link IllegalCallerException} as
     *     the cause when native access is not enabled; null when native code can be called
     */
    public static @Nullable IreeException nativeUnavailabilityCause() {
        return NativeLibrary.unavailabilityCause();
    }

    /**
     * Returns the versions of this runtime and of the supported programs.
     *
     * @return always the same versions
     */
    public static RuntimeVersions versions() {
        return RuntimeVersions.ofThis();
    }

    /**
     * Returns the options of this runtime.
     *
     * @return the options
     */
    public RuntimeOptions options() {
        return options;
    }

    /**
     * Returns the open devices: first the devices of this machine, in the order seen by programs, then devices of other
     * machines.
     *
     * @return borrowed, at least one device
     */
    public List<Device> devices() {
        return devices.open();
    }

    /**
     * Returns the device with a name. Opens a device of another machine unless the device is open and works, which may
     * block.
     *
     * @param name the device's name in the options, or the device's id
     * @return borrowed
     * @throws IreeException NOT_FOUND when there is no such device, naming the existing devices; or the reason why a
     *     device of another machine cannot be opened
     */
    public Device device(String name) {
        return devices.find(name);
    }

    /**
     * Returns the device with a name, if the device is open. Does not block.
     *
     * @param name the device's name in the options, or the device's id
     * @return borrowed, perhaps lost; empty when there is no such device
     */
    public Optional<Device> findDevice(String name) {
        return Optional.ofNullable(devices.ifOpen(name));
    }

    /**
     * Returns whether a device belongs to another machine: the result of {@link DriverProvider#isRemote} of the
     * device's driver.
     *
     * @param name the device's name in the options
     * @return false also when there is no such device
     */
    public boolean isRemote(String name) {
        return devices.isRemote(name);
    }

    /**
     * Reports devices to a listener: now the open devices, and later each device of another machine when opened, also
     * as a replacement of a lost device. A device opened during this call may be reported twice.
     *
     * @param listener called on the thread that opens the device; must not block
     */
    public void watchDevices(Consumer<? super Device> listener) {
        devices.watch(listener);
    }

    /**
     * Returns the name of a device.
     *
     * @param device a device from {@link #devices()}
     * @return the device's name in the options, also for a lost and replaced device; the id of a device of another
     *     runtime
     */
    public String nameOf(Device device) {
        return devices.nameOf(device);
    }

    /**
     * Returns the places of the workers: from the options, or else the places of this machine.
     *
     * @return the topology
     */
    public Topology topology() {
        return topology;
    }

    /**
     * Returns the workers, shared by devices and by asynchronous calls.
     *
     * @return borrowed; closed with the runtime, after the last call
     */
    public ProcessExecutor executor() {
        return executor;
    }

    /**
     * Returns the first device, where inputs are put.
     *
     * @return borrowed
     */
    public Device device() {
        return devices.own().getFirst();
    }

    /**
     * Loads a program of one module without parameters.
     *
     * @param module a {@code .vmfb}
     * @return the program; the caller closes the program
     * @throws IreeException as {@link #load(ProgramOptions)}
     */
    public Program load(Path module) {
        return load(ProgramOptions.builder().module(module).build());
    }

    /**
     * Loads a program and runs the program's initialisers.
     *
     * @param program modules and parameters
     * @return the program; the caller closes the program
     * @throws IreeException NOT_FOUND for a missing file, module or parameter; INCOMPATIBLE for a version, an import or
     *     an executable format not supported by this runtime, naming the requirement and the available choices;
     *     INVALID_ARGUMENT and others for a damaged file; FAILED_PRECONDITION when the runtime is closed
     */
    public Program load(ProgramOptions program) {
        List<Device> seen = devices.select(program.devices());
        ProgramLoader loader = loader(seen);
        List<Program.Part> parts = new ArrayList<>();
        try {
            for (VariantOptions variants : program.variants()) {
                for (VariantOptions.Module module : variants.modules()) {
                    ProgramOptions part = program.part(module.source());
                    parts.add(new Program.Part(
                            variants.function(), module.sizes(), open(seen, () -> loader.load(part), List.of())));
                }
            }
            return open(seen, () -> loader.load(program), parts);
        } catch (RuntimeException | Error e) {
            parts.forEach(part -> part.program().close());
            throw e;
        }
    }

    private ProgramLoader loader(List<Device> seen) {
        return new ProgramLoader(seen, options.context(), leaks(), guard::isClosed);
    }

    /** Loads another program from the modules of a given program; the caller holds a use of the given program. */
    Program loadAgain(List<Device> seen, ProgramLoader.Loaded given, List<Program.Part> others) {
        List<Program.Part> parts = new ArrayList<>();
        try {
            others.forEach(part -> parts.add(new Program.Part(
                    part.function(), part.sizes(), part.program().newInstance())));
            return open(seen, () -> given.again(options.context(), guard::isClosed), parts);
        } catch (RuntimeException | Error e) {
            parts.forEach(part -> part.program().close());
            throw e;
        }
    }

    private Program open(List<Device> seen, Supplier<ProgramLoader.Loaded> load, List<Program.Part> parts) {
        guard.enter(); // until the program is freed
        Program loaded;
        try {
            ProgramLoader.Loaded given = load.get();
            try {
                loaded = new Program(this, seen, given, parts);
            } catch (RuntimeException | Error e) {
                given.close();
                throw e;
            }
        } catch (InternalError e) {
            guard.exit();
            throw FileFault.of("program", e);
        } catch (RuntimeException | Error e) {
            guard.exit();
            throw e;
        }
        parts.forEach(part -> this.parts.add(part.program()));
        programs.add(loaded);
        if (guard.isClosed()) { // close() may have missed the program
            loaded.close();
        }
        return loaded;
    }

    /**
     * Returns the programs loaded now. Further modules with variants of a program's functions count as part of this
     * program.
     *
     * @return a snapshot
     */
    public List<Program> programs() {
        return programs.stream().filter(program -> !parts.contains(program)).toList();
    }

    /**
     * Copies a tensor to the device, so that later calls need no copy.
     *
     * @param tensor the tensor; stays the caller's
     * @return the tensor on the device; the caller closes the tensor
     */
    public Tensor upload(Tensor tensor) {
        guard.enter();
        try {
            tensor.elements().enter();
            try {
                DeviceMemory memory = new DeviceMemory(device());
                return Tensor.adopt(memory.upload(tensor.elements()), memory, leaks);
            } finally {
                tensor.elements().exit();
            }
        } finally {
            guard.exit();
        }
    }

    /**
     * Creates a tensor over memory of the application, without a copy, or fails. ({@link Tensor#wrap} instead copies at
     * each call if the device cannot use the memory in place.) Later writes to the memory are visible to the program. A
     * read-only segment, such as a mapped file, serves inputs only read by the program.
     *
     * @param segment native memory, aligned to 64 bytes, that cannot be closed while a device uses the memory: of
     *     {@code Arena.ofAuto()}, {@code Arena.global()} or a direct buffer. Kept reachable until the tensor is closed
     *     and the last use has ended
     * @param type element type
     * @param shape the shape; none for a scalar
     * @return the tensor over the first bytes of the segment; the caller closes the tensor
     * @throws IreeException INVALID_ARGUMENT for memory that cannot be used in place, naming the obstacle and a remedy:
     *     on the Java heap, badly aligned, of an arena that can be closed, or too short; UNIMPLEMENTED when the device
     *     cannot reach host memory; FAILED_PRECONDITION when the runtime is closed
     */
    public Tensor importMemory(MemorySegment segment, ElementType type, long... shape) {
        guard.enter();
        try (Tensor wrapped = Tensor.wrap(segment, type, shape)) {
            DeviceMemory memory = new DeviceMemory(device());
            return Tensor.adopt(memory.importInPlace(wrapped.elements()), memory, leaks);
        } finally {
            guard.exit();
        }
    }

    /**
     * Creates a timeline at 0. Invocations wait for and signal points of the timeline, see
     * {@link ProgramFunction#submit}. The timeline belongs to the process: programs of several runtimes may share the
     * timeline, and the timeline outlives the runtime. The history is as long as the history of the first device's
     * semaphores.
     *
     * @return the timeline; the caller closes the timeline
     * @throws IreeException FAILED_PRECONDITION when the runtime is closed
     */
    public Timeline createTimeline() {
        return createTimeline("");
    }

    /**
     * Creates a timeline, as {@link #createTimeline()} does, with a name for diagnostics.
     *
     * @param name the name in reports, for example {@code tts}
     * @return the timeline; the caller closes the timeline
     * @throws IreeException FAILED_PRECONDITION when the runtime is closed
     */
    public Timeline createTimeline(String name) {
        guard.enter();
        try {
            int history = options.sources().getFirst().options().semaphoreHistory();
            return timelines.create(name, history);
        } finally {
            guard.exit();
        }
    }

    /**
     * Returns the timelines created here that are open and still reachable.
     *
     * @return a snapshot, by {@link io.github.iree4j.async.TimelineSemaphore#id()}
     */
    public List<Timeline> timelines() {
        return timelines.list();
    }

    /**
     * Returns the objects that are open now, and counts of objects dropped without being closed. Also works for a
     * closed runtime, where results may be open.
     *
     * @return a snapshot; clean when everything was closed
     */
    public LeakReport leakReport() {
        return new LeakReport(
                leaks.openTensors(),
                programs.size(),
                devices.bytesLive(),
                leaks.forgotten(),
                Leaks.forgottenInProcess(),
                leaks.sites(),
                leaks.open());
    }

    /**
     * Returns the number of results dropped without being closed, as far as the garbage collector has noticed.
     *
     * @return 0 in a correct application
     */
    public long forgottenResults() {
        return leaks.forgotten();
    }

    /**
     * Returns the number of open tensors with device memory.
     *
     * @return the number, including tensors dropped without being closed
     */
    public long openResults() {
        return leaks.openTensors();
    }

    /** Deadlines of synchronous calls. */
    ThreadDeadlines deadlines() {
        return deadlines;
    }

    Leaks leaks() {
        return leaks;
    }

    void freed(Program program) {
        programs.remove(program);
        parts.remove(program);
        devices.closeReplaced(
                device -> programs.stream().anyMatch(each -> each.devices().contains(device)));
        guard.exit();
    }

    /**
     * Closes all programs, as {@link Program#close()} does, and the devices when the last program is freed. To let calls finish,
     * {@linkplain Program#retire retire} the programs first, and wait. Idempotent.
     */
    @Override
    public void close() {
        Duration limit = options.closeLimit();
        if (limit != null) {
            close(limit);
            return;
        }
        if (guard.close()) {
            watch.closed();
        }
        List<Program> open = List.copyOf(programs);
        open.forEach(Program::giveUp); // all programs first: calls of one program may wait for another program
        open.forEach(Program::close);
    }

    /**
     * Closes the runtime, as {@link #close()} does, and returns within the given time. Resources occupied by code of a
     * device until then are freed when the code returns. For applications that must stop in time.
     *
     * @param limit maximum total time to wait
     * @return whether everything is freed
     */
    public boolean close(Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        isHurried = true;
        if (guard.close()) {
            watch.closed();
        }
        List<Program> open = List.copyOf(programs);
        open.forEach(Program::giveUp);
        open.forEach(program -> program.awaitEnd(deadline));
        try {
            return freed.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void free() {
        if (isHurried || executor.isWorkerThread()) {
            CallThreads.start("iree4j-close", this::freeHere); // a worker cannot wait for the end of workers
        } else {
            freeHere();
        }
    }

    private void freeHere() {
        try {
            devices.close();
            executor.close();
        } finally {
            freed.countDown();
        }
    }

    @Override
    public String toString() {
        return "runtime on " + options.devices() + (guard.isClosed() ? " (closed)" : "");
    }

    /** Builds a runtime. Not thread-safe. */
    public static final class Builder {
        private final List<DeviceSource> devices = new ArrayList<>();
        private final Set<DeviceSource> plain = new HashSet<>(); // devices subject to the limits of this builder
        private ContextOptions context = RuntimeOptions.DEFAULTS.context();
        private boolean traceLeaks;
        private long memoryLimit;
        private final Map<String, Long> memoryQuotas = new HashMap<>();
        private int workers;
        private @Nullable Topology topology;
        private boolean affinity;
        private @Nullable Duration closeLimit;

        private Builder() {}

        /**
         * Adds a device; without any device, {@code local} is opened.
         *
         * @param name a driver's name or {@code driver://id}
         * @return this builder
         */
        public Builder device(String name) {
            DeviceSource source = DeviceSource.of(name);
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
        public Builder device(String name, String uri, DeviceOptions deviceOptions) {
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
         * @param limits limits of each program
         * @return this builder
         */
        public Builder context(ContextOptions limits) {
            context = limits;
            return this;
        }

        /**
         * Sets whether to record where results are created.
         *
         * @param trace true to find the place where an unclosed result was created
         * @return this builder
         */
        public Builder traceLeaks(boolean trace) {
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
        public Builder memoryLimit(long bytes) {
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
        public Builder memoryQuota(String program, long bytes) {
            memoryQuotas.put(program, bytes);
            return this;
        }

        /**
         * Sets the number of workers running compiled CPU code and asynchronous calls.
         *
         * @param count 1 to {@value ProcessExecutor#MAX_WORKERS}; 0, the default, for a worker on each core that the
         *     process may use
         * @return this builder
         */
        public Builder taskWorkers(int count) {
            workers = count;
            return this;
        }

        /**
         * Sets the topology of the workers.
         *
         * @param places a group for each worker, and no fewer groups than workers
         * @return this builder
         */
        public Builder topology(Topology places) {
            topology = places;
            return this;
        }

        /**
         * Sets whether each worker stays on the processors of its group of the topology.
         *
         * @param bind true to pin workers; pays on a dedicated machine, harms on a shared machine
         * @return this builder
         */
        public Builder taskAffinity(boolean bind) {
            affinity = bind;
            return this;
        }

        /**
         * Sets the maximum total duration of {@link IreeRuntime#close()}, for applications that must stop in time.
         *
         * @param limit work that has not ended by then ends by itself, and is freed then
         * @return this builder
         */
        public Builder closeLimit(Duration limit) {
            closeLimit = limit;
            return this;
        }

        /**
         * Returns the options of the workers set so far.
         *
         * @return the options
         * @throws IreeException INVALID_ARGUMENT when the options are inconsistent, naming the conflict
         */
        public TaskOptions tasks() {
            return new TaskOptions(workers, topology, affinity);
        }

        /**
         * Opens the devices.
         *
         * @return the runtime; the caller closes the runtime
         * @throws IreeException as {@link IreeRuntime#create(RuntimeOptions)}
         */
        public IreeRuntime build() {
            if (devices.isEmpty()) {
                device("local");
            }
            List<DeviceSource> sources = devices.stream()
                    .map(source -> plain.contains(source) ? limited(source) : source)
                    .toList();
            return create(new RuntimeOptions(sources, context, traceLeaks, tasks(), closeLimit));
        }

        private DeviceSource limited(DeviceSource source) {
            DeviceOptions.Builder limits = source.options().toBuilder().memoryLimit(memoryLimit);
            memoryQuotas.forEach(limits::memoryQuota);
            return new DeviceSource(source.name(), source.uri(), limits.build());
        }
    }
}
