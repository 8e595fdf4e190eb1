package io.github.iree4j.tools.code;

import io.github.iree4j.spirv.SpirvExecutableWriter;
import io.github.iree4j.spirv.SpirvModule;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tools.file.InputFile;
import io.github.iree4j.tools.file.OutputFiles;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code iree4j spirv}: packs compute shaders into an executable for programs written in VMASM. */
@Command(
        name = "spirv",
        description = "Packs compute shaders in SPIR-V into an executable of format vulkan-spirv-fb. The exports are "
                + "the entry points, in the given order, with the buffers and push constants of each.",
        mixinStandardHelpOptions = true)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class SpirvCommand implements Runnable {
    private static final int LARGEST = 64 << 20; // bytes of a module

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "SPIR-V modules.")
    private List<Path> sources;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            required = true,
            description = "The executable to write.")
    private Path output;

    /** Creates the command; picocli sets the fields. */
    public SpirvCommand() {}

    @Override
    public void run() {
        OutputFiles.requireOther(output, sources);
        try {
            List<MemorySegment> modules = new ArrayList<>();
            for (Path source : sources) {
                modules.add(MemorySegment.ofArray(InputFile.bytes("SPIR-V module", source, LARGEST)));
                check(source, modules.getLast());
            }
            Files.write(output, SpirvExecutableWriter.write(SpirvExecutableWriter.of(modules)));
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "cannot write '%s': %s".formatted(output, e), e);
        }
    }

    /** Validates a module; names the file in failures. */
    private static void check(Path source, MemorySegment module) {
        try {
            if (SpirvModule.read(module, new int[0]).entryPoints().isEmpty()) {
                throw IreeException.of(StatusCode.INVALID_ARGUMENT, "the module has no compute entry point");
            }
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "'%s' cannot be packed: %s".formatted(source, e.getMessage()), e);
        }
    }
}
