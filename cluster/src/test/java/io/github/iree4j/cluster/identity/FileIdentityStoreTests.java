package io.github.iree4j.cluster.identity;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileIdentityStoreTests extends IdentityStoreContract {

    private static final long CLUSTER = 0xC0FFEE_0000_0001L;

    @TempDir
    private Path directory;

    @Override
    IdentityStore open() {
        return new FileIdentityStore(file(), CLUSTER, 3);
    }

    private Path file() {
        return directory.resolve("state/identity");
    }

    @Override
    int machines() {
        return 1;
    }

    /** A lease ends with the lock, or when the file is replaced. */
    @Override
    void letEnd(IdentityLease lease) {
        lease.release();
    }

    @Test
    void aCrashAtAnyStepSkipsASessionAtMost() {
        Random random = new Random(5);
        List<String> steps = List.of("write", "force", "rename", "force the directory", "grant");
        int granted = 0;
        for (int round = 0; round < 60; round++) {
            String crash = steps.get(random.nextInt(steps.size()));
            IreeException failure = failure(() -> new FileIdentityStore(file(), CLUSTER, 3, step -> {
                        if (step.equals(crash)) {
                            throw IreeException.of(StatusCode.INTERNAL, "crash before " + step);
                        }
                    })
                    .acquire(LEASE));
            assertThat(failure).hasMessageContaining("crash");
            IdentityLease lease = open().acquire(LEASE);
            assertThat(lease.identity().session()).isBetween(granted + 1, granted + 2);
            granted = lease.identity().session();
            lease.release();
        }
    }

    @Test
    void theSessionIsOnDiskBeforeTheGrant() throws IOException {
        Consumer<String> steps = step -> {
            if (step.equals("grant")) {
                try {
                    assertThat(Files.readString(file())).contains("session=1\n");
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
        };
        new FileIdentityStore(file(), CLUSTER, 3, steps).acquire(LEASE).release();
    }

    @Test
    void theFileIsTheSameInEachLanguage() throws IOException {
        Locale language = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("fa-IR"));
            IdentityLease lease = new FileIdentityStore(file(), CLUSTER, 3, step -> {}).acquire(LEASE);
            assertThat(Files.readString(file())).endsWith("machine=3 session=1\n");
            lease.release();
        } finally {
            Locale.setDefault(language);
        }
    }

    @Test
    void damagedFilesAreRefused() throws IOException {
        open().acquire(LEASE).release();
        String intact = Files.readString(file());
        for (String content : List.of(
                "",
                "\0".repeat(64),
                intact.substring(0, 20),
                intact.replace("session=1", "session=0"),
                intact.replace("session=1", "session=256"),
                intact.replace("session=1", "session=-1"),
                intact + intact,
                "x".repeat(1000))) {
            Files.writeString(file(), content);
            IreeException failure = failure(() -> open().acquire(LEASE));
            assertThat(failure.code()).as(content).isEqualTo(StatusCode.DATA_LOSS);
            assertThat(failure).hasMessageContaining(file().toString());
            assertThat(Files.readString(file())).isEqualTo(content);
        }
        Files.writeString(file(), intact);
        assertThat(open().acquire(LEASE).identity().session()).isEqualTo(2);
    }

    /** Session 20 of 200 would be granted again. */
    @Test
    void aTruncatedFileIsRefused() throws IOException {
        for (int i = 0; i < 12; i++) {
            open().acquire(LEASE).release();
        }
        String intact = Files.readString(file());
        Files.delete(directory.resolve("state/identity.lock"));
        for (int length = 0; length < intact.length(); length++) {
            Files.writeString(file(), intact.substring(0, length));
            assertThat(failure(() -> open().acquire(LEASE)).code())
                    .as("%d bytes", length)
                    .isEqualTo(StatusCode.DATA_LOSS);
        }
    }

    @Test
    void aDeletedOrOlderFileIsRefused() throws IOException {
        open().acquire(LEASE).release();
        String copy = Files.readString(file());
        open().acquire(LEASE).release();
        String intact = Files.readString(file());
        for (int again = 0; again < 3; again++) {
            Files.delete(file());
            assertThat(failure(() -> open().acquire(LEASE)))
                    .hasMessageContaining("has session none")
                    .hasMessageContaining("session 2: it was deleted, or is an older copy");
            Files.writeString(file(), copy);
            assertThat(failure(() -> open().acquire(LEASE)).code()).isEqualTo(StatusCode.DATA_LOSS);
        }
        Files.writeString(file(), intact);
        IdentityLease lease = open().acquire(LEASE);
        assertThat(lease.identity().session()).isEqualTo(3);
        lease.release();
        Files.delete(file());
        assertThat(new FileIdentityStore(file(), CLUSTER, 4)
                        .acquire(LEASE)
                        .identity()
                        .session())
                .as("of another machine index")
                .isOne();
    }

    @Test
    void aFileOfAnotherClusterOrMachineIsRefused() {
        open().acquire(LEASE).release();
        for (IdentityStore other :
                List.of(new FileIdentityStore(file(), CLUSTER + 1, 3), new FileIdentityStore(file(), CLUSTER, 4))) {
            assertThat(failure(() -> other.acquire(LEASE)).code()).isEqualTo(StatusCode.FAILED_PRECONDITION);
        }
    }

    @Test
    void aReplacedFileEndsTheLease() throws IOException {
        IdentityLease lease = open().acquire(LEASE);
        lease.renew();
        Files.writeString(file(), Files.readString(file()).replace("session=1", "session=9"));
        assertThat(failure(lease::renew).code()).isEqualTo(StatusCode.ABORTED);
        lease.release();
    }

    @Test
    void anotherProcessIsKeptOutUntilTheHolderIsDead() throws Exception {
        Process holder = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        file().toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output = holder.inputReader()) {
            assertThat(output.readLine()).isEqualTo("session 1");
            IreeException failure = failure(() -> open().acquire(LEASE));
            assertThat(failure.code()).isEqualTo(StatusCode.ALREADY_EXISTS);
            assertThat(failure).hasMessageContaining("in use by another node, process " + holder.pid());
            IdentityInUse used = failure.detail(IdentityInUse.class).orElse(null);
            assertThat(used.file()).isEqualTo(file().toString());
            assertThat(used.holder()).startsWith("process " + holder.pid());
        } finally {
            holder.destroyForcibly().waitFor();
        }
        assertThat(open().acquire(LEASE).identity().session()).isEqualTo(2);
    }

    /** Another process, holding a lease until killed. */
    static final class Holder {
        public static void main(String[] arguments) throws IOException {
            IdentityLease lease = new FileIdentityStore(Path.of(arguments[0]), CLUSTER, 3).acquire(LEASE);
            System.out.println("session " + lease.identity().session());
            System.in.read();
        }
    }
}
