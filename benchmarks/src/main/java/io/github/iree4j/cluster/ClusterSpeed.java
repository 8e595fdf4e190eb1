package io.github.iree4j.cluster;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.copying.CopyingDevice;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What do three nodes cost beside bare gRPC? Three processes over loopback, without and with mutual TLS: a pipeline of
 * programs, transfers, a small operation, and the bytes of frontiers. Each beside streams of gRPC between the same
 * processes ({@link BareGrpc}), in turn.
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp benchmarks/target/benchmarks.jar io.github.iree4j.cluster.ClusterSpeed [MODULE]
 * </pre>
 *
 * <p>The module has {@code add} of two vectors of four floats, compiled with {@code
 * --iree-execution-model=async-external}.
 */
@SuppressWarnings("try") // closing may be interrupted
public final class ClusterSpeed implements AutoCloseable {
    private static final String MODULE = "fixtures/modules/3.13.0/cpu-async/add.vmfb";
    private static final int STAGES = 16; // the first and the last are on the first node, so there are 15 hops
    private static final int TURNS = 100;
    private static final int RINGS = 10; // of a turn
    private static final int SMALL = 200;
    private static final int TRANSFERS = 60;
    private static final long WARM_UP_NANOS = 20_000_000_000L; // three processes compile a pipeline for so long
    private static final int LOOKS = 15; // signs of life, also counted, are in some of them
    private static final BufferParams FAR = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final BufferParams NEAR =
            new BufferParams(MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT);

    // Bytes of frames without frontiers, see docs/cluster-protocol.md.
    private static final int ACCEPTED = 24;
    private static final int COMPLETED = 33;
    private static final int SUBSCRIBE = 33;
    private static final int ADVANCE = 24;
    private static final int POINT = 24; // of a COMMAND

    private final String name;
    private final SpeedNode node;
    private final List<Other> others = new ArrayList<>();
    private final List<AutoCloseable> opened = new ArrayList<>();

    /** One of the other processes. */
    private record Other(int index, Process process, PrintWriter questions, BufferedReader answers) {
        static Other start(int index, String ports, @Nullable Path keys) throws IOException {
            List<String> command = new ArrayList<>(List.of(
                    ProcessHandle.current().info().command().orElseThrow(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path"),
                    SpeedNode.class.getName(),
                    String.valueOf(index),
                    ports));
            if (keys != null) {
                command.add(keys.toString());
            }
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            return new Other(
                    index,
                    process,
                    new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true),
                    process.inputReader(StandardCharsets.UTF_8));
        }

        SpeedNode.Frames sentTo(int other) throws IOException {
            questions.println(other);
            String[] words = answers.readLine().split(" ");
            return new SpeedNode.Frames(Long.parseLong(words[0]), Long.parseLong(words[1]));
        }
    }

    private ClusterSpeed(String name, @Nullable Path keys) throws Exception {
        this.name = name;
        List<Integer> ports = freePorts(2 * SpeedNode.NODES);
        String list = ports.stream().map(String::valueOf).collect(Collectors.joining(","));
        for (int index = 1; index < SpeedNode.NODES; index++) {
            others.add(Other.start(index, list, keys));
        }
        node = new SpeedNode(0, ports, keys);
        node.awaitOthers();
        for (Other each : others) {
            if (!"ready".equals(each.answers.readLine())) {
                throw new IllegalStateException("node " + each.index + " did not start");
            }
        }
    }

    private static List<Integer> freePorts(int count) throws IOException {
        List<Integer> ports = new ArrayList<>();
        List<ServerSocket> sockets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            sockets.add(socket);
            ports.add(socket.getLocalPort());
        }
        for (ServerSocket each : sockets) {
            each.close();
        }
        return ports;
    }

    /**
     * Measures, and prints rows of a table.
     *
     * @param arguments the module, if another
     * @throws Exception for any failure: there is no figure then
     */
    public static void main(String[] arguments) throws Exception {
        Path module = Path.of(arguments.length > 0 ? arguments[0] : MODULE);
        Path directory = Files.createTempDirectory("cluster-speed");
        Path keys = directory.resolve("keys.p12");
        try {
            makeKeys(keys);
            System.out.println("| | Median (best) | Cluster | Bare gRPC | Ratio |\n|---|---|---|---|---|");
            for (boolean tls : new boolean[] {false, true}) {
                try (ClusterSpeed speed = new ClusterSpeed(tls ? "TLS" : "plain text", tls ? keys : null)) {
                    speed.programs(module);
                    speed.small();
                    speed.transfers();
                    if (tls) { // last, as another table; the frames are the same
                        speed.frontiers();
                    }
                }
            }
        } finally {
            Files.deleteIfExists(keys);
            Files.deleteIfExists(directory);
        }
        System.exit(0); // threads of gRPC may still be there
    }

    /** Makes a key for all nodes, with a certificate that is its own authority. */
    private static void makeKeys(Path store) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-alias",
                        "node",
                        "-dname",
                        "CN=node",
                        "-ext",
                        "san=ip:" + InetAddress.getLoopbackAddress().getHostAddress(),
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        SpeedNode.PASSWORD)
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("keytool: " + output);
        }
    }

    private <T extends AutoCloseable> T open(T object) {
        opened.addFirst(object);
        return object;
    }

    private Device device(String called) {
        return node.runtime.device(called);
    }

    private Buffer buffer(Device device, BufferParams params, long bytes) {
        return open(device.allocator().allocate(params, bytes));
    }

    // ---- Times.

    /** A measured way. */
    private static final class Way {
        private final String called;
        private final Action action;
        private final int repetitions; // of a turn
        private final List<Long> nanos = new ArrayList<>();

        Way(String called, int repetitions, Action action) {
            this.called = called;
            this.repetitions = repetitions;
            this.action = action;
        }

        void turn() throws Exception {
            for (int i = 0; i < repetitions; i++) {
                nanos.add(action.nanos());
            }
        }

        long median() {
            return ClusterSpeed.median(nanos);
        }

        long best() {
            return Collections.min(nanos);
        }
    }

    /** Something to measure. */
    private interface Action {
        long nanos() throws Exception;
    }

    /** Measures anything without preparations. */
    private interface Step {
        void run() throws Exception;
    }

    private static Action timed(Step step) {
        return () -> {
            long began = System.nanoTime();
            step.run();
            return System.nanoTime() - began;
        };
    }

    private static long median(List<Long> nanos) {
        return nanos.stream().sorted().toList().get(nanos.size() / 2);
    }

    private static void takeTurns(int turns, List<Way> ways) throws Exception {
        for (long began = System.nanoTime(); System.nanoTime() - began < WARM_UP_NANOS; ) {
            for (Way each : ways) {
                each.turn();
            }
        }
        ways.forEach(each -> each.nanos.clear());
        for (int turn = 0; turn < turns; turn++) {
            for (Way each : ways) {
                each.turn();
            }
        }
    }

    private void print(String format, Object... values) {
        System.out.println("| " + name + " | " + format.formatted(values) + " |");
    }

    // ---- Programs.

    private void programs(Path module) throws Exception {
        List<ProgramFunction> functions = new ArrayList<>();
        List<Tensor> ones = new ArrayList<>(); // in memory of each device
        for (int i = 0; i < SpeedNode.NODES; i++) {
            Program program = open(node.runtime.load(ProgramOptions.builder()
                    .name("add" + i)
                    .module(module)
                    .device(String.valueOf(i))
                    .build()));
            ProgramFunction add = program.function("add");
            functions.add(add);
            Results one = open(add.invoke(new float[] {1, 1, 1, 1}, new float[4]));
            ones.add(one.tensor(0));
        }
        List<Long> submitting = new ArrayList<>();
        List<SpeedNode.Frames> looks = new ArrayList<>();
        for (int i = 0; i < LOOKS; i++) {
            SpeedNode.Frames before = sent();
            pipeline(functions, ones, submitting);
            looks.add(sent().minus(before));
        }
        SpeedNode.Frames frames = Collections.min(looks, Comparator.comparingLong(SpeedNode.Frames::bytes));
        int frameBytes = (int) (frames.bytes() / frames.count());
        int hops = STAGES - 1;
        Way pipeline = new Way("programs", RINGS, () -> pipeline(functions, ones, submitting));
        Way bare = new Way("hops", RINGS, timed(() -> node.bare.ring(SpeedNode.NODES, hops, frameBytes)));
        takeTurns(TURNS, List.of(pipeline, bare));
        List<Long> submits = submitting.subList(submitting.size() - TURNS * RINGS, submitting.size());
        print(
                "ring of %d programs, %d hops: µs a stage | %.1f (%.1f) | %.1f (%.1f) | %.2f (%.2f)",
                STAGES,
                hops,
                micros(pipeline.median()) / STAGES,
                micros(pipeline.best()) / STAGES,
                micros(bare.median()) / STAGES,
                micros(bare.best()) / STAGES,
                (double) pipeline.median() / bare.median(),
                (double) pipeline.best() / bare.best());
        print("submitting the programs: µs a stage | %.1f | |", micros(median(submits)) / STAGES);
        print(
                "frames of such a ring: number and bytes a stage | %.1f, %d | 1, %d |",
                (double) frames.count() / STAGES, frames.bytes() / STAGES, frameBytes);
    }

    private static double micros(long nanos) {
        return nanos / 1e3;
    }

    /** Submits the programs, then lets the first run. Returns the time from then to the end of the last. */
    private long pipeline(List<ProgramFunction> functions, List<Tensor> ones, List<Long> submitting) {
        List<Results> results = new ArrayList<>();
        try (Tensor zeros = Tensor.of(new float[4]);
                Fence start = node.runtime.createFence("start")) {
            long began = System.nanoTime();
            Tensor last = zeros;
            Fence after = start;
            for (int stage = 0; stage < STAGES; stage++) {
                int at = stage % SpeedNode.NODES;
                Submission<Results> call = functions
                        .get(at)
                        .submit(CallOptions.DEFAULTS.after(after).timeout(SpeedNode.LIMIT), last, ones.get(at));
                results.add(call.results().await()); // without contents yet
                last = results.getLast().tensor(0);
                after = call.fence();
            }
            submitting.add(System.nanoTime() - began);
            began = System.nanoTime();
            start.signal();
            after.await(SpeedNode.LIMIT);
            long nanos = System.nanoTime() - began;
            float sum = last.toFloatArray()[0];
            if (sum != STAGES) {
                throw new IllegalStateException("%d programs counted to %f".formatted(STAGES, sum));
            }
            return nanos;
        } finally {
            results.forEach(Results::close);
        }
    }

    /** What all nodes have sent to each other. */
    private SpeedNode.Frames sent() throws IOException {
        SpeedNode.Frames all = node.sentTo(1).plus(node.sentTo(2));
        for (Other each : others) {
            for (int to = 0; to < SpeedNode.NODES; to++) {
                all = to == each.index ? all : all.plus(each.sentTo(to));
            }
        }
        return all;
    }

    // ---- Operations.

    private void small() throws Exception {
        Device far = device("1");
        Buffer buffer = buffer(far, FAR, 64);
        Way fill = new Way(
                "fill", SMALL, timed(() -> await(signal -> far.queue(0).fill(null, signal, buffer, 0, 4, 7, 4, 0))));
        Way bare = new Way("echo", SMALL, timed(() -> node.bare.ring(2, 2, 96)));
        takeTurns(TURNS, List.of(fill, bare));
        print(
                "fill of 4 bytes on another node until the signal; a frame and back: µs | %.1f (%.1f) | %.1f (%.1f) | %.2f (%.2f)",
                micros(fill.median()),
                micros(fill.best()),
                micros(bare.median()),
                micros(bare.best()),
                (double) fill.median() / bare.median(),
                (double) fill.best() / bare.best());
    }

    /** An operation to be signalled. */
    private interface Operation {
        void submit(Fence signal);
    }

    private static void await(Operation operation) {
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence signal = Fence.at(timeline, 1)) {
            operation.submit(signal);
            signal.await(SpeedNode.LIMIT);
        }
    }

    private void transfers() throws Exception {
        int bytes = SpeedNode.BYTES;
        Device one = device("1");
        Device two = device("2");
        Buffer host = buffer(one, NEAR, bytes);
        Buffer atOne = buffer(one, FAR, bytes);
        Buffer atTwo = buffer(two, FAR, bytes);
        MemorySegment memory = open(Arena.ofShared()).allocate(bytes, 64).fill((byte) 7);
        Way there = transfer(
                "to another node", () -> await(signal -> one.queue(0).copy(null, signal, host, 0, atOne, 0, bytes, 0)));
        Way back = transfer(
                "from another node",
                () -> await(signal -> one.queue(0).copy(null, signal, atOne, 0, host, 0, bytes, 0)));
        Way direct = transfer(
                "between two other nodes",
                () -> await(
                        signal -> CopyingDevice.of(two, "").queue(0).copy(null, signal, atOne, 0, atTwo, 0, bytes, 0)));
        Way write = transfer("Buffer.write", () -> atOne.write(0, memory));
        Way read = transfer("Buffer.read", () -> atOne.read(0, memory));
        Way bareThere = transfer("", () -> node.bare.transfer(0, 1));
        Way bareBack = transfer("", () -> node.bare.transfer(1, 0));
        Way bareDirect = transfer("", () -> node.bare.transfer(1, 2));
        takeTurns(TRANSFERS, List.of(there, bareThere, back, bareBack, direct, bareDirect, write, read));
        printTransfer(there, bareThere);
        printTransfer(back, bareBack);
        printTransfer(direct, bareDirect);
        printTransfer(write, bareThere);
        printTransfer(read, bareBack);
    }

    private static Way transfer(String called, Step step) {
        return new Way(called, 1, timed(step));
    }

    private void printTransfer(Way way, Way bare) {
        double bytes = SpeedNode.BYTES;
        print(
                "64 MiB, %s: GB/s | %.2f (%.2f) | %.2f (%.2f) | %.2f (%.2f)",
                way.called,
                bytes / way.median(),
                bytes / way.best(),
                bytes / bare.median(),
                bytes / bare.best(),
                (double) bare.median() / way.median(),
                (double) bare.best() / way.best());
    }

    // ---- Bytes.

    /** Bytes of frames of an operation that waits for operations on queues of a third node. */
    private void frontiers() throws Exception {
        Device one = device("1");
        Device many = device("2-queues");
        Buffer target = buffer(one, FAR, 64);
        Buffer source = buffer(many, FAR, SpeedNode.BYTES);
        System.out.println(
                "| Points | COMMAND, of these for points | ACCEPTED and COMPLETED | SUBSCRIBE and ADVANCE | All | Of these frontiers |\n|---|---|---|---|---|---|");
        for (int points : new int[] {1, 2, 4, 8, SpeedNode.QUEUES}) {
            List<long[]> looks = new ArrayList<>();
            for (int i = 0; i < LOOKS; i++) {
                looks.add(bytes(points, one, target, many, source));
            }
            long[] least = looks.stream()
                    .filter(each -> each[2] == (long) SUBSCRIBE * points) // otherwise a point was reached before
                    .min(Comparator.comparingLong(each -> Arrays.stream(each).sum()))
                    .orElseThrow();
            long frontiers = least[1] - ACCEPTED - COMPLETED + least[3] - (long) ADVANCE * points;
            long all = Arrays.stream(least).sum();
            System.out.printf(
                    "| %d | %d, %d | %d | %d | %d | %d, %.0f %% |%n",
                    points,
                    least[0],
                    POINT * points,
                    least[1],
                    least[2] + least[3],
                    all,
                    frontiers,
                    100.0 * frontiers / all);
        }
    }

    /** Bytes from node 0 to 1, from 1 to 0, from 1 to 2 and from 2 to 1. */
    private long[] bytes(int points, Device one, Buffer target, Device many, Buffer source) throws IOException {
        List<Fence> all = new ArrayList<>();
        try {
            long[] before = bytes();
            Fence slow = fence(all); // so that no point is reached before the operation has arrived
            many.queue(0).fill(null, slow, source, 0, SpeedNode.BYTES, 7, 1, 0);
            for (int i = 0; i < points; i++) {
                many.queue(i).fill(slow, fence(all), source, 0, 4, i, 4, 0);
            }
            try (Fence awaited = points == 0
                    ? null
                    : Fence.join(all.get(1), all.subList(1, all.size()).toArray(Fence[]::new))) {
                await(signal -> one.queue(0).fill(awaited, signal, target, 0, 4, 7, 4, 0));
            }
            slow.await(SpeedNode.LIMIT);
            long[] bytes = bytes();
            Arrays.setAll(bytes, i -> bytes[i] - before[i]);
            return bytes;
        } finally {
            all.forEach(Fence::close);
        }
    }

    private static Fence fence(List<Fence> opened) {
        opened.add(Fence.adopt(TimelineSemaphore.create(0), 1));
        return opened.getLast();
    }

    private long[] bytes() throws IOException {
        return new long[] {
            node.sentTo(1).bytes(),
            node.receivedFrom(1).bytes(),
            others.get(0).sentTo(2).bytes(),
            others.get(1).sentTo(1).bytes()
        };
    }

    @Override
    public void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
        for (Other each : others) {
            each.questions.close(); // the end of its standard input
        }
        node.close();
        for (Other each : others) {
            each.process.destroy();
            each.process.waitFor();
        }
    }
}
