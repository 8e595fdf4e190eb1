package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.modules.parameters.IrpaWriter;
import io.github.iree4j.modules.parameters.ParameterArchive;
import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.modules.parameters.ParameterProgress.Phase;
import io.github.iree4j.modules.parameters.ParameterProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Parameters of compiled programs, from files and from elsewhere. */
class ProgramParametersTest {
    @TempDir
    Path directory;

    private Path module;
    private Path twos;
    private Path threes;

    @BeforeEach
    void makeFiles() throws IOException {
        module = Fixtures.file("3.11.0/cpu/scale.vmfb");
        twos = directory.resolve("twos.irpa");
        threes = directory.resolve("threes.irpa");
        new IrpaWriter().stored("weight", 2, 2, 2, 2).write(twos);
        new IrpaWriter().stored("weight", 3, 3, 3, 3).stored("other", 1).write(threes);
    }

    private static float[] scaled(Program program) {
        try (Tensor x = Tensor.of(new float[] {1, 2, 3, 4}, 4);
                Results results = program.function("scale").invoke(x)) {
            return results.tensor(0).toFloatArray();
        }
    }

    @Test
    void ofAScopeTheFirstProviderWithAParameterGivesIt() throws IOException {
        Path empty = directory.resolve("empty.irpa");
        new IrpaWriter().stored("nothing", 0).write(empty);
        try (IreeRuntime runtime = IreeRuntime.create();
                ParameterArchive archive = ParameterArchive.open(twos);
                ParameterProvider provider = ParameterProvider.of("model", archive);
                Program files = runtime.load(ProgramOptions.builder()
                        .module(module)
                        .parameters("model", empty)
                        .parameters("model", threes)
                        .parameters(provider)
                        .build());
                Program given = runtime.load(ProgramOptions.builder()
                        .module(module)
                        .parameters("model", empty)
                        .parameters(provider)
                        .build())) {
            assertThat(scaled(files)).containsExactly(3, 6, 9, 12);
            assertThat(scaled(given)).containsExactly(2, 4, 6, 8);
        }
    }

    @Test
    void aProgramKeepsItsProvidersForItsNextInstances() {
        ParameterProvider provider;
        try (ParameterArchive archive = ParameterArchive.open(twos)) {
            provider = ParameterProvider.of("model", archive);
        }
        try (IreeRuntime runtime = IreeRuntime.create()) {
            try (Program program = runtime.load(
                    ProgramOptions.builder().module(module).parameters(provider).build())) {
                provider.close();
                try (Program second = program.newInstance()) {
                    assertThat(scaled(second)).containsExactly(2, 4, 6, 8);
                }
            }
            assertThat(provider.isLive()).as("after the last program").isFalse();
        }
    }

    @Test
    void theListenerHearsOfFilesAndOfLoads() {
        List<ParameterProgress> heard = Collections.synchronizedList(new ArrayList<>());
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(module)
                        .parameters("model", twos)
                        .parameters("unused", threes)
                        .parameterListener(heard::add)
                        .build())) {
            assertThat(scaled(program)).containsExactly(2, 4, 6, 8);
        }
        assertThat(heard)
                .filteredOn(p -> p.phase() == Phase.OPENED)
                .extracting(ParameterProgress::file)
                .containsExactly(twos, threes);
        assertThat(heard)
                .filteredOn(p -> p.phase() == Phase.LOADED)
                .containsExactly(new ParameterProgress(Phase.LOADED, "model", null, 16, 16));
    }

    @Test
    void aFileOfNoFormatFailsTheLoadAndLeavesNothing() throws IOException {
        Path broken = Files.writeString(directory.resolve("weights.gguf"), "GGUF\003\000\000\000");
        try (IreeRuntime runtime = IreeRuntime.create()) {
            assertThatThrownBy(() -> runtime.load(ProgramOptions.builder()
                            .module(module)
                            .parameters("model", twos)
                            .parameters("model", broken)
                            .build()))
                    .hasMessageContaining("weights.gguf', offset 8: ")
                    .hasMessageContaining("truncated");
            assertThat(runtime.programs()).isEmpty();
            assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
        }
    }
}
