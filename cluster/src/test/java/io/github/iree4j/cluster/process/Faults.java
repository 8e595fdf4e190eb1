package io.github.iree4j.cluster.process;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Faults of machines and links, beginning and ending at random moments and perhaps overlapping. */
final class Faults {
    private final Machines machines;
    private final int count;
    private final int silence;
    private final Random random;
    private final List<Event> events = new ArrayList<>();
    private final int[][] blocks; // faults that hide a machine from another
    private final int[] cuts; // faults that take a machine off the network
    private final int[] stops;
    private final boolean[] down;
    private long end; // when the load ends, by System.nanoTime()

    private interface Step {
        void run() throws IOException, InterruptedException;
    }

    private record Event(long millis, String what, Step step) {}

    Faults(Machines machines, int count, int silence, Random random) {
        this.machines = machines;
        this.count = count;
        this.silence = silence;
        this.random = random;
        blocks = new int[count][count];
        cuts = new int[count];
        stops = new int[count];
        down = new boolean[count];
    }

    /** Adds a fault of each of some nodes: off the network, mute, deaf, paused or dead for all others. */
    void addOf(List<Integer> victims) {
        for (int victim : victims) {
            addOf(victim, random.nextInt(3000), random.nextInt(6));
        }
    }

    private void addOf(int victim, long begin, int fault) {
        long until = begin + duration();
        switch (fault) {
            case 0 -> during(begin, until, "cut " + victim, () -> cut(victim, 1), () -> cut(victim, -1));
            case 1 ->
                during(
                        begin,
                        until,
                        "mute " + victim,
                        () -> apart(victim, true, false, 1),
                        () -> apart(victim, true, false, -1));
            case 2 ->
                during(
                        begin,
                        until,
                        "deaf " + victim,
                        () -> apart(victim, false, true, 1),
                        () -> apart(victim, false, true, -1));
            case 3 ->
                during(
                        begin,
                        until,
                        "apart " + victim,
                        () -> apart(victim, true, true, 1),
                        () -> apart(victim, true, true, -1));
            case 4 -> during(begin, until, "stop " + victim, () -> stop(victim, 1), () -> stop(victim, -1));
            case 5 -> {
                until = Math.min(until, begin + 4000);
                during(begin, until, "kill " + victim, () -> kill(victim), () -> restart(victim));
            }
            default -> {
                until = begin;
                for (int flap = 2 + random.nextInt(6); flap > 0; flap--) {
                    long away = until + 100 + random.nextInt(1500);
                    during(until, away, "flap " + victim, () -> cut(victim, 1), () -> cut(victim, -1));
                    until = away + 50 + random.nextInt(1000);
                }
            }
        }
    }

    /** Adds faults of any nodes and of links between two nodes, in one direction or both, or between two parts. */
    void addAny() {
        for (int fault = 2 + random.nextInt(4); fault > 0; fault--) {
            long begin = random.nextInt(8000);
            long until = begin + duration();
            int one = random.nextInt(count);
            int other = (one + 1 + random.nextInt(count - 1)) % count;
            switch (random.nextInt(4)) {
                case 0 ->
                    during(
                            begin,
                            until,
                            "block %d to %d".formatted(one, other),
                            () -> block(one, other, 1),
                            () -> block(one, other, -1));
                case 1 ->
                    during(
                            begin,
                            until,
                            "part %d and %d".formatted(one, other),
                            () -> both(one, other, 1),
                            () -> both(one, other, -1));
                case 2 -> {
                    int part = 1 + random.nextInt((1 << count) - 2);
                    during(
                            begin,
                            until,
                            "split " + Integer.toBinaryString(part),
                            () -> split(part, 1),
                            () -> split(part, -1));
                }
                default -> addOf(one, begin, random.nextInt(7));
            }
        }
    }

    /** Often about as long as a suspicion takes. */
    private int duration() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(1500);
            case 1 -> random.nextInt(3 * silence * 1000);
            default -> silence * 1000 - 500 + random.nextInt(2500);
        };
    }

    private void during(long begin, long until, String what, Step begins, Step ends) {
        events.add(new Event(begin, what, begins));
        events.add(new Event(until, "end of " + what, ends));
    }

    private void cut(int node, int more) throws IOException, InterruptedException {
        cuts[node] += more;
        if (more > 0 && cuts[node] == 1) {
            network().cut(node + 1);
        } else if (cuts[node] == 0) {
            network().heal(node + 1);
            for (int other = 0; other < count; other++) { // undone by healing
                if (blocks[node][other] > 0) {
                    network().block(node + 1, other + 1);
                }
            }
        }
    }

    private void block(int one, int other, int more) throws IOException, InterruptedException {
        blocks[one][other] += more;
        if (more > 0 && blocks[one][other] == 1) {
            network().block(one + 1, other + 1);
        } else if (blocks[one][other] == 0) {
            network().unblock(one + 1, other + 1);
        }
    }

    private void both(int one, int other, int more) throws IOException, InterruptedException {
        block(one, other, more);
        block(other, one, more);
    }

    private void apart(int node, boolean sends, boolean receives, int more) throws IOException, InterruptedException {
        for (int other = 0; other < count; other++) {
            if (other != node && sends) {
                block(node, other, more);
            }
            if (other != node && receives) {
                block(other, node, more);
            }
        }
    }

    private void split(int part, int more) throws IOException, InterruptedException {
        for (int one = 0; one < count; one++) {
            for (int other = 0; other < one; other++) {
                if ((part >> one & 1) != (part >> other & 1)) {
                    both(one, other, more);
                }
            }
        }
    }

    private void stop(int node, int more) {
        stops[node] += more;
        machines.nodes.get(node).signal(stops[node] > 0 ? "STOP" : "CONT");
    }

    private void kill(int node) {
        if (!down[node]) {
            down[node] = true;
            machines.kill(node);
        }
    }

    private void restart(int node) throws IOException {
        if (down[node]) {
            down[node] = false;
            machines.nodes.set(node, machines.start(node, silence));
            load(machines.nodes.get(node));
        }
    }

    private Namespaces network() {
        return machines.network;
    }

    private void load(NodeProcess node) {
        long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()));
        node.command("load " + millis + " rejoin 20");
    }

    /**
     * Runs the added faults while all nodes send pipelines through all nodes, fenced nodes under new names. In the end
     * all is healed.
     */
    void run() throws IOException, InterruptedException {
        events.sort(Comparator.comparingLong(Event::millis));
        long begin = System.nanoTime();
        end = begin + TimeUnit.MILLISECONDS.toNanos(events.getLast().millis() + 2000);
        machines.nodes.forEach(this::load);
        for (Event each : events) {
            long wait = begin + TimeUnit.MILLISECONDS.toNanos(each.millis) - System.nanoTime();
            TimeUnit.NANOSECONDS.sleep(Math.max(0, wait));
            System.out.println("random: %d ms, %s".formatted(each.millis, each.what));
            each.step.run();
        }
        IntStream.range(0, count).filter(node -> down[node]).forEach(node -> {
            throw new AssertionError("node %d is down in the end".formatted(node));
        });
    }
}
