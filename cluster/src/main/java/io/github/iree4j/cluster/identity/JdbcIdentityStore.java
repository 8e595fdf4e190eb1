package io.github.iree4j.cluster.identity;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;

/**
 * An {@link IdentityStore} in a database: a row per cluster, and a row per machine index ever used. Rows are never
 * deleted.
 *
 * <p>Every change is a single statement comparing the replaced values, so any isolation level will do. Leases end by
 * the database's clock; clocks of nodes need not agree with the database's clock. Of the free indices the index with
 * the fewest used sessions is granted.
 *
 * <p>A database that loses commits, in a failover to a standby behind the primary, may grant a session again. An
 * incarnation is the time of the grant, or one more than the last, so the two nodes differ in the incarnation. The
 * former node notices the loss at the renewal: the node's lease ends, the lease of the other node ends, and the session
 * is used up. A commit that the database only warns about counts as failed, since a standby may not have it.
 */
public final class JdbcIdentityStore implements IdentityStore {

    private static final int SECONDS_PER_STATEMENT = 10;
    private static final int MOST_CONFLICTS = 1000;
    private static final String[] SCHEMA = {"""
        create table if not exists iree_cluster (
            name varchar(200) not null primary key,
            cluster_id bigint not null,
            incarnation bigint not null)""", """
        create table if not exists iree_cluster_slot (
            cluster_name varchar(200) not null,
            machine int not null,
            session_epoch int not null,
            incarnation bigint not null,
            expires_at bigint not null,
            primary key (cluster_name, machine))"""};

    private final DataSource database;
    private final String cluster;
    private final int machines;

    /**
     * Creates a store. Connects at the first lease.
     *
     * @param database the database with the tables
     * @param cluster the cluster's name, at most 200 characters
     * @param machines the number of machine indices, 1 to 256
     */
    public JdbcIdentityStore(DataSource database, String cluster, int machines) {
        if (machines < 1 || machines > Axis.MAXIMUM_MACHINE + 1) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%d machine indices are not within [1, %d]".formatted(machines, Axis.MAXIMUM_MACHINE + 1));
        }
        this.database = database;
        this.cluster = cluster;
        this.machines = machines;
    }

    /** Creates missing tables. */
    public void createTables() {
        try {
            execute(SCHEMA);
        } catch (IreeException first) {
            // another node may have created the tables in between; some databases report this as a failure
            execute(SCHEMA);
        }
    }

    private void execute(String... statements) {
        run("create its tables", connection -> {
            try (Statement statement = connection.createStatement()) {
                for (String each : statements) {
                    statement.execute(each);
                }
            }
            return 0;
        });
    }

    @Override
    public IdentityLease acquire(Duration duration) {
        return run("lease a slot", connection -> {
            long clusterId = clusterId(connection);
            for (int conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
                Slot free = findFree(connection);
                long incarnation = nextIncarnation(connection);
                long expires = now(connection) + duration.toMillis();
                if (take(connection, free, incarnation, expires)) {
                    return new Held(
                            new NodeIdentity(clusterId, free.machine, free.session + 1, incarnation),
                            duration.toMillis());
                }
            }
            throw IreeException.of(
                    StatusCode.UNAVAILABLE, MOST_CONFLICTS + " attempts to lease a slot met attempts of other nodes");
        });
    }

    private long clusterId(Connection connection) throws SQLException {
        for (; ; ) {
            Row row = select(connection, "select cluster_id from iree_cluster where name = ?", cluster);
            if (row.isPresent) {
                return row.value;
            }
            try {
                update(
                        connection,
                        "insert into iree_cluster (name, cluster_id, incarnation) values (?, ?, 0)",
                        cluster,
                        new SecureRandom().nextLong());
            } catch (SQLException e) {
                orDuplicate(e);
            }
        }
    }

    /** A time, so that a database that has lost the last incarnations does not grant them again. */
    private long nextIncarnation(Connection connection) throws SQLException {
        for (; ; ) {
            long last = select(connection, "select incarnation from iree_cluster where name = ?", cluster).value;
            long next = Math.max(last + 1, now(connection));
            String sql = "update iree_cluster set incarnation = ? where name = ? and incarnation = ?";
            if (update(connection, sql, next, cluster, last) == 1) {
                return next;
            }
        }
    }

    /** The free machine index with the fewest used sessions. */
    private Slot findFree(Connection connection) throws SQLException {
        List<Slot> slots = new ArrayList<>();
        try (PreparedStatement query = prepare(
                        connection,
                        "select machine, session_epoch, incarnation, expires_at from iree_cluster_slot"
                                + " where cluster_name = ?",
                        cluster);
                ResultSet rows = query.executeQuery()) {
            while (rows.next()) {
                slots.add(new Slot(rows.getInt(1), rows.getInt(2), rows.getLong(3), rows.getLong(4)));
            }
        }
        for (int machine = 0; machine < machines; machine++) {
            int index = machine;
            if (slots.stream().noneMatch(slot -> slot.machine == index)) {
                return new Slot(index, 0, 0, 0);
            }
        }
        long now = now(connection);
        List<Slot> free = slots.stream()
                .filter(slot -> slot.machine < machines && slot.expires <= now)
                .toList();
        return free.stream()
                .filter(slot -> slot.session < Axis.MAXIMUM_SESSION)
                .min(Comparator.comparingInt(Slot::session).thenComparing(Slot::machine))
                .orElseThrow(() -> Slots.noneFree(machines, !free.isEmpty()));
    }

    private boolean take(Connection connection, Slot free, long incarnation, long expires) throws SQLException {
        if (free.session > 0) {
            return update(
                            connection,
                            "update iree_cluster_slot set session_epoch = ?, incarnation = ?, expires_at = ?"
                                    + " where cluster_name = ? and machine = ? and session_epoch = ?"
                                    + " and incarnation = ? and expires_at = ?",
                            free.session + 1,
                            incarnation,
                            expires,
                            cluster,
                            free.machine,
                            free.session,
                            free.incarnation,
                            free.expires)
                    == 1;
        }
        return insert(connection, free.machine, 1, incarnation, expires);
    }

    /** Returns false when there is a row of the machine index. */
    private boolean insert(Connection connection, int machine, int session, long incarnation, long expires)
            throws SQLException {
        try {
            update(
                    connection,
                    "insert into iree_cluster_slot (cluster_name, machine, session_epoch, incarnation, expires_at)"
                            + " values (?, ?, ?, ?, ?)",
                    cluster,
                    machine,
                    session,
                    incarnation,
                    expires);
            return true;
        } catch (SQLException e) {
            orDuplicate(e);
            return false;
        }
    }

    /**
     * Keeps the session of an ended lease from being granted again by a database that has lost the grant. Another holder
     * of the index with this session or an earlier one has a session granted twice: raising the session ends that lease.
     */
    private void useUp(Connection connection, NodeIdentity identity) throws SQLException {
        String row = " from iree_cluster_slot where cluster_name = ? and machine = ?";
        if (!select(connection, "select session_epoch" + row, cluster, identity.machine()).isPresent
                && insert(connection, identity.machine(), identity.session(), identity.incarnation(), 0)) {
            return;
        }
        update(
                connection,
                "update iree_cluster_slot set session_epoch = ?"
                        + " where cluster_name = ? and machine = ? and session_epoch <= ? and incarnation <> ?",
                identity.session() + 1,
                cluster,
                identity.machine(),
                identity.session(),
                identity.incarnation());
    }

    /** Milliseconds on the database's clock. */
    private static long now(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(SECONDS_PER_STATEMENT);
            try (ResultSet rows = statement.executeQuery("select current_timestamp")) {
                rows.next();
                Timestamp now = rows.getTimestamp(1);
                return now.getTime();
            }
        }
    }

    private static Row select(Connection connection, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement query = prepare(connection, sql, parameters);
                ResultSet rows = query.executeQuery()) {
            return rows.next() ? new Row(true, rows.getLong(1)) : new Row(false, 0);
        }
    }

    private static int update(Connection connection, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, parameters)) {
            int rows = statement.executeUpdate();
            // PostgreSQL only warns when the limit of time ends the wait for the standby: the primary alone has the
            // commit
            for (SQLWarning each = statement.getWarnings(); each != null; each = each.getNextWarning()) {
                if (each.getSQLState() != null && each.getSQLState().startsWith("01")) {
                    throw new SQLException("the database warns: " + each.getMessage(), each.getSQLState(), each);
                }
            }
            return rows;
        }
    }

    private static PreparedStatement prepare(Connection connection, String sql, Object... parameters)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        statement.setQueryTimeout(SECONDS_PER_STATEMENT);
        for (int i = 0; i < parameters.length; i++) {
            statement.setObject(i + 1, parameters[i]);
        }
        return statement;
    }

    /** Rethrows every failure but the violation of a key: another node was faster. */
    private static void orDuplicate(SQLException e) throws SQLException {
        boolean duplicate = e instanceof SQLIntegrityConstraintViolationException
                || e.getSQLState() != null && e.getSQLState().startsWith("23");
        if (!duplicate) {
            throw e;
        }
    }

    private <T> T run(String what, Work<T> work) {
        try (Connection connection = database.getConnection()) {
            boolean auto = connection.getAutoCommit();
            connection.setAutoCommit(true);
            try {
                return work.run(connection);
            } finally {
                connection.setAutoCommit(auto);
            }
        } catch (SQLException e) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    "the identity store of cluster '%s' could not %s: %s".formatted(cluster, what, e.getMessage()),
                    e);
        }
    }

    /** Statements on a connection committing each statement. */
    private interface Work<T> {
        T run(Connection connection) throws SQLException;
    }

    private record Row(boolean isPresent, long value) {}

    private record Slot(int machine, int session, long incarnation, long expires) {}

    /** A lease. */
    private final class Held implements IdentityLease {
        private final NodeIdentity identity;
        private final long millis;
        private final AtomicBoolean released = new AtomicBoolean();

        Held(NodeIdentity identity, long millis) {
            this.identity = identity;
            this.millis = millis;
        }

        @Override
        public NodeIdentity identity() {
            return identity;
        }

        @Override
        public void renew() {
            boolean isRenewed = run("renew the lease of " + identity, connection -> {
                long now = now(connection);
                String sql = "update iree_cluster_slot set expires_at = ?"
                        + " where cluster_name = ? and machine = ? and session_epoch = ? and incarnation = ?"
                        + " and expires_at > ?";
                int rows = update(
                        connection,
                        sql,
                        now + millis,
                        cluster,
                        identity.machine(),
                        identity.session(),
                        identity.incarnation(),
                        now);
                if (rows != 1) {
                    useUp(connection, identity);
                }
                return rows == 1;
            });
            if (!isRenewed) {
                throw IreeException.of(
                        StatusCode.ABORTED,
                        "the lease of %s has ended: in table 'iree_cluster_slot', the row of machine index %d is another's or lost, or has expired by the database's clock"
                                .formatted(identity, identity.machine()));
            }
        }

        @Override
        public void release() {
            if (!released.compareAndSet(false, true)) {
                return;
            }
            try {
                run(
                        "release the lease of " + identity,
                        connection -> update(
                                connection,
                                "update iree_cluster_slot set expires_at = 0"
                                        + " where cluster_name = ? and machine = ? and incarnation = ?",
                                cluster,
                                identity.machine(),
                                identity.incarnation()));
            } catch (IreeException e) {
                if (e.code() != StatusCode.UNAVAILABLE) {
                    throw e;
                }
                // The lease ends by itself.
            }
        }
    }
}
