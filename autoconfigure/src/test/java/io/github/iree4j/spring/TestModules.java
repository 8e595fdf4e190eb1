package io.github.iree4j.spring;

import io.github.iree4j.vm.asm.VmAssembler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Small modules that tests assemble for themselves, and where the compiled fixtures are. */
public final class TestModules {

    /** Adds two integers; needs no device. */
    private static final String ADD = """
            vm.module @adder version 3
            vm.type i32

            vm.export @add
            vm.func @add(%i0: i32, %i1: i32) -> (i32) {
            ^entry:
              %i0 = vm.add.i32 %i0, %i1
              vm.return %i0
            }

            vm.export @refuse
            vm.func @refuse() -> () {
            ^entry:
              %i0 = vm.const.i32 7
              vm.fail %i0, "not today"
            }
            """;

    /** Finds no device that it likes, as a program does that was compiled for another one. */
    private static final String DEMANDING = """
            vm.module @demanding version 0
            vm.type i32

            vm.export @__init
            vm.func @__init() -> () {
            ^entry:
              %i0 = vm.const.i32 18
              vm.fail %i0, "HAL device `default` not found or unavailable"
            }
            """;

    private TestModules() {}

    /** Writes module {@code adder} with functions {@code add} and {@code refuse}. */
    public static Path adder(Path directory) throws IOException {
        return Files.write(directory.resolve("adder.vmfb"), VmAssembler.assemble(ADD));
    }

    /** Writes a module that cannot be initialised. */
    public static Path demanding(Path directory) throws IOException {
        return Files.write(directory.resolve("demanding.vmfb"), VmAssembler.assemble(DEMANDING));
    }

    /** Modules that iree-compile made, beside the repository; see their README.md. */
    public static Path fixtures() {
        Path directory = Path.of("").toAbsolutePath();
        while (directory != null && !Files.isDirectory(directory.resolve("shared/vmfb"))) {
            directory = directory.getParent();
        }
        return directory == null ? Path.of("../../shared/vmfb") : directory.resolve("shared/vmfb");
    }

    /** For conditions of tests. */
    public static boolean fixturesPresent() {
        return Files.isRegularFile(fixtures().resolve("add.vmfb"));
    }
}
