package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * NCCL's library, or RCCL's. Its communicators are numbers: each is used and ended by who made it, who holds a reference to its device
 * meanwhile. Nothing waits for other participants. Safe from any thread; one call is made at a time.
 */
public final class GpuCollectives {
    /** Characters of an id. */
    public static final int ID_LENGTH = 128;

    /** Words of a call: {@code shim_gpu_collective_t}. */
    private static final int CALL_WORDS = 9;

    private final NativeScratch.Pool scratch = new NativeScratch.Pool();
    private final long handle; // stays: the library is never unloaded

    private GpuCollectives(long handle) {
        this.handle = handle;
    }

    /**
     * Opens a library.
     *
     * @param kind for whose devices
     * @param library file or name; null for what the property or the environment variable names ({@code iree.nccl.library} or
     *     {@code IREE4J_LIBNCCL}, {@code iree.rccl.library} or {@code IREE4J_LIBRCCL}), or else the usual one
     * @return the library
     * @throws IreeException UNAVAILABLE when there is no such library, naming it, or it lacks a symbol, naming that
     */
    public static GpuCollectives open(GpuKind kind, @Nullable String library) {
        NativeLibrary.ensureAvailable();
        String name = library != null ? library : kind.collectivesLibrary();
        NativeError error = new NativeError();
        try (Arena arena = Arena.ofConfined()) {
            long text = name == null || name.isBlank()
                    ? 0
                    : arena.allocateFrom(name, StandardCharsets.UTF_8).address();
            long handle = GpuShim.commOpen(kind.ordinal(), text, error.address());
            if (handle == 0) {
                throw error.toException();
            }
            return new GpuCollectives(handle);
        }
    }

    /** A native method with an output and an error. */
    private interface Call {
        int make(long out, long error);
    }

    private synchronized long make(Call method) {
        NativeScratch call = scratch.take();
        try {
            call.memory.set(ValueLayout.JAVA_LONG, 0, 0);
            call.check(method.make(call.memory.address(), call.error.address()));
            return call.memory.get(ValueLayout.JAVA_LONG, 0);
        } finally {
            scratch.give(call);
        }
    }

    /**
     * Makes an id for a group.
     *
     * @return {@link #ID_LENGTH} characters below 256
     * @throws IreeException if the library refuses
     */
    public synchronized String createId() {
        NativeScratch call = scratch.take();
        try {
            call.check(GpuShim.commUniqueId(handle, call.memory.address(), call.error.address()));
            byte[] id = call.memory.asSlice(0, ID_LENGTH).toArray(ValueLayout.JAVA_BYTE);
            return new String(id, StandardCharsets.ISO_8859_1);
        } finally {
            scratch.give(call);
        }
    }

    /**
     * Begins to join a group.
     *
     * @param device the device of the participant
     * @param id from {@link #createId}
     * @param rank its rank
     * @param count how many there are
     * @return the communicator, for {@link #end}
     * @throws IreeException if the library refuses
     */
    public long join(GpuDevice device, String id, int rank, int count) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes =
                    arena.allocate(ID_LENGTH).copyFrom(MemorySegment.ofArray(id.getBytes(StandardCharsets.ISO_8859_1)));
            return make((out, error) ->
                    GpuShim.commJoin(handle, device.handle(), bytes.address(), rank, count, out, error));
        }
    }

    /**
     * Begins to split a group.
     *
     * @param device of the communicator
     * @param comm a communicator
     * @param color -1 for no part
     * @param key orders the ranks
     * @return another communicator, for {@link #end}; 0 for no part
     * @throws IreeException UNIMPLEMENTED where the library cannot; if it refuses
     */
    public long split(GpuDevice device, long comm, int color, int key) {
        return make((out, error) -> GpuShim.commSplit(handle, device.handle(), comm, color, key, out, error));
    }

    /**
     * Returns whether the library still works on what was begun last.
     *
     * @param device of the communicator
     * @param comm a communicator
     * @return false when that is over
     * @throws IreeException if that, or something since, has failed
     */
    public boolean isPending(GpuDevice device, long comm) {
        return make((out, error) -> GpuShim.commState(handle, device.handle(), comm, out, error)) != 0;
    }

    /**
     * Returns the place in the group, once it has been joined.
     *
     * @param device of the communicator
     * @param comm a communicator
     * @return the rank in the lower half, the count in the upper
     * @throws IreeException if the library refuses
     */
    public long place(GpuDevice device, long comm) {
        return make((out, error) -> GpuShim.commPlace(handle, device.handle(), comm, out, error));
    }

    /**
     * Begins to leave.
     *
     * @param device of the communicator
     * @param comm a communicator
     * @throws IreeException if the library refuses
     */
    public void leave(GpuDevice device, long comm) {
        make((out, error) -> GpuShim.commFinalize(handle, device.handle(), comm, error));
    }

    /**
     * Frees a communicator.
     *
     * @param device of the communicator
     * @param comm one that has left, or any to abort
     * @param aborts whether its work ends without result
     */
    public synchronized void end(GpuDevice device, long comm, boolean aborts) {
        GpuShim.commEnd(handle, device.handle(), comm, aborts ? 1 : 0);
    }

    /** Calls of a group call, in native memory. */
    public static final class Calls {
        private final MemorySegment words;
        private int count;

        /**
         * Creates a list.
         *
         * @param capacity how many calls it has at most
         */
        public Calls(int capacity) {
            words = Arena.ofAuto().allocate((long) CALL_WORDS * Long.BYTES * capacity, Long.BYTES);
        }

        /**
         * Adds a call.
         *
         * @param device of the communicator
         * @param comm who takes part
         * @param stream its stream
         * @param operation kind of collective
         * @param root rank of the root or the peer, or the count of an all-to-all
         * @param type of elements, as the library counts
         * @param reduction as the library counts
         * @param elements how many
         * @param source address of what is sent
         * @param target address of what is received
         * @param partBytes distance of the parts of an all-to-all
         */
        public void add(
                GpuDevice device,
                long comm,
                long stream,
                int operation,
                int root,
                int type,
                int reduction,
                long elements,
                long source,
                long target,
                long partBytes) {
            long[] call = {
                device.handle(),
                comm,
                stream,
                (long) root << Integer.SIZE | operation,
                (long) reduction << Integer.SIZE | type,
                elements,
                source,
                target,
                partBytes
            };
            MemorySegment.copy(
                    call, 0, words, ValueLayout.JAVA_LONG, (long) count++ * CALL_WORDS * Long.BYTES, CALL_WORDS);
        }
    }

    /**
     * Gives collectives to their streams in one group call. What comes behind them is given once {@link #isPending} is false for all.
     *
     * @param calls the calls
     * @throws IreeException if the library refuses one; others may have been given
     */
    public void run(Calls calls) {
        try {
            make((out, error) -> GpuShim.commRun(handle, calls.words.address(), calls.count, error));
        } finally {
            Reference.reachabilityFence(calls);
        }
    }
}
