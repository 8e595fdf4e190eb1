package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.modules.parameters.ParameterArchive;
import io.github.iree4j.modules.parameters.ParameterProvider;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.bytecode.ModuleBytes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Files of programs changing while in use. */
@Timeout(300)
@DisabledOnOs(
        value = OS.WINDOWS,
        disabledReason =
                "Windows has no POSIX permissions and Unix attributes, and a mapped file can be neither replaced nor shortened")
class ChangedFilesTest {

    @TempDir
    Path directory;

    private Path module;
    private Path weights;

    @BeforeEach
    void copyFiles() throws IOException {
        module = Files.copy(Fixtures.file("3.13.0/cpu/weights.vmfb"), directory.resolve("weights.vmfb"));
        weights = Files.copy(Fixtures.file("weights.irpa"), directory.resolve("weights.irpa"));
    }

    private static float[] weighed(Program program) {
        try (Tensor x = Tensor.of(new float[] {1, 2, 3, 4, 5, 6, 7, 8}, 2, 4);
                Results results = program.function("weigh").invoke(x)) {
            return results.tensor(0).toFloatArray();
        }
    }

    private static void sameResults(Program program, Path changing, FileChange change) throws IOException {
        float[] right = weighed(program);
        change.to(changing);
        assertThat(weighed(program)).containsExactly(right);
        try (Program second = program.newInstance()) {
            assertThat(weighed(second)).containsExactly(right);
        }
    }

    @ParameterizedTest
    @EnumSource
    void changesOfAReadModuleDoNotMatter(FileChange change) throws IOException {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(module)
                        .parameters("model", weights)
                        .build())) {
            sameResults(program, module, change);
        }
    }

    @ParameterizedTest
    @EnumSource
    void changesOfReadParametersDoNotMatter(FileChange change) throws IOException {
        try (IreeRuntime runtime = IreeRuntime.create();
                ModuleBytes bytes = ModuleBytes.read(weights);
                ParameterArchive archive = ParameterArchive.of(weights, bytes.segment(), bytes);
                ParameterProvider provider = ParameterProvider.of("model", archive);
                Program program = runtime.load(ProgramOptions.builder()
                        .module(module)
                        .parameters(provider)
                        .build())) {
            sameResults(program, weights, change);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REPLACED", "DELETED"})
    void parametersInPlaceKeepTheBytesOfADeletedFile(FileChange change) throws IOException {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(module)
                        .parameters("model", weights)
                        .build())) {
            sameResults(program, weights, change);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TOUCHED", "PERMITTED", "LINKED", "COPIED_OVER"})
    void callsGoOnWhenParametersInPlaceHaveTheSameContentsAfterAChange(FileChange change) throws IOException {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(module)
                        .parameters("model", weights)
                        .build())) {
            goOn(program, weights, change);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TOUCHED", "PERMITTED", "LINKED", "COPIED_OVER"})
    void callsGoOnWhenAMappedModuleHasTheSameContentsAfterAChange(FileChange change) throws IOException {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(mapped().build())) {
            goOn(program, module, change);
        }
    }

    private static void goOn(Program program, Path changing, FileChange change) throws IOException {
        float[] right = weighed(program);
        FilesInUse.awaitRead(program);
        change.to(changing);
        assertThat(weighed(program)).containsExactly(right);
        change.to(changing);
        try (Tensor x = Tensor.of(new float[] {1, 2, 3, 4, 5, 6, 7, 8}, 2, 4);
                Results results = program.function("weigh").invokeAsync(x).join()) {
            assertThat(results.tensor(0).toFloatArray()).containsExactly(right);
        }
        change.to(changing);
        try (Program second = program.newInstance()) {
            assertThat(weighed(second)).containsExactly(right);
        }
        assertThat(program.monitor().failure()).isNull();
    }

    @Test
    void programWithAnOverwrittenFileServesAgainOnceRestored() throws IOException {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(module)
                        .parameters("model", weights)
                        .build())) {
            float[] right = weighed(program);
            byte[] contents = Files.readAllBytes(weights);
            isDetected(program, weights, "parameter file '" + weights + "' had ", FileChange.OVERWRITTEN);
            Files.write(weights, contents);
            assertThat(weighed(program)).containsExactly(right);
            assertThat(program.monitor().failure()).isNull();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TRUNCATED", "OVERWRITTEN", "OVERWRITTEN_AND_TIME_RESTORED", "GROWN"})
    void changesOfParametersInPlaceAreDetectedByTheNextUse(FileChange change) throws IOException {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(module)
                        .parameters("model", weights)
                        .build())) {
            isDetected(program, weights, "parameter file '" + weights + "' had ", change);
        }
    }

    @Test
    void changeOfTheTargetOfALinkIsDetectedAlsoWhenTheLinkLeadsElsewhereByThen() throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve("link"), weights);
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(module)
                        .parameters("model", link)
                        .build())) {
            float[] right = weighed(program);
            Files.delete(link);
            Files.createSymbolicLink(link, module);
            assertThat(weighed(program)).containsExactly(right);
            isDetected(program, weights, "parameter file '" + link + "' had ", FileChange.OVERWRITTEN);
        }
    }

    @Test
    void programLoadedAgainUsesThePresentFile() throws IOException {
        ProgramOptions options = ProgramOptions.builder()
                .module(module)
                .parameters("model", weights)
                .build();
        try (IreeRuntime runtime = IreeRuntime.create();
                Program before = runtime.load(options)) {
            float[] right = weighed(before);
            FileChange.TOUCHED.to(weights);
            try (Program after = runtime.load(options)) {
                assertThat(weighed(after)).containsExactly(right);
                assertThat(after.monitor().failure()).isNull();
                before.retire(after);
                assertThat(weighed(before)).containsExactly(right);
            }
        }
    }

    private static void isDetected(Program program, Path changing, String message, FileChange change)
            throws IOException {
        weighed(program);
        assertThat(program.monitor().failure()).isNull();
        FilesInUse.awaitRead(program);
        change.to(changing);
        for (ThrowingCallable use : List.<ThrowingCallable>of(
                () -> weighed(program),
                () -> {
                    try (Tensor x = Tensor.of(new float[8], 2, 4)) {
                        program.function("weigh")
                                .call(CallOptions.DEFAULTS.timeout(Duration.ofMinutes(1)), x)
                                .await();
                    }
                },
                program::newInstance)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(use)
                    .withMessageContaining("was changed while in use; load the program again")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS))
                    .satisfies(e -> assertThat(e.getMessage()).doesNotContain(changing.toString()));
        }
        assertThat(program.monitor().failure())
                .hasMessageContaining(message)
                .hasMessageContaining("was changed while in use");
        assertThat(program.monitor().activeCalls()).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"REPLACED", "DELETED"})
    void mappedModuleKeepsTheBytesOfADeletedFile(FileChange change) throws IOException {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(mapped().build())) {
            sameResults(program, module, change);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TRUNCATED", "OVERWRITTEN", "OVERWRITTEN_AND_TIME_RESTORED", "GROWN"})
    void changesOfAMappedModuleAreDetectedByTheNextUse(FileChange change) throws IOException {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(mapped().build())) {
            isDetected(program, module, "module file '" + module + "' had ", change);
        }
    }

    private ProgramOptions.Builder mapped() {
        return ProgramOptions.builder().mappedModule(module).parameters("model", weights);
    }

    @Test
    void readOfJavaBeyondTheEndOfAMappedFileIsAStatus() throws IOException {
        try (Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(weights, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(1), 1 << 16);
            MemorySegment bytes = channel.map(MapMode.READ_ONLY, 0, 1 << 16, arena);
            channel.truncate(0);
            try (HalFile file = HalFile.ofMemory(bytes, MemoryAccess.READ, null)) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> file.read(1 << 15, MemorySegment.ofArray(new byte[100])))
                        .withMessageContaining("a mapped file has become shorter while being read")
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS));
            }
        }
    }
}
