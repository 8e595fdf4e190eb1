package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Effort;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Kernels with stores to invalid addresses fail their call, and nothing else. */
@Timeout(1800)
class KernelFaultsTest {
    @TempDir
    Path directory;

    @Test
    void everyStoreEndsInAStatusOrACorrectResult() throws Exception {
        Random random = new Random(Effort.seed(KernelFaultsTest.class, "1000 stores", 2026));
        TreeSet<String> kinds = new TreeSet<>();
        try (FaultyKernels kernels = new FaultyKernels(directory)) {
            for (int i = 0; i < 1000; i++) {
                kinds.add(kernels.store(random));
            }
        }
        assertThat(kinds).hasSameSizeAs(FaultyKernels.Kind.values());
        assertThat(NativeThreads.flushesDenormals()).isFalse();
    }

    @Test
    void virtualThreadsChangingCarriersFaultIndependently() throws Exception {
        try (FaultyKernels kernels = new FaultyKernels(directory)) {
            List<Thread> threads = new ArrayList<>();
            List<String> wrong = new ArrayList<>();
            for (int t = 0; t < 50; t++) {
                long address = 64 + t;
                threads.add(Thread.startVirtualThread(() -> {
                    for (int i = 0; i < 20; i++) {
                        String how = "right";
                        try {
                            kernels.storeTo(address);
                        } catch (IreeException e) {
                            how = e.getMessage();
                        }
                        if (!how.contains(" 0x%x, where nothing is mapped".formatted(address))) {
                            synchronized (wrong) {
                                wrong.add(how);
                            }
                        }
                        Thread.yield();
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(wrong).isEmpty();
        }
    }

    @Test
    void codeFaultingDuringLoadingIsRefused() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> CpuLibrary.load("x", TestKernels.elf("faulty_initializer"), new int[0]))
                .withMessageStartingWith("executable 'x': its initializer was stopped: it ")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INTERNAL));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> CpuLibrary.load("x", TestKernels.elf("faulty_query"), new int[0]))
                .withMessageStartingWith("executable 'x': its query function was stopped: it ");
    }

    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "wine starts no processes for a JVM")
    @Test
    void theJvmStillHandlesItsOwnFaults() throws Exception {
        Ended ended = run("-Xss512k");
        assertThat(ended.said()).endsWith("done\n");
        assertThat(ended.status()).isZero();
    }

    @Tag("nightly")
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "wine starts no processes for a JVM")
    @Test
    void theJvmHandlesItsFaultsWithC1InterpretedAndCheckJni() throws Exception {
        for (String flag : List.of("-XX:TieredStopAtLevel=1", "-Xint", "-Xcheck:jni")) {
            Ended ended = run("-Xss512k", flag);
            assertThat(ended.said()).as(flag).endsWith("done\n");
            assertThat(ended.status()).as(flag).isZero();
        }
    }

    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "wine starts no processes for a JVM")
    @Test
    void uncaughtFaultsEndTheProcess() throws Exception {
        assertThat(store("true").said()).contains(" 0x10, where nothing is mapped");
        Ended ended = store("false");
        assertThat(ended.said()).contains("SIGSEGV");
        assertThat(ended.status()).isNotZero();
    }

    private Ended store(String caught) throws Exception {
        return run("-D" + CpuLibrary.CATCH_FAULTS + "=" + caught, "store");
    }

    private record Ended(int status, String said) {}

    /** Runs {@link FaultsOfTheVirtualMachine} with JVM flags; a flag without a leading dash is an argument. */
    private Ended run(String... flags) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(
                "--enable-native-access=ALL-UNNAMED",
                "-XX:-CreateCoredumpOnCrash",
                "-XX:ErrorFile=" + directory.resolve("error.log"),
                "-Diree4j.test.kernels=" + TestKernels.DIRECTORY.toAbsolutePath()));
        for (String flag : flags) {
            if (flag.startsWith("-")) {
                command.add(flag);
            }
        }
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                FaultsOfTheVirtualMachine.class.getName(),
                directory.toString()));
        for (String argument : flags) {
            if (!argument.startsWith("-")) {
                command.add(argument);
            }
        }
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(600, TimeUnit.SECONDS)).isTrue();
        return new Ended(process.exitValue(), said);
    }
}
