package io.github.iree4j.cluster.identity;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** In H2, or in the database of the URL {@code -Diree4j.test.database}; the driver must be on the class path. */
class JdbcIdentityStoreTests extends IdentityStoreContract {

    private static int databases;

    private final String url = System.getProperty("iree4j.test.database", "jdbc:h2:mem:identity" + databases++);
    private final DataSource database = new UrlDataSource(url);
    private Connection open;

    @BeforeEach
    void createTables() throws SQLException {
        open = database.getConnection(); // H2 keeps the data as long as there is a connection
        new JdbcIdentityStore(database, "test", 1).createTables();
        execute("delete from iree_cluster_slot");
        execute("delete from iree_cluster");
    }

    @AfterEach
    void disconnect() throws SQLException {
        open.close();
    }

    private void execute(String sql) {
        try (Statement statement = open.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    IdentityStore open() {
        return new JdbcIdentityStore(database, "test", machines());
    }

    @Override
    int machines() {
        return 2;
    }

    @Override
    void letEnd(IdentityLease lease) {
        execute("update iree_cluster_slot set expires_at = 1 where cluster_name = 'test' and incarnation = "
                + lease.identity().incarnation());
    }

    @Test
    void nodesStartedAtOnceGetDifferentSlots() throws Exception {
        int nodes = 16;
        Set<Integer> machines = new HashSet<>();
        Set<Long> incarnations = new HashSet<>();
        Set<Long> clusters = new HashSet<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(nodes)) {
            List<Callable<NodeIdentity>> starts = new ArrayList<>();
            for (int i = 0; i < nodes; i++) {
                starts.add(() -> new JdbcIdentityStore(database, "busy", nodes)
                        .acquire(LEASE)
                        .identity());
            }
            for (Future<NodeIdentity> each : threads.invokeAll(starts)) {
                machines.add(each.get().machine());
                incarnations.add(each.get().incarnation());
                clusters.add(each.get().clusterId());
            }
        }
        assertThat(machines).hasSize(nodes);
        assertThat(incarnations).hasSize(nodes);
        assertThat(clusters).hasSize(1);
    }

    @Test
    void clustersOfOneDatabaseDoNotShareSlots() {
        NodeIdentity one =
                new JdbcIdentityStore(database, "one", 2).acquire(LEASE).identity();
        NodeIdentity other =
                new JdbcIdentityStore(database, "other", 2).acquire(LEASE).identity();
        assertThat(one.machine()).isEqualTo(other.machine());
        assertThat(one.clusterId()).isNotEqualTo(other.clusterId());
    }

    /** Runs grants and then loses the grants, like a standby that takes over without the last commits. */
    private void lose(Runnable grants) {
        execute("create table kept_cluster as select * from iree_cluster");
        execute("create table kept_slot as select * from iree_cluster_slot");
        grants.run();
        execute("delete from iree_cluster_slot");
        execute("delete from iree_cluster");
        execute("insert into iree_cluster select * from kept_cluster");
        execute("insert into iree_cluster_slot select * from kept_slot");
        execute("drop table kept_cluster");
        execute("drop table kept_slot");
    }

    /** Loses grants, and returns the last once the time is later. */
    private IdentityLease lost(int grants) {
        List<IdentityLease> lost = new ArrayList<>();
        lose(() -> {
            for (int i = 0; i < grants; i++) {
                lost.forEach(IdentityLease::release);
                lost.add(open().acquire(LEASE));
            }
        });
        while (System.currentTimeMillis() <= lost.getLast().identity().incarnation()) {
            Thread.onSpinWait(); // for a millisecond
        }
        return lost.getLast();
    }

    private static int slot(IdentityLease lease) {
        return lease.identity().machine() << 8 | lease.identity().session();
    }

    private static void assertEnded(IdentityLease lease) {
        assertThat(failure(lease::renew).code()).isEqualTo(StatusCode.ABORTED);
    }

    @Test
    void aSessionLostByTheDatabaseIsNotGrantedAgainAfterTheNodeNoticed() {
        for (int before = 0; before < 3; before++) {
            IdentityLease lost = lost(1);
            assertEnded(lost);
            lost.release();
            IdentityLease next = open().acquire(LEASE);
            IdentityLease other = open().acquire(LEASE);
            assertThat(List.of(slot(next), slot(other))).doesNotContain(slot(lost));
            next.renew();
            other.renew();
            next.release();
            other.release();
        }
    }

    @Test
    void twoNodesOfASessionLostByTheDatabaseBothEndAndDifferInTheIncarnation() {
        IdentityLease lost = lost(1);
        IdentityLease again = open().acquire(LEASE);
        assertThat(slot(again)).isEqualTo(slot(lost));
        assertThat(again.identity().incarnation()).isGreaterThan(lost.identity().incarnation());
        again.renew();
        assertEnded(lost);
        assertEnded(again);
        again.release();
        for (int i = 0; i < 3; i++) {
            IdentityLease next = open().acquire(LEASE);
            assertThat(slot(next)).isNotEqualTo(slot(lost));
            next.renew();
            next.release();
        }
    }

    @Test
    void aNodeOfAnEarlierSessionLostByTheDatabaseEndsToo() {
        IdentityLease lost = lost(machines() * 2); // the last node has the second session of its index
        assertThat(lost.identity().session()).isEqualTo(2);
        List<IdentityLease> again = new ArrayList<>();
        for (int i = 0; i < machines(); i++) {
            again.add(open().acquire(LEASE));
        }
        assertEnded(lost);
        for (IdentityLease each : again) {
            if (each.identity().machine() == lost.identity().machine()) {
                assertEnded(each);
            } else {
                each.renew();
            }
            each.release();
        }
        Set<Integer> machines = new HashSet<>();
        for (int i = 0; i < machines(); i++) {
            IdentityLease next = open().acquire(LEASE);
            machines.add(next.identity().machine());
            assertThat(slot(next)).isNotEqualTo(slot(lost));
            next.renew();
        }
        assertThat(machines).hasSize(machines());
    }

    @Test
    void aNodeWithAnIndexTakenByAnotherNodeDoesNotDisturbTheOther() {
        IdentityLease former = open().acquire(LEASE);
        letEnd(former);
        List<IdentityLease> others = new ArrayList<>();
        for (int i = 0; i < machines(); i++) {
            others.add(open().acquire(LEASE));
        }
        assertEnded(former);
        others.forEach(IdentityLease::renew);
    }

    @Test
    void anUnreachableDatabaseIsUnavailable() {
        IreeException failure =
                failure(() -> new JdbcIdentityStore(new UrlDataSource("jdbc:none:"), "test", 2).acquire(LEASE));
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure).hasMessageContaining("cluster 'test'");
    }
}
