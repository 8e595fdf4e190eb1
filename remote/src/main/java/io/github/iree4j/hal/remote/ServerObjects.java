package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** Objects of a peer on this node under handles chosen by the peer: memory, code and commands. Frames arrive in sequence. Safe from any thread. */
final class ServerObjects {
    /** Code and recordings of a peer may take this multiple of the limit of content, and {@link #LEAST_HOST_LIMIT} in any case. */
    private static final int CONTENT_LIMITS = 4;

    private static final long LEAST_HOST_LIMIT = 64L << 20;

    /** Limit on the remembered handles of released objects. */
    private static final int RELEASED = 1 << 14;

    /** Alignment of memory, at least any device's requirement for a binding. */
    private static final long ALIGNMENT = 256;

    private static final int USAGES =
            BufferUsage.DEFAULT | BufferUsage.DISPATCH_INDIRECT_PARAMETERS | BufferUsage.DISPATCH_UNIFORM_READ;

    /** The memory of peers. */
    static final BufferParams MEMORY =
            new BufferParams(MemoryType.DEVICE_LOCAL, USAGES, MemoryAccess.ALL, QueueAffinity.ANY, ALIGNMENT);

    private final RemoteSession session;
    private final RemoteNode node;
    private final IntSupplier lanes;
    private final long hostLimit;

    // Guarded by this.
    private final Map<Long, ServerObject> objects = new HashMap<>(); // by handle
    private final Map<Long, List<Runnable>> expected = new HashMap<>(); // by handle; actions for objects to come
    private final Set<Long> released = new LinkedHashSet<>(); // handles, latest last; never used again
    private long allocated; // bytes of memory, until free
    private long hosted; // bytes of code and recordings, until gone
    private @Nullable IreeException failure;

    /**
     * Creates a set without objects.
     *
     * @param lanes returns the number of the peer's lanes, which count as objects
     */
    ServerObjects(RemoteSession session, IntSupplier lanes) {
        this.session = session;
        this.node = session.node();
        this.lanes = lanes;
        long content = node.options().contentLimit();
        this.hostLimit =
                Math.max(LEAST_HOST_LIMIT, Math.min(content, Long.MAX_VALUE / CONTENT_LIMITS) * CONTENT_LIMITS);
    }

    /**
     * Returns the object of a handle, retained; memory that lacked room is requested again. Unknown handles cannot come
     * from a correct client, but fail only the users of the handle.
     */
    ServerObject find(long handle) {
        ServerObject object;
        synchronized (this) {
            object = objects.get(handle);
            if (object == null || !object.tryRetain()) {
                throw IreeException.of(
                        StatusCode.NOT_FOUND, "%s has nothing under handle %d here".formatted(session, handle));
            }
        }
        object.tryAgain();
        return object;
    }

    /**
     * Returns whether an object is made, has failed or will never come; otherwise the action runs after a change. There is
     * no order between sessions: another node may name memory whose allocation is still under way from the client.
     */
    boolean isKnownOrThen(long handle, Runnable action) {
        ServerObject object;
        synchronized (this) {
            object = objects.get(handle);
            if (object == null) {
                if (released.contains(handle)) {
                    return true;
                }
                if (failure == null) {
                    expected.computeIfAbsent(handle, _ -> new ArrayList<>(1)).add(action);
                }
                return failure != null;
            }
        }
        return object.isSettledOrThen(action);
    }

    /** Forgets an action that waits by {@link #isKnownOrThen}. */
    void forget(long handle, Runnable action) {
        ServerObject object;
        synchronized (this) {
            object = objects.get(handle);
            List<Runnable> actions = expected.get(handle);
            if (actions != null && actions.remove(action) && actions.isEmpty()) {
                expected.remove(handle);
            }
        }
        if (object != null) {
            object.forget(action);
        }
    }

    /** Returns the number of handles whose objects are awaited. */
    synchronized int awaited() {
        return expected.size();
    }

    /** The memory charged for an object; nothing while there is no room for the object. Guarded by the objects. */
    static final class Charge {
        long host;
        long device;
    }

    /** Adds an object with memory of the host; the object fails for lack of memory. */
    private ServerObject add(FrameReader in, long handle, String what, long hostBytes) {
        return add(in, handle, what, null, hostBytes, 0, new Charge());
    }

    /** Adds an object with memory of the host and of a device; the object fails for lack of memory. */
    private ServerObject add(
            FrameReader in,
            long handle,
            String what,
            @Nullable GrantKey key,
            long hostBytes,
            long deviceBytes,
            Charge charge) {
        ServerObject object;
        IreeException refused;
        List<Runnable> due;
        synchronized (this) {
            checkNotFailed();
            if (objects.size() + lanes.getAsInt() >= node.options().objectLimit()) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s: %s has %d objects here, the limit is %d; release some"
                                .formatted(
                                        in.type,
                                        session,
                                        objects.size(),
                                        node.options().objectLimit()));
            }
            if (handle == 0 || objects.containsKey(handle)) {
                throw in.corrupt("handle %d is taken".formatted(handle));
            }
            refused = charge(what, hostBytes, deviceBytes, charge);
            object = new ServerObject("%s %d of %s".formatted(what, handle, session), key, () -> uncharge(charge));
            objects.put(handle, object);
            due = expected.remove(handle);
        }
        if (refused != null) {
            object.settle(null, refused);
        }
        if (due != null) {
            due.forEach(Runnable::run);
        }
        return object;
    }

    /** Charges bytes, or returns the reason against the charge. Under the lock. */
    private @Nullable IreeException charge(String what, long hostBytes, long deviceBytes, Charge charge) {
        IreeException refused = whyNot(what, hostBytes, deviceBytes);
        if (refused == null) {
            hosted += hostBytes;
            allocated += deviceBytes;
            charge.host = hostBytes;
            charge.device = deviceBytes;
        }
        return refused;
    }

    private @Nullable IreeException whyNot(String what, long hostBytes, long deviceBytes) { // under the lock
        long limit = node.options().memoryLimit();
        long left = deviceBytes == 0 ? 0 : node.leftBehind().get();
        String why = null;
        if (hostBytes > hostLimit - hosted) {
            why = "%d bytes for a %s of %s, whose code and recordings have %d of the %d bytes that one peer may have"
                    .formatted(hostBytes, what, session, hosted, hostLimit);
        } else if (deviceBytes > limit - allocated - left) {
            why = "%d bytes for %s, which has %d of the %d bytes that one peer may have"
                    .formatted(deviceBytes, session, allocated, limit);
            why = left == 0 ? why : why + "; work of lost peers, which has not ended, has %d of them".formatted(left);
        }
        return why == null ? null : IreeException.of(StatusCode.RESOURCE_EXHAUSTED, why);
    }

    private synchronized void uncharge(Charge charge) {
        hosted -= charge.host;
        allocated -= charge.device;
        if (failure != null) {
            node.leftBehind().addAndGet(-charge.device);
        }
    }

    /** Bytes of the host taken by code and recordings. */
    synchronized long hosted() {
        return hosted;
    }

    private void checkNotFailed() { // under the lock: REMOTE-1
        IreeException cause = failure;
        if (cause != null) {
            throw cause;
        }
    }

    /** Makes memory; called again once there may be room. Ends in {@link ServerObject#settle}. */
    interface Making {
        void make(ServerObject object, Charge charge);
    }

    /** Adds memory of a device, and makes the memory. The client, keeping the memory, is not notified of a failure. */
    void addMemory(FrameReader in, long handle, String what, GrantKey key, long size, Making making) {
        Charge charge = new Charge();
        ServerObject object = add(in, handle, what, key, 0, size, charge);
        boolean refused = object.failure() != null;
        object.setAgain(() -> {
            IreeException none = chargeAgain(size, charge);
            if (none != null) {
                object.settle(null, none);
            } else {
                making.make(object, charge);
            }
        });
        if (!refused) {
            making.make(object, charge);
        }
    }

    void allocate(FrameReader in) {
        long handle = in.u64("handle");
        Device device = node.device(in);
        long size = in.size("size");
        GrantKey key = new GrantKey(in.bytes("key", GrantKey.KEY_BYTES));
        in.end();
        addMemory(
                in,
                handle,
                "memory",
                key,
                size,
                (object, _) -> object.make(node.slow(), () -> device.allocator().allocate(MEMORY, size)));
    }

    /** Charges memory not charged before, or returns the reason against the charge. */
    synchronized @Nullable IreeException chargeAgain(long size, Charge charge) {
        if (failure != null) {
            return failure;
        }
        return charge.device == size ? null : charge("memory", 0, size, charge);
    }

    void record(FrameReader in) {
        long handle = in.u64("handle");
        Device device = node.device(in);
        RecordedCommands commands = RecordedCommands.read(in, this::find);
        try {
            in.end();
            ServerObject object = add(in, handle, "command buffer", commands.weight());
            if (object.failure() != null) {
                commands.release();
                return;
            }
            object.make(node.slow(), () -> {
                try {
                    return commands.record(device, false);
                } finally {
                    commands.release();
                }
            });
        } catch (RuntimeException | Error e) {
            commands.release();
            throw e;
        }
    }

    void release(FrameReader in) {
        long handle = in.u64("handle");
        in.end();
        ServerObject object;
        synchronized (this) {
            object = objects.remove(handle);
            released.add(handle);
            if (released.size() > RELEASED) {
                released.remove(released.iterator().next());
            }
        }
        if (object == null) {
            throw in.corrupt("%s has nothing under handle %d here".formatted(session, handle));
        }
        object.close();
    }

    void load(FrameReader in) {
        long handle = in.u64("handle");
        Device device = node.device(in);
        long transfer = session.transfers().ofPeer(in, in.u64("transfer"));
        long length = in.size("length");
        byte[] digest = in.bytes("digest", 32);
        String format = in.string("format");
        int[] constants = new int[in.count("constants", in.u16("constants"), 4)];
        for (int i = 0; i < constants.length; i++) {
            constants[i] = in.u32("constant");
        }
        in.end();
        MemorySegment known = node.content().find(digest);
        ServerObject object = add(in, handle, "executable", known == null ? length : known.byteSize());
        Runnable told = () -> loaded(object, handle);
        if (object.isSettledOrThen(told)) {
            told.run();
            return;
        }
        if (known != null) {
            load(object, device, format, known, constants);
            return;
        }
        if (length > node.options().contentLimit()) {
            object.settle(
                    null,
                    IreeException.of(
                            StatusCode.RESOURCE_EXHAUSTED,
                            "%d bytes of code, the limit is %d"
                                    .formatted(length, node.options().contentLimit())));
            return;
        }
        MemorySegment content =
                Arena.ofAuto().allocate(Math.max(1, length), ALIGNMENT).asSlice(0, length);
        session.transfers().receive(transfer, 0, content, true, () -> null, cause -> {
            if (cause != null) {
                object.settle(null, cause);
            } else if (!Arrays.equals(RemoteClient.digest(content), digest)) {
                object.settle(
                        null,
                        IreeException.of(
                                StatusCode.DATA_LOSS,
                                "%d bytes of code do not have the digest that was announced".formatted(length)));
            } else {
                node.content().add(digest, content);
                load(object, device, format, content, constants);
            }
        });
    }

    private void load(ServerObject object, Device device, String format, MemorySegment content, int[] constants) {
        object.make(node.slow(), () -> device.createExecutable(new ExecutableParams(format, content, null, constants)));
    }

    /** Notifies the client that code is present or has failed: not before, since the client's next command may record with the code. */
    private void loaded(ServerObject object, long handle) {
        FrameWriter frame = new FrameWriter(FrameType.LOADED).u64(handle);
        IreeException failure = object.failure();
        if (failure != null) {
            session.post(frame.status(failure));
            return;
        }
        Executable executable = object.get(Executable.class);
        frame.status(null).u16(executable.exportCount());
        for (int i = 0; i < executable.exportCount(); i++) {
            ExecutableExport export = executable.export(i);
            frame.string(export.name()).u16(export.constantCount()).u16(export.bindingCount());
            int count = Math.min(0xFF, export.bindingCount()); // -1 if the code does not declare the bindings
            BitSet read = new BitSet();
            for (int binding = 0; binding < count; binding++) {
                read.set(binding, !executable.mayWrite(i, binding));
            }
            frame.u8(read.cardinality());
            read.stream().forEach(frame::u8);
        }
        session.post(frame);
    }

    /** Fails all objects after the failure of the session. */
    void failAll(IreeException cause) {
        List<ServerObject> all;
        List<Runnable> due = new ArrayList<>();
        synchronized (this) {
            failure = cause;
            expected.values().forEach(due::addAll);
            expected.clear();
            node.leftBehind().addAndGet(allocated); // until running work has ended
            all = List.copyOf(objects.values());
            objects.clear();
        }
        session.notifyEach(all, each -> each.abandon(cause));
        all.forEach(Resource::close);
        due.forEach(Runnable::run);
    }
}
