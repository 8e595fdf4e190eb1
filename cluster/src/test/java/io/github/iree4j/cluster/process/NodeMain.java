package io.github.iree4j.cluster.process;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * A node in a separate process, commanded by a test through standard input and with the history on standard output:
 *
 * <pre>{@code
 * load MILLIS         -> pipelines through all nodes, one after the other, for so long; "ran" when done
 * load MILLIS rejoin  -> the same; when the node is fenced it takes a new session in between
 * load MILLIS rejoin N -> the same, with N milliseconds after each
 * bulk MILLIS BYTES   -> in the background, so many bytes to each other node and back, again and again; "carried" when done
 * state               -> "state MEMBERS SESSIONS", after a new session if the node is fenced
 * ready               -> "ready", when what was commanded before is done
 * rejoin              -> takes a new session: closes all, leases an identity, opens the devices again, joins
 * flood N             -> as many small operations on one remote device without waiting; "flooded ACCEPTED REFUSED CODE", and when all that were
 *                        accepted have ended "drained REACHED FAILED {CODE=COUNT}"
 * fill N              -> N small operations on one remote device, each awaited; "fill MICROS MICROS" is the median and the 99th percentile
 * }</pre>
 */
final class NodeMain {
    static final int STAGES = 12;

    private final int index;
    private final List<InetSocketAddress> addresses;
    private final Path directory;
    private final Duration silence;
    private final Duration resume;
    private volatile TestNode node;
    private long pipelines;

    private NodeMain(int index, List<InetSocketAddress> addresses, Path directory, Duration silence, Duration resume) {
        this.index = index;
        this.addresses = addresses;
        this.directory = directory;
        this.silence = silence;
        this.resume = resume;
        this.node = new TestNode(index, addresses, directory, silence, resume);
    }

    static void say(String what, Object... values) {
        StringBuilder line = new StringBuilder("> ").append(what);
        for (Object each : values) {
            line.append(' ').append(each);
        }
        synchronized (System.out) {
            System.out.println(line);
        }
    }

    /** A new incarnation in this process: nothing of the old one is left when it begins. */
    private void rejoin() {
        node.close();
        say("left");
        node = new TestNode(index, addresses, directory, silence, resume);
    }

    private void load(int millis, boolean rejoins, int pause) throws InterruptedException {
        long end = System.nanoTime() + millis * 1_000_000L;
        while (System.nanoTime() - end < 0) {
            if (rejoins && node.isFenced()) {
                rejoin();
            }
            long id = ++pipelines;
            try {
                pipeline(id, node.places());
            } catch (IreeException e) {
                say("refused", id, e.code()); // during its submission
            }
            TimeUnit.MILLISECONDS.sleep(pause);
        }
        say("ran", millis);
    }

    /** Submits a pipeline at once, waits for its end, and reports the end of each stage. */
    private void pipeline(long id, List<TestNode.Place> places) {
        List<TimelineSemaphore> timelines = new ArrayList<>();
        List<AutoCloseable> opened = new ArrayList<>();
        int submitted = 0;
        IreeException refusal = null;
        say("submit", id);
        for (int stage = 0; stage < STAGES && refusal == null; stage++) {
            TimelineSemaphore timeline = TimelineSemaphore.create(0);
            opened.add(timeline);
            timelines.add(timeline);
            Fence wait = stage == 0 ? null : Fence.at(timelines.get(stage - 1), 1);
            Fence signal = Fence.at(timeline, 1);
            opened.add(signal);
            try {
                TestNode.Place place = places.get(stage % places.size());
                place.device().queue(0).fill(wait, signal, place.buffer(), 4L * stage, 4, stage, 4, 0);
                submitted++;
            } catch (IreeException e) {
                refusal = e;
            } finally {
                if (wait != null) {
                    opened.add(wait);
                }
            }
        }
        List<Boolean> reached = new ArrayList<>();
        for (int stage = 0; stage < submitted; stage++) {
            reached.add(awaitStage(id, stage, timelines.get(stage)));
        }
        for (int stage = 0; stage < submitted; stage++) {
            if (reached.get(stage) != timelines.get(stage).isReached(1)) {
                say("changed", id, stage);
            }
        }
        say("done", id, submitted, refusal == null ? "-" : refusal.code());
        closeAll(opened);
    }

    private boolean awaitStage(long id, int stage, TimelineSemaphore timeline) {
        try {
            timeline.await(1, Duration.ofSeconds(60));
            Frontier frontier = timeline.frontierAt(1);
            boolean known = frontier != null && frontier.hasProducer();
            boolean complete = frontier == null || frontier.isTainted() || node.isComplete(frontier);
            say(
                    "end",
                    id,
                    stage,
                    "OK",
                    known ? Axis.toString(frontier.producerAxis()) : "-",
                    known ? frontier.producerEpoch() : 0,
                    complete);
            return true;
        } catch (IreeException e) {
            say("end", id, stage, e.code(), "-", 0, true);
            return false;
        }
    }

    private static void closeAll(List<AutoCloseable> opened) {
        for (AutoCloseable each : opened) {
            try {
                each.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /**
     * Sends bytes to each other node and takes the bytes back, as long as there are other nodes; says how much, and
     * whether any came back wrong.
     */
    private void bulk(int millis, int bytes) {
        long end = System.nanoTime() + millis * 1_000_000L;
        long carried = 0;
        int failed = 0;
        int round = 0;
        while (System.nanoTime() - end < 0) {
            round++;
            for (TestNode.Place far : node.openFar(bytes)) {
                try {
                    if (!carry(far.device(), far.buffer(), bytes, round)) {
                        say("stale", far.device().id(), round);
                    }
                    carried += 2L * bytes;
                } catch (IreeException e) {
                    failed++;
                    if (e.code() == StatusCode.DEADLINE_EXCEEDED) {
                        say("hung", far.device().id(), round);
                    }
                }
            }
        }
        say("carried", carried, failed);
    }

    /** Memory returned with the last use: transfers of a cut-off node fail faster than a collector collects. */
    private static final class Memory extends Resource {
        private final Arena arena = Arena.ofShared();
        private final MemorySegment bytes;

        Memory(long size) {
            bytes = arena.allocate(size, 8);
        }

        @Override
        protected void destroy() {
            arena.close();
        }
    }

    private static boolean carry(Device device, Buffer buffer, int bytes, int round) {
        List<AutoCloseable> opened = new ArrayList<>();
        Memory memory = new Memory(2L * bytes);
        opened.add(memory);
        MemorySegment sent = memory.bytes.asSlice(0, bytes);
        MemorySegment back = memory.bytes.asSlice(bytes);
        for (long at = 0; at < bytes; at += 8) {
            sent.set(ValueLayout.JAVA_LONG, at, at * 31 + round);
        }
        try {
            HalFile from = HalFile.ofMemory(sent, MemoryAccess.READ, memory);
            opened.add(from);
            HalFile to = HalFile.ofMemory(back, MemoryAccess.READ | MemoryAccess.WRITE, memory);
            opened.add(to);
            TimelineSemaphore timeline = TimelineSemaphore.create(0);
            opened.add(timeline);
            Fence there = Fence.at(timeline, 1);
            opened.add(there);
            Fence here = Fence.at(timeline, 2);
            opened.add(here);
            device.queue(0).read(null, there, from, 0, buffer, 0, bytes, 0);
            device.queue(0).write(there, here, buffer, 0, to, 0, bytes, 0);
            here.await(Duration.ofSeconds(60));
            return sent.mismatch(back) < 0;
        } finally {
            closeAll(opened);
        }
    }

    private void flood(int count) {
        TestNode.Place far = node.places().get(1);
        List<Fence> accepted = new ArrayList<>();
        int refused = 0;
        StatusCode code = StatusCode.OK;
        for (int i = 0; i < count; i++) {
            TimelineSemaphore timeline = TimelineSemaphore.create(0);
            Fence signal = Fence.at(timeline, 1);
            try {
                far.device().queue(0).fill(null, signal, far.buffer(), 0, 4, i, 4, 0);
                accepted.add(signal);
            } catch (IreeException e) {
                refused++;
                code = e.code();
                signal.close();
            }
            timeline.close(); // or the fence
        }
        say("flooded", accepted.size(), refused, code);
        int failed = 0;
        Map<StatusCode, Integer> codes = new TreeMap<>();
        for (Fence each : accepted) {
            try {
                each.await(Duration.ofSeconds(60));
            } catch (IreeException e) {
                failed++;
                codes.merge(e.code(), 1, Integer::sum);
                if (e.code() == StatusCode.DEADLINE_EXCEEDED) {
                    say("hung", "flood", failed);
                }
            }
            each.close();
        }
        say("drained", accepted.size() - failed, failed, codes);
    }

    private void fills(int count) {
        TestNode.Place far = node.places().get(1);
        long[] nanos = new long[count];
        for (int i = 0; i < count; i++) {
            try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                    Fence signal = Fence.at(timeline, 1)) {
                long began = System.nanoTime();
                far.device().queue(0).fill(null, signal, far.buffer(), 0, 4, i, 4, 0);
                signal.await(Duration.ofSeconds(30));
                nanos[i] = System.nanoTime() - began;
            }
        }
        long[] warm = Arrays.copyOfRange(nanos, count / 2, count);
        Arrays.sort(warm);
        say("fill", warm[warm.length / 2] / 1000, warm[warm.length * 99 / 100] / 1000);
    }

    private void obey(String[] words) throws InterruptedException {
        switch (words[0]) {
            case "load" ->
                load(Integer.parseInt(words[1]), words.length > 2, words.length > 3 ? Integer.parseInt(words[3]) : 0);
            case "bulk" ->
                Thread.ofPlatform().daemon().start(() -> bulk(Integer.parseInt(words[1]), Integer.parseInt(words[2])));
            case "rejoin" -> rejoin();
            case "ready" -> say("ready");
            case "state" -> {
                if (node.isFenced()) {
                    rejoin();
                }
                say("state", node.members(), node.sessions());
            }
            case "flood" -> flood(Integer.parseInt(words[1]));
            case "fill" -> fills(Integer.parseInt(words[1]));
            default -> throw new IllegalArgumentException(String.join(" ", words));
        }
    }

    /** Machine index, addresses of all nodes, directory of the identities, seconds of silence, milliseconds of interruptions. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        NodeMain main = new NodeMain(
                Integer.parseInt(arguments[0]),
                Arrays.stream(arguments[1].split(","))
                        .map(each -> each.split(":"))
                        .map(each -> new InetSocketAddress(each[0], Integer.parseInt(each[1])))
                        .toList(),
                Path.of(arguments[2]),
                Duration.ofSeconds(Integer.parseInt(arguments[3])),
                Duration.ofMillis(Integer.parseInt(arguments[4])));
        try (BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line; (line = commands.readLine()) != null; ) {
                main.obey(line.split(" "));
            }
        }
        System.exit(0); // the test is gone
    }
}
