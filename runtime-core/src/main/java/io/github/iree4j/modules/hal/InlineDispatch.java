package io.github.iree4j.modules.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmWait;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A dispatch over memory of a program: in place where the memory is device memory or can be imported, else over a copy,
 * copied back at the end. Each memory has a single copy, however often bound, so overlapping bindings still overlap.
 */
final class InlineDispatch implements AutoCloseable {
    /** The alignment of imported memory required by the device. */
    private static final int ALIGNMENT = 64;

    private final Device device;
    private final BufferParams params;
    private final BindingTable bindings = new BindingTable();
    private final List<Buffer> owned = new ArrayList<>();
    private final Map<VmBuffer, Buffer> buffers = new IdentityHashMap<>();
    private final Map<VmBuffer, Buffer> copies = new IdentityHashMap<>();
    private @Nullable Fence done;

    InlineDispatch(Device device, String consumer) {
        this.device = device;
        this.params = BufferParams.DEFAULT.withConsumer(consumer);
    }

    /** Adds a binding. */
    void bind(VmBuffer memory, long offset, long length) {
        Arguments.bytes("binding", memory, offset, length);
        bindings.add(buffer(memory), offset, length);
    }

    private Buffer buffer(VmBuffer memory) {
        Buffer behind = InlineStorage.behind(memory);
        if (behind != null) {
            return behind; // the program retains the memory, and the memory retains the buffer
        }
        Buffer known = buffers.get(memory);
        if (known != null) {
            return known;
        }
        MemorySegment bytes = memory.segment();
        Buffer made = imported(memory, bytes);
        if (made == null) {
            made = device.allocator().allocate(params, Math.max(1, bytes.byteSize()));
            owned.add(made);
            made.write(0, bytes);
            if (memory.isMutable()) {
                copies.put(memory, made);
            }
        }
        buffers.put(memory, made);
        return made;
    }

    /** Imports the memory; null where the device cannot use the memory in place. */
    private @Nullable Buffer imported(VmBuffer memory, MemorySegment bytes) {
        if (!bytes.isNative() || bytes.address() % ALIGNMENT != 0) {
            return null;
        }
        int access = MemoryAccess.READ | (memory.isMutable() ? MemoryAccess.WRITE : 0);
        try {
            Buffer made = device.allocator().importHost(params.withAccess(access), bytes, Arguments.keeper(memory));
            owned.add(made);
            return made;
        } catch (IreeException e) {
            if (e.code() != StatusCode.UNIMPLEMENTED) {
                throw e;
            }
            return null; // the device has separate memory
        }
    }

    /** Submits the dispatch. */
    void submit(Executable executable, int export, DispatchConfig config, int[] constants) {
        try (TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT)) {
            Fence end = Fence.at(timeline, 1);
            done = end;
            device.queue(0).dispatch(null, end, executable, export, config, constants, bindings, 0);
        }
    }

    /** Returns whether the dispatch has ended, successfully or not. */
    boolean isComplete() {
        Fence end = done;
        return end == null || end.query() != StatusCode.DEFERRED;
    }

    VmWait end() {
        Fence end = done;
        return end == null ? VmWait.NONE : new FenceWait(List.of(end), -1);
    }

    /** Makes the written bytes visible to the program. */
    void finish() {
        if (done != null) {
            done.failure().ifPresent(failure -> {
                throw IreeException.of(failure.code(), failure.getMessage(), failure);
            });
        }
        copies.forEach((memory, copy) -> copy.read(0, memory.segment().asSlice(0, memory.length())));
    }

    @Override
    public void close() {
        owned.forEach(Buffer::release);
        owned.clear();
        if (done != null) {
            done.release();
            done = null;
        }
    }
}
