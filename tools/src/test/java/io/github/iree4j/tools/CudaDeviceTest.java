package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.fixture;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DriverProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line with {@code --device=cuda}, here usually on a driver without hardware. */
class CudaDeviceTest {
    @TempDir
    private Path directory;

    @BeforeEach
    void needsADriver() {
        Availability cuda = DriverProvider.installed().stream()
                .filter(driver -> driver.name().equals("cuda"))
                .findFirst()
                .orElseThrow()
                .availability();
        if (!cuda.available()) {
            assertThat(System.getProperty("iree.require", "")).as(cuda.reason()).doesNotContain("cuda");
            Assumptions.abort("no CUDA here: " + cuda.reason());
        }
    }

    @Test
    void listsTheDevicesOfTheDriverWithTheirFormats() {
        CommandLineRun run = iree4j("devices");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).contains("--device=cuda:0  ").contains("executables: cuda-nvptx-fb");
    }

    @Test
    void runsACompiledProgramByEveryFormOfTheName() {
        for (String device : new String[] {"cuda", "cuda:0", "cuda://0"}) {
            CommandLineRun run = iree4j(
                    "run",
                    "--device=" + device,
                    "--module=" + fixture("3.13.0/cuda/add.vmfb"),
                    "--function=add",
                    "--input=4xf32=1 2 3 4",
                    "--input=4xf32=10 20 30 40");
            assertThat(run.status()).as(run.err()).isZero();
            assertThat(run.out()).contains("4xf32=11 22 33 44");
        }
    }

    @Test
    void refusedFormatsNameTheRemedy() {
        CommandLineRun cpu =
                iree4j("run", "--device=cuda", "--module=" + fixture("3.13.0/cpu/add.vmfb"), "--function=add");
        assertThat(cpu.status()).isEqualTo(1);
        assertThat(cpu.err())
                .contains("--iree-hal-target-device=cuda --iree-cuda-target=sm_")
                .contains("cuda-nvptx-fb");
        CommandLineRun cuda =
                iree4j("run", "--device=local", "--module=" + fixture("3.13.0/cuda/add.vmfb"), "--function=add");
        assertThat(cuda.status()).isEqualTo(1);
        assertThat(cuda.err()).contains("cuda-nvptx-fb").contains("--device=cuda");
    }

    @Test
    void verifyNamesTheArchitecturesWithCode() {
        String ptx = fixture("3.13.0/cuda/add.vmfb");
        String amd = fixture("3.13.0/rocm/add.vmfb");
        CommandLineRun run = iree4j("verify", ptx, amd);
        assertThat(run.status()).as(run.out()).isZero();
        assertThat(run.out())
                .contains(ptx + ": code for GPUs (cuda-nvptx-fb): sm_75 and newer (PTX)\n")
                .containsPattern("add.vmfb: code for GPUs \\(rocm-hsaco-fb\\): gfx\\w+.* \\(machine code\\)\n");
    }

    @Test
    void packsPtx() throws IOException {
        Path source = Files.writeString(directory.resolve("k.ptx"), """
                .version 6.3
                .target sm_75
                .address_size 64
                .visible .entry k(.param .u64 a) .reqntid 8 { ret; }
                """);
        Path packed = directory.resolve("k.cuda");
        CommandLineRun run = iree4j("ptx", "--output=" + packed, source.toString());
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(packed).isNotEmptyFile();
        Files.writeString(source, ".entry k() { ret; }");
        CommandLineRun refused = iree4j("ptx", "--output=" + packed, source.toString());
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err()).contains("k.ptx' cannot be packed: kernel 'k' does not say how many threads");
        CommandLineRun none = iree4j("ptx", "-o", packed.toString(), directory + "/none.ptx");
        assertThat(none.err()).contains("NOT_FOUND").contains("none.ptx");
    }
}
