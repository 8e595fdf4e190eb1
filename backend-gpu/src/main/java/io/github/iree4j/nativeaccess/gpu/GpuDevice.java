package io.github.iree4j.nativeaccess.gpu;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.nativeaccess.NativeScratch;
import io.github.iree4j.status.DeviceLost;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open device of CUDA or HIP. Safe from any thread. The device's objects are numbers: each object is used and
 * released by its creator, and the creator holds a reference to the device until then. A lost device stays lost, and
 * each call needing the device throws ABORTED; releasing still works.
 */
public final class GpuDevice extends Resource {
    /** The kinds of objects with counted live instances, in the order of the counts. */
    public static final List<String> KINDS = List.of(
            "STREAMS", "EVENTS", "MEMORY", "HOST_MEMORY", "REGISTRATIONS", "MODULES", "GRAPHS", "COMMUNICATORS");

    private static final int LOG_BYTES = 8192;

    private static final Logger LOG = LoggerFactory.getLogger(GpuDevice.class);

    /** Memory not taken back by the driver. */
    private record Refused(long address, boolean managed) {}

    private final NativeScratch.Pool scratch;
    private final Queue<Refused> refused = new ConcurrentLinkedQueue<>();
    private final GpuApi api;
    private final GpuProperties properties;
    private final long handle;
    private volatile boolean wasLost;
    private volatile long[] lastCounts = new long[0];

    /** Takes ownership of the native device and of a reference to the library. */
    GpuDevice(GpuApi api, GpuProperties properties, long handle) {
        this.api = api;
        this.properties = properties;
        this.scratch = new NativeScratch.Pool(
                status -> status == StatusCode.ABORTED.number() ? new DeviceLost(properties.name()) : null);
        this.handle = handle;
    }

    /** Returns the address of the native device, while this is open, for calls naming the device. */
    public long address() {
        return handle;
    }

    /** Returns the library, borrowed. */
    public GpuApi api() {
        return api;
    }

    /** Returns the properties of the device. */
    public GpuProperties properties() {
        return properties;
    }

    /** Returns whether a call found the device lost: permanently true afterwards. */
    public boolean isLost() {
        if (!tryRetain()) {
            return wasLost;
        }
        try {
            return GpuShim.deviceIsLost(handle) != 0;
        } finally {
            release();
        }
    }

    /** Returns the cause of the loss: ABORTED with the driver's message; null while the device is not lost, or once closed. */
    public @Nullable IreeException loss() {
        if (!tryRetain()) {
            return null;
        }
        try {
            if (GpuShim.deviceIsLost(handle) != 0) {
                scratch.number(
                        // no commands: the call only reports the cause
                        (out, error) -> GpuShim.run(handle, 0, 0, 0, error));
            }
            return null;
        } catch (IreeException e) {
            return e;
        } finally {
            release();
        }
    }

    /** Returns the number of live objects of each kind, in the order of {@link #KINDS}; the last counts once the device is closed. */
    public long[] liveObjects() {
        if (!tryRetain()) {
            return lastCounts.clone();
        }
        try {
            return readCounts();
        } finally {
            release();
        }
    }

    private long[] readCounts() {
        return scratch.read(
                (out, error) -> {
                    GpuShim.deviceLiveObjects(handle, out);
                    return 0;
                },
                out -> out.asSlice(0, KINDS.size() * (long) Long.BYTES).toArray(ValueLayout.JAVA_LONG));
    }

    // ---- Memory.

    /**
     * Allocates memory of the device.
     *
     * @param size bytes
     * @param managed whether the host also uses the memory, at the same address
     * @return the memory's address, for {@link #freeMemory}
     * @throws IreeException RESOURCE_EXHAUSTED when memory is exhausted
     */
    public long allocateMemory(long size, boolean managed) {
        freeRefused();
        return scratch.number((out, error) -> GpuShim.memoryAllocate(handle, size, managed ? 1 : 0, out, error));
    }

    /**
     * Returns the memory taken by no process at the moment.
     *
     * @return bytes; negative where the library cannot tell
     */
    public long availableMemory() {
        return scratch.number((out, error) -> GpuShim.memoryAvailable(handle, out, error));
    }

    /**
     * Frees memory returned by {@link #allocateMemory}. Memory refused by the driver stays live, and is offered to the
     * driver again before the next allocation and when the device is closed.
     *
     * @param address the memory's address
     * @param managed as at the allocation
     */
    public void freeMemory(long address, boolean managed) {
        free(new Refused(address, managed), true);
    }

    private boolean free(Refused memory, boolean first) {
        try {
            scratch.number((out, error) -> GpuShim.memoryFree(handle, memory.address, memory.managed ? 1 : 0, error));
            return true;
        } catch (IreeException e) {
            refused.add(memory);
            if (first) {
                LOG.warn(
                        "device '{}' keeps memory that it will be offered again: {}",
                        properties.name(),
                        e.getMessage());
            }
            return false;
        }
    }

    private void freeRefused() {
        for (Refused next; (next = refused.poll()) != null && free(next, false); ) {
            // until the driver refuses memory again
        }
    }

    /**
     * Checks that bytes belong to a single allocation of the driver.
     *
     * @throws IreeException NOT_FOUND without an allocation there; INVALID_ARGUMENT for a smaller allocation
     */
    public void checkMemory(long address, long size) {
        scratch.number((out, error) -> GpuShim.memoryCheck(handle, address, size, error));
    }

    /** Lets this device use memory of another open device of the library; throws UNIMPLEMENTED when the hardware cannot. */
    public void reach(GpuDevice other) {
        scratch.number((out, error) -> GpuShim.deviceReach(handle, other.handle, error));
    }

    /**
     * Memory of the host for use by the device.
     *
     * @param host the memory's address for the host
     * @param address the memory's address for code of the device
     */
    public record HostMemory(long host, long address) {}

    /** Allocates pinned memory of the host, for {@link #freeHostMemory}; throws RESOURCE_EXHAUSTED when there is no more. */
    public HostMemory allocateHostMemory(long size) {
        return scratch.read(
                (out, error) -> GpuShim.hostAllocate(handle, size, out, error),
                out -> new HostMemory(out.get(ValueLayout.JAVA_LONG, 0), out.get(ValueLayout.JAVA_LONG, Long.BYTES)));
    }

    /** Frees memory returned by {@link #allocateHostMemory}, by the address for the host. */
    public void freeHostMemory(long host) {
        GpuShim.hostFree(handle, host);
    }

    /**
     * Lets the device use memory of the host, until {@link #unregisterHostMemory}.
     *
     * @param host first byte
     * @param size bytes
     * @param readOnly whether the device only reads the memory, as required for pages mapped read-only
     * @return the memory's address for code of the device
     * @throws IreeException ALREADY_EXISTS when a page is registered; INVALID_ARGUMENT when the driver does not
     *     register such pages: some pages are read-only but the memory is to be written, or the driver has no read-only
     *     registration, or the pages belong to a file; or if the driver refuses the memory
     */
    public long registerHostMemory(long host, long size, boolean readOnly) {
        return scratch.number((out, error) -> GpuShim.hostRegister(handle, host, size, readOnly ? 1 : 0, out, error));
    }

    /** Ends {@link #registerHostMemory}. */
    public void unregisterHostMemory(long host) {
        GpuShim.hostUnregister(handle, host);
    }

    // ---- Code.

    /**
     * Loads a module.
     *
     * @param image native memory: PTX text with a zero byte at its end, or an image for the device
     * @return the module, for {@link #unloadModule}
     * @throws IreeException INCOMPATIBLE or INVALID_ARGUMENT with the output of the driver's compiler
     */
    public long loadModule(MemorySegment image) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment log = arena.allocate(LOG_BYTES);
            try {
                return scratch.number((out, error) ->
                        GpuShim.moduleLoad(handle, image.address(), log.address(), LOG_BYTES, out, error));
            } catch (IreeException e) {
                String text = log.getString(0).strip();
                throw text.isEmpty()
                        ? e
                        : IreeException.of(e.code(), e.getMessage() + "; the driver's compiler reports: " + text);
            }
        } finally {
            Reference.reachabilityFence(image);
        }
    }

    /**
     * Compiles PTX.
     *
     * @param text native memory: PTX with a zero byte at its end
     * @return an image for this device
     * @throws IreeException UNIMPLEMENTED where the driver does not compile; or the driver's reason for a refusal
     */
    public byte[] compile(MemorySegment text) {
        long[] linked = scratch.read(
                (out, error) -> GpuShim.link(handle, text.address(), text.byteSize(), out, error),
                out -> out.asSlice(0, 3L * Long.BYTES).toArray(ValueLayout.JAVA_LONG)); // handle, address, bytes
        try {
            return NativeLibrary.memory(linked[1], linked[2], Arena.global()).toArray(ValueLayout.JAVA_BYTE);
        } finally {
            GpuShim.linkRelease(handle, linked[0]);
            Reference.reachabilityFence(text);
        }
    }

    /** Unloads a module of {@link #loadModule}. No work runs the module's code. */
    public void unloadModule(long module) {
        GpuShim.moduleUnload(handle, module);
    }

    /**
     * A function of a module, valid as long as the module.
     *
     * @param handle for commands
     * @param maxThreads threads of a workgroup at most
     * @param sharedBytes shared memory declared by the function
     * @param parameters the number of parameters of a launch, or -1 where the driver does not report the number
     * @param largestParameter bytes of the largest parameter
     */
    public record Function(long handle, int maxThreads, int sharedBytes, int parameters, int largestParameter) {}

    /**
     * Finds a function of a module.
     *
     * @param dynamicSharedBytes shared memory of each workgroup besides the declared shared memory
     * @throws IreeException NOT_FOUND; or if the device has less shared memory
     */
    public Function function(long module, String name, int dynamicSharedBytes) {
        try (Arena arena = Arena.ofConfined()) {
            long text = arena.allocateFrom(name, StandardCharsets.UTF_8).address();
            return scratch.read(
                    (out, error) -> GpuShim.moduleFunction(handle, module, text, dynamicSharedBytes, out, error),
                    out -> new Function(
                            out.get(ValueLayout.JAVA_LONG, 0),
                            out.get(ValueLayout.JAVA_INT, Long.BYTES),
                            out.get(ValueLayout.JAVA_INT, Long.BYTES + Integer.BYTES),
                            out.get(ValueLayout.JAVA_INT, Long.BYTES + 2 * Integer.BYTES),
                            out.get(ValueLayout.JAVA_INT, Long.BYTES + 3 * Integer.BYTES)));
        }
    }

    // ---- Streams, events, commands.

    /** Creates a stream, for {@link #releaseStream}. */
    public long createStream() {
        return scratch.number((out, error) -> GpuShim.streamCreate(handle, out, error));
    }

    /** Releases a stream. The stream's work has ended, or the device is lost. */
    public void releaseStream(long stream) {
        GpuShim.streamRelease(handle, stream);
    }

    /** Creates an event, for {@link #releaseEvent}. */
    public long createEvent() {
        return scratch.number((out, error) -> GpuShim.eventCreate(handle, out, error));
    }

    /** Releases an event. */
    public void releaseEvent(long event) {
        GpuShim.eventRelease(handle, event);
    }

    /**
     * Waits until everything before the last record of an event has ended.
     *
     * @param spinNanos the time of polling before the thread sleeps
     * @throws IreeException ABORTED when the device is lost
     */
    public void awaitEvent(long event, long spinNanos) {
        scratch.number((out, error) -> GpuShim.eventWait(handle, event, spinNanos, error));
    }

    /** Returns whether everything before the last record of an event has ended; throws ABORTED when the device is lost. */
    public boolean isComplete(long event) {
        return scratch.number((out, error) -> GpuShim.eventQuery(handle, event, out, error)) != 0;
    }

    /**
     * Submits commands to a stream. Blocks while the stream is full.
     *
     * @param words native memory with commands as in {@link GpuWords}
     * @throws IreeException if the driver refuses a command; the commands before were submitted
     */
    public void run(long stream, MemorySegment words) {
        try {
            scratch.number(
                    (out, error) -> GpuShim.run(handle, stream, words.address(), words.byteSize() / Long.BYTES, error));
        } finally {
            Reference.reachabilityFence(words);
        }
    }

    /**
     * Makes a graph of commands.
     *
     * @param branches native memory with a stream and an event in turn, in use by no other call; the number of pairs
     *     limits the commands of a region running at once
     * @param words native memory with commands as in {@link GpuWords}, without waits and records
     * @param graph a graph of the same commands with other parameters, updated to these commands; 0 for a new graph
     * @return the graph, for {@link #releaseGraph}
     * @throws IreeException UNIMPLEMENTED where the driver has no graphs; FAILED_PRECONDITION when the graph cannot be
     *     updated
     */
    public long makeGraph(MemorySegment branches, MemorySegment words, long graph) {
        NativeScratch call = scratch.take();
        try {
            call.memory.set(ValueLayout.JAVA_LONG, 0, graph);
            call.check(GpuShim.graphMake(
                    handle,
                    branches.address(),
                    branches.byteSize() / (2 * Long.BYTES),
                    words.address(),
                    words.byteSize() / Long.BYTES,
                    call.memory.address(),
                    call.error.address()));
            return call.memory.get(ValueLayout.JAVA_LONG, 0);
        } finally {
            Reference.reachabilityFence(branches);
            Reference.reachabilityFence(words);
            scratch.give(call);
        }
    }

    /** Releases a graph of {@link #makeGraph}. No work runs the graph. */
    public void releaseGraph(long graph) {
        GpuShim.graphRelease(handle, graph);
    }

    @Override
    protected void destroy() {
        freeRefused();
        wasLost = GpuShim.deviceIsLost(handle) != 0;
        lastCounts = readCounts();
        GpuShim.deviceRelease(handle);
        api.release();
    }

    @Override
    protected String describe() {
        return "device '" + properties.name() + "'";
    }
}
