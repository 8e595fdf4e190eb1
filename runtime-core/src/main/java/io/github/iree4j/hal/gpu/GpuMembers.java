package io.github.iree4j.hal.gpu;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.stream.CollectiveCall;
import io.github.iree4j.hal.stream.Communicator;
import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.hal.stream.StreamCollectives;
import io.github.iree4j.hal.stream.StreamDriver;
import io.github.iree4j.nativeaccess.GpuCollectives;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The participants in groups of NCCL or RCCL, and a thread that watches them while there are any. */
final class GpuMembers implements StreamCollectives {
    private static final long SOON_NANOS = 500_000; // while one joins or leaves
    private static final long PAUSE_NANOS = 10_000_000; // between looks at those that have joined

    /** By element type of {@link Collective}; 16-bit integers can be moved as if they were floats. */
    private static final int[] TYPES = {0, 1, 6, 6, 2, 3, 4, 5, 6, 7, 8, 9};

    /** By reduction of {@link Collective}. */
    private static final int[] REDUCTIONS = {0, 0, 1, 3, 2, 4};

    private final GpuCollectives library;
    private final String name;
    private final List<GpuMember> all = new CopyOnWriteArrayList<>();
    private @Nullable Thread thread; // guarded by this

    GpuMembers(GpuCollectives library, String name) {
        this.library = library;
        this.name = name;
    }

    @Override
    public String createId() {
        return library.createId();
    }

    /** An id of the library is as long as no other name, for practical purposes. */
    @Override
    public boolean isId(String text) {
        return text.length() == GpuCollectives.ID_LENGTH;
    }

    @Override
    public void check(Collective operation) {
        int type = operation.elementType();
        if (operation.reduction() != Collective.NONE) {
            if (type == Collective.S16 || type == Collective.U16) {
                throw lacks(operation, "no reductions of 16-bit integers; convert them to 32 bits");
            }
            if (operation.reduction() == Collective.AVERAGE && type < Collective.F16) {
                throw lacks(operation, "no average of integers that does not overflow; take the sum and divide it");
            }
        }
    }

    private IreeException lacks(Collective operation, String what) {
        return new IreeException(
                StatusCode.UNIMPLEMENTED, "%s: the collectives of %s have %s".formatted(operation, name, what));
    }

    @Override
    public Communicator join(
            StreamDriver device, Supplier<String> id, int rank, int count, Consumer<@Nullable IreeException> state) {
        GpuHardware hardware = (GpuHardware) device;
        return add(hardware, () -> library.join(hardware.device(), id.get(), rank, count), state);
    }

    GpuMember add(GpuHardware hardware, LongSupplier join, Consumer<@Nullable IreeException> state) {
        GpuMember member = new GpuMember(this, library, hardware, join, state);
        synchronized (this) {
            all.add(member);
            Thread watcher = thread;
            if (watcher == null) {
                watcher = CallThreads.forNativeWaits("iree4j-collectives " + name, this::run);
                thread = watcher;
                watcher.start();
            } else {
                LockSupport.unpark(watcher);
            }
        }
        return member;
    }

    /** Has the thread look. */
    synchronized void wake() {
        LockSupport.unpark(thread);
    }

    private void run() {
        for (; ; ) {
            boolean busy = false;
            for (GpuMember each : all) {
                if (each.step()) {
                    all.remove(each);
                }
                busy |= each.isBusy();
            }
            synchronized (this) {
                if (all.isEmpty()) {
                    thread = null;
                    notifyAll();
                    return;
                }
            }
            LockSupport.parkNanos(this, busy ? SOON_NANOS : PAUSE_NANOS);
        }
    }

    /** Ends all that are left of a device; they have failed. */
    void end(GpuHardware hardware) {
        for (GpuMember each : all) {
            if (each.hardware() == hardware) {
                each.abort();
                each.close();
            }
        }
        while (all.stream().anyMatch(each -> each.hardware() == hardware)) {
            LockSupport.parkNanos(this, SOON_NANOS);
        }
    }

    @Override
    public List<? extends DriverCommands> commands(
            List<? extends Communicator> participants, List<? extends List<CollectiveCall>> calls) {
        int count = calls.stream().mapToInt(List::size).sum();
        GpuCollectives.Calls together = new GpuCollectives.Calls(count);
        List<GpuMember> members = new ArrayList<>();
        for (int i = 0; i < participants.size(); i++) {
            GpuMember member = (GpuMember) participants.get(i);
            members.add(member);
            for (CollectiveCall each : calls.get(i)) {
                add(together, member, each);
            }
        }
        return Collections.nCopies(participants.size(), new GpuLaunch(library, together, members));
    }

    private static void add(GpuCollectives.Calls together, GpuMember member, CollectiveCall call) {
        Collective operation = call.operation();
        int kind = operation.kind();
        boolean exchanges = kind == Collective.ALL_TO_ALL;
        long elements = exchanges ? call.elementCount() / member.count() : call.elementCount();
        long source = call.source() == 0 ? call.target() : call.source(); // of a broadcast, where only the root sends
        long target = call.target() == 0
                ? call.source()
                : call.target(); // the root's, in place; a reduction's is not written
        together.add(
                member.hardware().device(),
                member.comm(),
                member.gpuLane().stream(),
                kind,
                exchanges ? member.count() : call.parameter(),
                TYPES[operation.elementType()],
                REDUCTIONS[operation.reduction()],
                elements,
                source,
                target,
                elements * operation.elementSize());
    }
}
