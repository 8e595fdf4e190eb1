package io.github.iree4j.cluster.identity;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A primary of PostgreSQL and a streaming standby, both on this machine, with the programs of Debian's packages. */
public final class PostgresPair implements AutoCloseable {

    private static final Path PACKAGES = Path.of("/usr/lib/postgresql");
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Path directory;
    private final Path programs;
    private final @Nullable String user; // the user of PostgreSQL; root is refused
    private final Server primary;
    private final Server standby;
    private Map<String, String> environment = Map.of(); // of the servers

    /** A server, perhaps stopped. */
    public final class Server {
        private final Path data;
        private final int port = freePort();
        private final List<String> options = new ArrayList<>();

        Server(String name) {
            data = directory.resolve(name);
        }

        void start() {
            run(
                    "pg_ctl",
                    "start",
                    "-w",
                    "-D",
                    data.toString(),
                    "-l",
                    data + ".log",
                    "-o",
                    "-p %d -c listen_addresses=localhost -c unix_socket_directories='' -c fsync=off %s"
                            .formatted(port, String.join(" ", options)));
        }

        /** Ends all processes at once, without further writes. */
        void crash() {
            run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", data.toString());
        }

        /** Stops the accepting process in place: the system still accepts connections, and nobody answers. */
        void hang() {
            signal("STOP");
        }

        void promote() {
            run("pg_ctl", "promote", "-w", "-D", data.toString());
        }

        private void signal(String name) {
            execute(List.of("kill", "-" + name, Long.toString(pid())));
        }

        private boolean isRunning() {
            return Files.exists(data.resolve("postmaster.pid"));
        }

        private long pid() {
            try {
                return Long.parseLong(
                        Files.readAllLines(data.resolve("postmaster.pid")).getFirst());
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        public int port() {
            return port;
        }

        public String url() {
            return "jdbc:postgresql://localhost:%d/postgres?user=iree&connectTimeout=3&socketTimeout=10"
                    .formatted(port);
        }
    }

    /** Returns the folder of the programs, of the newest version; null without any. */
    public static @Nullable Path programs() {
        if (!Files.isDirectory(PACKAGES)) {
            return null;
        }
        try (Stream<Path> versions = Files.list(PACKAGES)) {
            return versions.map(each -> each.resolve("bin"))
                    .filter(each ->
                            Files.isExecutable(each.resolve("initdb")) && Files.isExecutable(each.resolve("pg_ctl")))
                    .max(Comparator.comparingInt(PostgresPair::version))
                    .orElse(null);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int version(Path programs) {
        String version = programs.getName(programs.getNameCount() - 2).toString();
        return version.matches("[0-9]+") ? Integer.parseInt(version) : 0;
    }

    /**
     * Starts nothing yet.
     *
     * @param directory an empty folder
     * @param programs the folder of the programs
     */
    public PostgresPair(Path directory, Path programs) throws IOException {
        this.directory = directory;
        this.programs = programs;
        this.user = "root".equals(System.getProperty("user.name")) ? owner(directory) : null;
        primary = new Server("primary");
        standby = new Server("standby");
    }

    /**
     * Starts both.
     *
     * @param isSynchronous whether a commit waits for the standby
     */
    void start(boolean isSynchronous) {
        initialise();
        if (isSynchronous) {
            primary.options.add("-c synchronous_standby_names='*'");
        }
        primary.start();
        run(
                "pg_basebackup",
                "--no-sync",
                "--checkpoint=fast",
                "--write-recovery-conf",
                "--host=localhost",
                "--port=" + primary.port,
                "--username=iree",
                "--pgdata=" + standby.data);
        standby.start();
        awaitStandby();
    }

    /** Starts the primary alone, with variables besides the variables of this process. */
    public void startPrimary(Map<String, String> variables) {
        initialise();
        environment = variables;
        primary.start();
    }

    private void initialise() {
        run(
                "initdb",
                "--no-sync",
                "--auth=trust",
                "--username=iree",
                "--encoding=UTF8",
                "--locale=C",
                "--pgdata=" + primary.data);
    }

    /** Hands the folder to a user accepted by PostgreSQL. */
    private static String owner(Path directory) throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
        for (String name : List.of("postgres", "nobody")) {
            try {
                UserPrincipal owner = directory
                        .getFileSystem()
                        .getUserPrincipalLookupService()
                        .lookupPrincipalByName(name);
                Files.setOwner(directory, owner);
                return name;
            } catch (UserPrincipalNotFoundException e) {
                // perhaps there is the next
            }
        }
        throw new IllegalStateException("neither a user postgres nor nobody");
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void run(String program, String... arguments) {
        List<String> command = new ArrayList<>(user == null ? List.of() : List.of("runuser", "-u", user, "--"));
        command.add(programs.resolve(program).toString());
        command.addAll(List.of(arguments));
        execute(command);
    }

    private void execute(List<String> command) {
        Path output = directory.resolve("output");
        try {
            // not through a pipe: the servers inherit the output and keep it open
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile());
            builder.environment().putAll(environment);
            Process process = builder.start();
            boolean ended = process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
            if (!ended) {
                process.destroyForcibly();
            }
            assertThat(ended && process.exitValue() == 0)
                    .as("%s:\n%s%s", command, Files.readString(output), logs())
                    .isTrue();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private String logs() throws IOException {
        StringBuilder logs = new StringBuilder();
        for (String each : List.of("primary.log", "standby.log")) {
            Path log = directory.resolve(each);
            if (Files.exists(log)) {
                logs.append('\n').append(each).append(":\n").append(Files.readString(log));
            }
        }
        return logs.toString();
    }

    public Server primary() {
        return primary;
    }

    Server standby() {
        return standby;
    }

    /** The URL form of {@code docs/cluster.md}: the driver connects to the primary of the hosts. */
    String url() {
        return "jdbc:postgresql://localhost:%d,localhost:%d/postgres?user=iree&targetServerType=primary&connectTimeout=3&socketTimeout=10"
                .formatted(primary.port, standby.port);
    }

    /** Waits until the standby has all writes of the primary. */
    void awaitStandby() {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        String caughtUp =
                "select count(*) from pg_stat_replication where state = 'streaming' and replay_lsn = pg_current_wal_lsn()";
        try (Connection connection = new UrlDataSource(primary.url()).getConnection();
                Statement statement = connection.createStatement()) {
            while (true) {
                try (ResultSet rows = statement.executeQuery(caughtUp)) {
                    rows.next();
                    if (rows.getInt(1) == 1) {
                        return;
                    }
                }
                assertThat(System.nanoTime()).as("the standby streams").isLessThan(deadline);
                Thread.sleep(20);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        for (Server each : List.of(standby, primary)) {
            if (each.isRunning()) {
                each.signal("CONT");
                each.crash();
            }
        }
    }
}
