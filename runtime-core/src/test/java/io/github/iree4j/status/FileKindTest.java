package io.github.iree4j.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.modules.parameters.ParameterArchive;
import io.github.iree4j.vm.bytecode.ModuleBytes;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Paths of something else than a regular file are refused before being opened. */
@Timeout(300)
class FileKindTest {
    @TempDir
    Path directory;

    private static void isRefused(Path path, String kind) {
        for (Consumer<Path> use :
                List.<Consumer<Path>>of(ModuleBytes::read, ModuleBytes::map, ParameterArchive::open)) {
            assertTimeoutPreemptively(
                    Duration.ofSeconds(60),
                    () -> assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(() -> use.accept(path))
                            .withMessageContaining("'%s' is %s and must be a regular file", path, kind)
                            .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT)));
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has no such files")
    void pipeIsRefused() throws Exception {
        Path pipe = directory.resolve("pipe");
        Process process = new ProcessBuilder("mkfifo", pipe.toString()).start();
        assumeTrue(process.waitFor() == 0, "no mkfifo");
        isRefused(pipe, "a pipe (FIFO)");
        isRefused(Files.createSymbolicLink(directory.resolve("link"), pipe), "a pipe (FIFO)");
    }

    @Test
    void directoryIsRefused() {
        isRefused(directory, "a directory");
    }

    @Test
    void deviceIsRefused() {
        Path endless = Path.of("/dev/zero");
        assumeTrue(Files.exists(endless), "no /dev/zero");
        isRefused(endless, "a device");
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has no such files")
    void socketIsRefused() throws Exception {
        Path socket = directory.resolve("s");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            isRefused(socket, "a socket");
        }
    }
}
