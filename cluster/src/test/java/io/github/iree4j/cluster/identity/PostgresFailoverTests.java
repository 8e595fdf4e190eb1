package io.github.iree4j.cluster.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.cluster.identity.LeaseKeeper.State;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Identities in PostgreSQL, across the loss of the primary to the standby. */
@Tag("nightly")
class PostgresFailoverTests {

    private static final int NODES = 3;
    private static final int MACHINES = 256;
    private static final int SOME_GRANTS = 40;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    private final ScheduledExecutorService looks = Executors.newScheduledThreadPool(1);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private @Nullable PostgresPair pair;

    @AfterEach
    void stop() {
        looks.shutdownNow();
        threads.shutdownNow();
        if (pair != null) {
            pair.close();
        }
    }

    private PostgresPair start(boolean isSynchronous) throws Exception {
        Path programs = PostgresPair.programs();
        assumeTrue(programs != null, "no PostgreSQL in /usr/lib/postgresql; Debian's package 'postgresql' has it");
        PostgresPair started = new PostgresPair(directory, Objects.requireNonNull(programs));
        pair = started; // also without a start
        started.start(isSynchronous);
        return started;
    }

    private static JdbcIdentityStore store(String url, int machines) {
        JdbcIdentityStore store = new JdbcIdentityStore(new UrlDataSource(url), "test", machines);
        store.createTables();
        return store;
    }

    private static void await(String what, Duration limit, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            Thread.sleep(10);
        }
    }

    /** A node with a kept lease. */
    private final class Node {
        final LeaseKeeper keeper;
        volatile @Nullable IreeException fenced;
        volatile @Nullable Duration ageWhenFenced;

        Node(IdentityStore store, Duration lease) {
            keeper = LeaseKeeper.acquire(store, lease, System::nanoTime, threads, this::fence);
            looks.scheduleWithFixedDelay(keeper::look, 0, lease.dividedBy(60).toMillis(), TimeUnit.MILLISECONDS);
        }

        private void fence(IreeException cause) {
            ageWhenFenced = keeper.age();
            fenced = cause;
        }
    }

    private List<Node> nodes(IdentityStore store, Duration lease) {
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            nodes.add(new Node(store, lease));
        }
        return nodes;
    }

    /** Leases a slot after the other, through failures; half of the leases end by themselves. */
    private Void acquireOn(JdbcIdentityStore store, Queue<NodeIdentity> granted) throws InterruptedException {
        while (true) {
            try {
                IdentityLease lease = store.acquire(Duration.ofSeconds(1));
                granted.add(lease.identity());
                if (lease.identity().session() % 2 == 0) {
                    lease.release();
                }
            } catch (IreeException e) {
                assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE);
            }
            Thread.sleep(10); // ended by interruption
        }
    }

    private static void end(PostgresPair.Server server, boolean hangs) {
        if (hangs) {
            server.hang();
        } else {
            server.crash();
        }
    }

    private static void assertNothingIsGrantedTwice(Iterable<NodeIdentity> granted) {
        assertThat(granted)
                .extracting(each -> each.machine() << 8 | each.session())
                .doesNotHaveDuplicates();
        assertThat(granted).extracting(NodeIdentity::incarnation).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFailoverWithinHalfOfTheLeaseFencesNobodyAndGrantsNothingTwice(boolean hangs) throws Exception {
        PostgresPair servers = start(true);
        // each attempt at a hanging server takes the limit for an answer, so a short lease has a short limit
        JdbcIdentityStore store =
                store(servers.url().replace("socketTimeout=10", "sslmode=disable&socketTimeout=2"), MACHINES);
        Duration lease = Duration.ofSeconds(16);
        List<Node> nodes = nodes(store, lease);
        Queue<NodeIdentity> granted = new ConcurrentLinkedQueue<>();
        nodes.forEach(each -> granted.add(each.keeper.identity()));
        List<Future<Void>> starts = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            starts.add(threads.submit(() -> acquireOn(store, granted)));
        }
        await("grants before the failover", LIMIT, () -> granted.size() >= SOME_GRANTS);

        long lost = System.nanoTime();
        end(servers.primary(), hangs);
        Thread.sleep(lease.dividedBy(4)); // until somebody notices and promotes the standby
        int before = granted.size();
        List<Long> renewals = nodes.stream().map(each -> each.keeper.renewals()).toList();
        servers.standby().promote();
        await("a grant after the failover", LIMIT, () -> granted.size() > before);
        Duration outage = Duration.ofNanos(System.nanoTime() - lost);
        System.out.println("random: an outage of a database of %d ms, the server %s, after %d grants"
                .formatted(outage.toMillis(), hangs ? "hangs" : "is gone", before));
        assertThat(outage).isLessThan(lease.dividedBy(2));

        for (int i = 0; i < NODES; i++) {
            Node each = nodes.get(i);
            long count = renewals.get(i);
            await("a renewal after the failover", lease, () -> each.keeper.renewals() > count);
            assertThat(each.keeper.state()).isEqualTo(State.HELD);
            assertThat(each.fenced).isNull();
        }
        await("grants after the failover", LIMIT, () -> granted.size() >= before + SOME_GRANTS);
        for (Future<Void> each : starts) {
            assertThat(each.isDone()).isFalse();
            each.cancel(true);
        }
        assertNothingIsGrantedTwice(granted);
    }

    /** The nodes know the old primary only; the node in need of an index finds the new primary. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nodesWithoutADatabaseAreFencedBeforeAnotherNodeGetsTheirIndex(boolean hangs) throws Exception {
        PostgresPair servers = start(true);
        Duration lease = Duration.ofSeconds(6);
        List<Node> nodes = nodes(store(servers.primary().url(), NODES), lease);
        end(servers.primary(), hangs);
        servers.standby().promote();

        JdbcIdentityStore other = store(servers.url(), NODES);
        List<NodeIdentity> granted = new ArrayList<>();
        nodes.forEach(each -> granted.add(each.keeper.identity()));
        while (granted.size() < 2 * NODES) {
            try {
                NodeIdentity next = other.acquire(lease).identity();
                Node before = nodes.stream()
                        .filter(each -> each.keeper.identity().machine() == next.machine())
                        .findFirst()
                        .orElseThrow();
                assertThat(before.fenced)
                        .as("%s before %s", before.keeper.identity(), next)
                        .isNotNull();
                granted.add(next);
            } catch (IreeException e) {
                assertThat(e.code()).as("%s", e).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                assertThat(nodes.getFirst().keeper.age()).isLessThan(LIMIT);
                Thread.sleep(10);
            }
        }
        assertNothingIsGrantedTwice(granted);
        for (Node each : nodes) {
            assertThat(each.ageWhenFenced).isBetween(lease.dividedBy(2), lease);
        }
    }

    @Test
    void aSessionUnconfirmedByTheStandbyIsNotGranted() throws Exception {
        PostgresPair servers = start(true);
        List<NodeIdentity> granted = new ArrayList<>();
        JdbcIdentityStore store = store(servers.url().replace("socketTimeout=10", "socketTimeout=30"), MACHINES);
        granted.add(store.acquire(LIMIT).identity());
        servers.awaitStandby();
        servers.standby().crash();

        // The statement ends after ten seconds and is committed on the primary alone, with only a warning of
        // PostgreSQL.
        IreeException failure = IdentityStoreContract.failure(() -> store.acquire(LIMIT));
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure).hasMessageContaining("synchronous replication");

        servers.primary().crash();
        servers.standby().start();
        servers.standby().promote();
        granted.add(store.acquire(LIMIT).identity());
        granted.add(store.acquire(LIMIT).identity());
        assertNothingIsGrantedTwice(granted);
    }

    /** Makes an asynchronous standby lose a grant. */
    private static IdentityLease lostGrant(PostgresPair servers, JdbcIdentityStore store) {
        store.acquire(LIMIT);
        servers.awaitStandby();
        servers.standby().crash();
        IdentityLease lost = store.acquire(LIMIT);
        servers.primary().crash();
        servers.standby().start();
        servers.standby().promote();
        return lost;
    }

    @Test
    void theNodeOfASessionLostByAnAsynchronousStandbyIsFencedAndTheSessionNotGrantedAgain() throws Exception {
        PostgresPair servers = start(false);
        JdbcIdentityStore store = store(servers.url(), MACHINES);
        IdentityLease lost = lostGrant(servers, store);
        assertThat(IdentityStoreContract.failure(lost::renew).code()).isEqualTo(StatusCode.ABORTED);
        assertNothingIsGrantedTwice(
                List.of(lost.identity(), store.acquire(LIMIT).identity()));
    }

    @Test
    void aSessionLostByAnAsynchronousStandbyMayBeGrantedAgainAndThenBothNodesAreFenced() throws Exception {
        PostgresPair servers = start(false);
        JdbcIdentityStore store = store(servers.url(), MACHINES);
        IdentityLease lost = lostGrant(servers, store);
        IdentityLease again = store.acquire(LIMIT);
        assertThat(again.identity().machine()).isEqualTo(lost.identity().machine());
        assertThat(again.identity().session()).isEqualTo(lost.identity().session());
        assertThat(again.identity().incarnation()).isGreaterThan(lost.identity().incarnation());

        assertThat(IdentityStoreContract.failure(lost::renew).code()).isEqualTo(StatusCode.ABORTED);
        assertThat(IdentityStoreContract.failure(again::renew).code()).isEqualTo(StatusCode.ABORTED);
        assertNothingIsGrantedTwice(
                List.of(lost.identity(), store.acquire(LIMIT).identity()));
    }
}
