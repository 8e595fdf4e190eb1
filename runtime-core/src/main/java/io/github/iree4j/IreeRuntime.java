package io.github.iree4j;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.monitor.RuntimeMonitor;
import io.github.iree4j.monitor.Workers;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.Topology;
import io.github.iree4j.tensor.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

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
    private final ProcessExecutor executor;
    private final Leaks leaks;
    private final ThreadDeadlines deadlines = new ThreadDeadlines();
    private final Leaks.Watch watch;
    private final Set<Program> programs = ConcurrentHashMap.newKeySet();
    private final Set<Program> parts = ConcurrentHashMap.newKeySet(); // programs that are part of another program
    private final OpenTimelines timelines = new OpenTimelines();
    private final RuntimeMonitor monitor;
    private final CountDownLatch freed = new CountDownLatch(1);
    private volatile boolean isHurried; // frees on another thread, so that close(Duration) need not wait for freeing
    private final UseGuard guard = UseGuard.of(() -> "runtime", this::free);

    IreeRuntime(RuntimeOptions options) {
        this.options = options;
        this.leaks = new Leaks(options.traceLeaks());
        Topology topology = options.tasks().resolve();
        this.executor = RuntimeWorkers.start(options.tasks(), topology);
        try {
            this.devices = Drivers.open(options.sources(), executor);
        } catch (RuntimeException | Error e) {
            executor.close();
            throw e;
        }
        Workers workers = new Workers(executor, topology, options.tasks().affinity());
        this.monitor = new MonitoredRuntime(devices, workers, timelines, leaks, programs::size);
        this.watch = leaks.watch(this, "on " + options.devices());
    }

    /**
     * Opens the device {@code local} with default limits.
     *
     * @return the runtime; the caller closes the runtime
     * @throws IreeException UNAVAILABLE when the device is unavailable, with the reason
     */
    public static IreeRuntime create() {
        return builder().build();
    }

    /**
     * Starts with the device {@code local} and default limits.
     *
     * @return a builder
     */
    public static RuntimeBuilder builder() {
        return new RuntimeBuilder();
    }

    /**
     * Returns what operators see: open objects, timelines, names of devices, and workers.
     *
     * @return always the same object
     */
    public RuntimeMonitor monitor() {
        return monitor;
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
     * @param name the device's name in the builder, or the device's id
     * @return borrowed
     * @throws IreeException NOT_FOUND when there is no such device, naming the existing devices; or the reason why a
     *     device of another machine cannot be opened
     */
    public Device device(String name) {
        return devices.require(name);
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
     * {@link ProgramFunction#call}. The timeline belongs to the process: programs of several runtimes may share the
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
     * Creates a fence to be reached by the application, with {@link Fence#signal}, or failed: for an event outside the
     * runtime that calls wait for. The fence has a separate timeline, and depends on no other fence.
     *
     * @param name the name of the event in reports, for example {@code upload-finished}
     * @return the fence; the caller closes the fence after the signal, or to cancel waiters that are still there
     * @throws IreeException FAILED_PRECONDITION when the runtime is closed
     */
    public Fence createFence(String name) {
        try (Timeline timeline = createTimeline(name)) {
            return timeline.at(1);
        }
    }

    /** The workers. */
    ProcessExecutor executor() {
        return executor;
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
}
