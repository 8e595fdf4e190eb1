package io.github.iree4j.tensor;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** Moves elements between tensors and one device. Safe from any thread. */
public final class DeviceMemory {
    /** What inputs are allocated as: any use by programs, and mapped by us to fill them. */
    private static final BufferParams INPUT = BufferParams.DEFAULT;

    /** What compiled code expects of its bindings, bytes. */
    static final int ALIGNMENT = 64;

    /** Scopes that nobody can close: of automatic arenas, of the global one, and of arrays and buffers. */
    private static final Set<Class<?>> UNCLOSEABLE = Set.copyOf(List.of(
            Arena.ofAuto().scope().getClass(),
            Arena.global().scope().getClass(),
            MemorySegment.ofArray(new byte[0]).scope().getClass()));

    /** Writes the elements of a tensor that is being made. */
    @FunctionalInterface
    public interface Filling {
        /**
         * Writes all elements.
         *
         * @param memory as many bytes as they take; only until this returns
         * @throws IOException when they cannot be read from where they come from
         */
        void fill(MemorySegment memory) throws IOException;
    }

    private final Device device;
    private final BufferParams input;
    private final List<AdmissionGate> gates;

    /** Memory that is accounted to no program. */
    public DeviceMemory(Device device) {
        this(device, "");
    }

    /** Memory that is accounted to a program. */
    public DeviceMemory(Device device, String consumer) {
        this.device = device;
        this.input = INPUT.withConsumer(consumer);
        this.gates = device.allocator().gates(consumer);
    }

    /**
     * Lets a call in, once what it needs fits. Blocks.
     *
     * @param givenUp whether the call is not going to run, so that it need not wait
     * @throws InterruptedException when the thread is interrupted while the call is outside
     */
    public void admit(long need, BooleanSupplier givenUp) throws InterruptedException {
        for (int i = 0; i < gates.size(); i++) {
            try {
                gates.get(i).enter(need, givenUp);
            } catch (InterruptedException e) {
                exit(i, need);
                throw e;
            }
        }
    }

    /** Has calls outside look whether they have been given up. */
    public void lookAtGates() {
        gates.forEach(AdmissionGate::look);
    }

    /** The call that was let in with that need is over. */
    public void exit(long need) {
        exit(gates.size(), need);
    }

    private void exit(int count, long need) {
        for (int i = count - 1; i >= 0; i--) {
            gates.get(i).exit(need);
        }
    }

    public Device device() {
        return device;
    }

    /**
     * Makes a view that the device can use: the tensor's own one if it has one, else over its memory where that is possible, else over a
     * copy.
     *
     * @return the view; the caller releases it
     */
    public BufferView upload(TensorElements elements) {
        BufferView own = elements.view();
        if (own != null) {
            own.retain();
            return own;
        }
        return elements.adopt(buffer(elements));
    }

    /**
     * Makes a view over a tensor's memory where it lies.
     *
     * @return the view; the caller releases it
     * @throws IreeException INVALID_ARGUMENT when that cannot be used in place, saying why and what helps
     */
    public BufferView importInPlace(TensorElements elements) {
        MemorySegment data = elements.host();
        if (data.isNative() && !UNCLOSEABLE.contains(data.scope().getClass())) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "memory of %s is of an arena that can be closed while a device uses it; allocate it with Arena.ofAuto() or Arena.global(), or copy it with Tensor.copyOf"
                            .formatted(elements.header()));
        }
        BufferParams params = data.isReadOnly() ? input.withAccess(MemoryAccess.READ) : input;
        return elements.adopt(device.allocator().importHost(params, data, new Lender(data)));
    }

    /**
     * Makes a view over memory of the device that the caller fills.
     *
     * @return the view; the caller releases it
     */
    public BufferView create(ElementType type, long[] shape, Filling contents) throws IOException {
        long size = ElementCodec.byteSize(type, shape);
        Buffer buffer = device.allocator().allocate(input, size);
        try {
            if (buffer.isMappable(MemoryAccess.WRITE)) {
                contents.fill(buffer.map(MemoryAccess.DISCARD_WRITE, 0, size));
            } else {
                try (Arena arena = Arena.ofShared()) { // the contents may come from threads of theirs
                    MemorySegment bytes = arena.allocate(size, ALIGNMENT);
                    contents.fill(bytes);
                    buffer.write(0, bytes);
                }
            }
            return BufferView.create(buffer, shape, type, BufferView.ENCODING_DENSE_ROW_MAJOR);
        } finally {
            buffer.release();
        }
    }

    private Buffer buffer(TensorElements elements) {
        MemorySegment data = elements.host();
        if (isImportable(data)) {
            try {
                return device.allocator().importHost(input, data, new Lender(data));
            } catch (IreeException e) {
                // A device with memory of its own, for one: copied instead, which says what is wrong if that cannot be
                // either.
                return device.allocator().allocate(input, data);
            }
        }
        return device.allocator().allocate(input, data);
    }

    /** Whether a device may use memory where it is: native, aligned, and out of reach of any {@code Arena.close()}. */
    public static boolean isImportable(MemorySegment data) {
        // There is no other way to ask than by the scope's class.
        return data.isNative()
                && !data.isReadOnly()
                && data.address() % ALIGNMENT == 0
                && UNCLOSEABLE.contains(data.scope().getClass());
    }

    /** Lets the caller look at the bytes of a view; through a copy when the host cannot map them. */
    public <T> T read(BufferView view, Function<MemorySegment, T> reader) {
        Buffer buffer = view.buffer();
        if (buffer.isMappable(MemoryAccess.READ)) {
            return reader.apply(buffer.map(MemoryAccess.READ, 0, view.byteLength()));
        }
        try (Arena arena = Arena.ofShared()) {
            MemorySegment bytes = arena.allocate(view.byteLength(), ALIGNMENT);
            buffer.read(0, bytes);
            return reader.apply(bytes);
        }
    }

    /** Keeps memory reachable that only the collector frees, for as long as a device uses it. */
    private record Lender(MemorySegment data) implements RefCounted {
        @Override
        public void retain() {
            // The buffer refers to this object, and this object to the memory: no count is needed.
        }

        @Override
        public void release() {
            // As above.
        }
    }
}
