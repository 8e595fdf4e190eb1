package io.github.iree4j.hal.programs;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.pool.PoolStatistics;
import io.github.iree4j.hal.programs.QueueProgram.Kind;
import io.github.iree4j.hal.programs.QueueProgram.Node;
import io.github.iree4j.hal.programs.QueueProgram.Point;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Executes a program: submits operations from several threads, in the order of submission, while other threads signal
 * by hand and complete deferred calls; waits until nothing is left; and observes. Judges the program, frees the memory
 * and checks for leftovers.
 */
final class ProgramRun implements SequentialOracle.Observation {
    /** Grants to others while a request waited: more than intended by pools, for any request. */
    private static final int MOST_OVERTAKINGS = 80;

    /** The threads that signal by hand and complete deferred calls. */
    private static final ScheduledExecutorService HOST =
            Executors.newScheduledThreadPool(3, Thread.ofPlatform().daemon().factory());

    private final QueueProgram program;
    private final ProgramDevices.Opened opened;
    private final NodeSubmitter submitter;
    private final List<TimelineSemaphore> lines = new ArrayList<>();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final AtomicInteger busy = new AtomicInteger(); // activities of the host
    private final AtomicInteger clock = new AtomicInteger();
    private final AtomicIntegerArray ready; // the earliest and the actual time of allocating nodes
    private final AtomicIntegerArray granted;
    private long waited;

    private ProgramRun(QueueProgram program, ProgramDevices devices) {
        this.program = program;
        this.opened = devices.open(program.setup());
        SemaphoreOptions options =
                SemaphoreOptions.DEFAULTS.withHistoryCapacity(program.setup().history());
        for (int i = 0; i < program.lines(); i++) {
            Device device = opened.devices.get(i % opened.devices.size());
            lines.add(
                    i % 2 == 0
                            ? TimelineSemaphore.create(options)
                            : device.createSemaphore(0, Device.SEMAPHORE_DEFAULT));
        }
        this.submitter = new NodeSubmitter(program, opened.devices, this::later);
        this.ready = new AtomicIntegerArray(program.nodes().size());
        this.granted = new AtomicIntegerArray(program.nodes().size());
    }

    /**
     * The outcome of a program.
     *
     * @param wrong nothing, if all is well
     * @param waited how many requests waited for memory
     */
    record Outcome(List<String> wrong, long waited) {}

    /**
     * Executes a program.
     *
     * @param intended the expected judgement: the same, unless the checker itself is tested
     */
    static Outcome run(QueueProgram program, QueueProgram intended, ProgramDevices devices)
            throws InterruptedException {
        ProgramRun run = new ProgramRun(program, devices);
        run.start();
        if (run.settle()) { // otherwise the devices are left alone
            run.wrong.addAll(new SequentialOracle(intended, new Verdicts(intended), run).judge());
            run.judgeTurns();
            run.free();
        }
        return new Outcome(List.copyOf(run.wrong), run.waited);
    }

    private void start() throws InterruptedException {
        for (Node node : program.nodes()) {
            if (node.kind() == Kind.BY_HAND) {
                later(node.pause(), () -> byHand(node));
            }
        }
        int threads = program.setup().threads();
        List<Thread> submitters = IntStream.range(0, threads)
                .mapToObj(first -> Thread.ofPlatform().daemon().start(() -> {
                    for (int i = first; i < program.submission().size(); i += threads) {
                        submit(program.nodes().get(program.submission().get(i)));
                    }
                }))
                .toList();
        for (Thread each : submitters) {
            if (!each.join(ProgramDevices.PATIENCE)) {
                wrong.add("a submission does not return: " + List.of(each.getStackTrace()));
            }
        }
    }

    /** Runs something of the host. */
    private void later(int micros, Runnable what) {
        busy.incrementAndGet();
        Runnable reporting = () -> {
            try {
                what.run();
            } catch (RuntimeException | Error e) {
                wrong.add("the host failed: " + e);
            } finally {
                busy.decrementAndGet();
            }
        };
        HOST.schedule(reporting, micros, TimeUnit.MICROSECONDS);
    }

    private @Nullable Fence fence(List<Point> points) {
        List<Fence.Entry> entries = points.stream()
                .map(p -> new Fence.Entry(lines.get(p.line()), p.value()))
                .toList();
        return entries.isEmpty() ? null : Fence.of(entries);
    }

    private void byHand(Node node) {
        Fence wait = fence(node.waits());
        if (wait == null) {
            signalByHand(node, null);
            return;
        }
        busy.incrementAndGet();
        wait.whenReached(failure -> {
            later(0, () -> signalByHand(node, failure));
            busy.decrementAndGet();
        });
        wait.close();
    }

    private void signalByHand(Node node, @Nullable IreeException failed) {
        try (Fence signal = Objects.requireNonNull(fence(node.signals()))) {
            if (failed != null) {
                signal.fail(failed);
            } else if (node.fault() != null) {
                signal.fail(NodeSubmitter.fault(node));
            } else if (node.external()) {
                signal.semaphore(0).signalExternal(signal.value(0));
            } else {
                signal.signal();
            }
        } catch (IreeException e) {
            boolean tooLate = node.racing() && e.code() == StatusCode.INVALID_ARGUMENT;
            if (!tooLate && node.signals().stream().allMatch(p -> failure(p.line()) == null)) {
                wrong.add("node " + node.index() + " could not signal: " + e);
            }
        }
    }

    private void submit(Node node) {
        try (Fence wait = fence(node.waits());
                Fence signal = fence(node.signals())) {
            submitter.submit(node, wait, signal);
            if (node.kind() == Kind.ALLOCA) {
                stamp(node, wait, ready);
                stamp(node, signal, granted);
            }
        } catch (RuntimeException | Error e) {
            wrong.add("node " + node.index() + " was not accepted: " + e);
        }
    }

    private void stamp(Node node, @Nullable Fence fence, AtomicIntegerArray times) {
        if (fence == null) {
            times.set(node.index(), clock.incrementAndGet());
        } else {
            fence.whenReached(failure -> times.set(node.index(), failure == null ? clock.incrementAndGet() : 0));
        }
    }

    /** Waits until nothing is left to do; false if something never ends. */
    private boolean settle() {
        long[] tops = new long[lines.size()];
        program.nodes().forEach(n -> n.signals().forEach(p -> tops[p.line()] = Math.max(tops[p.line()], p.value())));
        long limit = System.nanoTime() + ProgramDevices.PATIENCE.toNanos();
        for (int i = 0; i < tops.length; i++) {
            try {
                lines.get(i).await(tops[i], Duration.ofNanos(Math.max(0, limit - System.nanoTime())));
            } catch (IreeException e) {
                if (failure(i) == null) {
                    wrong.add("t%d hangs at %d before %d".formatted(i, value(i), tops[i]));
                }
            }
        }
        boolean quiet = comes(() -> busy.get() == 0
                && queues().stream()
                        .allMatch(q -> q.pending(1).isEmpty() && q.inFlight(1).isEmpty()));
        if (!quiet) {
            wrong.add("the host still has " + busy + " activities");
            queues().forEach(q -> wrong.add("queue %d of %s still has %s and %s"
                    .formatted(q.index(), q.device().id(), q.pending(100), q.inFlight(100))));
        }
        return quiet;
    }

    private List<DeviceQueue> queues() {
        return opened.devices.stream()
                .flatMap(d -> IntStream.range(0, d.queueCount()).mapToObj(d::queue))
                .toList();
    }

    /** Waits for an event without reports. */
    private static boolean comes(BooleanSupplier what) {
        long limit = System.nanoTime() + ProgramDevices.PATIENCE.toNanos();
        while (!what.getAsBoolean()) {
            if (System.nanoTime() - limit > 0) {
                return false;
            }
            Thread.yield();
        }
        return true;
    }

    /** Nobody waits for memory while very many later requests get some. */
    private void judgeTurns() {
        List<Node> allocas =
                program.nodes().stream().filter(n -> granted.get(n.index()) > 0).toList();
        for (Node first : allocas) {
            long overtaking = allocas.stream()
                    .filter(n -> n.device() == first.device())
                    .filter(n -> ready.get(n.index()) > ready.get(first.index()))
                    .filter(n -> granted.get(n.index()) < granted.get(first.index()))
                    .count();
            if (overtaking > MOST_OVERTAKINGS) {
                wrong.add("node " + first.index() + " waited for memory while " + overtaking
                        + " later requests got memory");
            }
        }
    }

    /**
     * Memory without a deallocation is freed with its handle; then nothing is left, although the other handles are
     * open.
     */
    private void free() {
        List<Integer> freed = program.nodes().stream()
                .filter(n ->
                        n.kind() == Kind.DEALLOCA && n.signals().stream().anyMatch(p -> value(p.line()) >= p.value()))
                .map(Node::block)
                .toList();
        List<Integer> blocks =
                IntStream.range(0, program.blocks().size()).boxed().toList();
        blocks.stream()
                .filter(b -> !freed.contains(b))
                .forEach(b -> submitter.handle(b).close());
        submitter.close();
        for (Device device : opened.devices) {
            for (PoolStatistics pool : device.allocator().poolStatistics().pools()) {
                waited += pool.waits();
            }
            if (!comes(() -> device.allocator().poolStatistics().bytesLive() == 0)) {
                wrong.add(
                        device.id() + " has memory left: " + device.allocator().poolStatistics());
            }
        }
        blocks.forEach(b -> submitter.handle(b).close());
        opened.close();
        lines.forEach(TimelineSemaphore::close);
    }

    @Override
    public long value(int line) {
        return lines.get(line).value();
    }

    @Override
    public @Nullable IreeException failure(int line) {
        return lines.get(line).failure();
    }

    @Override
    public byte @Nullable [] seen(int node, int effect) {
        return submitter.seen(node, effect);
    }

    @Override
    public byte @Nullable [] contents(int block) {
        byte[] bytes = new byte[program.blocks().get(block).size()];
        try {
            submitter.handle(block).read(0, MemorySegment.ofArray(bytes));
            return bytes;
        } catch (IreeException e) {
            if (e.code() != StatusCode.RESOURCE_EXHAUSTED) { // reading hidden memory takes memory too
                wrong.add("block " + block + " cannot be read in the end: " + e);
            }
            return null;
        }
    }
}
