package io.github.iree4j.nativeaccess.gpu;

import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.nativeaccess.NativeScratch;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * NCCL's library, or RCCL's. Communicators are numbers: each communicator is used and ended by its creator, and the
 * creator holds a reference to the device until then. Nothing waits for other participants. Safe from any thread; calls
 * are made one at a time.
 */
public final class GpuCollectives {
    /** Characters of an id. */
    public static final int ID_LENGTH = 128;

    /** Words of a call: {@code shim_gpu_collective_t}. */
    public static final int CALL_WORDS = 9;

    private final NativeScratch.Pool scratch = new NativeScratch.Pool();
    private final long handle; // stays: the library is never unloaded

    private GpuCollectives(long handle) {
        this.handle = handle;
    }

    /**
     * Opens a library.
     *
     * @param kind the kind of the devices
     * @param library file or name; null for the library named by the property or the environment variable ({@code
     *     iree.nccl.library} or {@code IREE4J_LIBNCCL}, {@code iree.rccl.library} or {@code IREE4J_LIBRCCL}), or else
     *     the usual library
     * @throws IreeException UNAVAILABLE when there is no such library, naming the library, or when a symbol is missing,
     *     naming the symbol
     */
    public static GpuCollectives open(GpuKind kind, @Nullable String library) {
        NativeLibrary.bind(GpuShim.class);
        return new GpuCollectives(GpuApi.open(
                library != null ? library : kind.collectivesLibrary(),
                (name, error) -> GpuShim.commOpen(kind.ordinal(), name, error)));
    }

    private synchronized long make(NativeScratch.Call method) {
        return scratch.number(method);
    }

    /** Makes a call for the participant of a device. ABORTED may be another participant's failure. */
    private long make(GpuDevice device, NativeScratch.Call method) {
        try {
            return make(method);
        } catch (IreeException e) {
            throw device.isLost() ? DeviceLostException.by(device.properties().name(), e) : e;
        }
    }

    /** Makes an id for a group, of {@link #ID_LENGTH} characters below 256; throws if the library refuses. */
    public synchronized String createId() {
        byte[] id = scratch.read(
                (out, error) -> GpuShim.commUniqueId(handle, out, error),
                out -> out.asSlice(0, ID_LENGTH).toArray(ValueLayout.JAVA_BYTE));
        return new String(id, StandardCharsets.ISO_8859_1);
    }

    /**
     * Begins to join a group.
     *
     * @param device the device of the participant
     * @param id from {@link #createId}
     * @param rank the participant's rank
     * @param count the number of participants
     * @return the communicator, for {@link #end}
     * @throws IreeException if the library refuses
     */
    public long join(GpuDevice device, String id, int rank, int count) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes =
                    arena.allocate(ID_LENGTH).copyFrom(MemorySegment.ofArray(id.getBytes(StandardCharsets.ISO_8859_1)));
            return make(
                    device,
                    (out, error) ->
                            GpuShim.commJoin(handle, device.address(), bytes.address(), rank, count, out, error));
        }
    }

    /**
     * Returns whether the library still works on the last call for a communicator of a device; throws if this call, or
     * something since, has failed.
     */
    public boolean isPending(GpuDevice device, long comm) {
        return make(device, (out, error) -> GpuShim.commState(handle, device.address(), comm, out, error)) != 0;
    }

    /** Begins to leave; throws if the library refuses. */
    public void leave(GpuDevice device, long comm) {
        make(device, (out, error) -> GpuShim.commFinalize(handle, device.address(), comm, error));
    }

    /** Frees a communicator that has left; or any communicator, to abort: the communicator's work ends without result. */
    public synchronized void end(GpuDevice device, long comm, boolean aborts) {
        GpuShim.commEnd(handle, device.address(), comm, aborts ? 1 : 0);
    }

    /**
     * Submits collectives to their streams in a single group call. Later work is submitted once {@link #isPending} is
     * false for all.
     *
     * @param words calls, each of {@link #CALL_WORDS}: device, communicator, stream, root | operation, reduction |
     *     type, elements, address of the source, of the target, bytes of a part of an all-to-all; "a | b" is a in the
     *     upper and b in the lower half of a word
     * @throws IreeException if the library refuses a call; other calls may have been submitted
     */
    public void run(long[] words) {
        try (Arena arena = Arena.ofConfined()) {
            long calls = arena.allocateFrom(ValueLayout.JAVA_LONG, words).address();
            make((out, error) -> GpuShim.commRun(handle, calls, words.length / CALL_WORDS, error));
        }
    }
}
