package io.github.iree4j.tensor;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.copying.CopyingDevice;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Moves elements between tensors and one device. Safe from any thread. */
public final class DeviceMemory {
    /** Parameters of inputs: any use by programs, and mapped for filling. */
    private static final BufferParams INPUT = BufferParams.DEFAULT;

    /** Alignment of bindings expected by compiled code, in bytes. */
    static final int ALIGNMENT = 64;

    /** Scopes that cannot be closed: scopes of automatic arenas, of the global arena, and of arrays and buffers. */
    private static final Set<Class<?>> UNCLOSEABLE = Set.copyOf(List.of(
            Arena.ofAuto().scope().getClass(),
            Arena.global().scope().getClass(),
            MemorySegment.ofArray(new byte[0]).scope().getClass()));

    /** Writes the elements of a tensor being created. */
    @FunctionalInterface
    public interface Filling {
        /**
         * Writes all elements.
         *
         * @param memory exactly the bytes of the elements; valid until this method returns
         * @throws IOException when the elements cannot be read from their source
         */
        void fill(MemorySegment memory) throws IOException;
    }

    private final Device device;
    private final List<Device> users; // pass memory on to each other
    private final BufferParams input;
    private final @Nullable AdmissionGate gate;
    private final List<AdmissionGate> gates;

    /** Creates an instance with memory charged to no program. */
    public DeviceMemory(Device device) {
        this(device, "");
    }

    /** Creates an instance with memory charged to a program. */
    public DeviceMemory(Device device, String consumer) {
        this(List.of(device), consumer);
    }

    /**
     * Creates an instance for the first device of a program.
     *
     * @param users the devices of the program; memory of each device reaches the others by the program's own means
     */
    public DeviceMemory(List<Device> users, String consumer) {
        this.device = users.getFirst();
        this.users = List.copyOf(users);
        this.input = INPUT.withConsumer(consumer);
        this.gate = device.allocator().gate();
        this.gates = users.stream()
                .map(user -> user.allocator().gate())
                .filter(Objects::nonNull)
                .distinct()
                .sorted(AdmissionGate.ORDER)
                .toList();
    }

    /** Returns the program charged for the memory; empty for none. */
    public String consumer() {
        return input.consumer();
    }

    /** Returns the line for calls waiting before they hold memory of the device; null for a device without pools. */
    public @Nullable AdmissionGate gate() {
        return gate;
    }

    /** Returns the lines of all users with pools, in the order of requests by a call. */
    public List<AdmissionGate> gates() {
        return gates;
    }

    /** Returns the bytes that an {@link #upload} of a tensor will reserve; where in doubt, the bytes that may be reserved. */
    public long reservedBy(TensorElements elements) {
        boolean stays =
                elements.view() != null ? !isApart(elements) : device.isMemoryOfHost() && isImportable(elements.host());
        return stays ? 0 : elements.byteSize();
    }

    public Device device() {
        return device;
    }

    /**
     * Creates a view usable by the device: the tensor's own view if present, otherwise over the tensor's memory where
     * possible, otherwise over a copy. A view of memory not usable by this device, such as memory of another machine,
     * is copied as well.
     *
     * @return the view; the caller releases the view
     */
    public BufferView upload(TensorElements elements) {
        BufferView own = elements.view();
        return own != null && isApart(elements)
                ? elements.adopt(read(own, bytes -> device.allocator().allocate(input, bytes)))
                : uploadEarly(elements);
    }

    /** Returns whether a tensor is in memory of another device that this device may not be able to use in place. */
    public boolean isApart(TensorElements elements) {
        return elements.view() != null && mayBeApart(elements.memory());
    }

    /**
     * Creates a view over memory without contents, for a copy of a tensor.
     *
     * @return the view; the caller releases the view
     */
    public BufferView allocate(TensorElements elements) {
        return elements.adopt(device.allocator().allocate(input, elements.byteSize()));
    }

    /**
     * Copies a tensor in memory of any device, in queue order.
     *
     * @param contents the fence at which the source has its contents
     * @param source the tensor's own view
     * @param target a view over memory of this device, from {@link #allocate}
     * @return the fence at which the target has its contents; the caller releases the fence
     */
    public Fence copy(Fence contents, BufferView source, BufferView target) {
        try (TimelineSemaphore order = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT)) {
            Fence copied = Fence.at(order, 1);
            CopyingDevice.of(device, consumer())
                    .queue(0)
                    .copy(contents, copied, source.buffer(), 0, target.buffer(), 0, source.byteLength(), 0);
            return copied;
        }
    }

    /**
     * Creates a view as {@link #upload} does, for a tensor perhaps still without contents: the tensor's own view if
     * present, in whatever memory.
     *
     * @return the view; the caller releases the view
     */
    public BufferView uploadEarly(TensorElements elements) {
        BufferView own = elements.view();
        if (own == null) {
            return elements.adopt(buffer(elements));
        }
        own.retain();
        return own;
    }

    /** Returns whether memory of other users may be of a device whose memory does not reach this device. */
    private boolean mayBeApart(@Nullable DeviceMemory other) {
        if (other == null || other == this) {
            return false;
        }
        for (Device each : other.users) {
            if (!users.contains(each) && device.memoryObstacle(each).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Creates a view over a tensor's memory, in place.
     *
     * @return the view; the caller releases the view
     * @throws IreeException INVALID_ARGUMENT when the memory cannot be used in place, with the reason and a remedy
     */
    public BufferView importInPlace(TensorElements elements) {
        MemorySegment data = elements.host();
        if (data.isNative() && !UNCLOSEABLE.contains(data.scope().getClass())) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "memory of %s is of an arena that can be closed while a device uses it; allocate it with Arena.ofAuto() or Arena.global(), or copy it with Tensor.copyOf"
                            .formatted(elements.header()));
        }
        BufferParams params = data.isReadOnly() ? input.withAccess(MemoryAccess.READ) : input;
        return elements.adopt(device.allocator().importHost(params, data, new Lender(data)));
    }

    /**
     * Creates a view over device memory to be filled by the caller.
     *
     * @return the view; the caller releases the view
     */
    public BufferView create(ElementType type, Shape shape, Filling contents) throws IOException {
        long size = ElementCodec.byteSize(type, shape.elementCount());
        Buffer buffer = device.allocator().allocate(input, size);
        try {
            if (buffer.isMappable(MemoryAccess.WRITE)) {
                contents.fill(buffer.map(MemoryAccess.DISCARD_WRITE, 0, size));
            } else {
                try (Arena arena = Arena.ofShared()) { // the contents may be written by other threads
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
                // For example a device with separate memory: copied instead. If copying fails too, the copy throws the
                // reason.
                return device.allocator().allocate(input, data);
            }
        }
        return device.allocator().allocate(input, data);
    }

    /** Returns whether a device may use memory in place: native, aligned, and out of reach of any {@code Arena.close()}. */
    public static boolean isImportable(MemorySegment data) {
        // Only the scope's class reveals the kind of arena.
        return data.isNative()
                && !data.isReadOnly()
                && data.address() % ALIGNMENT == 0
                && UNCLOSEABLE.contains(data.scope().getClass());
    }

    /** Passes the bytes of a view to a reader; through a copy when the host cannot map the bytes. */
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

    /** Keeps memory freed only by the collector reachable, for as long as a device uses the memory. */
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
