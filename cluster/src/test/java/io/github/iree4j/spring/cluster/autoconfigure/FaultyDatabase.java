package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.iree4j.cluster.FreePorts;
import io.github.iree4j.cluster.identity.PostgresPair;
import io.github.iree4j.cluster.identity.UrlDataSource;
import io.github.iree4j.cluster.process.SkewedClocks;
import io.github.iree4j.cluster.transport.Relay;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A server of PostgreSQL behind a relay, at times away, and with a clock that may jump. */
final class FaultyDatabase implements AutoCloseable {
    /** Of the identities in the database. */
    static final Duration LEASE = Duration.ofSeconds(15);

    /** An outage short enough, with the driver's limits of twice 2 s, for half of a lease. */
    static final Duration SHORT = Duration.ofSeconds(3);

    /** Until renewals under way have ended after an outage: a connection and a statement. */
    static final Duration ANSWERS = Duration.ofSeconds(4);

    /** Until every node has renewed the lease: a third of the lease, and a look and an answer. */
    static final Duration RENEWALS = LEASE.dividedBy(3).plusSeconds(4);

    private static final String CLOCK = "database";

    private final PostgresPair server;
    private final @Nullable SkewedClocks clocks;
    private final Relay relay;
    private final int port;
    private long skew; // seconds; guarded by this

    private FaultyDatabase(PostgresPair server, @Nullable SkewedClocks clocks) throws IOException {
        this.server = server;
        this.clocks = clocks;
        InetAddress loopback = InetAddress.getLoopbackAddress();
        port = FreePorts.from(server.primary().port() + 1);
        relay = new Relay(
                new InetSocketAddress(loopback, port),
                new InetSocketAddress(loopback, server.primary().port()));
    }

    /**
     * Starts a server.
     *
     * @return null where there is no PostgreSQL, after printing so
     */
    static @Nullable FaultyDatabase start(Path directory, @Nullable SkewedClocks clocks) throws IOException {
        Path programs = PostgresPair.programs();
        if (programs == null) {
            System.out.println("skipped: no PostgreSQL in /usr/lib/postgresql; Debian's package 'postgresql' has it");
            return null;
        }
        Map<String, String> environment = clocks == null ? Map.of() : clocks.environment(CLOCK);
        PostgresPair server = new PostgresPair(Files.createDirectory(directory.resolve("database")), programs);
        server.startPrimary(environment);
        return new FaultyDatabase(server, clocks);
    }

    String url() {
        return "jdbc:postgresql://127.0.0.1:%d/postgres?user=iree&sslmode=disable&connectTimeout=2&socketTimeout=2"
                .formatted(port);
    }

    /** Is away for a time: refuses, or is silent. */
    void away(boolean refuses, long millis) throws IOException {
        if (refuses) {
            relay.down();
            FaultyCluster.pause(millis);
            relay.up();
        } else {
            relay.silence(true);
            FaultyCluster.pause(millis);
            relay.silence(false);
        }
    }

    /** Lets the clock jump by so many leases. */
    synchronized void jump(int leases) throws IOException {
        skew += leases * LEASE.toSeconds();
        if (clocks != null) {
            clocks.set(CLOCK, skew);
            assertThat(time()).as("the clock of the database").isCloseTo(expected(), within(60L));
        }
    }

    private synchronized long expected() {
        return TimeUnit.MILLISECONDS.toSeconds(System.currentTimeMillis()) + skew;
    }

    /** The time of the day at the server, in seconds. */
    private long time() {
        try (Connection connection = new UrlDataSource(server.primary().url()).getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select extract(epoch from current_timestamp)::bigint")) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() throws IOException {
        relay.close();
        server.close();
    }
}
