package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.Compilation;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program of the size of a language model, without the parameters. */
@Tag("nightly")
class LargeProgramTest {
    private static final int BYTES = 630 << 10;

    /** In a separate JVM: {@code LargeProgramTest$Cold <module>}. */
    static final class Cold {
        private Cold() {}

        public static void main(String[] arguments) {
            long nanos = System.nanoTime();
            String said = "";
            try (IreeRuntime runtime = IreeRuntime.create()) {
                runtime.load(Path.of(arguments[0])).close();
            } catch (IreeException e) {
                said = e.code() + " " + e.getMessage().lines().findFirst().orElse("");
            }
            long millis = (System.nanoTime() - nanos) / 1_000_000;
            System.out.printf("%d ms: %s%n", millis, said);
        }
    }

    @Test
    void programOfALanguageModelStopsAtItsMissingParametersWithin256Megabytes(@TempDir Path directory)
            throws Exception {
        Path file = Files.write(directory.resolve("model.vmfb"), LanguageModel.file());
        assertThat(ModuleDef.read(MemorySegment.ofArray(Files.readAllBytes(file)), ModuleLimits.DEFAULTS)
                        .bytecode()
                        .length)
                .isGreaterThan(BYTES);
        String output = cold(file);
        assertThat(output).contains("NOT_FOUND").contains("'" + LanguageModel.SCOPE + "'");
        System.out.printf("language model of %d bytes in a new virtual machine: %s", Files.size(file), output);
    }

    private static String cold(Path file) throws Exception {
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Cold.class.getName(),
                        file.toString()))
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    @Test
    void everyFunctionCompilesOrExplainsTheRefusal() {
        BytecodeModule module = BytecodeModule.read(
                MemorySegment.ofArray(LanguageModel.file()),
                "model.vmfb",
                HalTypes.register(VmTypes.standard()),
                ModuleLimits.DEFAULTS,
                null,
                Compilation.EAGER);
        try (module) {
            assertThat(module.compilation().compiled()
                            + module.compilation().refused().size())
                    .isEqualTo(3);
        }
    }
}
