package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A driver in memory of the process that fails on request, and notes objects closed twice, too late or never. */
final class ScriptedDriver implements StreamDriver {
    private static final DeviceInfo INFO = new DeviceInfo("scripted", "scripted:0", "a driver that fails on purpose");
    private static final MemoryKind HOST = new MemoryKind(
            "host",
            0,
            0,
            1L << 30,
            MemoryType.DEVICE_LOCAL | MemoryType.HOST_LOCAL | MemoryType.HOST_COHERENT | MemoryType.HOST_CACHED);
    private static final MemoryKind HIDDEN = new MemoryKind("hidden", 1, 1, 1L << 30, MemoryType.DEVICE_LOCAL);
    private static final MemoryKind SEEN = new MemoryKind(
            "seen",
            2,
            0,
            1L << 30,
            MemoryType.DEVICE_VISIBLE | MemoryType.HOST_LOCAL | MemoryType.HOST_COHERENT | MemoryType.HOST_CACHED);

    private final Object lock = new Object();
    private final List<ScriptedLane> lanes = new ArrayList<>();
    private final boolean hidden;
    private final int misalignment;
    private final Map<String, Fault> faults = new ConcurrentHashMap<>();
    private final Map<Long, MemorySegment> segments = new ConcurrentHashMap<>(); // by handle
    private final AtomicLong handles = new AtomicLong();
    private final AtomicInteger memories = new AtomicInteger(); // unclosed
    private final AtomicInteger timelines = new AtomicInteger();
    private final AtomicInteger forms = new AtomicInteger();
    private final AtomicInteger lent = new AtomicInteger(); // commands for transfers
    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private boolean lost; // guarded by the lock, as the next
    private boolean held;
    private boolean deaf;
    private volatile boolean asleep; // a thread waits for timelines
    private volatile int closed;

    @Nullable
    String obstacle = "nothing is imported";

    /** Whether waiting threads look for completions by themselves. */
    boolean watched;

    DriverLimits limits = new DriverLimits(64, Long.MAX_VALUE, 0, 0);

    private static final class Fault {
        private final Supplier<@Nullable Throwable> thrown;
        private int spared;
        private int left;

        Fault(int spared, int count, Supplier<@Nullable Throwable> thrown) {
            this.spared = spared;
            this.left = count;
            this.thrown = thrown;
        }

        /** Calls the supplier without a lock: a supplier may hold the calling thread. */
        @Nullable
        Throwable next() {
            return isDue() ? thrown.get() : null;
        }

        private synchronized boolean isDue() {
            if (spared > 0) {
                spared--;
                return false;
            }
            return left-- > 0;
        }
    }

    /** Memory visible to the host, or only to the device. */
    ScriptedDriver(int laneCount, boolean hidden) {
        this(laneCount, hidden, 0);
    }

    /** The same, with allocations that begin so many bytes behind an aligned address. */
    ScriptedDriver(int laneCount, boolean hidden, int misalignment) {
        this.hidden = hidden;
        this.misalignment = misalignment;
        for (int i = 0; i < laneCount; i++) {
            lanes.add(new ScriptedLane());
        }
    }

    StreamDevice open(DeviceOptions.Builder options, Duration closeLimit) {
        return new StreamDevice(INFO, options.build(), this, closeLimit);
    }

    /** Has a method throw, or only do something, where the supplier returns null. */
    void fail(String method, int spared, int count, Supplier<@Nullable Throwable> thrown) {
        faults.put(method, new Fault(spared, count, thrown));
    }

    void failAlways(String method, Supplier<@Nullable Throwable> thrown) {
        fail(method, 0, Integer.MAX_VALUE, thrown);
    }

    void heal() {
        faults.clear();
    }

    /** Has the lanes begin nothing, or go on. */
    void hold(boolean on) {
        synchronized (lock) {
            held = on;
            lock.notifyAll();
        }
    }

    /** Has waits for timelines go on although a value is reached, once there is such a wait; or has them end again. */
    void deafen(boolean on) {
        synchronized (lock) {
            deaf = on;
            lock.notifyAll();
        }
        while (on && !asleep) {
            Thread.onSpinWait();
        }
    }

    void lose() {
        synchronized (lock) {
            lost = true;
            lock.notifyAll();
        }
    }

    /** Whether a lane has something to do. */
    boolean isBusy() {
        synchronized (lock) {
            return lanes.stream().anyMatch(each -> each.timeline.value < each.given);
        }
    }

    int closedTimes() {
        return closed;
    }

    /** The faults after the device is closed, with everything that users had of it. */
    List<String> leftovers() {
        List<String> all = new ArrayList<>(complaints);
        note(all, "memory", memories.get());
        note(all, "timelines", timelines.get());
        note(all, "forms", forms.get());
        note(all, "commands", lent.get());
        if (closed != 1) {
            all.add("the driver was closed " + closed + " times");
        }
        return all;
    }

    private static void note(List<String> all, String what, int left) {
        if (left != 0) {
            all.add(left + " of " + what);
        }
    }

    private void enter(String method) {
        Fault fault = faults.get(method);
        Throwable thrown = fault == null ? null : fault.next();
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown != null) {
            throw (RuntimeException) thrown;
        }
    }

    private void checkOpen(String what) {
        if (closed > 0) {
            complaints.add(what + " after the driver was closed");
        }
    }

    private final class Timeline extends Resource implements DriverTimeline {
        private long value; // guarded by the lock

        Timeline(long value) {
            this.value = value;
            timelines.incrementAndGet();
        }

        @Override
        public long value() {
            enter("value");
            synchronized (lock) {
                checkNotLost();
                return value;
            }
        }

        @Override
        public void signal(long next) {
            enter("signal");
            synchronized (lock) {
                checkNotLost();
                if (next <= value) {
                    complaints.add("a timeline goes from " + value + " to " + next);
                }
                value = Math.max(value, next);
                lock.notifyAll();
            }
        }

        @Override
        protected void destroy() {
            timelines.decrementAndGet();
        }
    }

    private void checkNotLost() {
        if (lost) {
            throw IreeException.of(StatusCode.ABORTED, "lost on purpose");
        }
    }

    private final class ScriptedLane implements Lane {
        private final Timeline timeline = new Timeline(0);
        private final ArrayDeque<Submission> submissions = new ArrayDeque<>(); // guarded by the lock, as the next
        private final List<Submission> listed = new ArrayList<>();
        private long given; // the last ticket

        ScriptedLane() {
            Thread.ofPlatform().daemon().name("scripted-lane").start(this::run);
        }

        @Override
        public int family() {
            return 0;
        }

        @Override
        public boolean computes() {
            return true;
        }

        @Override
        public DriverTimeline timeline() {
            return timeline;
        }

        @Override
        public void submit(List<Submission> next) {
            for (Submission each : next) { // as read by a driver
                if (each.commands() instanceof Commands) {
                    enter("submit commands");
                }
            }
            enter("submit");
            synchronized (lock) {
                checkNotLost();
                checkOpen("submitted");
                listed.addAll(next);
                given = next.getLast().ticket();
            }
        }

        @Override
        public void give() {
            synchronized (lock) {
                submissions.addAll(listed);
                listed.clear();
                lock.notifyAll();
            }
            enter("give");
            checkOpen("submissions were given");
        }

        private boolean isReady() {
            Submission first = submissions.peek();
            if (first == null || held) {
                return false;
            }
            for (int i = 0; i < first.waitCount(); i++) {
                if (((Timeline) first.waitTimeline(i)).value < first.waitValue(i)) {
                    return false;
                }
            }
            return true;
        }

        private void run() {
            try {
                while (true) {
                    Submission next;
                    synchronized (lock) {
                        while (closed == 0 && !lost && !isReady()) {
                            lock.wait();
                        }
                        if (closed > 0 || lost) {
                            return;
                        }
                        next = submissions.remove();
                    }
                    if (next.commands() instanceof Commands commands) {
                        commands.list.forEach(Runnable::run);
                    }
                    synchronized (lock) {
                        timeline.value = Math.max(timeline.value, next.ticket());
                        lock.notifyAll();
                    }
                }
            } catch (InterruptedException e) {
                complaints.add("a lane was interrupted");
            } catch (RuntimeException | Error e) {
                complaints.add("commands failed: " + e);
            }
        }
    }

    private final class Memory extends DriverMemory {
        private final Arena arena;
        private final long handle;
        private boolean over; // guarded by this

        private Memory(Arena arena, long handle, MemorySegment bytes, boolean seen) {
            super(handle, bytes.address(), seen ? bytes.address() : 0);
            this.arena = arena;
            this.handle = handle;
            segments.put(handle, bytes);
            memories.incrementAndGet();
        }

        @Override
        public synchronized void close() {
            if (over) {
                complaints.add("memory was closed twice");
                return;
            }
            over = true;
            segments.remove(handle);
            memories.decrementAndGet();
            arena.close();
        }
    }

    /** Commands, one after the other. */
    private final class Commands implements TransferCommands, DriverCommands {
        final List<Runnable> list = new ArrayList<>();
        private boolean released;

        @Override
        public void fill(StreamStorage target, long offset, long length, long pattern, int patternLength) {
            enter("fill");
            MemorySegment bytes = bytes(target, offset, length);
            if (patternLength == 1) { // mostly poison
                list.add(() -> bytes.fill((byte) pattern));
                return;
            }
            list.add(() -> {
                for (long i = 0; i < length; i++) {
                    bytes.set(ValueLayout.JAVA_BYTE, i, (byte) (pattern >>> Byte.SIZE * (i % patternLength)));
                }
            });
        }

        @Override
        public void copy(
                StreamStorage source, long sourceOffset, StreamStorage target, long targetOffset, long length) {
            enter("copy");
            MemorySegment from = bytes(source, sourceOffset, length);
            MemorySegment to = bytes(target, targetOffset, length);
            list.add(() -> to.copyFrom(from));
        }

        private MemorySegment bytes(StreamStorage storage, long offset, long length) {
            return segments.get(storage.handle()).asSlice(storage.offset() + offset, length);
        }

        @Override
        public DriverCommands finish(String operation) {
            enter("finish");
            return this;
        }

        @Override
        public void release() {
            if (released) {
                complaints.add("commands were released twice");
                return;
            }
            released = true;
            lent.decrementAndGet();
        }
    }

    private final class Form implements CommandForm {
        private final Recording recording;
        private final ResolvedBindings bindings;
        private final @Nullable StreamStorage updates;
        private boolean over;

        Form(Recording recording, ResolvedBindings bindings, @Nullable StreamStorage updates) {
            this.recording = recording;
            this.bindings = bindings;
            this.updates = updates;
            forms.incrementAndGet();
        }

        @Override
        public DriverCommands prepare(String operation) {
            enter("prepare");
            Commands commands = new Commands();
            for (int at : recording.commands()) {
                bindings.transfer(at, updates, commands);
            }
            return commands;
        }

        @Override
        public void invalidate() {}

        @Override
        public void close() {
            if (over) {
                complaints.add("a form was closed twice");
                return;
            }
            over = true;
            forms.decrementAndGet();
        }
    }

    private final class Encoder implements StreamEncoder {
        @Override
        public TransferCommands transfers(Lane lane) {
            enter("transfers");
            lent.incrementAndGet();
            return new Commands();
        }

        @Override
        public void checkDispatch(
                Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount) {
            throw IreeException.of(StatusCode.UNIMPLEMENTED, "no code");
        }

        @Override
        public CommandForm form(
                Recording recording,
                ResolvedBindings bindings,
                @Nullable StreamStorage updates,
                Lane lane,
                boolean oneShot) {
            enter("form");
            return new Form(recording, bindings, updates);
        }

        @Override
        public void close() {
            checkOpen("the encoder was closed");
            enter("encoder.close");
        }
    }

    @Override
    public List<Lane> lanes() {
        enter("lanes");
        return List.copyOf(lanes);
    }

    @Override
    public DriverTimeline createTimeline(long value, boolean shared) {
        enter("createTimeline");
        if (shared) {
            throw IreeException.of(StatusCode.UNIMPLEMENTED, "nothing is shared");
        }
        return new Timeline(value);
    }

    @Override
    public void awaitAny(DriverTimeline[] all, long[] values, int count, long timeoutNanos) {
        enter("awaitAny");
        if (faults.containsKey("await nothing")) { // a return for no reason is possible
            Thread.yield();
            return;
        }
        long start = System.nanoTime();
        synchronized (lock) {
            while (true) {
                checkNotLost();
                for (int i = 0; i < count && !deaf; i++) {
                    if (((Timeline) all[i]).value >= values[i]) {
                        return;
                    }
                }
                long left = (timeoutNanos - (System.nanoTime() - start)) / 1_000_000;
                if (left <= 0) {
                    return;
                }
                asleep = true;
                try {
                    lock.wait(left);
                } catch (InterruptedException e) {
                    complaints.add("the waiter was interrupted");
                    return;
                } finally {
                    asleep = deaf;
                }
            }
        }
    }

    @Override
    public boolean isWatchedByWaiters() {
        return watched;
    }

    @Override
    public boolean isLost() {
        synchronized (lock) {
            return lost;
        }
    }

    @Override
    public MemoryKinds memoryKinds() {
        return hidden ? new MemoryKinds(HIDDEN, null, SEEN, SEEN) : new MemoryKinds(HOST, HOST, HOST, HOST);
    }

    @Override
    public DriverLimits limits() {
        return limits;
    }

    @Override
    public String identity() {
        return "scripted";
    }

    @Override
    public DriverMemory allocate(long size, MemoryKind kind, boolean shared) {
        enter("allocate");
        enter("allocate " + kind.name());
        if (shared) {
            throw IreeException.of(StatusCode.UNIMPLEMENTED, "nothing is shared");
        }
        Arena arena = Arena.ofShared();
        MemorySegment bytes = arena.allocate(size + misalignment, 1 << 16).asSlice(misalignment, size);
        return new Memory(arena, handles.incrementAndGet(), bytes, kind.isMappable());
    }

    @Override
    public @Nullable String hostMemoryObstacle() {
        return obstacle;
    }

    @Override
    @SuppressWarnings("restricted")
    public DriverMemory importHost(long address, long size, boolean readOnly) {
        enter("importHost");
        return new Memory(
                Arena.ofShared(),
                handles.incrementAndGet(),
                MemorySegment.ofAddress(address).reinterpret(size),
                true);
    }

    @Override
    public List<String> formats() {
        return List.of();
    }

    @Override
    public Executable load(ExecutableParams params) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "no code");
    }

    @Override
    public StreamEncoder encoder(StreamMemory memory) {
        enter("encoder");
        return new Encoder();
    }

    @Override
    public void close() {
        synchronized (lock) {
            closed++;
            for (ScriptedLane each : lanes) {
                if (closed == 1 && !lost && each.timeline.value < each.given) {
                    complaints.add("the driver was closed while a lane had something to do");
                }
            }
            lock.notifyAll();
        }
        lanes.forEach(each -> each.timeline.close());
        enter("driver.close");
    }
}
