package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.iree4j.cluster.process.NodeProcess;
import io.github.iree4j.cluster.process.SkewedClocks;
import io.github.iree4j.cluster.process.SmallDisks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Nodes in separate processes, started again by a supervisor after the end. */
final class ClusterApart extends FaultyCluster {
    private final Path directory;
    private final ProgramHistory history;
    private final @Nullable FaultyDatabase database; // of the identities; null for files
    private final @Nullable SmallDisks disks; // of the files
    private final @Nullable SkewedClocks clocks;
    private final List<@Nullable Member> members = new ArrayList<>();
    private final Set<NodeProcess> served = new HashSet<>(); // processes with a ready application
    private volatile @Nullable Long seed; // of the clients, while there are clients

    /** A process, and the calls of its clients. */
    private record Member(NodeProcess process, PrintedCalls.Reader calls) {}

    /**
     * Starts nothing yet.
     *
     * @param directory of the identities without a database
     * @param database the database of the identities, closed by the caller; null for files
     */
    ClusterApart(
            Path directory, ProgramHistory history, @Nullable FaultyDatabase database, @Nullable SkewedClocks clocks)
            throws IOException {
        this.directory = directory;
        this.history = history;
        this.database = database;
        this.clocks = clocks;
        this.disks = database == null ? SmallDisks.make(directory, NODES) : null;
        for (int i = 0; i < NODES; i++) {
            members.add(null);
        }
    }

    @Override
    List<Fault> faults() {
        Set<Fault> all = EnumSet.allOf(Fault.class);
        if (clocks == null) {
            all.remove(Fault.CLOCK);
            all.remove(Fault.DATABASE_CLOCK);
        }
        if (disks == null) {
            all.removeAll(Set.of(Fault.FULL, Fault.KILL_AND_FULL));
        }
        if (database == null) {
            all.removeAll(Set.of(Fault.DATABASE_AWAY, Fault.DATABASE_LOST, Fault.DATABASE_CLOCK));
        }
        return List.copyOf(all);
    }

    @Override
    void start(int index) throws IOException {
        List<String> arguments = new ArrayList<>(properties(index));
        arguments.add("spring.main.keep-alive=true");
        arguments.add("logging.level.root=warn");
        FaultyDatabase store = database;
        if (store == null) {
            arguments.add("iree.cluster.identity.machine=" + index);
            arguments.add("iree.cluster.identity.file=" + folder(index).resolve("identity"));
        } else {
            arguments.add("iree.cluster.identity.type=jdbc");
            arguments.add("iree.cluster.identity.lease-duration=" + FaultyDatabase.LEASE.toMillis() + "ms");
            arguments.add("test.database=" + store.url());
        }
        PrintedCalls.Reader calls = new PrintedCalls.Reader(history);
        SkewedClocks skewed = clocks;
        NodeProcess process = new NodeProcess(
                index,
                disks == null ? List.of() : disks.prefix(),
                skewed == null ? Map.of() : skewed.environment("node" + index),
                ProgramNodeMain.class,
                arguments.stream().map(each -> "--" + each).toList(),
                calls::read);
        members.set(index, new Member(process, calls));
        Long current = seed;
        if (current != null) {
            process.command("clients " + (current + index));
        }
    }

    private Path folder(int index) {
        return disks == null ? directory.resolve("node" + index) : disks.folder(index);
    }

    private Member member(int index) {
        return Objects.requireNonNull(members.get(index));
    }

    @Override
    void stop(int index) {
        NodeProcess process = member(index).process();
        process.signal("TERM");
        try {
            process.awaitEnd();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        member(index).calls().ended();
    }

    @Override
    void kill(int index) {
        member(index).process().close();
        member(index).calls().ended();
    }

    @Override
    void hurt(int index, Fault fault, Random random) throws IOException {
        switch (fault) {
            case PAUSE -> {
                NodeProcess process = member(index).process();
                process.signal("STOP");
                pause(silence(random));
                process.signal("CONT");
            }
            case CLOCK -> setClock(index, random.nextLong(-1, 2) * TimeUnit.MINUTES.toSeconds(random.nextInt(1440)));
            case FULL -> {
                Objects.requireNonNull(disks).fill(index);
                pause(random.nextInt(3000));
                disks.free(index);
            }
            case KILL_AND_FULL -> {
                Objects.requireNonNull(disks).fill(index);
                kill(index);
                start(index);
                pause(random.nextInt(8000));
                disks.free(index);
            }
            case DATABASE_AWAY ->
                Objects.requireNonNull(database)
                        .away(random.nextBoolean(), random.nextLong(FaultyDatabase.SHORT.toMillis()));
            case DATABASE_LOST -> {
                Objects.requireNonNull(database)
                        .away(random.nextBoolean(), random.nextLong(2 * FaultyDatabase.LEASE.toMillis()));
                pause(FaultyDatabase.ANSWERS.toMillis());
            }
            case DATABASE_CLOCK -> {
                Objects.requireNonNull(database).jump(random.nextInt(-3, 4));
                pause(FaultyDatabase.RENEWALS.toMillis());
            }
            default -> super.hurt(index, fault, random);
        }
    }

    /** Also checks the process's view of the time; the process may be ending. */
    private void setClock(int index, long seconds) throws IOException {
        Objects.requireNonNull(clocks).set("node" + index, seconds);
        long expected = System.currentTimeMillis() + TimeUnit.SECONDS.toMillis(seconds);
        String seen = ask(index, "time");
        if (seen != null) {
            assertThat(Long.parseLong(seen)).as("the clock of node %d", index).isCloseTo(expected, within(60_000L));
        }
    }

    private @Nullable String ask(int index, String what) {
        try {
            return member(index).process().ask(what, what + " ");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    String missing(int index) throws IOException {
        Member member = member(index);
        String state;
        try {
            state = ask(index, "state");
        } catch (AssertionError e) {
            member.process().signal("QUIT"); // prints the threads
            pause(1000);
            throw e;
        }
        if (state != null) {
            if (!state.equals(ProgramNodeMain.NOT_READY)) {
                served.add(member.process());
            }
            return state;
        }
        member.process().close();
        member.calls().ended();
        if (served.contains(member.process())) { // otherwise the identity could not be had at the start
            history.fault("the process of node %d ended by itself after having served".formatted(index));
        }
        start(index);
        return "the process of node %d ended; ".formatted(index);
    }

    @Override
    AutoCloseable clients(long of) {
        seed = of;
        for (int i = 0; i < NODES; i++) {
            member(i).process().command("clients " + (of + i));
        }
        return () -> {
            seed = null;
            for (int i = 0; i < NODES; i++) {
                assertThat(ask(i, "rest")).isNotNull();
            }
        };
    }

    @Override
    void assertNothingIsLeft() {
        for (int i = 0; i < NODES; i++) {
            try {
                assertThat(member(i).process().ask("tensors", "tensors "))
                        .as("tensors of node %d", i)
                        .isEqualTo("0");
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (Member each : members) {
            if (each != null) {
                each.process().close();
            }
        }
        if (disks != null) {
            disks.close();
        }
        super.close();
    }
}
